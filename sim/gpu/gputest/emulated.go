// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"lathe/internal/tools"
)

// Emulated builds the libcuda.so.1 that interprets PTX, and returns its folder: programs load it where LD_LIBRARY_PATH
// names that.
func Emulated(t testing.TB) string {
	t.Helper()
	tools.Need(t, "gcc")
	dir := t.TempDir()
	build := exec.Command("go", "build", "-buildmode=c-shared", "-o", filepath.Join(dir, "libcuda.so.1"),
		"lathe/sim/gpu/emulated")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return dir
}
