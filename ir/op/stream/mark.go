// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// Mark says in band where frames of changing length end. Argument 1 has an element a token: as many ones as a frame has
// tokens, then zeros; its stream has a bit for each token that is there, 1 for the last one. The value is argument 0.
// It exists only in scheduled graphs, in front of units that keep a state over tokens, and of outputs.
var Mark = &ir.Op{
	Name: "mark", Doc: "marks the last beat of each frame, for what counts tokens", Arity: [2]int{2, 2},
	Traits: ir.Traits{KeepsCodes: true, Blocks: func(*ir.Node) bool { return true }},
	Infer:  column.SameShape,
	Eval:   column.PassThrough,
	HLO:    func(_ *hlo.Builder, _ *ir.Node, args []hlo.Value) (hlo.Value, error) { return args[0], nil },
	Legal: func(n *ir.Node) error {
		if a := n.Args[0].Type; n.Args[1].Type.Elems() != a.Tokens() {
			return fmt.Errorf("%s has %d tokens, and %q says of %d whether they are there", ir.ShapeString(a.Shape),
				a.Tokens(), n.Args[1].Name, n.Args[1].Type.Elems())
		}
		if n.Type.InBlocks() && n.Type.SameFormat(n.Args[0].Type) {
			return nil
		}
		return column.SameFormat(n)
	},
	Gen:   genMark,
	Lanes: lane.Follows,
	RTL: func(n *ir.Node) (*rtl.Unit, error) {
		u := rtl.NewUnit("stream_mark", "WIDTH", n.Type.BeatWidth(n.HW.InLanes), "BEATS", n.Beats()/n.HW.Tokens)
		u.In, u.Frames = []string{"a", "b"}, n.HW.Tokens
		return u, nil
	},
}

// InsertMarks puts a mark in front of every unit that needs one: ends says for which argument, -1 for none. Outputs
// whose frames change in length get one too. bits is the input of ends.
func InsertMarks(g *ir.Graph, bits *ir.Node, ends func(*ir.Node) (int, error)) error {
	from := bits
	for _, u := range g.Users()[bits] {
		if u.Op == Fork {
			from = u
		}
	}
	mark := func(name string, x *ir.Node) *ir.Node {
		lanes, row := x.HW.OutLanes, x.HW.RowOut
		hw := ir.HW{Frames: ir.Frames{Tokens: bits.HW.Tokens, Marked: true},
			Widths: ir.Widths{InLanes: lanes, OutLanes: lanes, StreamIn: lanes, Second: 1, RowIn: row, RowOut: row}}
		return &ir.Node{Name: g.FreshName(name), Op: Mark, Args: []*ir.Node{x, from}, Type: x.Type, Pos: x.Pos, HW: hw,
			Stats: x.Stats}
	}
	for _, n := range slices.Clone(g.Nodes) {
		if n.IsConst() || n.Op.Traits.Source {
			continue
		}
		i, err := ends(n)
		if err != nil {
			return err
		}
		if i >= 0 {
			m := mark(n.Name+".mark", n.Args[i])
			g.InsertBefore(n, m)
			n.Args[i] = m
		}
	}
	for i, o := range g.Out {
		if o.Node.HW.Tokens > 0 {
			m := mark(o.Name+".mark", o.Node)
			g.Nodes = append(g.Nodes, m)
			g.Out[i].Node = m
		}
	}
	if readers := g.Readers()[from]; from == bits {
		InsertForks(g)
	} else {
		from.HW.Branches = readers
	}
	for _, u := range g.Users()[bits] {
		u.HW.InLanes, u.HW.OutLanes, u.HW.StreamIn, u.HW.Tokens = 1, 1, 1, bits.HW.Tokens
	}
	return nil
}

// genMark draws a value of tokens and how many of them there are.
func genMark(r *rand.Rand, o *ir.Op) *ir.Graph {
	tokens := draw.Between(r, 2, 6)
	x := draw.Input("x", ir.Type{Shape: []int{1, tokens, draw.Between(r, 1, 5)}, Format: draw.Moved(r)})
	bits := draw.Input("bits", ir.Type{Shape: []int{1, tokens}, Format: format.Fixed{W: 1}})
	g := draw.Graph(o, nil, draw.Keeps(x.Type), x, bits)
	for _, n := range g.Nodes {
		n.HW.Tokens = tokens
	}
	return g
}
