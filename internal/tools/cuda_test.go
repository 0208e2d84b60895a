// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCUDADir(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "cuda")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ptxas"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"LATHE_CACHE": root, "HOME": "/nowhere"}
	got, absent := cudaDir(func(name string) string { return env[name] }, []string{"ptxas", "nvdisasm"})
	if got != dir || !slices.Equal(absent, []string{"nvdisasm"}) {
		t.Errorf("%s lacks %q", got, absent)
	}
	delete(env, "LATHE_CACHE")
	env["XDG_CACHE_HOME"] = filepath.Dir(root)
	if got, _ := cudaDir(func(name string) string { return env[name] }, nil); got != filepath.Join(filepath.Dir(root),
		"lathe", "cuda") {
		t.Errorf("with XDG_CACHE_HOME: %s", got)
	}
	delete(env, "XDG_CACHE_HOME")
	got, absent = cudaDir(func(name string) string { return env[name] }, []string{"ptxas"})
	if got != "/nowhere/.cache/lathe/cuda" || len(absent) != 1 {
		t.Errorf("without LATHE_CACHE: %s lacks %q", got, absent)
	}
}
