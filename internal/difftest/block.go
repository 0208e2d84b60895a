// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/dot"
	"lathe/ir/op/draw"
	"lathe/ir/op/geometry"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
)

// BlockKinds are the graphs over blocks that BlockCase draws.
var BlockKinds = []string{"encode", "decode", "linear", "conv", "relu", "reshape", "scores", "sums", "chain"}

// BlockCase draws graph i of a kind: formats of all widths, tails, blocks of zeros, scales far from each other.
func BlockCase(kind string, i int) (*ir.Graph, *rand.Rand) {
	r := Rand("blocks "+kind, i)
	b := &blockGraph{r: r, g: &ir.Graph{Name: kind, Stage: ir.StageQuantized}}
	x := b.kind(kind)
	b.g.Out = []ir.Output{{Name: "y", Node: x}}
	return b.g, r
}

// Blocks draws count graphs of a kind that are legal.
func Blocks(t *testing.T, kind string, count int) (graphs []*ir.Graph) {
	t.Helper()
	refused := 0
	for i := 0; len(graphs) < count; i++ {
		g, _ := BlockCase(kind, i)
		if err := g.Check(); err == nil {
			graphs = append(graphs, g)
		} else if refused++; refused > count+10 {
			t.Fatalf("%d of %s refused: %v\n%s", refused, kind, err, Describe(g))
		}
	}
	return graphs
}

// blockGraph is a graph under construction.
type blockGraph struct {
	r *rand.Rand
	g *ir.Graph
}

func (b *blockGraph) kind(kind string) *ir.Node {
	r := b.r
	switch kind {
	case "encode":
		return b.node(pointwise.Cast, nil, b.block(), b.input(b.fixed(48, 160), b.shape()...))
	case "decode":
		f := b.fixed(48, 30)
		f.Round = format.Round(r.IntN(int(format.RoundOutward) + 1))
		if f.Signed = r.IntN(4) > 0; f.W == 1 {
			f.W = 2
		}
		if f.Over = format.Over(r.IntN(4)); f.Over > format.Wrap {
			f.Over = draw.Limits(r, f)
		}
		return b.node(pointwise.Cast, nil, f, b.input(b.block(), b.shape()...))
	case "linear":
		return b.linear(b.data(b.shape()...))
	case "conv":
		return b.conv(b.data(1, 1+r.IntN(5), 1+r.IntN(5), 1+r.IntN(6)))
	case "scores", "sums":
		return b.attend(kind)
	case "relu":
		m := b.block()
		return b.node(pointwise.Relu, nil, m, b.input(m, b.shape()...))
	case "reshape":
		m := b.block()
		n := m.K * (1 + r.IntN(3))
		return b.node(move.Reshape, &move.ReshapeAttrs{Shape: []int{2 * n}}, m, b.input(m, 2, n))
	}
	m := b.block()
	x := b.node(pointwise.Cast, nil, m, b.input(b.fixed(16, 6), b.shape()...))
	x = b.node(pointwise.Relu, nil, m, b.node(pointwise.Cast, nil, m, b.linear(x)))
	return b.node(pointwise.Cast, nil, format.Fixed{W: 12, F: r.IntN(12), Signed: true}, b.linear(x))
}

// shape has rank 1 to 3 and rows of up to 20.
func (b *blockGraph) shape() []int {
	shape := []int{1 + b.r.IntN(20)}
	for range b.r.IntN(3) {
		shape = append([]int{1 + b.r.IntN(3)}, shape...)
	}
	return shape
}

// block draws a block format: mxint(8,k) half of the time.
func (b *blockGraph) block() format.MXInt {
	m := format.NewMXInt(8, []int{1, 2, 3, 4, 6, 8, 16, 32}[b.r.IntN(8)])
	if b.r.IntN(2) == 0 {
		m.W = 2 + b.r.IntN(15)
	}
	if b.r.IntN(3) == 0 {
		m.Round = format.Round(b.r.IntN(int(format.RoundOutward) + 1))
	}
	return m
}

// fixed draws a signed format of up to w bits; its fraction bits are up to far away from 0.
func (b *blockGraph) fixed(w, far int) format.Fixed {
	f := format.Fixed{W: 1 + b.r.IntN(w), Signed: true}
	f.F = b.r.IntN(f.W+8) - 4
	if b.r.IntN(4) == 0 {
		f.F = b.r.IntN(2*far+1) - far
	}
	return f
}

