// SPDX-License-Identifier: Apache-2.0

package move

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// SliceAttrs say which indices of an axis stay: Start, Start+Step, ..., Count of them.
type SliceAttrs struct {
	Axis, Start, Count, Step int
}

// Slice keeps some indices of one axis.
var Slice = &ir.Op{
	Name: "slice", Doc: "x[start : start+count*step : step] along an axis", Attrs: SliceAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Whole: true, KeepsCodes: true, Monotone: true, Tokens: sliceTokens,
		Axis: func(attrs any) *int { return &attrs.(*SliceAttrs).Axis }},
	Infer: func(n *ir.Node) ([]int, error) {
		a := n.Attrs.(*SliceAttrs)
		if err := onAxis(n, a.Axis); err != nil {
			return nil, err
		}
		if size := n.Args[0].Type.Shape[a.Axis]; a.Count < 0 || a.Step < 1 || a.Start < 0 || a.Start > size ||
			a.Count > 0 && (a.Start == size || (a.Count-1) > (size-1-a.Start)/a.Step) {
			return nil, fmt.Errorf("%d indices from %d in steps of %d exceed axis %d of %s", a.Count, a.Start, a.Step,
				a.Axis, ir.ShapeString(n.Args[0].Type.Shape))
		}
		return resized(n, a.Axis, a.Count), nil
	},
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		a := n.Attrs.(*SliceAttrs)
		in := n.Args[0].Type.Shape
		strides := make([]int, len(in))
		for i := range in {
			strides[i] = walk.Size(in[i+1:])
		}
		from := a.Start * strides[a.Axis]
		strides[a.Axis] *= a.Step
		w := walk.New(n.Type.Shape, strides)
		w.Offset[0] = from
		return walkEval(n, w), nil
	},
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		a := n.Attrs.(*SliceAttrs)
		dims, axis := args[0].Type().Dims, b.Axis(a.Axis)
		start, limit, stride := make([]int, len(dims)), slices.Clone(dims), slices.Repeat([]int{1}, len(dims))
		start[axis], limit[axis], stride[axis] = a.Start, a.Start+(a.Count-1)*a.Step+1, a.Step
		return b.Slice(args[0], start, limit, stride), b.Err()
	},
	RTL:   sliceRTL,
	Lanes: moves(sliceLanes),
	Legal: column.SameFormat,
	Gen:   genSlice,
}

// sliceTokens: of tokens, only the first one can be kept; of what is within them, anything.
func sliceTokens(n *ir.Node, axis int) ir.TokenWay {
	switch a := n.Attrs.(*SliceAttrs); {
	case a.Axis > axis:
		return ir.ByToken
	case a.Axis == axis && a.Start == 0 && a.Count == 1:
		return ir.FirstToken
	}
	return ir.AcrossTokens
}

func sliceRTL(n *ir.Node) (*rtl.Unit, error) {
	if n.Type.Elems() == n.Args[0].Type.Elems() {
		return &rtl.Unit{}, nil
	}
	if err := checkMove(n); err != nil {
		return nil, err
	}
	a, lanes := n.Attrs.(*SliceAttrs), n.HW.OutLanes
	in := n.Args[0].Type.Shape
	inner, run, every, count := walk.Size(in[a.Axis+1:]), a.Count, a.Count, 1
	if a.Step > 1 && a.Count > 1 {
		run, every, count = 1, a.Step, a.Count
	}
	u := rtl.NewUnit("op_slice", "WIDTH", n.Type.BeatWidth(lanes), "BEATS", in[a.Axis]*inner/lanes,
		"FIRST", a.Start*inner/lanes, "RUN", run*inner/lanes, "EVERY", every*inner/lanes, "COUNT", count,
		"GROUPS", walk.Size(in[:a.Axis]))
	if tokens := n.Args[0].HW.Tokens; tokens > 0 && in[a.Axis] == tokens && walk.Size(in[:a.Axis]) == 1 {
		u.With("ENDS", 1)
		u.Ends = "in"
	}
	return u, nil
}

func sliceLanes(n *ir.Node) []int {
	a := n.Attrs.(*SliceAttrs)
	inner := walk.Size(n.Type.Shape[a.Axis+1:])
	if a.Step > 1 && a.Count > 1 {
		return lane.Divisors(inner)
	}
	return lane.Divisors(inner * lane.GCD(n.Args[0].Type.Shape[a.Axis], lane.GCD(a.Start, a.Count)))
}

func genSlice(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 4), Format: draw.Moved(r)})
	a := &SliceAttrs{Axis: r.IntN(len(x.Type.Shape)), Step: 1}
	size := x.Type.Shape[a.Axis]
	if a.Start = r.IntN(size); draw.Chance(r, 40) {
		a.Step = draw.Between(r, 1, 3)
	}
	a.Count = draw.Between(r, 1, (size-1-a.Start)/a.Step+1)
	return draw.Graph(o, a, draw.Keeps(x.Type), x)
}
