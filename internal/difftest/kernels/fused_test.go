// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/internal/difftest"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
	"lathe/lower"
	"lathe/lower/kernels"
)

// TestFusedCodes: quantized networks in the groups that lowering chooses have the codes that their nodes have alone.
func TestFusedCodes(t *testing.T) {
	tools.NeedNVRTC(t)
	fused := 0
	for i := range kernelCases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := difftest.Rand("fused", i)
			g := difftest.Residual(r, i%difftest.Residuals)
			if i%2 == 1 {
				g = difftest.Chain(r, difftest.Chains[r.IntN(len(difftest.Chains))])
			}
			g, _, err := lower.Kernels(t.Context(), g, kernels.Precision{}, library.Portable(), kernels.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range g.Nodes {
				if n.HW.Group != "" {
					fused++
				}
			}
			compareKernel(t, emulated, g, r, 0)
		})
	}
	if fused < kernelCases/2 {
		t.Errorf("%d nodes joined the kernel of another one", fused)
	}
}

// built makes graphs node by node.
type built struct {
	t *testing.T
	g *ir.Graph
	f format.Format     // of computed values
	p kernels.Precision // that lowering gives them
}

// fusedGraphs draws graphs, in parallel, which finish into groups, and compares their kernels with their nodes.
func fusedGraphs(t *testing.T, what string, tolerance float64,
	draw func(i int, r *rand.Rand, engine kernelEngine, b *built) *ir.Graph) {
	tools.NeedNVRTC(t)
	for i := range fusedCases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := difftest.Rand(what, i)
			engine := libraryEngine(r)
			g := draw(i, r, engine, &built{t: t, g: &ir.Graph{Name: "g"}})
			compareKernel(t, engine, g, r, tolerance)
		})
	}
}

func (b *built) input(name string, shape ...int) *ir.Node {
	n := valueOf(name, b.f, shape...)
	b.g.Nodes, b.g.In = append(b.g.Nodes, n), append(b.g.In, n)
	return n
}

// node adds a node with its constants.
func (b *built) node(o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	b.t.Helper()
	for _, a := range args {
		if a.IsConst() && !slices.Contains(b.g.Nodes, a) {
			a.Name = b.g.FreshName(a.Name)
			b.g.Nodes = append(b.g.Nodes, a)
		}
	}
	n, err := ir.NewNode(o, b.g.FreshName(o.Name), "", attrs, args...)
	if err != nil {
		b.t.Fatal(err)
	}
	n.Type.Format = b.f
	b.g.Nodes = append(b.g.Nodes, n)
	return n
}

// linear is a layer of n outputs, with a bias or without.
func (b *built) linear(r *rand.Rand, x *ir.Node, n int) *ir.Node {
	k := x.Type.Shape[len(x.Type.Shape)-1]
	args := []*ir.Node{x, constantOf(r, "w", b.f, n, k)}
	if r.IntN(3) > 0 {
		args = append(args, constantOf(r, "b", format.FP32, n))
	}
	return b.node(sum.Linear, nil, args...)
}