// data is an input in blocks, or for one in four in a fixed format.
func (b *blockGraph) data(shape ...int) *ir.Node {
	if b.r.IntN(4) == 0 {
		return b.input(b.fixed(16, 6), shape...)
	}
	return b.input(b.block(), shape...)
}

func (b *blockGraph) input(f format.Format, shape ...int) *ir.Node {
	n := &ir.Node{Name: b.g.FreshName("x"), Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: shape, Format: f}}
	b.g.Nodes, b.g.In = append(b.g.Nodes, n), append(b.g.In, n)
	return n
}

// node appends an operation on args, the last of which may be constants.
func (b *blockGraph) node(o *ir.Op, attrs any, f format.Format, args ...*ir.Node) *ir.Node {
	n := &ir.Node{Name: b.g.FreshName(o.Name), Op: o, Attrs: attrs, Args: args, Type: ir.Type{Format: f}}
	if s, err := o.Infer(n); err == nil { // without a shape the graph fails its check
		n.Type.Shape = s
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return n
}

// constant draws codes of f; blocks have scales around 1, or anywhere, or are zero.
func (b *blockGraph) constant(f format.Format, shape ...int) *ir.Node {
	t := ir.NewTensor(ir.Type{Shape: shape, Format: f})
	codes := codeRange(f)
	for i := range t.Codes {
		t.Codes[i] = draw.Code(b.r, codes)
	}
	typ := t.Type
	if len(t.BlockScales) > 0 {
		b.scales(t)
		typ.Scales = ir.ScaleValues(f.(format.Block), t.BlockScales)
	}
	n := &ir.Node{Name: b.g.FreshName("c"), Op: leaf.Const, Attrs: &ir.Const{Data: ir.CodeBlob(t.Codes)}, Type: typ}
	b.g.Nodes = append(b.g.Nodes, n)
	return n
}

func (b *blockGraph) scales(t *ir.Tensor) { fillScales(b.r, t, b.r.IntN(4)) }

// fillScales draws the scales of a value: kind 0 is any at all, of the others most lie around 1. Some blocks are zero.
func fillScales(r *rand.Rand, t *ir.Tensor, kind int) {
	t.EachBlock(func(block, from, to int) {
		t.BlockScales[block] = int64(120 + r.IntN(15))
		switch {
		case kind == 0 || r.IntN(20) == 0:
			t.BlockScales[block] = int64(r.IntN(255))
		case r.IntN(8) == 0:
			t.BlockScales[block] = 0
			clear(t.Codes[from:to])
		}
	})
}

// linear multiplies x by weights in blocks, or fixed ones where x is in blocks.
func (b *blockGraph) linear(x *ir.Node) *ir.Node {
	shape := x.Type.Shape
	return b.sum(sum.Linear, nil, x, 1+b.r.IntN(8), shape[len(shape)-1])
}

func (b *blockGraph) conv(x *ir.Node) *ir.Node {
	r, s := b.r, x.Type.Shape
	a := &sum.ConvAttrs{Groups: 1,
		Window: geometry.Window{Kernel: []int{1 + r.IntN(min(3, s[1])), 1 + r.IntN(min(3, s[2]))},
			Strides: []int{1 + r.IntN(2), 1 + r.IntN(2)}, Dilations: []int{1, 1}, Pads: make([]int, 4), ChannelsLast: true}}
	for i := range a.Pads {
		a.Pads[i] = r.IntN(a.Kernel[i%2])
	}
	return b.sum(sum.Conv, a, x, 1+r.IntN(6), a.Kernel[0], a.Kernel[1], s[3])
}

// sum adds weights of the given shape, and a bias for most; the accumulator is one that fits, or any.
func (b *blockGraph) sum(o *ir.Op, attrs any, x *ir.Node, shape ...int) *ir.Node {
	r := b.r
	m := b.block()
	w := format.Format(m)
	if xm, ok := x.Type.Format.(format.MXInt); ok {
		if m.K = xm.K; r.IntN(4) == 0 {
			w = b.fixed(8, 6)
		} else {
			w = m
		}
	}
	args := []*ir.Node{x, b.constant(w, shape...)}
	switch r.IntN(4) {
	case 0:
	case 1:
		args = append(args, b.constant(b.block(), shape[0]))
	default:
		args = append(args, b.constant(b.fixed(16, 20), shape[0]))
	}
	acc := format.Fixed{W: 4 + r.IntN(45), F: r.IntN(40) - 8, Signed: true, Round: format.RoundFloor}
	n := b.node(o, attrs, acc, args...)
	if r.IntN(3) > 0 {
		if fit, err := dot.ChooseWindow(n, 8+r.IntN(41), 4, -20); err == nil {
			n.Type.Format = fit
		}
	}
	return n
}

// otherBlock is a block format that is none of ir/format's: scale fields of 6 bits around 2^0 = 40.
type otherBlock struct{ format.IntBlock }

func (o otherBlock) String() string         { return fmt.Sprintf("other(%d,%d)", o.W, o.K) }
func (o otherBlock) CodeSet() format.Format { return o }

// OtherBlocks is blocks in and out, a sum over them, and relu on them.
func OtherBlocks(w, k, row, out int) *ir.Graph {
	f := otherBlock{format.IntBlock{W: w, K: k, ScaleBits: 6, Bias: 40}}
	b, y := sumOfBlocks(f, f, row, out)
	y = b.node(pointwise.Relu, nil, f, b.node(pointwise.Cast, nil, f, y))
	y = b.node(pointwise.Cast, nil, format.Fixed{W: 12, F: 5, Signed: true}, y)
	b.g.Out = []ir.Output{{Name: "y", Node: y}}
	return b.g
}

// SumOfBlocks is fixed values in blocks of format data, their sums with weights in blocks of format weight, those in
// blocks of format data, and decoded.
func SumOfBlocks(data, weight format.Block, row, out int) *ir.Graph {
	b, y := sumOfBlocks(data, weight, row, out)
	y = b.node(pointwise.Cast, nil, data, y)
	decoded := b.node(pointwise.Cast, nil, format.Fixed{W: 20, F: 9, Signed: true, Round: format.Rounding(data) % 9}, y)
	b.g.Out = []ir.Output{{Name: "codes", Node: y}, {Name: "y", Node: decoded}}
	return b.g
}

// sumOfBlocks is a sum of products of blocks that are encoded, and of weights.
func sumOfBlocks(f, weight format.Block, row, out int) (*blockGraph, *ir.Node) {
	b := &blockGraph{r: Rand("blocks of "+f.String(), row), g: &ir.Graph{Name: "other", Stage: ir.StageQuantized}}
	x := b.node(pointwise.Cast, nil, f, b.input(format.Fixed{W: 14, F: 9, Signed: true}, 3, row))
	values := make([]float32, out*row)
	for i := range values {
		values[i] = float32(b.r.NormFloat64()) * float32(int(1)<<(i/f.BlockSize()%5))
	}
	weights := ir.EncodeFloats(ir.Type{Shape: []int{out, row}, Format: weight}, values)
	typ := weights.Type
	typ.Scales = ir.ScaleValues(weight, weights.BlockScales)
	c := &ir.Node{Name: "w", Op: leaf.Const, Attrs: &ir.Const{Data: ir.CodeBlob(weights.Codes)}, Type: typ}
	b.g.Nodes = append(b.g.Nodes, c)
	return b, b.node(sum.Linear, nil, format.Fixed{W: 30, F: 14, Signed: true, Round: format.RoundFloor}, x, c)
}

// attend is a product of attention over blocks: of queries and keys, or of weights and values.
func (b *blockGraph) attend(kind string) *ir.Node {
	r := b.r
	batch, groups := 1+r.IntN(2), 1+r.IntN(2)
	queries, keys, heads, size := 1+r.IntN(4), 1+r.IntN(5), groups*(1+r.IntN(2)), 1+r.IntN(12)
	a := &sequence.SeenAttrs{}
	if r.IntN(2) == 0 {
		a.Causal, a.Offset = true, r.IntN(queries+keys+1)-queries
	}
	m := b.block()
	o, x, y := sequence.AttendScores, []int{batch, queries, heads, size}, []int{batch, keys, groups, size}
	second, other := format.Format(m), m
	if other.W = 2 + r.IntN(15); kind == "scores" {
		second = other
	} else {
		o, x, y = sequence.AttendSum, []int{batch, queries, heads, keys * 3}, []int{batch, keys * 3, groups, size}
		second = b.fixed(16, 6)
	}
	p := b.input(m, x...)
	if r.IntN(2) == 0 { // scales that a cast makes
		p = b.node(pointwise.Cast, nil, m, b.input(draw.Fixed(r, 16), x...))
	}
	n := b.node(o, a, format.Fixed{W: 4 + r.IntN(45), F: r.IntN(40) - 8, Signed: true, Round: format.RoundFloor}, p,
		b.input(second, y...))
	if r.IntN(3) > 0 {
		if fit, err := dot.ChooseWindow(n, 8+r.IntN(41), 4, -20); err == nil {
			n.Type.Format = fit
		}
	}
	return n
}
