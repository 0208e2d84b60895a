// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"slices"
	"strings"

	"lathe/ir"
)

// Units is the graph of the units of g, each once: of nodes that share one, the first stands for all, and its constants
// know those of the others. Where nothing shares a unit it is g.
//
// What a node computes in later turns no engine reads from it: they run g, or what Unrolled makes of the graph.
func Units(g *ir.Graph) *ir.Graph {
	if !slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return n.HW.Unit != "" }) {
		return g
	}
	h := g.Clone()
	s := sharing{first: map[string]*ir.Node{}, consts: map[*ir.Node]*ir.Node{}}
	later := map[*ir.Node][]*ir.Node{}
	for _, n := range h.Nodes {
		s.first[n.Name] = n
		if n.HW.Unit != "" {
			first := s.first[n.HW.Unit]
			later[first] = append(later[first], n)
		}
	}
	for _, n := range slices.Clone(h.Nodes) {
		if n.HW.Unit != "" {
			continue
		}
		turns := later[n]
		slices.SortFunc(turns, func(a, b *ir.Node) int { return a.HW.Turn - b.HW.Turn })
		for i, a := range n.Args {
			switch {
			case a.HW.Unit != "":
				n.Args[i] = s.first[a.HW.Unit]
			case a.IsConst() && len(turns) > 0:
				n.Args[i] = s.constant(h, n, i, turns)
			}
		}
	}
	h.Nodes = slices.DeleteFunc(h.Nodes, func(n *ir.Node) bool { return n.HW.Unit != "" })
	h.DropDead()
	branches(h)
	return h
}

// sharing collects the units of a graph and their constants.
type sharing struct {
	first  map[string]*ir.Node // nodes by name
	consts map[*ir.Node]*ir.Node
}

// constant is argument i of n with those of its later turns; itself where all are the same.
func (s *sharing) constant(h *ir.Graph, n *ir.Node, i int, turns []*ir.Node) *ir.Node {
	a := n.Args[i]
	if known := s.consts[a]; known != nil {
		return known
	}
	c := *a
	data := *a.Attrs.(*ir.Const)
	differ := false
	for _, t := range turns {
		data.Turns = append(data.Turns, t.Args[i])
		differ = differ || !sameConst(a, t.Args[i])
	}
	if !differ {
		s.consts[a] = a
		return a
	}
	c.Attrs = &data
	c.Name = h.FreshName(a.Name + ".turns")
	h.InsertAfter(a, &c)
	s.consts[a] = &c
	return &c
}

func sameConst(a, b *ir.Node) bool {
	x, y := a.Attrs.(*ir.Const).Data, b.Attrs.(*ir.Const).Data
	return a == b || a.Type.SameFormat(b.Type) && slices.Equal(a.Type.Shape, b.Type.Shape) && x.DType == y.DType &&
		(x == y || slices.Equal(x.Bytes, y.Bytes))
}

// branches counts the readers of forks.
func branches(g *ir.Graph) {
	readers := g.Readers()
	for _, n := range g.Nodes {
		if !n.Op.Traits.Forks {
			continue
		}
		if n.HW.Branches = readers[n]; n.Op.Traits.Ring == ir.Replays && n.HW.Branches == 1 {
			n.HW.Branches = 0 // one stream, which comes again
		}
	}
}

// Turns says of the units of a graph in how many turns of a sample they work, where those are several: they lie
// between the parts of a ring. Those of rings count their turns themselves.
func Turns(units *ir.Graph) map[*ir.Node]int {
	turns := map[*ir.Node]int{}
	for _, n := range units.Nodes {
		for _, a := range n.Args {
			count := turns[a]
			if p := a.Op.Traits.Ring; p == ir.Enters || p == ir.Replays {
				count = a.Attrs.(*Ring).Turns
			}
			if count > 1 && n.Op.Traits.Ring == ir.NoRing {
				turns[n] = count
			}
		}
	}
	return turns
}

// ByToken has each token of a decoder make all its turns before the next one enters.
func ByToken(units *ir.Graph) {
	for n, turns := range Turns(units) {
		n.HW.Turns = turns
	}
	for _, n := range units.Nodes {
		if n.Op.Traits.Ring != ir.NoRing {
			n.HW.Turns = n.Attrs.(*Ring).Turns
		}
	}
}

