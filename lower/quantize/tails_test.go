// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/ref"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
)

// blockWithTails is a feed-forward block behind a norm, as trained transformers have it: a channel of the norm, a
// neuron and a channel of the residual stream are many times as large as the others.
func blockWithTails(t *testing.T, seed uint64) *ir.Graph {
	const tokens, width, inner = 6, 16, 48
	r := rand.New(rand.NewPCG(seed, 11))
	b := lowertest.New(t, seed)
	scaled := func(n, loud int, by float64, base float64) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(base * (0.5 + r.Float64()))
		}
		out[loud] *= float32(by)
		return out
	}
	normed := func(name string, x *ir.Node, by float64) *ir.Node {
		return b.Add(norm.LayerNorm, name, &norm.Attrs{Axis: -1, Eps: 1e-6}, x,
			b.Const([]int{width}, scaled(width, r.IntN(width), by, 1)...),
			b.Const([]int{width}, scaled(width, r.IntN(width), 1, 0.1)...))
	}
	x := normed("before", b.Input("x", 1, tokens, width), 4+8*r.Float64())
	y := b.Linear("fc1", x, inner, true)
	y = b.Add(pointwise.Mul, "loud", nil, y, b.Const([]int{inner}, scaled(inner, r.IntN(inner), 4+4*r.Float64(), 1)...))
	y = b.Linear("fc2", b.Add(curve.Gelu, "gelu", nil, y), width, true)
	y = b.Add(pointwise.Mul, "louder", nil, y, b.Const([]int{width}, scaled(width, r.IntN(width), 6, 1)...))
	return b.Done(normed("after", b.Add(pointwise.Add, "residual", nil, x, y), 1))
}

// TestTails: by default such a block keeps 22 dB, and says how many bits that takes; in 8 bits everywhere it does not.
func TestTails(t *testing.T) {
	for seed := range uint64(10) {
		g := blockWithTails(t, seed)
		in := samples(g, -2, 2, 40)
		_, wide := mustQuantize(t, g, "", in)
		_, narrow := mustQuantize(t, g, "[quantize]\ndata = \"fixed(8)\"\nunsigned = true\n", in)
		def, all := wide.Outputs[0].SQNR, narrow.Outputs[0].SQNR
		if def < 22 || all > def-2 || !strings.Contains(strings.Join(wide.Notes, "\n"), " of more than 8 bits, up to 16: ") {
			t.Errorf("seed %d: %.1f dB, in 8 bits %.1f: %q", seed, def, all, wide.Notes)
		}
		if strings.Contains(strings.Join(narrow.Notes, "\n"), "of more than 8 bits") {
			t.Errorf("seed %d: %q", seed, narrow.Notes)
		}
	}
}

// TestDrawn: transformers without calibration data get formats of random samples, which other samples find usable too,
// and say so; a plan that declares ranges has bounds for whatever lies within.
func TestDrawn(t *testing.T) {
	e := load(t, "digits-vit", "model.onnx")
	graphs, calibs := []*ir.Graph{e.Graph}, []Calibration{e.calib}
	for seed := range uint64(10) {
		g := blockWithTails(t, seed)
		graphs, calibs = append(graphs, g), append(calibs, samples(g, -1, 1, 20))
	}
	for i, g := range graphs {
		q, report := mustQuantize(t, g, "", Calibration{})
		var given []ref.Sample
		for _, x := range calibs[i].Samples[g.In[0].Name][:8] {
			given = append(given, ref.Sample{x})
		}
		want := outputs(t, g, given)
		got := outputs(t, q, given)
		diff, err := pass.Compare(want, got)
		if notes := strings.Join(report.Notes, "\n"); err != nil || diff.SQNR < 18 ||
			!strings.Contains(notes, "no calibration data: formats come from 16 random samples") {
			t.Errorf("%d: %.1f dB, %v: %q", i, diff.SQNR, err, notes)
		}
	}
	_, report := mustQuantize(t, e.Graph, "[[input]]\nname = \""+e.Graph.In[0].Name+"\"\nrange = [0, 1]\n", Calibration{})
	if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, "interval analysis") {
		t.Errorf("%q", notes)
	}
}
