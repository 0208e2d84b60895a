// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"testing"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/geometry"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
)

// blockFaults are those of values in blocks.
var blockFaults = map[diag.Code]func(t *testing.T) error{
	"L0347": func(*testing.T) error {
		w := blockWeights(format.NewMXInt(8, 2), 4, 1, 1, 2)
		a := &sum.ConvAttrs{Groups: 2,
			Window: geometry.Window{Kernel: []int{1, 1}, Strides: []int{1, 1}, Dilations: []int{1, 1},
				Pads: []int{0, 0, 0, 0}, ChannelsLast: true}}
		n := &ir.Node{Name: "y", Op: sum.Conv, Attrs: a, Type: ir.Type{Shape: []int{1, 2, 2, 4}, Format: window},
			Args: []*ir.Node{input("x", format.NewMXInt(8, 2), 1, 2, 2, 4), w}}
		_, err := sum.Conv.Eval(n)
		return err
	},
	"L0348": func(*testing.T) error {
		_, err := sum.Linear.Eval(blockLinear(4, 2))
		return err
	},
	"L0650": func(*testing.T) error {
		n := blockLinear(2, 2)
		n.HW = ir.HW{Widths: ir.Widths{InLanes: 2, Rows: 2, OutLanes: 1, StreamIn: 2}}
		_, err := sum.Linear.RTL(n)
		return err
	},
	"L0651": func(t *testing.T) error {
		n := add(t, pointwise.Cast, "y", input("x", format.NewMXInt(8, 4), 12))
		n.Type.Format = format.Fixed{W: 8, Signed: true}
		n.HW = ir.HW{Widths: ir.Widths{InLanes: 3, OutLanes: 3}}
		_, err := pointwise.Cast.RTL(n)
		return err
	},
}

// window is an accumulator.
var window = format.Fixed{W: 24, F: 12, Signed: true, Round: format.RoundFloor}

// blockWeights is a constant of ones.
func blockWeights(f format.MXInt, shape ...int) *ir.Node {
	t := ir.Type{Shape: shape, Format: f}
	codes := make([]int64, t.Elems())
	for i := range codes {
		codes[i] = 1
	}
	for range t.Blocks() {
		t.Scales = append(t.Scales, 1)
	}
	return &ir.Node{Name: "w", Op: leaf.Const, Attrs: &ir.Const{Data: ir.CodeBlob(codes)}, Type: t}
}

// blockLinear is a linear of data in blocks of k and weights in blocks of j.
func blockLinear(k, j int) *ir.Node {
	return &ir.Node{Name: "y", Op: sum.Linear, Type: ir.Type{Shape: []int{2}, Format: window},
		Args: []*ir.Node{input("x", format.NewMXInt(8, k), 4), blockWeights(format.NewMXInt(8, j), 2, 4)}}
}
