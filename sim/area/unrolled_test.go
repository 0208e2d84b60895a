// SPDX-License-Identifier: Apache-2.0

package area

import (
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/cmvm"
	"lathe/rtl/cmvm/cmvmtest"
	chains "lathe/rtl/sums"
)

// TestUnrolledCost counts an unrolled layer, and holds what it says of itself to the counts: LUTs within 5 %, and
// flip-flops, of which shift registers take some, within 10 %.
func TestUnrolledCost(t *testing.T) {
	tools.Need(t, "yosys")
	l := &chains.Layer{InBits: 6, OutBits: 8, StageLevels: 4, Problem: cmvm.Problem{Group: 5,
		Matrix: cmvmtest.Matrix(8, 4, 6)}}
	for range 8 {
		l.Problem.Inputs = append(l.Problem.Inputs, cmvm.Range{Lo: -32, Hi: 31})
	}
	for range l.Problem.Matrix {
		l.Casts = append(l.Casts, chains.Cast{Shift: 6, Bits: 8, Signed: true})
	}
	if err := l.Solve(); err != nil {
		t.Fatal(err)
	}
	u, err := l.Unit()
	if err != nil {
		t.Fatal(err)
	}
	u.Body.Module.Name = "layer"
	files, err := rtl.Files("stream_skid")
	if err != nil {
		t.Fatal(err)
	}
	dir, names := t.TempDir(), []string(nil)
	for _, f := range append(files, rtl.File{Name: "layer.sv", Data: u.Body.Module.Print()}) {
		names = append(names, f.Name)
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := counted(t, dir, names, "layer", Options{})
	cost, have := u.Body.Cost, r.Total
	for _, c := range []struct {
		what                        string
		predicted, counted, percent int
	}{{"LUT", cost.LUT, have.LUT, 5}, {"FF", cost.FF, have.FF, 10}} {
		if d := c.predicted - c.counted; 100*max(d, -d) > c.percent*c.counted {
			t.Errorf("%d %s predicted, %d counted", c.predicted, c.what, c.counted)
		} else {
			t.Logf("%d %s predicted, %d counted", c.predicted, c.what, c.counted)
		}
	}
}
