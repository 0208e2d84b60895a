// SPDX-License-Identifier: Apache-2.0

// Package group makes the groups of nodes that a GPU computes together of the names that lowering has given.
package group

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
)

// Of are what a GPU computes together, as HW.Group of the nodes says: each node alone where it says nothing. Errors
// as New.
func Of(g *ir.Graph) ([]*ir.Group, error) {
	named := make(map[string]*ir.Node, len(g.Nodes))
	for _, n := range g.Nodes {
		named[n.Name] = n
	}
	anchors := map[*ir.Node]*ir.Node{}
	for _, n := range g.Nodes {
		if n.HW.Group == "" {
			continue
		}
		if anchors[n] = named[n.HW.Group]; anchors[n] == nil {
			return nil, n.Errorf(diag.KernelGroups, "%s is in the group of %s, which is not there", n.Name, n.HW.Group)
		}
	}
	return New(g, anchors)
}

// New puts every node into one group: that of the node to which anchors maps it, or its own. Inputs, constants
// that are no results of the graph, and nodes that nobody reads have none. The groups are in an order in which they can
// be computed: values are there before they are read. Error L0947 where there is no such order, and for anchors that
// have no group of their own.
func New(g *ir.Graph, anchors map[*ir.Node]*ir.Node) ([]*ir.Group, error) {
	b := grouping{graph: g, readers: g.Readers(), of: map[*ir.Node]*ir.Group{}, state: map[*ir.Group]int{}}
	own := map[*ir.Node]*ir.Group{} // by their anchors
	for _, n := range g.Nodes {
		if anchor := anchors[n]; anchor == nil || anchor == n {
			own[n] = &ir.Group{Anchor: n}
		}
	}
	for _, n := range g.Nodes {
		anchor := anchors[n]
		if anchor == nil {
			anchor = n
		}
		if err := b.check(n, anchor, own[anchor]); err != nil {
			return nil, err
		}
		b.of[n] = own[anchor]
		if b.computed(n) {
			b.of[n].Members = append(b.of[n].Members, n)
		}
	}
	for _, n := range g.Nodes {
		b.connect(n)
	}
	for _, n := range g.Nodes {
		if err := b.visit(b.of[n]); err != nil {
			return nil, err
		}
	}
	return b.order, nil
}

// grouping is the work of New. state is open while the inputs of a group are visited.
type grouping struct {
	graph   *ir.Graph
	readers map[*ir.Node]int
	of      map[*ir.Node]*ir.Group
	state   map[*ir.Group]int
	order   []*ir.Group
}

// computed says that n needs a group.
func (b *grouping) computed(n *ir.Node) bool {
	return !n.Op.Traits.Source && b.readers[n] > 0 || n.IsConst() && b.graph.IsOutput(n)
}

// check says whether n may stand in the group of anchor.
func (b *grouping) check(n, anchor *ir.Node, group *ir.Group) error {
	switch {
	case n == anchor:
		return nil
	case n.Op.Traits.Source || anchor.Op.Traits.Source:
		return n.Errorf(diag.KernelGroups, "%s is grouped with %s, but inputs and constants belong to no group", n.Name,
			anchor.Name)
	case group == nil || !b.computed(anchor):
		return n.Errorf(diag.KernelGroups, "%s is in the group of %s, which anchors none", n.Name, anchor.Name)
	}
	return nil
}

// connect makes n known to the group that reads it, and to its own where somebody else does.
func (b *grouping) connect(n *ir.Node) {
	if !b.computed(n) {
		return
	}
	own := b.of[n]
	for _, a := range n.Args {
		from := b.of[a]
		if a.IsConst() || from == own {
			continue
		}
		if !slices.Contains(own.Inputs, a) {
			own.Inputs = append(own.Inputs, a)
		}
		give(from, a)
	}
	if b.graph.IsOutput(n) {
		give(own, n)
	}
}

// give makes a member a result, in the order of the members.
func give(g *ir.Group, n *ir.Node) {
	at, isOutput := slices.Index(g.Members, n), slices.Contains(g.Outputs, n)
	if at < 0 || isOutput {
		return
	}
	k := 0
	for k < len(g.Outputs) && slices.Index(g.Members, g.Outputs[k]) < at {
		k++
	}
	g.Outputs = slices.Insert(g.Outputs, k, n)
}

const groupOpen, groupDone = 1, 2

// visit puts a group behind those that it reads.
func (b *grouping) visit(g *ir.Group) error {
	switch {
	case len(g.Outputs) == 0 || b.state[g] == groupDone:
		return nil
	case b.state[g] == groupOpen:
		return g.Anchor.Errorf(diag.KernelGroups, "the group of %s reads what is computed of its own results", g.Anchor.Name)
	}
	b.state[g] = groupOpen
	for _, in := range g.Inputs {
		if err := b.visit(b.of[in]); err != nil {
			return err
		}
	}
	b.state[g] = groupDone
	b.order = append(b.order, g)
	return nil
}
