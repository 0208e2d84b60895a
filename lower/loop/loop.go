// SPDX-License-Identifier: Apache-2.0

// Package loop finds layers in a row that are alike but for their constants, and has them share one block of units.
package loop

import (
	"reflect"
	"slices"

	"lathe/ir"
)

// Blocks are layers in a row, each of the same nodes: node i of one does what node i of the others does.
type Blocks struct {
	// Entry is what the first layer reads that changes from layer to layer; the last node of each layer is what the next
	// one reads in its place.
	Entry *ir.Node
	// Layers are the nodes of each layer, constants apart, in one order, arguments before users.
	Layers [][]*ir.Node
	// Shared are the values that all layers read alike, and that are no constants.
	Shared []*ir.Node
}

// Find is the longest run of layers of g: that of which most nodes need no unit of their own. A layer multiplies by
// weights, so two sums in a row are none. Nodes of two layers have one operation, shape and attributes, and with
// formats one type, how they round and what they cut off included. nil where there is none; miss then is what differs
// between the two largest parts that are nearly alike, if any are.
func Find(g *ir.Graph, formats bool) (best *Blocks, miss error) {
	f := &finder{g: g, formats: formats, users: g.Users()}
	f.edges()
	saved := 0
	for _, e := range f.list {
		b := f.run(e)
		if b == nil || !slices.ContainsFunc(b.Layers[0], func(n *ir.Node) bool { return n.Op.Traits.Weighted }) {
			continue
		}
		if s := (len(b.Layers) - 1) * len(b.Layers[0]); s > saved {
			best, saved = b, s
		}
	}
	if best == nil {
		miss = f.miss
	}
	return best, miss
}

// finder looks for layers.
type finder struct {
	g       *ir.Graph
	formats bool
	users   map[*ir.Node][]*ir.Node
	list    []*twins
	from    map[*ir.Node][]*twins // by the last node of the lower layer
	miss    error
	most    int // that and the nodes that were alike before
}

// twins are two layers in a row that are alike.
type twins struct {
	entry        *ir.Node
	lower, upper []*ir.Node
	shared       []*ir.Node
}

func last(layer []*ir.Node) *ir.Node { return layer[len(layer)-1] }

// reach is how many nodes of one kind may be between the last nodes of two layers.
const reach = 12

// edges finds all layers in a row that are alike.
func (f *finder) edges() {
	f.from = map[*ir.Node][]*twins{}
	kinds := map[string][]*ir.Node{}
	for _, n := range f.g.Nodes {
		if !n.Op.Traits.Source {
			key := n.Op.Name + " " + ir.ShapeString(n.Type.Shape)
			kinds[key] = append(kinds[key], n)
		}
	}
	for _, n := range f.g.Nodes {
		if n.Op.Traits.Source {
			continue
		}
		alike := kinds[n.Op.Name+" "+ir.ShapeString(n.Type.Shape)]
		at := slices.Index(alike, n)
		for _, m := range alike[at+1 : min(len(alike), at+1+reach)] {
			if p := f.compare(n, m); p != nil {
				f.list = append(f.list, p)
				f.from[n] = append(f.from[n], p)
			}
		}
	}
}

// compare looks at what leads to a and to b, which reads a; nil where that are no two layers.
func (f *finder) compare(a, b *ir.Node) *twins {
	w := &walk{finder: f, p: &twins{}, end: a, match: map[*ir.Node]*ir.Node{}}
	ok := w.same(a, b)
	if !ok {
		if w.why != nil && len(w.match) >= f.most {
			f.miss, f.most = w.why, len(w.match)+1
		}
		return nil
	}
	if w.p.entry == nil || !f.closed(w.p.lower) || !f.closed(w.p.upper) {
		return nil
	}
	return w.p
}

// closed says that nobody outside reads a node of the layer but the last one.
func (f *finder) closed(layer []*ir.Node) bool {
	inside := map[*ir.Node]bool{}
	for _, n := range layer {
		inside[n] = true
	}
	for _, n := range layer[:len(layer)-1] {
		if f.g.IsOutput(n) || slices.ContainsFunc(f.users[n], func(u *ir.Node) bool { return !inside[u] }) {
			return false
		}
	}
	return true
}

// walk compares two layers from their last nodes on.
type walk struct {
	*finder
	p     *twins
	end   *ir.Node // the last node of the lower layer, which the upper one reads
	match map[*ir.Node]*ir.Node
	why   error
}

// same compares what computes a of the lower layer and b of the upper one.
func (w *walk) same(a, b *ir.Node) bool {
	if b == w.end {
		if w.p.entry == nil && !a.IsConst() {
			w.p.entry = a
		}
		return w.p.entry == a
	}
	if a == b {
		if !a.IsConst() && !slices.Contains(w.p.shared, a) {
			w.p.shared = append(w.p.shared, a)
		}
		return true
	}
	if m, seen := w.match[a]; seen {
		return m == b
	}
	if !w.alike(a, b) {
		return false
	}
	w.match[a] = b
	for i := range a.Args {
		if !w.same(a.Args[i], b.Args[i]) {
			return false
		}
	}
	if !a.IsConst() {
		w.p.lower, w.p.upper = append(w.p.lower, a), append(w.p.upper, b)
	}
	return true
}

// alike compares two nodes, but for their arguments.
func (w *walk) alike(a, b *ir.Node) bool {
	switch {
	case a.Op != b.Op || a.IsInput() || len(a.Args) != len(b.Args) || !slices.Equal(a.Type.Shape, b.Type.Shape):
		if a.Op == b.Op && !slices.Equal(a.Type.Shape, b.Type.Shape) {
			w.why = a.Errorf("", "%q has shape %s, %q has %s", a.Name, ir.ShapeString(a.Type.Shape), b.Name,
				ir.ShapeString(b.Type.Shape))
		}
		return false
	case a.IsConst():
		return true
	case !reflect.DeepEqual(a.Attrs, b.Attrs):
		w.why = a.Errorf("", "%q and %q have other attributes", a.Name, b.Name)
		return false
	case w.formats && a.Type.String() != b.Type.String():
		return false // which Share says
	}
	return true
}

// run is the longest run of layers that begins with two; nil where it cannot be one.
func (f *finder) run(p *twins) *Blocks {
	b := &Blocks{Entry: p.entry, Layers: [][]*ir.Node{p.lower, p.upper}, Shared: p.shared}
	if !f.passes(p.lower, p.upper) {
		return nil
	}
	for {
		top := b.Layers[len(b.Layers)-1]
		at := slices.IndexFunc(f.from[last(top)], func(q *twins) bool {
			return slices.Equal(q.lower, top) && slices.Equal(q.shared, p.shared) && f.passes(q.lower, q.upper)
		})
		if at < 0 {
			return b
		}
		b.Layers = append(b.Layers, f.from[last(top)][at].upper)
	}
}

// passes says that nobody but the next layer reads what a layer gives, and that it is of the type of what that reads.
func (f *finder) passes(layer, next []*ir.Node) bool {
	n := last(layer)
	return !f.g.IsOutput(n) && !slices.ContainsFunc(f.users[n], func(u *ir.Node) bool { return !slices.Contains(next, u) })
}
