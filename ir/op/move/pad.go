// SPDX-License-Identifier: Apache-2.0

package move

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// PadAttrs say how many elements of a value stand before and behind an axis; with Each before and behind every element
// of it.
type PadAttrs struct {
	Axis, Before, After int
	Value               float32
	Each                bool
}

// Pad puts a constant before and behind one axis, or every element of it.
//
// The format must hold the constant, up to its rounding to float32: another one would not be what the model says.
var Pad = &ir.Op{
	Name: "pad", Doc: "a constant before and behind an axis, or each element of it", Attrs: PadAttrs{},
	Arity: [2]int{1, 1},
	Traits: ir.Traits{Whole: true, Joins: true, Monotone: true,
		Axis: func(attrs any) *int { return &attrs.(*PadAttrs).Axis }},
	Infer: func(n *ir.Node) ([]int, error) {
		a := n.Attrs.(*PadAttrs)
		if err := onAxis(n, a.Axis); err != nil {
			return nil, err
		}
		if a.Before < 0 || a.After < 0 || a.Before > ir.MaxValue || a.After > ir.MaxValue {
			return nil, fmt.Errorf("pads %d and %d must lie in 0 to %d", a.Before, a.After, ir.MaxValue)
		}
		runs, run := a.runs(n)
		if runs > ir.MaxValue/(a.Before+run+a.After+1) {
			return nil, fmt.Errorf("pads %d and %d of each of %d elements exceed %d", a.Before, a.After, runs, ir.MaxValue)
		}
		return resized(n, a.Axis, runs*(a.Before+run+a.After)), nil
	},
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		a := n.Attrs.(*PadAttrs)
		_, run := a.runs(n)
		turn := a.Before + run + a.After
		index := along(n, a.Axis, func(i int) int {
			k := i%turn - a.Before
			if k < 0 || k >= run {
				return -1
			}
			return i/turn*run + k
		})
		return moveEval(n, index, a.Value, padCode(n)), nil
	},
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		a := n.Attrs.(*PadAttrs)
		low, high := make([]int, b.Axis(len(n.Type.Shape))), make([]int, b.Axis(len(n.Type.Shape)))
		low[b.Axis(a.Axis)], high[b.Axis(a.Axis)] = a.Before, a.After
		inner := make([]int, len(low))
		if a.Each {
			inner[b.Axis(a.Axis)] = a.Before + a.After
		}
		value := b.Float(hlo.F32, float64(a.Value))
		if !n.Type.IsFloat() {
			value = b.Int(carrier.DType(n.Type), padCode(n))
		}
		return b.Pad(args[0], value, low, high, inner), b.Err()
	},
	RTL:   padRTL,
	Lanes: moves(padLanes),
	Legal: func(n *ir.Node) error {
		if err := column.OneFormat(n); err != nil {
			return err
		}
		if a := n.Attrs.(*PadAttrs); n.Type.Format.Decode(padCode(n)).Float32() != a.Value {
			return fmt.Errorf("%s has no code for %g, which pads %s", n.Type.Format, a.Value,
				ir.ShapeString(n.Args[0].Type.Shape))
		}
		return nil
	},
	Gen: genPad,
}

// runs is how many runs of elements of the axis have something before and behind them, and how long each is.
func (a *PadAttrs) runs(n *ir.Node) (runs, run int) {
	size := n.Args[0].Type.Shape[a.Axis]
	if a.Each {
		return size, 1
	}
	return 1, size
}

// padCode is the code of the constant among those of the result's format; 0 in a float graph.
func padCode(n *ir.Node) int64 {
	if n.Type.IsFloat() {
		return 0
	}
	return n.Type.Format.CodeSet().Encode(format.FromFloat32(n.Attrs.(*PadAttrs).Value))
}

func padRTL(n *ir.Node) (*rtl.Unit, error) {
	a, lanes := n.Attrs.(*PadAttrs), n.HW.OutLanes
	if a.Before+a.After == 0 {
		return &rtl.Unit{}, nil
	}
	if err := checkMove(n); err != nil {
		return nil, err
	}
	shape, w := n.Args[0].Type.Shape, n.Type.Format.Width()
	inner := walk.Size(shape[a.Axis+1:])
	runs, run := a.runs(n)
	u := rtl.NewUnit("op_pad", "LANES", lanes, "W", w, "BEFORE", a.Before*inner/lanes, "BODY", run*inner/lanes,
		"AFTER", a.After*inner/lanes, "GROUPS", runs*walk.Size(shape[:a.Axis]))
	u.Params = append(u.Params, rtl.Param{Name: "VALUE", Value: hardware.Hex(big.NewInt(padCode(n)), w)})
	return u, nil
}

func padLanes(n *ir.Node) []int {
	a := n.Attrs.(*PadAttrs)
	inner := walk.Size(n.Type.Shape[a.Axis+1:])
	_, run := a.runs(n)
	return lane.Divisors(inner * lane.GCD(run, lane.GCD(a.Before, a.After)))
}

// genPad draws a constant that the format has.
func genPad(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 4), Format: draw.Format(r)})
	a := &PadAttrs{Axis: r.IntN(len(x.Type.Shape)), Before: r.IntN(4), After: r.IntN(4),
		Each: draw.Chance(r, 25)}
	value := x.Type.Format.Decode(draw.Codes(r, x.Type.Format, 1)[0])
	if v := value.Float32(); x.Type.Format.Decode(x.Type.Format.CodeSet().Encode(format.FromFloat32(v))).Cmp(value) == 0 {
		a.Value = v
	} else { // a code of many bits
		x.Type.Format = draw.Fixed(r, 16)
	}
	return draw.Graph(o, a, draw.Keeps(x.Type), x)
}