// finish is the graph in groups, which must be the named templates.
func (b *built) finish(engine kernelEngine, y *ir.Node, want ...string) *ir.Graph {
	b.t.Helper()
	b.g.Out = append(b.g.Out, ir.Output{Name: "y", Node: y})
	g, _, err := lower.Kernels(b.t.Context(), b.g, b.p, library.Portable(), kernels.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	d, err := cuda.Emit(g, engine.options)
	if err != nil {
		b.t.Fatal(err)
	}
	var have []string
	for _, u := range d.Units {
		name, _, _ := strings.Cut(u.Template, "<")
		have = append(have, name)
	}
	if strings.Join(have, " ") != strings.Join(want, " ") {
		b.t.Fatalf("kernels %q, want %q\n%s", have, want, difftest.Describe(g))
	}
	return g
}

// TestFusedProducts: linear layers with functions, gates, sums, reshapes behind them are one kernel, and a norm behind
// takes the sum that is read again.
func TestFusedProducts(t *testing.T) {
	fusedGraphs(t, "fused products", 1e-5, func(i int, r *rand.Rand, engine kernelEngine, b *built) *ir.Graph {
		b.f = halfOf(r)
		m, n, k := sizeOf(r, 40), sizeOf(r, 130), sizeOf(r, 200)
		x, z := b.input("x", m, k), b.input("z", m, n)
		y := b.linear(r, x, n)
		if i%3 > 0 {
			y = b.node([]*ir.Op{pointwise.Relu, curve.Gelu, curve.GeluTanh}[i%3], nil, y)
		}
		if i%2 == 1 {
			u := b.linear(r, x, n)
			if i%4 == 1 {
				u, y = y, u
			}
			y = b.node(pointwise.Mul, nil, y, u)
		}
		if r.IntN(2) == 0 {
			y = b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{1, m, n}}, y)
			y = b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{m, n}}, y)
		}
		y = b.node(pointwise.Add, nil, [][]*ir.Node{{y, z}, {z, y}}[r.IntN(2)]...)
		if i%6 == 0 { // a product and a sum alone
			y = b.node(pointwise.Relu, nil, y)
		}
		return b.finish(engine, y, "w16a16")
	})
}

// TestNotFused: what repeats elements of a product is computed behind it.
func TestNotFused(t *testing.T) {
	tools.NeedNVRTC(t)
	for i, residual := range []bool{true, false} {
		r := difftest.Rand("not fused", i)
		b := &built{t: t, g: &ir.Graph{Name: "g"}, f: format.BF16}
		x := b.input("x", 3, 8)
		y := b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{3, 1, 5}}, b.linear(r, x, 5))
		want := []string{"w16a16", ""}
		if residual {
			y = b.node(pointwise.Add, nil, y, b.input("z", 3, 3, 5))
		} else {
			y = b.node(pointwise.Mul, nil, y, b.linear(r, x, 5))
			want = []string{"w16a16", "w16a16", ""}
		}
		compareKernel(t, emulated, b.finish(emulated, y, want...), r, 1e-5)
	}
}

// TestPatches: a convolution of planes whose pixels are tokens, positions added behind, is one kernel in front of the
// sum; images that a transpose makes planes are read where they end.
func TestPatches(t *testing.T) {
	tools.NeedNVRTC(t)
	for i, turned := range []bool{false, true} {
		r := difftest.Rand("patches", i)
		b := &built{t: t, g: &ir.Graph{Name: "g"}, f: format.BF16}
		x, want := b.input("x", 1, 3, 4, 4), []string{"conv16", "chain"}
		if turned {
			b.g.Nodes, b.g.In = nil, nil
			x = b.node(move.Transpose, &move.TransposeAttrs{Perm: []int{0, 3, 1, 2}}, b.input("x", 1, 4, 4, 3))
			want = []string{"", "conv16", "chain"}
		}
		y := b.node(sum.Conv, &sum.ConvAttrs{Groups: 1, Window: geometry.Window{Kernel: []int{2, 2}, Strides: []int{2, 2},
			Pads: make([]int, 4), Dilations: []int{1, 1}}}, x, constantOf(r, "w", b.f, 8, 3, 2, 2))
		y = b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{1, 8, 4}}, y)
		y = b.node(move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1}}, y)
		y = b.node(pointwise.Add, nil, y, b.input("z", 1, 4, 8))
		compareKernel(t, emulated, b.finish(emulated, y, want...), r, 1e-5)
	}
}

// TestFusedNorms: the sum of two values before a norm is stored where others read it.
func TestFusedNorms(t *testing.T) {
	fusedGraphs(t, "fused norms", 1e-5, func(i int, r *rand.Rand, engine kernelEngine, b *built) *ir.Graph {
		b.f = []format.Format{format.BF16, format.F16, format.FP32}[i%3]
		m, n := sizeOf(r, 20), sizeOf(r, 200)
		x, z := b.input("x", m, n), b.input("z", m, n)
		s := b.node(pointwise.Add, nil, x, z)
		o, args := norm.LayerNorm, []*ir.Node{s, constantOf(r, "gain", format.FP32, n),
			constantOf(r, "bias", format.FP32, n)}
		name := "layer_norm"
		if i%2 == 0 {
			o, args, name = norm.RMSNorm, args[:2], "rms_norm"
		}
		y := b.node(o, &norm.Attrs{Axis: 1, Eps: 1e-5}, args...)
		b.g.Out = []ir.Output{{Name: "sum", Node: s}}
		return b.finish(engine, y, name)
	})
}

