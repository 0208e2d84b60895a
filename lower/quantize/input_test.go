// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
)

// TestScaledInput: an input whose features have different sizes, and are scaled first, has the bits that the small ones
// need, unless the plan chooses.
func TestScaledInput(t *testing.T) {
	features := func(factors, summands []float32) (*ir.Graph, Calibration) {
		b := lowertest.New(t, 1)
		s := b.Add(sum.Scale, "s", &column.ScaleAttrs{Axis: 1}, b.Input("x", 1, 2), b.Const([]int{2}, factors...),
			b.Const([]int{2}, summands...))
		g := b.Done(b.Linear("fc", s, 3, true))
		c, r := Calibration{Samples: map[string][]*ir.Tensor{}}, rand.New(rand.NewPCG(3, 3))
		for range 32 {
			x := ir.NewTensor(g.In[0].Type)
			for i := range x.Floats { // what the scale brings into [-1, 1]
				x.Floats[i] = (float32(2*r.Float64()-1) - summands[i]) / factors[i]
			}
			c.Samples["x"] = append(c.Samples["x"], x)
		}
		return g, c
	}
	g, c := features([]float32{100, 0.005}, []float32{-5, -8})
	q, r := mustQuantize(t, g, "", c)
	if got := formatsOf(q)["x"]; got != "input fixed(26,14)" || r.Outputs[0].SQNR < 30 {
		t.Errorf("x is %s, the output has %.1f dB", got, r.Outputs[0].SQNR)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), `input "x" has features of different sizes`) {
		t.Errorf("notes %q", r.Notes)
	}
	q, r = mustQuantize(t, g, "[[input]]\nname = \"x\"\nformat = \"fixed(8)\"", c)
	if got := formatsOf(q)["x"]; got != "input fixed(8,-4)" || r.Outputs[0].SQNR > 10 {
		t.Errorf("chosen: x is %s, the output has %.1f dB", got, r.Outputs[0].SQNR)
	}
	g, c = features([]float32{0.0625, 0.0625}, []float32{-1, -1}) // goes into fc
	q, r = mustQuantize(t, g, "", c)
	if got := formatsOf(q); got["x"] != "input fixed(8,2)" || got["s"] != "" || r.Outputs[0].SQNR < 30 {
		t.Errorf("features of one size: %v, %.1f dB", got, r.Outputs[0].SQNR)
	}
}
