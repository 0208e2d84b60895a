// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lathe/internal/tools"
)

// Emulated builds the libcuda.so.1 that interprets PTX into a folder, unless it is there: programs load it where
// LD_LIBRARY_PATH names that. It returns the folder.
func Emulated(t testing.TB, dir string) string {
	t.Helper()
	tools.Need(t, "gcc")
	path := filepath.Join(dir, "libcuda.so.1")
	if _, err := os.Stat(path); err == nil {
		return dir
	}
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-w", "-o", path, "lathe/sim/gpu/emulated")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return dir
}