// TestFusedHeads: queries, keys and values from one layer, turned or not, grouped or not, and what joins the heads are
// one product and one attention.
func TestFusedHeads(t *testing.T) {
	fusedGraphs(t, "fused heads", 0x1p-5, func(i int, r *rand.Rand, engine kernelEngine, b *built) *ir.Graph {
		b.f = halfOf(r)
		batch, tokens, kv, dim := 1+r.IntN(2), 1+r.IntN(40), 1+r.IntN(2), []int{8, 16, 32, 64, 80}[r.IntN(5)]
		heads := kv * (1 + r.IntN(2))
		x := b.input("x", batch, tokens, 24)
		rows := func(h int) *ir.Node {
			n := b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{batch, tokens, h, dim}}, b.linear(r, x, h*dim))
			return b.node(move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, n)
		}
		q, k, v := rows(heads), rows(kv), rows(kv)
		want := []string{"w16a16", "sdpa"}
		if i%2 == 0 {
			cos := constantOf(r, "cos", format.FP32, tokens, dim/2)
			sin := constantOf(r, "sin", format.FP32, tokens, dim/2)
			a := &sequence.RotaryAttrs{}
			q, k = b.node(sequence.Rotary, a, q, cos, sin), b.node(sequence.Rotary, a, k, cos, sin)
			want = []string{"w16a16", "", "sdpa"}
		}
		y := b.node(sequence.Attention, &sequence.AttentionAttrs{Causal: r.IntN(2) == 0}, q, k, v)
		y = b.node(move.Transpose, &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, y)
		y = b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{batch, tokens, heads * dim}}, y)
		// Steps of queries and keys are those of their dot products, beside what TestLibraryAttention allows.
		return b.finish(engine, y, want...)
	})
}

// TestFusedConvolutions: a convolution with norm, residual and relu is one kernel, channels last, whatever the caller's
// layout is.
func TestFusedConvolutions(t *testing.T) {
	fusedGraphs(t, "fused convolutions", 1e-5, func(i int, r *rand.Rand, engine kernelEngine, b *built) *ir.Graph {
		f := halfOf(r)
		b.f, b.p = format.FP32, kernels.Precision{Act: f, Weight: f}
		batch, c, n, h, w := 1+r.IntN(2), []int{3, 8, 16, 20}[r.IntN(4)], 8*(1+r.IntN(4)), 4+r.IntN(5), 4+r.IntN(5)
		k := 1 + 2*r.IntN(2)
		window := geometry.Window{Kernel: []int{k, k}, Strides: []int{1, 1}, Pads: slices.Repeat([]int{k / 2}, 4),
			Dilations: []int{1, 1}}
		y := b.node(sum.Conv, &sum.ConvAttrs{Window: window, Groups: 1}, b.input("x", batch, c, h, w),
			constantOf(r, "w", b.f, n, c, k, k))
		if i%2 == 0 {
			y = b.node(sum.Scale, &column.ScaleAttrs{Axis: 1}, y, constantOf(r, "m", b.f, n), constantOf(r, "b", b.f, n))
		}
		if i%3 > 0 {
			y = b.node(pointwise.Add, nil, y, b.input("z", batch, n, h, w))
		}
		return b.finish(engine, b.node(pointwise.Relu, nil, y), "conv16")
	})
}

