// SPDX-License-Identifier: Apache-2.0

//go:build long

package board

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/tools"
)

// TestSystemSeeds: 2,000 samples of twins in C and in Python, with ten patterns of pauses.
func TestSystemSeeds(t *testing.T) {
	tools.Need(t, "verilator", "g++", "gcc", "make")
	python := tools.NeedNumPy(t)
	driver := filepath.Join(twinsSystem(t, 2000), "axi", "driver")
	for seed := range 10 {
		for _, target := range []string{"system", "system-python"} {
			out := in(t, driver, "make", "-s", target, "PYTHON="+python, fmt.Sprintf("SEED=%d", seed+1))
			if !strings.HasSuffix(out, "2000 samples, 16000 codes compared, 0 mismatches\n") {
				t.Errorf("seed %d: make %s prints\n%s", seed+1, target, out)
			}
		}
	}
}
