// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPluginPath(t *testing.T) {
	dir := t.TempDir()
	for _, at := range []string{"env.so", "cache/pjrt/xla_cpu_pjrt.so", "home/.cache/lathe/pjrt/xla_cpu_pjrt.so",
		"xdg/lathe/pjrt/xla_cpu_pjrt.so"} {
		path := filepath.Join(dir, at)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": filepath.Join(dir, "home")}
	for _, step := range [][3]string{
		{"", "", "home/.cache/lathe/pjrt/xla_cpu_pjrt.so"},
		{"XDG_CACHE_HOME", "xdg", "xdg/lathe/pjrt/xla_cpu_pjrt.so"},
		{"LATHE_CACHE", "cache", "cache/pjrt/xla_cpu_pjrt.so"},
		{"LATHE_PJRT_PLUGIN", "env.so", "env.so"},
	} {
		env[step[0]] = filepath.Join(dir, step[1])
		got, err := pluginPath(func(name string) string { return env[name] })
		if want := filepath.Join(dir, step[2]); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", step[0], got, err, want)
		}
	}
	env["LATHE_PJRT_PLUGIN"] = filepath.Join(dir, "none.so")
	if _, err := pluginPath(func(name string) string { return env[name] }); err == nil {
		t.Error("a missing file is found")
	}
}
