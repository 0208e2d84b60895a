// SPDX-License-Identifier: Apache-2.0

package move

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// StretchAttrs say where each of Size elements of an axis comes from: element i is element (i*Step + Start) / Of,
// rounded down, or the nearest at the ends of the axis.
type StretchAttrs struct {
	Axis, Size, Start, Step, Of int
}

// Stretch makes an axis longer: every element once or several times, in order. Images grow by whole factors that way
// (Step 1, Of the factor), edges repeat (Of 1, Start negative), and any other factor has neighbours to interpolate.
var Stretch = &ir.Op{
	Name: "stretch", Doc: "the elements of an axis in order, each once or several times", Attrs: StretchAttrs{},
	Arity: [2]int{1, 1},
	Traits: ir.Traits{Whole: true, KeepsCodes: true, Monotone: true,
		Axis: func(attrs any) *int { return &attrs.(*StretchAttrs).Axis }},
	Infer: inferStretch,
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		a, size := n.Attrs.(*StretchAttrs), stretched(n)
		return moveEval(n, along(n, a.Axis, func(i int) int { return a.Place(i, size) }), 0, 0), nil
	},
	HLO:   stretchHLO,
	RTL:   stretchRTL,
	Lanes: moves(stretchLanes),
	Legal: column.SameFormat,
	Gen:   genStretch,
}

// Place is where element i of the result stands on an axis of size elements.
func (a *StretchAttrs) Place(i, size int) int {
	at := i*a.Step + a.Start
	if at < 0 {
		return 0
	}
	return min(at/a.Of, size-1)
}

// stretched is the size of the axis of argument 0.
func stretched(n *ir.Node) int { return n.Args[0].Type.Shape[n.Attrs.(*StretchAttrs).Axis] }

func inferStretch(n *ir.Node) ([]int, error) {
	a := n.Attrs.(*StretchAttrs)
	if err := onAxis(n, a.Axis); err != nil {
		return nil, err
	}
	if max(a.Size, a.Step, a.Of, -a.Start) > ir.MaxValue {
		return nil, fmt.Errorf("size %d, start %d, step %d and divisor %d are beyond %d", a.Size, a.Start, a.Step, a.Of,
			ir.MaxValue)
	}
	size := stretched(n)
	if a.Size < 1 || size < 1 || a.Step < 1 || a.Step > a.Of || a.Start >= a.Of || a.Place(a.Size-1, size) < size-1 {
		return nil, fmt.Errorf("%d places from %d in steps of %d, divided by %d, do not visit every element of axis %d of %s",
			a.Size, a.Start, a.Step, a.Of, a.Axis, ir.ShapeString(n.Args[0].Type.Shape))
	}
	return resized(n, a.Axis, a.Size), nil
}

// stretchHLO brings the axis to the front, takes its slices by a constant of places, and brings it back.
func stretchHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	a := n.Attrs.(*StretchAttrs)
	places := make([]int64, a.Size)
	for i := range places {
		places[i] = int64(a.Place(i, stretched(n)))
	}
	axis := b.Axis(a.Axis)
	first := []int{axis}
	for i := range args[0].Type().Dims {
		if i != axis {
			first = append(first, i)
		}
	}
	back := make([]int, len(first))
	for i, p := range first {
		back[p] = i
	}
	v := b.TakeI(b.Transpose(args[0], first...), b.Const(hlo.FromInt64s(hlo.I64, []int{a.Size}, places)))
	return b.Transpose(v, back...), b.Err()
}

func stretchRTL(n *ir.Node) (*rtl.Unit, error) {
	a, size := n.Attrs.(*StretchAttrs), stretched(n)
	if a.Size == size {
		return &rtl.Unit{}, nil
	}
	if err := checkMove(n); err != nil {
		return nil, err
	}
	shape, lanes := n.Args[0].Type.Shape, n.HW.OutLanes
	return rtl.NewUnit("op_stretch", "WIDTH", n.Type.BeatWidth(lanes), "BEATS", walk.Size(shape[a.Axis+1:])/lanes,
		"RUNS", size, "SIZE", a.Size, "START", a.Start, "STEP", a.Step, "OF", a.Of, "GROUPS", walk.Size(shape[:a.Axis])), nil
}

// stretchLanes divide the elements that are repeated together.
func stretchLanes(n *ir.Node) []int {
	a := n.Attrs.(*StretchAttrs)
	if a.Size == stretched(n) { // a wire
		return lane.Divisors(n.Type.Elems())
	}
	return lane.Divisors(walk.Size(n.Type.Shape[a.Axis+1:]))
}

// StretchOf are the attributes of the stretch of an axis of size elements whose places are these; nil if there is none.
func StretchOf(axis, size int, places []int) *StretchAttrs {
	out := len(places)
	if out < size || out == 0 {
		return nil
	}
	first := 0 // how often the first element stands there
	for first < out && places[first] == 0 {
		first++
	}
	second := first
	for second < out && places[second] == 1 {
		second++
	}
	times := max(second-first, 1) // of every element but the first and the last, if the factor is whole
	tries := []StretchAttrs{{axis, out, times - first, 1, times}}
	for _, n := range []int{size, size + 1} { // the neighbour behind a place never is the first element
		tries = append(tries, StretchAttrs{axis, out, 0, n, out}, StretchAttrs{axis, out, n - out, 2 * n, 2 * out},
			StretchAttrs{axis, out, n + out, 2 * n, 2 * out}, StretchAttrs{axis, out, 0, n - 1, out - 1})
	}
	for _, a := range tries {
		if a.Step < 1 || a.Step > a.Of || a.Start >= a.Of {
			continue
		}
		same := true
		for i, p := range places {
			same = same && a.Place(i, size) == p
		}
		if same && places[out-1] == size-1 {
			return &a
		}
	}
	return nil
}

func genStretch(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 4), Format: draw.Moved(r)})
	a := &StretchAttrs{Axis: r.IntN(len(x.Type.Shape)), Step: 1, Of: draw.Between(r, 1, 3)}
	a.Start = draw.Between(r, -2, a.Of-1)
	if draw.Chance(r, 40) {
		a.Of += r.IntN(5)
		a.Step = draw.Between(r, 1, a.Of)
	}
	// The least size that reaches the last element, and up to three more of it.
	least := ((x.Type.Shape[a.Axis]-1)*a.Of - a.Start + a.Step - 1) / a.Step
	a.Size = max(least, 0) + 1 + r.IntN(4)
	return draw.Graph(o, a, draw.Keeps(x.Type), x)
}
