// SPDX-License-Identifier: Apache-2.0

package channel

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
)

// ties are labels, joined where they stand or fall together.
type ties struct {
	parent  []int
	why     []string             // by root: why it stays
	opens   map[int][]*ir.Node   // by root
	opened  map[*ir.Node][]int   // by layer
	values  map[*ir.Node][][]int // by axis and index; of constants, once a node has read them
	weights map[*ir.Node]bool
}

func newTies() *ties {
	return &ties{opens: map[int][]*ir.Node{}, opened: map[*ir.Node][]int{}, values: map[*ir.Node][][]int{},
		weights: map[*ir.Node]bool{}}
}

// open gives n labels for the channels that it makes.
func (t *ties) open(n *ir.Node, size int) []int {
	labels := make([]int, size)
	for i := range labels {
		labels[i] = len(t.parent)
		t.parent, t.why = append(t.parent, labels[i]), append(t.why, "")
		t.opens[labels[i]] = []*ir.Node{n}
	}
	t.opened[n] = labels
	return labels
}

func (t *ties) find(id int) int {
	for t.parent[id] != id {
		t.parent[id] = t.parent[t.parent[id]]
		id = t.parent[id]
	}
	return id
}

// union ties two labels.
func (t *ties) union(a, b int) {
	a, b = t.find(a), t.find(b)
	if a == b {
		return
	}
	a, b = min(a, b), max(a, b)
	t.parent[b] = a
	if t.why[a] == "" {
		t.why[a] = t.why[b]
	}
	for _, n := range t.opens[b] {
		if !slices.Contains(t.opens[a], n) {
			t.opens[a] = append(t.opens[a], n)
		}
	}
	delete(t.opens, b)
}

// freeze keeps what is tied to a label.
func (t *ties) freeze(id int, why string) {
	if root := t.find(id); t.why[root] == "" {
		t.why[root] = why
	}
}

// keep keeps all channels of a value.
func (t *ties) keep(axes [][]int, why string) {
	for _, labels := range axes {
		t.keepAxis(labels, why)
	}
}

func (t *ties) keepAxis(labels []int, why string) {
	for _, id := range labels {
		t.freeze(id, why)
	}
}

// join ties two axes index by index: where one of them stays whole, so does the other.
func (t *ties) join(a, b []int, why string) {
	if len(a) != len(b) {
		t.keepAxis(a, why)
		t.keepAxis(b, why)
		return
	}
	for i := range a {
		t.union(a[i], b[i])
	}
}

// constant gives a constant the labels of axes, or ties them to those that it has from another reader.
func (t *ties) constant(a *ir.Node, axes ...[]int) {
	have, read := t.values[a]
	if !read {
		t.values[a] = axes
		return
	}
	for i, labels := range axes {
		t.join(have[i], labels, "the constant "+a.Name+" is read in two ways")
	}
}

// weight is constant of a weight, bias, gain or shift. One that is computed keeps its channels.
func (t *ties) weight(a *ir.Node, axes ...[]int) {
	if !a.IsConst() {
		t.keep(axes, "their weights are computed")
		t.keep(t.values[a], "they are weights of a layer")
		return
	}
	t.weights[a] = true
	t.constant(a, axes...)
}

// format keeps channels that share a scale with others.
func (t *ties) format(n *ir.Node) {
	axes := t.values[n]
	if b, blocks := n.Type.BlockFormat(); blocks {
		t.keep(axes, "blocks of "+b.String()+" would change")
	}
	if s, axis, along := format.ScaledAlong(n.Type.Format); along && len(n.Type.Scales) != n.Type.Shape[axis] {
		t.keepAxis(axes[axis], "they share scales of "+s.String())
	}
}
