// SPDX-License-Identifier: Apache-2.0

//go:build long

package area

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lathe/internal/tools"
	"lathe/rtl/cmvm"
	"lathe/rtl/cmvm/cmvmtest"
	chains "lathe/rtl/sums"
)

// TestConstants counts products of inputs of 8 bits with the matrices of cmvmtest. It prints a table.
//
//	go test -count=1 -timeout 2h -tags long -run '^TestConstants$' -v ./sim/area
func TestConstants(t *testing.T) {
	tools.Need(t, "yosys")
	for _, c := range []struct{ in, out, width, most int }{
		{32, 5, 6, 1410},
		{16, 16, 8, 2710},
		{32, 32, 4, 5410},
		{32, 32, 6, 7700},
		{16, 64, 6, 7600},
		{64, 32, 6, 15300},
	} {
		name := fmt.Sprintf("%dx%d of %d bits", c.in, c.out, c.width)
		t.Run(name, func(t *testing.T) {
			p := cmvm.Problem{Group: 5, Matrix: cmvmtest.Matrix(c.in, c.out, c.width)}
			for range c.in {
				p.Inputs = append(p.Inputs, cmvm.Range{Lo: -128, Hi: 127})
			}
			start := time.Now()
			g, err := cmvm.Solve(p)
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			dir := t.TempDir()
			text := chains.Module("sums", g, g.Pipeline(math.Inf(1), 0))
			if err := os.WriteFile(filepath.Join(dir, "sums.sv"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := Count(t.Context(), dir, []string{"sums.sv"}, "sums",
				Options{Flatten: true, NoDSP: true, Timeout: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			cost := g.Cost()
			t.Logf("| %s | %d | %d | %.1f | %.1f s |", name, r.Total.LUT, cost.Cells, cost.Levels, took.Seconds())
			if r.Total.LUT > c.most {
				t.Errorf("%d LUTs, at most %d expected", r.Total.LUT, c.most)
			}
		})
	}
}