// TestFusedSums: a convolution of codes and the sum with another value behind it are one kernel.
func TestFusedSums(t *testing.T) {
	tools.NeedNVRTC(t)
	for i := range fusedCases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := difftest.Rand("fused sums", i)
			engine, g := libraryEngine(r), convolutionOf(r)
			y := g.Out[0].Node
			z, s := *g.In[0], ir.Node{Name: "s", Op: []*ir.Op{pointwise.Add, pointwise.Sub}[r.IntN(2)]}
			z.Name, z.Type.Shape = "z", y.Type.Shape
			s.Type, s.Args = y.Type, [][]*ir.Node{{y, &z}, {&z, y}}[r.IntN(2)]
			if f, fixed := y.Type.Format.(format.Fixed); fixed {
				s.Type.Format = format.Fixed{W: 8, F: f.F + r.IntN(4) - 2, Signed: r.IntN(2) == 0, Round: f.Round}
			} else {
				s.Type.Format = format.Affine{W: 8, Zero: int64(r.IntN(256)), Scale: 0.43, Axis: format.PerTensor}
			}
			g.In, g.Nodes, g.Out[0].Node = append(g.In, &z), append(g.Nodes, &z, &s), &s
			g, _, err := lower.Kernels(t.Context(), g, kernels.Precision{}, library.Portable(), kernels.Options{})
			if err != nil {
				t.Fatal(err)
			}
			d, err := cuda.Emit(g, engine.options)
			if err != nil || len(d.Units) != 1 || !strings.HasPrefix(d.Units[0].Template, "conv8<") {
				t.Fatalf("%d kernels, the first %q, %v\n%s", len(d.Units), d.Units[0].Template, err, difftest.Describe(g))
			}
			compareDesign(t, engine, g, d, r, 0)
		})
	}
}

// TestPartedSums: a sum that the kernel of the convolution cannot add has one of its own. The first case is one that it
// can.
func TestPartedSums(t *testing.T) {
	tools.NeedNVRTC(t)
	for i, change := range []func(g *ir.Graph, y, z, s *ir.Node){
		func(*ir.Graph, *ir.Node, *ir.Node, *ir.Node) {},
		func(_ *ir.Graph, _, _, s *ir.Node) { // rounded otherwise
			f := s.Type.Format.(format.Fixed)
			f.Round = (f.Round + 1) % 2
			s.Type.Format = f
		},
		func(_ *ir.Graph, y, z, _ *ir.Node) { // one value for all channels
			z.Type.Shape = append(slices.Clone(y.Type.Shape[:len(y.Type.Shape)-1]), 1)
		},
		func(_ *ir.Graph, _, z, _ *ir.Node) { z.Type.Format = format.Fixed{W: 12, Signed: true} },
		func(g *ir.Graph, y, _, s *ir.Node) { s.Args = []*ir.Node{y, y} },
		func(g *ir.Graph, y, _, _ *ir.Node) { g.Out = append(g.Out, ir.Output{Name: "y", Node: y}) },
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := difftest.Rand("parted sums", i)
			engine, g := libraryEngine(r), convolutionOf(r)
			y := g.Out[0].Node
			f, fixed := y.Type.Format.(format.Fixed)
			for ; !fixed; f, fixed = y.Type.Format.(format.Fixed) {
				g = convolutionOf(r)
				y = g.Out[0].Node
			}
			z, s := *g.In[0], ir.Node{Name: "s", Op: pointwise.Add, Type: y.Type}
			z.Name, z.Type.Shape, s.Args = "z", y.Type.Shape, []*ir.Node{y, &z}
			s.Type.Format = format.Fixed{W: 8, F: f.F, Signed: true, Round: f.Round}
			g.In, g.Nodes, g.Out[0].Node = append(g.In, &z), append(g.Nodes, &z, &s), &s
			change(g, y, &z, &s)
			g, _, err := lower.Kernels(t.Context(), g, kernels.Precision{}, library.Portable(), kernels.Options{})
			if err != nil {
				t.Fatal(err)
			}
			d, err := cuda.Emit(g, engine.options)
			if err != nil || len(d.Units) != min(i+1, 2) {
				t.Fatalf("%d kernels, %v\n%s", len(d.Units), err, difftest.Describe(g))
			}
			compareDesign(t, engine, g, d, r, 0)
		})
	}
}
