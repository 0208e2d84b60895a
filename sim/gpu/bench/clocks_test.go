// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"os/exec"
	"path/filepath"
	"testing"

	"lathe/internal/tools"
)

func TestParseClocks(t *testing.T) {
	for line, want := range map[string]Clocks{
		"1980, 3201, 700.00\n":         {1980, 3201, 700},
		"1980, 3201, [N/A]\n":          {1980, 3201, 0},
		"[N/A], [N/A], [N/A]\n":        {},
		"No devices were found\n":      {},
		"1980, [Not Supported], 700\n": {},
	} {
		if got := parseClocks(line); got != want {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}

// TestNVML reads clocks from a library that stands for NVML, also where that refuses to tell the power cap.
func TestNVML(t *testing.T) {
	tools.Need(t, "gcc")
	for limit, want := range map[string]Clocks{"0": {1755, 2619, 699.5}, "3": {1755, 2619, 0}} {
		lib := filepath.Join(t.TempDir(), "libnvml"+limit+".so")
		if out, err := exec.Command("gcc", "-shared", "-fPIC", "-DLIMIT="+limit, "-o", lib, "testdata/nvml.c").
			CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		n, err := openNVML(lib)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.read(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if _, err := openNVML("libnvidia-ml-missing.so"); err == nil {
		t.Error("a library that is not there is opened")
	}
}
