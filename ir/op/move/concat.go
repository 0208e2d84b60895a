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

// ConcatAttrs hold the axis along which arrays are joined.
type ConcatAttrs struct {
	Axis int
}

// maxConcat bounds the arguments of one concat.
const maxConcat = 1 << 12

// Concat joins arrays along an axis. All have one format. Hardware joins two; scheduling makes chains of more.
var Concat = &ir.Op{
	Name: "concat", Doc: "arrays joined along an axis", Attrs: ConcatAttrs{}, Arity: [2]int{1, maxConcat},
	Traits: ir.Traits{Whole: true, Joins: true, Monotone: true, Axis: concatAxis},
	Infer:  inferConcat,
	Eval:   concatEval,
	HLO:    concatHLO,
	RTL:    concatRTL,
	Lanes:  moves(concatLanes),
	Legal:  column.OneFormat,
	Gen:    genConcat,
}

func concatAxis(attrs any) *int { return &attrs.(*ConcatAttrs).Axis }

func inferConcat(n *ir.Node) ([]int, error) {
	axis := n.Attrs.(*ConcatAttrs).Axis
	if err := onAxis(n, axis); err != nil {
		return nil, err
	}
	first, size := n.Args[0].Type.Shape, 0
	for _, a := range n.Args {
		s := a.Type.Shape
		if len(s) != len(first) || !slices.Equal(s[:axis], first[:axis]) || !slices.Equal(s[axis+1:], first[axis+1:]) {
			return nil, fmt.Errorf("cannot join %s and %s along axis %d", ir.ShapeString(first), ir.ShapeString(s), axis)
		}
		size += s[axis]
	}
	return resized(n, axis, size), nil
}

func concatEval(n *ir.Node) (ir.Kernel, error) {
	axis := n.Attrs.(*ConcatAttrs).Axis
	groups, fill := walk.Size(n.Type.Shape[:axis]), column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out, to := ir.NewTensor(n.Type), 0
		for g := range groups {
			for i, a := range n.Args {
				run := walk.Size(a.Type.Shape[axis:])
				column.CopyRun(out, to, args[i], g*run, run)
				to += run
			}
		}
		return out, nil
	}, nil
}

func concatHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	values := make([]hlo.Value, len(args))
	for i := range n.Args {
		v, err := carrier.EachSample(b, n, args, i)
		if err != nil {
			return hlo.Value{}, err
		}
		values[i] = v
	}
	return b.Concat(b.Axis(n.Attrs.(*ConcatAttrs).Axis), values...), b.Err()
}

func concatRTL(n *ir.Node) (*rtl.Unit, error) {
	if len(n.Args) == 1 {
		return &rtl.Unit{}, nil
	}
	if len(n.Args) != 2 {
		return nil, n.Errorf(diag.JoinTooLarge, "hardware joins two streams, not %d", len(n.Args))
	}
	for i, a := range n.Args {
		if a.IsConst() {
			return nil, n.Errorf(diag.ConstantJoined, "joining the constant %q to a stream has no hardware", a.Name).
				WithHint("quantize makes a sum of it where the graph is float; here, pad %q with zeros and add the constant",
					n.Args[1-i].Name)
		}
	}
	if err := checkMove(n); err != nil {
		return nil, err
	}
	axis, lanes := n.Attrs.(*ConcatAttrs).Axis, n.HW.OutLanes
	u := rtl.NewUnit("op_concat", "WIDTH", n.Type.BeatWidth(lanes), "A_BEATS",
		walk.Size(n.Args[0].Type.Shape[axis:])/lanes,
		"B_BEATS", walk.Size(n.Args[1].Type.Shape[axis:])/lanes, "GROUPS", walk.Size(n.Type.Shape[:axis]))
	u.In = []string{"a", "b"}
	return u, nil
}

// SplitConcats makes chains of two arguments each out of every concat of more, and takes those of one away.
func SplitConcats(g *ir.Graph) {
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op != Concat {
			continue
		}
		for len(n.Args) > 2 {
			a := *n.Attrs.(*ConcatAttrs)
			pair := &ir.Node{Name: g.FreshName(n.Name + ".join"), Op: Concat, Attrs: &a, Args: slices.Clone(n.Args[:2]),
				Type: n.Type, Pos: n.Pos, Stats: n.Stats}
			pair.Type.Shape = resized(n, a.Axis, n.Args[0].Type.Shape[a.Axis]+n.Args[1].Type.Shape[a.Axis])
			g.InsertBefore(n, pair)
			n.Args = append([]*ir.Node{pair}, n.Args[2:]...)
		}
		if len(n.Args) == 1 {
			g.Replace(n, n.Args[0])
		}
	}
	g.DropDead()
}

func concatLanes(n *ir.Node) []int {
	run := 0
	for _, x := range n.Args {
		run = lane.GCD(walk.Size(x.Type.Shape[n.Attrs.(*ConcatAttrs).Axis:]), run)
	}
	return lane.Divisors(run)
}

// genConcat draws one to four arguments, rarely a constant among them.
func genConcat(r *rand.Rand, o *ir.Op) *ir.Graph {
	t := ir.Type{Shape: draw.Shape(r, 1, 4), Format: draw.Moved(r)}
	a := &ConcatAttrs{Axis: r.IntN(len(t.Shape))}
	var args []*ir.Node
	for i, name := range []string{"a", "b", "c", "d"}[:draw.Between(r, 1, 4)] {
		s := append([]int(nil), t.Shape...)
		s[a.Axis] = draw.Between(r, 1, 4)
		x := draw.Input(name, t.WithShape(s))
		if i > 0 && draw.Chance(r, 8) {
			x = draw.Const(name, x.Type, draw.Codes(r, t.Format, x.Type.Elems()))
		}
		args = append(args, x)
	}
	return draw.Graph(o, a, draw.Keeps(t), args...)
}
