// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/text"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// standardized is a network that brings features of such sizes, which lie so many deviations from 0, to one size first.
func standardized(t *testing.T, seed uint64, sizes []float64, away float64) (*ir.Graph, Calibration) {
	b := lowertest.New(t, seed)
	factors, summands := make([]float32, len(sizes)), make([]float32, len(sizes))
	for c, size := range sizes {
		factors[c], summands[c] = float32(1/size), float32(-away)
	}
	s := b.Add(sum.Scale, "s", &column.ScaleAttrs{Axis: 1}, b.Input("x", 1, len(sizes)),
		b.Const([]int{len(sizes)}, factors...), b.Const([]int{len(sizes)}, summands...))
	g := b.Done(b.Linear("last", b.Add(pointwise.Relu, "relu", nil, b.Linear("first", s, 16, true)), 3, true))
	r := rand.New(rand.NewPCG(seed, 17))
	c := Calibration{Samples: map[string][]*ir.Tensor{}}
	for range 60 {
		x := ir.NewTensor(g.In[0].Type)
		for i := range x.Floats {
			x.Floats[i] = float32(sizes[i] * (away + r.NormFloat64()))
		}
		c.Samples["x"] = append(c.Samples["x"], x)
	}
	return g, c
}

// apart are n sizes from 1e-4 to 1e5.
func apart(n int) []float64 {
	sizes := make([]float64, n)
	for i := range sizes {
		sizes[i] = math.Pow(10, -4+9*float64(i*5%n)/float64(n-1))
	}
	return sizes
}

// TestScaleInputs: features of very different sizes keep what they say, in front of a layer and of a scale, near 0 and
// far from it; the printed exponents, and the formats, lead to the same graph.
func TestScaleInputs(t *testing.T) {
	for seed := range uint64(6) {
		models := []func() (*ir.Graph, Calibration){
			func() (*ir.Graph, Calibration) { return spanning(t, seed, apart(6)) },
			func() (*ir.Graph, Calibration) { return standardized(t, seed, apart(8), 0) },
			func() (*ir.Graph, Calibration) { return standardized(t, seed, apart(7), 20) },
		}
		for k, model := range models {
			g, in := model()
			_, off := mustQuantize(t, g, "[quantize]\nequalize = false\n", in)
			q, report := mustQuantize(t, g, "", in)
			notes := strings.Join(report.Notes, "\n")
			if report.Outputs[0].SQNR < 27 || off.Outputs[0].SQNR > 15 || len(report.Warnings) > 0 ||
				!strings.Contains(notes, `input "x" has features of different sizes, which share one format`) {
				t.Errorf("seed %d, model %d: %.1f dB, before %.1f: %q %q", seed, k, report.Outputs[0].SQNR, off.Outputs[0].SQNR,
					report.Notes, report.Warnings)
			}
			exps := q.In[0].Attrs.(*ir.Input).Exponents
			again, _ := mustQuantize(t, g, "[[input]]\nname = \"x\"\nexponents = "+plan.TOML(exps)+"\n", in)
			if a, b := text.Print(q), text.Print(again); a != b {
				t.Errorf("seed %d, model %d: by the plan\n%s\nunasked\n%s", seed, k, b, a)
			}
		}
	}
	for seed := range uint64(6) { // not far apart
		g, in := spanning(t, seed, []float64{1, 2, 3, 0.5})
		if q, _ := mustQuantize(t, g, "", in); q.In[0].Attrs.(*ir.Input).Exponents != nil {
			t.Errorf("%s", text.Print(q))
		}
	}
}

// TestExponentsRefused: exponents of a plan are one for each feature, of inputs that layers or scales read.
func TestExponentsRefused(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Input("x", 1, 4)
	for _, c := range []struct {
		graph *ir.Graph
		want  string
	}{{lowertest.Network(t), "3 exponents for the"}, {b.Done(b.Add(curve.Tanh, "z", nil, x)), "cannot be multiplied"}} {
		p := lowertest.Plan(t, "[[input]]\nname = \"x\"\nexponents = [1, 2, 3]\n")
		_, _, err := Run(t.Context(), c.graph, p, Calibration{}, Options{})
		if diag.CodeOf(err) != diag.InputExponents || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
