// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/internal/difftest"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
	"lathe/ir/op/norm"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
	"lathe/lower/kernels"
)

// halfOf draws a float of 16 bits.
func halfOf(r *rand.Rand) format.Format { return []format.Format{format.BF16, format.F16}[r.IntN(2)] }

// valueOf is an input of a graph, constantOf a constant of normal numbers in the format.
func valueOf(name string, f format.Format, shape ...int) *ir.Node {
	return &ir.Node{Name: name, Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: shape, Format: f}}
}

func constantOf(r *rand.Rand, name string, f format.Format, shape ...int) *ir.Node {
	n := &ir.Node{Name: name, Op: leaf.Const, Type: ir.Type{Shape: shape, Format: f}}
	data := difftest.RandomFloats(r, n.Type.Elems())
	if h, half := n.Type.Half(); half {
		data = data.Halves(h)
	}
	n.Attrs = &ir.Const{Data: data}
	return n
}

// oneOf is the graph of one node, named y, that reads the others.
func oneOf(y *ir.Node) *ir.Graph {
	g := &ir.Graph{Name: y.Op.Name, Out: []ir.Output{{Name: "y", Node: y}}, Stage: ir.StageFloat}
	for _, a := range y.Args {
		g.Nodes = append(g.Nodes, a)
		if !a.IsConst() {
			g.In = append(g.In, a)
		}
	}
	g.Nodes = append(g.Nodes, y)
	return g
}

// TestLibraryHalves: linear nodes on floats of 16 bits run the product of words, of any sizes, with a bias or without.
func TestLibraryHalves(t *testing.T) {
	runLibrary(t, "w16a16", libraryCases, func(r *rand.Rand) *ir.Graph {
		f := halfOf(r)
		m, n, k := sizeOf(r, 40), sizeOf(r, 140), sizeOf(r, 300)
		args := []*ir.Node{valueOf("x", f, m, k), constantOf(r, "w", f, n, k)}
		if r.IntN(3) > 0 {
			args = append(args, constantOf(r, "b", format.FP32, n))
		}
		return oneOf(&ir.Node{Name: "y", Op: sum.Linear, Args: args,
			Type: ir.Type{Shape: []int{m, n}, Format: []format.Format{format.BF16, format.F16, format.FP32}[r.IntN(3)]}})
	})
}

// TestLibraryBlocks: weights whose own format is MXINT8 stay in blocks of bytes.
func TestLibraryBlocks(t *testing.T) {
	runLibrary(t, "w8a16", libraryCases, func(r *rand.Rand) *ir.Graph {
		m, n, k := sizeOf(r, 40), sizeOf(r, 140), sizeOf(r, 300)
		args := []*ir.Node{valueOf("x", format.FP32, m, k), constantOf(r, "w", format.FP32, n, k)}
		if r.IntN(3) > 0 {
			args = append(args, constantOf(r, "b", format.FP32, n))
		}
		g := oneOf(&ir.Node{Name: "y", Op: sum.Linear, Args: args, Type: ir.Float(m, n)})
		p, err := kernels.ParsePrecision("bf16", "mxint8")
		if err != nil {
			t.Fatal(err)
		}
		if g, _, err = kernels.Run(t.Context(), g, p, library.Portable(), kernels.Options{Unfused: true}); err != nil {
			t.Fatal(err)
		}
		return g
	})
}

// TestLibraryHalfRows: softmax and norms read and write floats of 16 bits.
func TestLibraryHalfRows(t *testing.T) {
	for _, o := range []*ir.Op{norm.Softmax, norm.LayerNorm, norm.RMSNorm} {
		t.Run(o.Name, func(t *testing.T) {
			runLibrary(t, o.Name, libraryCases/2, func(r *rand.Rand) *ir.Graph {
				for i := r.IntN(1 << 20); ; i++ {
					drawn, from := difftest.Case(o, i)
					g, err := difftest.Float(from, drawn)
					if err != nil {
						t.Fatal(err)
					}
					x, y := g.In[0], g.Out[0].Node
					x.Type.Format = halfOf(r)
					y.Type.Format = []format.Format{x.Type.Format, format.FP32}[r.IntN(2)]
					if d, err := cuda.Emit(g, cuda.Options{}); err == nil && d.Units[len(d.Units)-1].Template != "" {
						return g // and not along another axis, or of gains that are computed
					}
				}
			})
		})
	}
}

// TestLibraryAttention: attention in floats of 16 bits runs one kernel, whatever the mask, the order and the heads.
func TestLibraryAttention(t *testing.T) {
	tools.NeedNVRTC(t)
	for i := range libraryCases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := difftest.Rand("attention in kernels", i)
			g := attentionOf(r)
			engine := libraryEngine(r)
			d, err := cuda.Emit(g, engine.options)
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Units) != 1 || !strings.HasPrefix(d.Units[0].Template, "sdpa<") {
				t.Fatalf("%d kernels, the first runs %q: %s\n%s", len(d.Units), d.Units[0].Template, d.Units[0].Notes,
					difftest.Describe(g))
			}
			// Weights of the values are rounded to 16 bits: at most 2^-9 of each, and of their sum.
			compareDesign(t, engine, g, d, r, 0x1p-7)
		})
	}
}

// attentionOf draws a node of attention that the library takes.
func attentionOf(r *rand.Rand) *ir.Graph {
	f, dim := halfOf(r), []int{8, 16, 32, 64, 80, 96, 128}[r.IntN(7)]
	batch, kv, queries, keys := 1+r.IntN(2), 1+r.IntN(2), sizeOf(r, 70), sizeOf(r, 100)
	heads := kv * (1 + r.IntN(2))
	args := []*ir.Node{valueOf("q", f, batch, heads, queries, dim), valueOf("k", f, batch, kv, keys, dim),
		valueOf("v", f, batch, kv, keys, dim)}
	mask := []int{[]int{1, batch}[r.IntN(2)], []int{1, heads}[r.IntN(2)], []int{1, queries}[r.IntN(2)], keys}
	switch r.IntN(5) {
	case 0:
		mask[0] = batch
		args = append(args, valueOf("mask", ir.Bool, mask...))
	case 1:
		mask[0] = batch
		args = append(args, valueOf("mask", []format.Format{f, format.FP32}[r.IntN(2)], mask...))
	case 2:
		args = append(args, constantOf(r, "mask", format.FP32, mask[2:]...))
	}
	return oneOf(&ir.Node{Name: "y", Op: sequence.Attention, Args: args,
		Attrs: &sequence.AttentionAttrs{Causal: r.IntN(2) == 0, Scale: []float32{0, 0.01}[r.IntN(2)]},
		Type:  ir.Type{Shape: []int{batch, heads, queries, dim}, Format: f}})
}
