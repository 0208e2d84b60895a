// SPDX-License-Identifier: Apache-2.0

package move

import (
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// ReverseAttrs name the axis that turns around.
type ReverseAttrs struct{ Axis int }

// Reverse has the indices of one axis from the last to the first. Hardware keeps two frames of the axes from there on.
var Reverse = &ir.Op{
	Name: "reverse", Doc: "the indices of an axis from the last to the first", Attrs: ReverseAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Whole: true, KeepsCodes: true, Monotone: true,
		Axis: func(attrs any) *int { return &attrs.(*ReverseAttrs).Axis }},
	Infer: func(n *ir.Node) ([]int, error) {
		return n.Args[0].Type.Shape, onAxis(n, n.Attrs.(*ReverseAttrs).Axis)
	},
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		axis := n.Attrs.(*ReverseAttrs).Axis
		return moveEval(n, along(n, axis, func(i int) int { return n.Type.Shape[axis] - 1 - i }), 0, 0), nil
	},
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		return b.Reverse(args[0], b.Axis(n.Attrs.(*ReverseAttrs).Axis)), b.Err()
	},
	RTL:   reverseRTL,
	Lanes: moves(func(n *ir.Node) []int { return lane.Divisors(reverseRun(n)) }),
	Legal: column.SameFormat,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 4), Format: draw.Moved(r)})
		return draw.Graph(o, &ReverseAttrs{r.IntN(len(x.Type.Shape))}, draw.Keeps(x.Type), x)
	},
}

// reverseRun is the number of elements that move as one: all of them, where the axis has one index.
func reverseRun(n *ir.Node) int {
	axis := n.Attrs.(*ReverseAttrs).Axis
	if n.Type.Shape[axis] == 1 {
		return n.Type.Elems()
	}
	return walk.Size(n.Type.Shape[axis+1:])
}

func reverseRTL(n *ir.Node) (*rtl.Unit, error) {
	axis := n.Attrs.(*ReverseAttrs).Axis
	size := n.Type.Shape[axis]
	if size == 1 {
		return &rtl.Unit{}, nil
	}
	if err := checkMove(n); err != nil {
		return nil, err
	}
	lanes := n.HW.OutLanes
	run := reverseRun(n) / lanes
	return rtl.NewUnit("op_reorder", "WIDTH", n.Type.BeatWidth(lanes), "BEATS", size*run, "D4", size, "S4", -run,
		"D5", run, "S5", 1, "BASE", (size-1)*run, "GROUPS", walk.Size(n.Type.Shape[:axis]),
		"STYLE", hardware.MemStyle(n)), nil
}
