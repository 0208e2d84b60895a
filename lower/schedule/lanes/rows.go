// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"fmt"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/op/lane"
)

// padded is a value of rows of keys on its way through units that all know of dead lanes: its rows may be padded to a
// length that more lanes divide than the number of keys. All its beats have rows of one length.
type padded struct {
	keys  int
	nodes []*ir.Node
}

// findPadded finds such values by their nodes, those that make them, pass them on and take them, in a graph with forks.
// A node that gives dead lanes to an output or to a reader that knows nothing of them has rows as they are.
func findPadded(g *ir.Graph, users map[*ir.Node][]*ir.Node) map[*ir.Node]*padded {
	takes, gives := map[*ir.Node]bool{}, map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		if d, err := op.LanesOf(n); !n.IsConst() && err == nil {
			takes[n], gives[n] = d.TakesDead, d.GivesDead && len(users[n]) > 0
		}
	}
	for _, o := range g.Out {
		gives[o.Node] = false
	}
	for changed := true; changed; {
		changed = false
		refuse := func(of map[*ir.Node]bool, n *ir.Node) {
			changed = changed || of[n]
			of[n] = false
		}
		for _, n := range g.Nodes {
			if takes[n] && !gives[n.Args[0]] || takes[n] && !gives[n] && passes(n) {
				refuse(takes, n)
			}
			if gives[n] && !takes[n] && passes(n) || gives[n] && slices.ContainsFunc(users[n], func(u *ir.Node) bool {
				return !takes[u] || u.Args[0] != n || slices.Contains(u.Args[1:], n)
			}) {
				refuse(gives, n)
			}
		}
	}
	found := map[*ir.Node]*padded{}
	for _, n := range g.Nodes {
		switch {
		case takes[n]:
			found[n] = found[n.Args[0]]
		case gives[n]:
			found[n] = &padded{keys: n.Type.Row()}
		default:
			continue
		}
		found[n].nodes = append(found[n].nodes, n)
	}
	return found
}

// passes says that rows leave n as they arrive.
func passes(n *ir.Node) bool {
	d, err := op.LanesOf(n)
	return err == nil && d.TakesDead && d.GivesDead
}

// rows are the lengths that rows may have: the number of keys, and for each number of beats the shortest row of as many
// full ones; none is longer than a quarter more, but for few keys.
func (p *padded) rows() (rows []int) {
	for beats := 1; beats <= p.keys; beats++ {
		row := (p.keys + beats - 1) / beats * beats
		if row <= p.keys+max(p.keys/4, 3) {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// lengths are those that rows of n may have in a search, 0 for rows as they are: all that the lanes of rules divide.
func (l *laner) lengths(n *ir.Node) []int {
	p := l.padded[n]
	if p == nil {
		return []int{0}
	}
	multiple := l.pinned(p)
	list := slices.DeleteFunc(p.rows(), func(row int) bool { return row%multiple != 0 })
	list = append(list, (p.keys+multiple-1)/multiple*multiple)
	slices.Sort(list)
	if list = slices.Compact(list); list[0] == p.keys {
		list[0] = 0
	}
	return list
}

// chain numbers the values whose rows may be padded, from 1 on, for the nodes of each; 0: n is on none.
func (l *laner) chain(n *ir.Node) int {
	p := l.padded[n]
	if p == nil {
		return 0
	}
	return 1 + slices.Index(l.g.Nodes, p.nodes[0])
}

// keyLanes are the lanes of n that the plan asks for and that carry keys, and which rule does; 0 for none.
func keyLanes(n *ir.Node, a wishes) (lanes int, key, from string) {
	d, err := op.LanesOf(n)
	switch {
	case err != nil:
		return 0, "", ""
	case d.Product() && d.GivesDead, !d.Product() && a.in == 0:
		return a.out, "out_lanes", a.outFrom
	}
	return a.in, "in_lanes", a.inFrom
}

// pinned is the number that rows must be a multiple of, for the lanes that rules ask for; 1 where they ask for none.
func (l *laner) pinned(p *padded) int {
	multiple := 1
	for _, n := range p.nodes {
		if lanes, _, _ := keyLanes(n, l.Ruled(n)); lanes > 0 {
			multiple *= lanes / lane.GCD(multiple, lanes)
		}
	}
	return multiple
}

// row decides how long the rows of n are as beats carry them: as chosen; else no longer than the lanes that rules ask
// for need.
func (l *laner) row(n *ir.Node, a wishes) {
	n.HW.RowIn, n.HW.RowOut = 0, 0
	p := l.padded[n]
	if p == nil {
		return
	}
	multiple := l.pinned(p)
	row := (p.keys + multiple - 1) / multiple * multiple
	if c, ok := l.Chosen[n.Name]; ok && max(c.row, p.keys)%multiple == 0 {
		row = c.row
	}
	if row >= 2*p.keys && row > p.keys {
		l.farRow(n, a, p, row)
		return
	}
	if row == p.keys {
		return
	}
	d, err := op.LanesOf(n)
	if err != nil {
		return // as its lanes will say
	}
	if d.TakesDead {
		n.HW.RowIn = row
	}
	if d.GivesDead {
		n.HW.RowOut = row
	}
}

// farRow refuses lanes whose beats fill rows only of twice as many elements as there are keys.
func (l *laner) farRow(n *ir.Node, a wishes, p *padded, row int) {
	lanes, key, from := keyLanes(n, a)
	if lanes == 0 {
		return // said of a node that asks for lanes
	}
	e := n.Errorf(diag.LanesDivide, "%s %d and those of the other units on these rows of %d keys fill rows of %d only",
		key, lanes,
		p.keys, row)
	if from != "" {
		e = e.WithNote("set by %s", from)
	}
	best := p.rows()[min(1, len(p.rows())-1)]
	l.Errs = append(l.Errs, e.WithHint("%s", fmt.Sprintf("use lanes that divide one row, of %d for example: %v", best,
		lane.Divisors(best))))
}
