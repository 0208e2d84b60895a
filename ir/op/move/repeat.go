// SPDX-License-Identifier: Apache-2.0

package move

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// RepeatAttrs hold the shape of the result.
type RepeatAttrs struct {
	Shape []int
}

// Repeat broadcasts a value to a shape, by NumPy's rule. Hardware repeats runs of one size; scheduling makes chains
// where a shape needs several.
var Repeat = &ir.Op{
	Name: "repeat", Doc: "x broadcast to a shape", Attrs: RepeatAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Whole: true, KeepsCodes: true, Monotone: true},
	Infer: func(n *ir.Node) ([]int, error) {
		want, have := n.Attrs.(*RepeatAttrs).Shape, n.Args[0].Type.Shape
		shape, err := walk.Broadcast(have, want)
		if err != nil || !slices.Equal(shape, want) {
			return nil, fmt.Errorf("%s does not broadcast to %s", ir.ShapeString(have), ir.ShapeString(want))
		}
		return want, nil
	},
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		return moveEval(n, walk.BroadcastIndex(n.Args[0].Type.Shape, n.Type.Shape), 0, 0), nil
	},
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		dims, axes := b.Dims(n.Type.Shape...), []int{0}[:b.Lead()]
		for k := range n.Args[0].Type.Shape {
			axes = append(axes, len(dims)-len(n.Args[0].Type.Shape)+k)
		}
		return carrier.Spread(b, args[0], dims, axes), b.Err()
	},
	RTL:   repeatRTL,
	Lanes: repeatLanes,
	Legal: column.SameFormat,
	Gen:   genRepeat,
}

// repetition is one run of elements that leaves several times: groups of them, each times.
type repetition struct {
	groups, times, run int
	shape              []int // of the result of this repetition alone
}

// repeatsOf lists the repetitions that broadcast argument 0 of n to its shape, outermost first, so that each holds as
// little as possible.
func repeatsOf(n *ir.Node) []repetition {
	out := n.Type.Shape
	in := append(slices.Repeat([]int{1}, len(out)-len(n.Args[0].Type.Shape)), n.Args[0].Type.Shape...)
	var list []repetition
	for i := 0; i < len(out); i++ {
		if in[i] == out[i] {
			continue
		}
		r := repetition{groups: walk.Size(in[:i]), times: 1}
		for ; i < len(out) && in[i] == 1; i++ { // axes of size 1 belong to any run
			r.times *= out[i]
			in[i] = out[i]
		}
		i--
		r.run, r.shape = walk.Size(in[i+1:]), slices.Clone(in)
		list = append(list, r)
	}
	return list
}

func repeatRTL(n *ir.Node) (*rtl.Unit, error) {
	list := repeatsOf(n)
	if len(list) == 0 {
		return &rtl.Unit{}, nil
	}
	if len(list) > 1 {
		return nil, n.Errorf(diag.JoinTooLarge, "hardware repeats along adjacent axes; %s to %s needs %d such repeats",
			ir.ShapeString(n.Args[0].Type.Shape), ir.ShapeString(n.Type.Shape), len(list))
	}
	if err := checkMove(n); err != nil {
		return nil, err
	}
	r, lanes := list[0], n.HW.OutLanes
	if r.run == 1 {
		return rtl.NewUnit("op_repeat", "WIDTH", n.Type.BeatWidth(1), "COPIES", lanes, "BEATS", 1, "TIMES", r.times/lanes,
			"GROUPS", r.groups), nil
	}
	return rtl.NewUnit("op_repeat", "WIDTH", n.Type.BeatWidth(lanes), "COPIES", 1, "BEATS", r.run/lanes, "TIMES",
		r.times,
		"GROUPS", r.groups), nil
}

// repeatLanes are the lanes of the result; a run of one element comes alone.
func repeatLanes(n *ir.Node) (*ir.Lanes, error) {
	list := repeatsOf(n)
	legal := lane.Divisors(n.Type.Elems())
	single := len(list) == 1 && list[0].run == 1
	switch {
	case single:
		legal = lane.Divisors(list[0].times)
	case len(list) == 1:
		legal = lane.Divisors(list[0].run)
	}
	l, err := moves(func(*ir.Node) []int { return legal })(n)
	l.Meets = true
	if single {
		l.Tie = func(lanes int) (in, out int) { return 1, lanes }
	}
	return l, err
}

// InsertRepeats puts repeats in front of element-wise operations whose streams broadcast, and splits every repeat into
// those that hardware has.
func InsertRepeats(g *ir.Graph) {
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op == Repeat {
			chainRepeats(g, n)
			continue
		}
		for i, a := range n.Args {
			if !n.Op.Traits.Elementwise || a.IsConst() || a.Type.Elems() == n.Type.Elems() {
				continue
			}
			r := &ir.Node{Name: g.FreshName(n.Name + ".repeat"), Op: Repeat, Attrs: &RepeatAttrs{slices.Clone(n.Type.Shape)},
				Args: []*ir.Node{a}, Type: a.Type.WithShape(n.Type.Shape), Pos: n.Pos, Stats: a.Stats}
			g.InsertBefore(n, r)
			n.Args[i] = r
			chainRepeats(g, r)
		}
	}
	g.DropDead()
}

// chainRepeats makes n the last of a chain of single repetitions.
func chainRepeats(g *ir.Graph, n *ir.Node) {
	list := repeatsOf(n)
	for _, r := range list[:max(len(list)-1, 0)] {
		x := n.Args[0]
		step := &ir.Node{Name: g.FreshName(n.Name + ".part"), Op: Repeat, Attrs: &RepeatAttrs{r.shape},
			Args: []*ir.Node{x}, Type: x.Type.WithShape(r.shape), Pos: n.Pos, Stats: n.Stats}
		g.InsertBefore(n, step)
		n.Args[0] = step
	}
}

func genRepeat(r *rand.Rand, o *ir.Op) *ir.Graph {
	shape := draw.Shape(r, 0, 4)
	have := append([]int(nil), shape...)
	for i := range have {
		if draw.Chance(r, 50) {
			have[i] = 1
		}
	}
	cut := 0
	for cut < len(have) && have[cut] == 1 && draw.Chance(r, 50) {
		cut++
	}
	x := draw.Input("x", ir.Type{Shape: have[cut:], Format: draw.Moved(r)})
	return draw.Graph(o, &RepeatAttrs{shape}, draw.Keeps(x.Type), x)
}