// Unrolled is the graph of which units is that of the units: each turn has nodes of its own. copies names, for nodes of
// units that the model has too, those of turns 1, 2, ..; others are named after the first.
func Unrolled(units *ir.Graph, copies map[string][]*ir.Node) *ir.Graph {
	turns := Turns(units)
	if len(turns) == 0 {
		return units
	}
	g := units.Clone()
	u := unrolling{g: g, copies: copies, of: map[*ir.Node]*ir.Node{}}
	inside, most := map[*ir.Node]bool{}, 0
	for i, n := range units.Nodes {
		if turns[n] > 0 || n.Op.Traits.Ring == ir.Enters || n.Op.Traits.Ring == ir.Returns {
			inside[g.Nodes[i]] = true
			most = max(most, turns[n])
		}
	}
	first := slices.Clone(g.Nodes)
	for turn := 1; turn < most; turn++ {
		u.turn(first, inside, turn, most)
	}
	for _, n := range first {
		if c, ok := n.Attrs.(*ir.Const); ok && c.Turns != nil {
			c.Turns, n.Name = nil, strings.TrimSuffix(n.Name, ".turns")
		} else if n.Op.Traits.Ring == ir.Leaves {
			n.Args[0] = u.of[n.Args[0]]
		}
	}
	if err := g.Sort(); err != nil {
		return units // which then is refused by whoever checks it
	}
	out := g.Out
	for _, n := range g.Nodes { // the first turn stands for the unit, whoever needs what it then computes
		if n.HW.Unit == "" && !n.IsConst() {
			g.Out = append(g.Out[:len(g.Out):len(g.Out)], ir.Output{Node: n})
		}
	}
	g.DropDead()
	g.Out = out
	branches(g)
	return g
}

// unrolling writes the turns of a ring out.
type unrolling struct {
	g      *ir.Graph
	copies map[string][]*ir.Node
	of     map[*ir.Node]*ir.Node // the node of the latest turn
}

// turn adds the nodes of one turn, for those of the first that lie inside.
func (u *unrolling) turn(first []*ir.Node, inside map[*ir.Node]bool, turn, turns int) {
	was := u.of
	u.of = map[*ir.Node]*ir.Node{}
	returning := map[string]*ir.Node{}
	for _, n := range first {
		if n.Op.Traits.Ring == ir.Returns {
			if returning[n.HW.Back] = n; was[n] != nil {
				returning[n.HW.Back] = was[n]
			}
		}
	}
	for _, n := range first {
		if !inside[n] || n.Op.Traits.Ring == ir.Returns && turn == turns-1 {
			continue
		}
		c := *n
		c.Args, c.Attrs = slices.Clone(n.Args), ir.CloneAttrs(n.Attrs)
		c.HW.Unit, c.HW.Turn = n.Name, turn
		if list := u.copies[n.Name]; turn <= len(list) {
			m := list[turn-1]
			c.Name, c.Pos, c.Stats = m.Name, m.Pos, m.Stats
		} else {
			c.Name = u.g.FreshName(fmt.Sprintf("%s.%d", n.Name, turn+1))
		}
		for i, a := range n.Args {
			switch k, constant := a.Attrs.(*ir.Const); {
			case n.Op.Traits.Ring == ir.Enters:
				c.Args[i] = returning[n.Name]
			case constant && k.Turns != nil:
				c.Args[i] = u.constant(a, turn)
			case u.of[a] != nil:
				c.Args[i] = u.of[a]
			}
		}
		u.of[n] = &c
		u.g.Nodes = append(u.g.Nodes, &c)
	}
}

// constant is what stands for a in a turn.
func (u *unrolling) constant(a *ir.Node, turn int) *ir.Node {
	if c := u.of[a]; c != nil {
		return c
	}
	c := *a.Attrs.(*ir.Const).Turns[turn-1]
	u.of[a] = &c
	u.g.Nodes = append(u.g.Nodes, &c)
	return &c
}
