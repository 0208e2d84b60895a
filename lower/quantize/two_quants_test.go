// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/pointwise"
	"lathe/ir/ref"
	"lathe/lower/lowertest"
)

// oneOption draws a format of integers with one scale, and one that differs in one option.
func oneOption(r *rand.Rand) (a, b format.Affine) {
	a = format.Affine{W: 3 + r.IntN(5), Signed: r.IntN(3) > 0, Scale: 0.25, Axis: format.PerTensor}
	if r.IntN(2) == 0 {
		a.Over = format.Sym
	}
	a.Round = []format.Round{format.RoundEven, format.RoundFloor, format.RoundCeil, format.RoundZero}[r.IntN(4)]
	b = a
	switch r.IntN(4) {
	case 0:
		for b.Round == a.Round {
			b.Round = []format.Round{format.RoundEven, format.RoundFloor, format.RoundCeil, format.RoundZero}[r.IntN(4)]
		}
	case 1:
		b.Over = format.Sym - a.Over
	case 2:
		b.W++
	default:
		b.Scale *= 2
	}
	return a, b
}

// TestTwoQuants: quant nodes that differ in one option each decide for themselves, side by side, in a row and behind a
// relu. Values are multiples of a quarter of a step, ties and what lies beyond included, so that the input is exact.
func TestTwoQuants(t *testing.T) {
	r := rand.New(rand.NewPCG(48, 1))
	for i := range 300 {
		a, b := oneOption(r)
		g := lowertest.New(t, 1)
		x := g.Input("x", 16)
		v := x
		if i%3 == 2 {
			v = g.Add(pointwise.Relu, "relu", nil, x)
		}
		first := g.Add(pointwise.Quant, "a", &pointwise.QuantAttrs{Format: a.String()}, v)
		from := v
		if i%3 == 1 {
			from = first
		}
		second := g.Add(pointwise.Quant, "b", &pointwise.QuantAttrs{Format: b.String()}, from)
		graph := g.Done(first, second)
		in := ir.NewTensor(x.Type)
		for k := range in.Floats {
			in.Floats[k] = float32(r.IntN(1200)-600) / 16
		}
		in.Floats[0], in.Floats[1] = -1000, 1000
		inputs := []ref.Sample{{in}}
		want := outputs(t, graph, inputs)
		q, _ := mustQuantize(t, graph, "", Calibration{})
		got := outputs(t, q, inputs)
		for k := range want[0] {
			y, err := got[0][k].Decode()
			if err != nil {
				t.Fatal(err)
			}
			for e, v := range want[0][k].Floats {
				if y[e] != float64(v) {
					t.Fatalf("case %d: %s and %s: output %d of %v is %v, want %v", i, a, b, k, in.Floats[e], y[e], v)
				}
			}
		}
	}
}
