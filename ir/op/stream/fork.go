// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// Fork gives every beat to HW.Branches readers; it exists only in scheduled graphs, where no other node has more than
// one reader. Branches are numbered by the readers in graph order, then the outputs of the graph.
var Fork = &ir.Op{
	Name: "fork", Doc: "gives every beat to each of its readers", Arity: [2]int{1, 1},
	Traits: ir.Traits{KeepsCodes: true, Monotone: true, Elementwise: true, Forks: true},
	Infer:  column.SameShape,
	Eval:   column.PassThrough,
	HLO:    func(_ *hlo.Builder, _ *ir.Node, args []hlo.Value) (hlo.Value, error) { return args[0], nil },
	Legal:  column.SameFormat,
	Gen:    genFork,
	Lanes:  lane.Follows,
	RTL: func(n *ir.Node) (*rtl.Unit, error) {
		u := rtl.NewUnit("stream_fork", "WIDTH", n.Type.BeatWidth(n.HW.InLanes), "N", max(n.HW.Branches, 1))
		u.Frames = n.Beats()
		return u, nil
	},
}

// InsertForks puts a fork behind every computed value that several nodes or outputs read.
func InsertForks(g *ir.Graph) {
	readers := g.Readers()
	for _, n := range append([]*ir.Node(nil), g.Nodes...) {
		if readers[n] < 2 || n.IsConst() || n.Op == Fork {
			continue
		}
		f := &ir.Node{Name: g.FreshName(n.Name + ".fork"), Op: Fork, Type: n.Type, Stats: n.Stats, Pos: n.Pos,
			HW: ir.HW{Adapter: ir.Adapter{Branches: readers[n]}, Frames: ir.Frames{Tokens: n.HW.Tokens}}}
		g.Replace(n, f)
		f.Args = []*ir.Node{n}
		g.InsertAfter(n, f)
	}
}

// genFork draws a fork whose branches are all outputs.
func genFork(r *rand.Rand, o *ir.Op) *ir.Graph {
	g := draw.Same(r, o)
	f := g.Out[0].Node
	f.HW.Branches = draw.Between(r, 1, 4)
	for i := 1; i < f.HW.Branches; i++ {
		g.Out = append(g.Out, ir.Output{Name: "y" + string(rune('0'+i)), Node: f})
	}
	return g
}
