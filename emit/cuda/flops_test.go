// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"testing"

	"lathe/emit/cuda"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/geometry"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
)

// counted is one operation on x, and the operations that it takes.
type counted struct {
	op      *ir.Op
	attrs   any
	x, w, y []int // w: of a constant argument, nil for none
	others  int   // constant arguments of one value a channel
	twice   bool  // x twice
	want    int64
}

var countedOps = map[string]counted{
	"linear": {op: sum.Linear, x: []int{1, 6}, w: []int{3, 6}, y: []int{1, 3}, want: 2 * 18},
	"conv": {op: sum.Conv, attrs: image(1), x: []int{1, 6, 6, 4}, w: []int{4, 3, 3, 4}, y: []int{1, 4, 4, 4},
		want: 2 * 64 * 36},
	"depthwise": {op: sum.Conv, attrs: image(4), x: []int{1, 6, 6, 4}, w: []int{4, 3, 3, 1}, y: []int{1, 4, 4, 4},
		want: 2 * 64 * 9},
	"scale":   {op: sum.Scale, attrs: &column.ScaleAttrs{Axis: 1}, x: []int{1, 8}, y: []int{1, 8}, others: 2, want: 2 * 8},
	"add":     {op: pointwise.Add, x: []int{4, 6}, y: []int{4, 6}, twice: true, want: 24},
	"mul":     {op: pointwise.Mul, x: []int{4, 6}, y: []int{4, 6}, twice: true, want: 24},
	"relu":    {op: pointwise.Relu, x: []int{4, 6}, y: []int{4, 6}, want: 24},
	"sigmoid": {op: curve.Sigmoid, x: []int{4, 6}, y: []int{4, 6}, want: 24},
	"maxpool": {op: window.MaxPool, attrs: &image(1).Window, x: []int{1, 6, 6, 4}, y: []int{1, 4, 4, 4}, want: 64 * 9},
	"reshape": {op: move.Reshape, attrs: &move.ReshapeAttrs{Shape: []int{24}}, x: []int{4, 6}, y: []int{24}},
}

func image(groups int) *sum.ConvAttrs {
	return &sum.ConvAttrs{Groups: groups, Window: geometry.Window{Kernel: []int{3, 3}, Strides: []int{1, 1},
		Pads: []int{0, 0, 0, 0}, Dilations: []int{1, 1}, ChannelsLast: true}}
}

func (c counted) graph(quantized bool) *ir.Graph {
	value := func(shape []int) ir.Type {
		if quantized {
			return ir.Type{Shape: shape, Format: format.Fixed{W: 8, F: 4, Signed: true}}
		}
		return ir.Float(shape...)
	}
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: value(c.x)}
	y := &ir.Node{Name: "y", Op: c.op, Attrs: c.attrs, Args: []*ir.Node{x}, Type: value(c.y)}
	g := &ir.Graph{Name: "net", In: []*ir.Node{x}, Nodes: []*ir.Node{x}, Out: []ir.Output{{Name: "y", Node: y}}}
	constant := func(shape []int) {
		t := value(shape)
		codes, floats := make([]int64, t.Elems()), make([]float32, t.Elems())
		for i := range codes {
			codes[i], floats[i] = int64(i%7-3), float32(i%7)/8
		}
		w := &ir.Node{Name: "w", Op: leaf.Const, Type: t, Attrs: &ir.Const{Data: ir.FloatBlob(floats)}}
		if quantized {
			w.Attrs = &ir.Const{Data: ir.CodeBlob(codes)}
		}
		g.Nodes, y.Args = append(g.Nodes, w), append(y.Args, w)
	}
	if c.w != nil {
		constant(c.w)
	}
	for range c.others {
		constant(c.x[len(c.x)-1:])
	}
	if c.twice {
		y.Args = append(y.Args, x)
	}
	g.Nodes = append(g.Nodes, y)
	if g.Stage = ir.StageFloat; quantized {
		g.Stage = ir.StageQuantized
	}
	return g
}

// TestFlops: operations count alike in floats and in codes, by kernels of the library and by others.
func TestFlops(t *testing.T) {
	for name, c := range countedOps {
		for _, quantized := range []bool{false, true} {
			for _, generic := range []bool{false, true} {
				d, err := cuda.Emit(c.graph(quantized), cuda.Options{Generic: generic})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				sum := int64(0)
				for _, u := range d.Units {
					sum += u.Flops
				}
				if sum != c.want {
					t.Errorf("%s, quantized %t, generic %t: %d operations, want %d", name, quantized, generic, sum, c.want)
				}
			}
		}
	}
	d, err := cuda.Emit(network(), cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// of softmax: a maximum, a difference, an exponential, a sum, a quotient
	if u := d.Units[len(d.Units)-1]; u.Node != "p" || u.Flops != 5*4*300 {
		t.Errorf("%s: %d operations, want %d", u.Node, u.Flops, 5*4*300)
	}
}
