// SPDX-License-Identifier: Apache-2.0

// Package channel finds which channels of a graph stand or fall together, and takes channels out of it.
//
// Each axis of each value has a label for every index, or none where the axis stays whole. Layers open labels on the
// axis of their outputs; operations tie those of what they read to those of what they make. What is tied is one group.
package channel

import (
	"cmp"
	"slices"

	"lathe/ir"
)

// Groups are the channels of a graph that can be removed.
type Groups struct {
	// All are the groups, in the order in which layers open them.
	All []Group
	// Kept are the layers all of whose channels stay, but those whose channels are results of the graph.
	Kept []Kept

	layers []Layer
	before map[int]int // of the last channel of a layer, the group of the channel in front of it
	nodes  []*ir.Node  // of the graph that they were found in
	axes   [][][]int   // by node, axis, index: the group, or -1; nil for an axis that stays whole
}

// Group is one channel of each of the values that are tied.
type Group struct {
	// Opens are the layers that compute the channel from others.
	Opens []*ir.Node
	// Members are what goes of constants.
	Members []Member
}

// Member is an index of an axis of a constant.
type Member struct {
	Node     *ir.Node
	Axis, At int
	// Weight says that the constant is a weight, bias, gain or shift of a layer: where all of these are 0, the graph
	// computes what it computes without the channel.
	Weight bool
}

// Kept is a layer whose channels stay.
type Kept struct {
	Node *ir.Node
	Why  string
}

// Elements calls f for the elements of m, flat and row-major.
func (m *Member) Elements(f func(at int)) {
	shape, inner := m.Node.Type.Shape, 1
	for _, d := range shape[m.Axis+1:] {
		inner *= d
	}
	for block := m.At * inner; block < m.Node.Type.Elems(); block += shape[m.Axis] * inner {
		for i := range inner {
			f(block + i)
		}
	}
}

// Of finds the groups of g, whose constants are computed. Channels that a layer adds to what it is computed from, as
// those of the residual stream of a network, are among them if residual is set.
func Of(g *ir.Graph, residual bool) *Groups {
	t := newTies()
	for _, n := range g.Nodes {
		if !n.IsConst() {
			t.values[n] = t.node(n)
		}
	}
	for _, n := range g.Nodes {
		t.format(n)
	}
	for _, o := range g.Out {
		t.keep(t.values[o.Node], isOutput)
	}
	if !residual {
		t.streams()
	}
	return t.groups(g)
}

// isOutput is why channels of results, and of inputs, stay, which needs no word.
const isOutput = "they are those of inputs or results"

// groups lists what the ties came to.
func (t *ties) groups(g *ir.Graph) *Groups {
	out, number := &Groups{before: map[int]int{}}, map[int]int{}
	for id := range t.parent {
		root := t.find(id)
		if t.why[root] != "" {
			number[root] = -1
			continue
		}
		if _, known := number[root]; !known {
			number[root] = len(out.All)
			out.All = append(out.All, Group{Opens: t.opens[root]})
		}
	}
	out.nodes = slices.Clone(g.Nodes)
	for _, n := range g.Nodes {
		if labels := t.opened[n]; len(labels) > 0 {
			out.layer(t, n, labels, number)
		}
		axes := make([][]int, len(n.Type.Shape))
		for axis, labels := range t.values[n] {
			if labels == nil {
				continue
			}
			axes[axis] = make([]int, len(labels))
			for i, id := range labels {
				at := number[t.find(id)]
				axes[axis][i] = at
				if at >= 0 && n.IsConst() {
					out.All[at].Members = append(out.All[at].Members, Member{n, axis, i, t.weights[n]})
				}
			}
		}
		out.axes = append(out.axes, axes)
		if why := t.kept(n); why != "" {
			out.Kept = append(out.Kept, Kept{n, why})
		}
	}
	return out
}

// layer appends n, which opens labels, to the layers.
func (s *Groups) layer(t *ties, n *ir.Node, labels []int, number map[int]int) {
	opened := make([]int, len(labels))
	for i, id := range labels {
		opened[i] = number[t.find(id)]
	}
	l := Layer{n, len(labels), opened[len(opened)-1], t.why[t.find(labels[len(labels)-1])]}
	s.room(&l, opened)
	s.layers = append(s.layers, l)
}

// kept is why all channels that n opens stay.
func (t *ties) kept(n *ir.Node) string {
	why := ""
	for _, id := range t.opened[n] {
		w := t.why[t.find(id)]
		if w == "" || w == isOutput {
			return ""
		}
		why = cmp.Or(why, w)
	}
	return why
}

// streams keeps channels that a layer adds to what it is computed from.
func (t *ties) streams() {
	reaches := map[[2]*ir.Node]bool{}
	for root, opens := range t.opens {
		if t.find(root) != root {
			continue
		}
		for i, late := range opens {
			for _, early := range opens[:i] {
				pair := [2]*ir.Node{late, early}
				if _, known := reaches[pair]; !known {
					reaches[pair] = reads(late, early, map[*ir.Node]bool{})
				}
				if reaches[pair] {
					t.freeze(root, "they are a residual stream; residual = true removes such, too")
				}
			}
		}
	}
}

// reads says that n is computed from early.
func reads(n, early *ir.Node, seen map[*ir.Node]bool) bool {
	if n == early {
		return true
	}
	if seen[n] {
		return false
	}
	seen[n] = true
	return slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return reads(a, early, seen) })
}
