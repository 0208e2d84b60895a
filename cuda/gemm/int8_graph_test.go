// SPDX-License-Identifier: Apache-2.0

package gemm_test

import (
	"testing"

	"lathe/cuda/gemm"
	"lathe/cuda/gemm/gemmtest"
	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/dot"
	"lathe/ir/op/leaf"
	"lathe/ir/op/sum"
	"lathe/ir/ref"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

// linearGraph is one linear node of constant weights and bias over an input of m rows.
func linearGraph(m, n, k int, seed uint64, x, w, y format.Format, scales []float32) *ir.Graph {
	in := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: []int{m, k}, Format: x}}
	constant := func(name string, t ir.Type, codes []int64) *ir.Node {
		return &ir.Node{Name: name, Op: leaf.Const, Attrs: &ir.Const{Data: ir.CodeBlob(codes)}, Type: t}
	}
	codes := make([]int64, n*k)
	for i, b := range gemmtest.Int8s(seed, "w", n*k) {
		codes[i] = int64(int8(b))
	}
	bias := make([]int64, n)
	r := gemmtest.Dice(seed, "bias")
	for i := range bias {
		bias[i] = int64(r.IntN(4001) - 2000)
	}
	weights := constant("w", ir.Type{Shape: []int{n, k}, Format: w, Scales: scales}, codes)
	b := constant("b", ir.Type{Shape: []int{n}, Format: format.Fixed{W: 16, F: 6, Signed: true}}, bias)
	result := ir.Type{Shape: []int{m, n}, Format: y}
	node := &ir.Node{Name: "y", Op: sum.Linear, Args: []*ir.Node{in, weights, b}, Type: result}
	return &ir.Graph{Name: "linear", Nodes: []*ir.Node{in, weights, b, node}, In: []*ir.Node{in},
		Out: []ir.Output{{Name: "y", Node: node}}, Stage: ir.StageQuantized}
}

// TestInt8Graph compares the kernel with Op.Eval and with StableHLO on PJRT, code by code: fixed-point formats with
// every rounding, and affine ones with a scale a channel. The sweeps draw such layers.
func TestInt8Graph(t *testing.T) {
	const m, n, k = 40, 64, 144
	scales := make([]float32, n)
	r := gemmtest.Dice(12, "scales")
	for i := range scales {
		scales[i] = float32(0.002 + 0.01*r.Float64())
	}
	for _, c := range []struct {
		name    string
		x, w, y format.Format
		scales  []float32
	}{
		{"fixed", format.Fixed{W: 8, F: 4, Signed: true}, format.Fixed{W: 8, F: 6, Signed: true},
			format.Fixed{W: 8, F: 1, Signed: true}, nil},
		{"away, wrapping", format.Fixed{W: 8, F: 5}, format.Fixed{W: 8, F: 7, Signed: true},
			format.Fixed{W: 7, F: 3, Signed: true, Round: format.RoundAway, Over: format.Wrap}, nil},
		{"floor, 16 bits", format.Fixed{W: 8, F: 4, Signed: true}, format.Fixed{W: 8, F: 6, Signed: true},
			format.Fixed{W: 16, F: 6, Signed: true, Round: format.RoundFloor, Over: format.Sym}, nil},
		{"affine", format.Affine{W: 8, Zero: 131, Scale: 0.0235, Axis: format.PerTensor},
			format.Affine{W: 8, Signed: true, Scale: 0.0051, Axis: format.PerTensor},
			format.Affine{W: 8, Zero: 117, Scale: 0.31, Axis: format.PerTensor}, nil},
		{"affine, a scale a channel", format.Affine{W: 8, Signed: true, Zero: -7, Scale: 0.0235, Axis: format.PerTensor},
			format.Affine{W: 8, Signed: true, Axis: 0}, format.Affine{W: 8, Signed: true, Zero: 5, Scale: 0.27,
				Axis: format.PerTensor}, scales},
	} {
		t.Run(c.name, func(t *testing.T) {
			graphOnKernel(t, linearGraph(m, n, k, 11, c.x, c.w, c.y, c.scales), gemm.TilesInt8[1], 11)
		})
	}
}

// graphOnKernel runs the graph on the kernel, the reference and PJRT. The codes of the input are those of the case.
func graphOnKernel(t *testing.T, g *ir.Graph, config gemm.Tile, seed uint64) {
	t.Helper()
	node := g.Out[0].Node
	codes, err := dot.CodesOf(node)
	if err != nil {
		t.Fatal(err)
	}
	in := g.In[0]
	_, unsigned := codesOf(in.Type.Format)
	p := gemm.Int8{M: in.Type.Shape[0], N: codes.Out, K: codes.In, Unsigned: unsigned, Result: codes.Result}
	p.Zero = int32(codes.Zero)
	var channels []gemm.Channel
	for _, c := range codes.Channels {
		channels = append(channels, gemm.Channel{c.Bias, int32(c.Mul), c.Shift, int(c.Up)})
	}
	if err := p.Valid(); err != nil {
		t.Fatal(err)
	}
	plan, err := p.With(config)
	if err != nil {
		t.Fatal(err)
	}
	out := ranCase(t, gemmtest.Int8(p, plan, seed, channels), seed)
	x := ir.NewTensor(in.Type)
	for i, b := range gemmtest.Acts(p, seed) {
		if x.Codes[i] = int64(int8(b)); unsigned {
			x.Codes[i] = int64(b)
		}
	}
	program, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	samples := []ref.Sample{{x}}
	want, err := program.Run(t.Context(), samples)
	if err != nil {
		t.Fatal(err)
	}
	compareCodes(t, "Op.Eval", p, out[0], want[0][0].Codes)
	got, err := golden.RunPJRT(t.Context(), pjrttest.Engine(t), g, samples, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	compareCodes(t, "PJRT", p, out[0], got[0][0].Codes)
}

func codesOf(f format.Format) (width int, unsigned bool) {
	switch f := f.(type) {
	case format.Fixed:
		return f.W, !f.Signed
	case format.Affine:
		return f.W, !f.Signed
	}
	return 0, false
}
