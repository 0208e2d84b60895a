// SPDX-License-Identifier: Apache-2.0

package fuse

import (
	"reflect"
	"slices"
	"strings"

	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/sequence"
)

// Linears makes one linear layer of those that read the same data, where their results are only moved to kernels that
// find rows by strides: queries, keys and values.
func Linears(g *ir.Graph) error {
	users := g.Users()
	for _, x := range slices.Clone(g.Nodes) {
		var alike []*ir.Node
		for _, n := range users[x] {
			if linear(n) && n.Args[0] == x && !slices.Contains(alike, n) && moved(n, users) &&
				(len(alike) == 0 || same(n, alike[0])) {
				alike = append(alike, n)
			}
		}
		if len(alike) < 2 {
			continue
		}
		if err := join(g, x, alike); err != nil {
			return err
		}
	}
	g.DropDead()
	return nil
}

// linear says that n multiplies rows by a constant matrix.
func linear(n *ir.Node) bool {
	constants := true
	for i, a := range n.Args[min(1, len(n.Args)):] {
		constants = constants && a.IsConst() && len(a.Type.Shape) == 2-i
	}
	return n.Op.Traits.Weighted && n.Attrs == nil && constants && n.Type.IsFloat()
}

// moved says that all that reads n, moves aside, finds its rows by strides or takes any form of it.
func moved(n *ir.Node, users map[*ir.Node][]*ir.Node) bool {
	return len(users[n]) > 0 && !slices.ContainsFunc(users[n], func(u *ir.Node) bool {
		if moves(u) {
			return !moved(u, users)
		}
		return !sequence.ReadsStrides(u.Op)
	})
}

// same says that the rows of a and b can stand in one matrix.
func same(a, b *ir.Node) bool {
	v, w := a.Args[1], b.Args[1]
	return a.Op == b.Op && a.Type.Format == b.Type.Format && v.Type.Format == w.Type.Format &&
		v.Attrs.(*ir.Const).Data.DType == w.Attrs.(*ir.Const).Data.DType &&
		v.Attrs.(*ir.Const).Own.Format == w.Attrs.(*ir.Const).Own.Format
}

// join puts one layer, and a slice for each, in the place of layers on x.
func join(g *ir.Graph, x *ir.Node, alike []*ir.Node) error {
	first := alike[0]
	weights, biases, any := &ir.Blob{}, []float32{}, false
	joined := &ir.Const{Own: first.Args[1].Attrs.(*ir.Const).Own, Role: first.Args[1].Attrs.(*ir.Const).Role}
	rows := 0
	for _, n := range alike {
		w := n.Args[1].Attrs.(*ir.Const)
		weights.DType = w.Data.DType
		weights.Bytes = append(weights.Bytes, w.Data.Bytes...)
		joined.From = append(joined.From, w)
		out := n.Args[1].Type.Shape[0]
		rows += out
		if len(n.Args) < 3 {
			biases = append(biases, make([]float32, out)...)
			continue
		}
		any = true
		biases = append(biases, n.Args[2].Attrs.(*ir.Const).Data.Floats()...)
	}
	joined.Data = weights
	name := together(g, alike...)
	w := &ir.Node{Name: name + ".weight", Op: leaf.Const, Attrs: joined, Pos: first.Args[1].Pos,
		Type: ir.Type{Shape: []int{rows, first.Args[1].Type.Shape[1]}, Format: first.Args[1].Type.Format}}
	nodes, args := []*ir.Node{w}, []*ir.Node{x, w}
	if any {
		b := &ir.Node{Name: name + ".bias", Op: leaf.Const, Attrs: &ir.Const{Data: ir.FloatBlob(biases)}, Pos: w.Pos,
			Type: ir.Float(rows)}
		nodes, args = append(nodes, b), append(args, b)
	}
	all, err := ir.NewNode(first.Op, name, first.Pos, nil, args...)
	if err != nil {
		return err
	}
	all.Type.Format = first.Type.Format
	nodes = append(nodes, all)
	axis, from := len(all.Type.Shape)-1, 0
	for _, n := range alike {
		count := n.Type.Shape[axis]
		part, err := ir.NewNode(move.Slice, n.Name+".part", n.Pos,
			&move.SliceAttrs{Axis: axis, Start: from, Count: count, Step: 1}, all)
		if err != nil {
			return err
		}
		part.Type.Format = n.Type.Format
		from += count
		nodes = append(nodes, part)
		g.Replace(n, part)
	}
	at := slices.Index(g.Nodes, first)
	g.Nodes = slices.Insert(g.Nodes, at, nodes...)
	return g.Sort()
}

// together names what stands for several nodes: "attn.q_proj", "attn.k_proj" become "attn.q_proj_k_proj".
func together(g *ir.Graph, nodes ...*ir.Node) string {
	name := nodes[0].Name
	for _, n := range nodes[1:] {
		name += "_" + n.Name[strings.LastIndex(n.Name, ".")+1:]
	}
	return g.FreshName(name)
}

// Rotaries makes one node of those that turn neighbouring columns of one value by the same angles.
func Rotaries(g *ir.Graph) error {
	users := g.Users()
	from := map[*ir.Node]*heads{}
	var turned []*ir.Node
	for _, n := range g.Nodes {
		if h := headsOf(n, users); h != nil {
			from[n] = h
			turned = append(turned, n)
		}
	}
	done := map[*ir.Node]bool{}
	for _, a := range turned {
		for _, b := range turned {
			if a == b || done[a] || done[b] || !adjacent(from[a], from[b], a, b) {
				continue
			}
			if err := turn(g, from[a], from[b], a, b); err != nil {
				return err
			}
			done[a], done[b] = true, true
		}
	}
	g.DropDead()
	return nil
}

// heads is where the data of a node comes from: columns of a value, as heads, in front of positions.
type heads struct {
	slice, reshape, transpose *ir.Node
}

// headsOf is nil where n reads anything else, or others read what is between.
func headsOf(n *ir.Node, users map[*ir.Node][]*ir.Node) *heads {
	if !sequence.ByPosition(n.Op) || len(n.Type.Shape) != 4 {
		return nil
	}
	h := &heads{transpose: n.Args[0]}
	t, ok := h.transpose.Attrs.(*move.TransposeAttrs)
	if !ok || !slices.Equal(t.Perm, []int{0, 2, 1, 3}) {
		return nil
	}
	if h.reshape = h.transpose.Args[0]; !h.reshape.Op.Traits.Wire {
		return nil
	}
	h.slice = h.reshape.Args[0]
	s, ok := h.slice.Attrs.(*move.SliceAttrs)
	if !ok || len(h.slice.Type.Shape) != 3 || s.Axis != 2 || s.Step != 1 {
		return nil
	}
	if shape := h.reshape.Type.Shape; shape[2]*shape[3] != s.Count { // heads of a row are not those columns
		return nil
	}
	for _, m := range []*ir.Node{h.transpose, h.reshape, h.slice} {
		if len(users[m]) != 1 {
			return nil
		}
	}
	return h
}

// adjacent says that a and b are the same of columns that follow each other.
func adjacent(p, q *heads, a, b *ir.Node) bool {
	s, t := p.slice.Attrs.(*move.SliceAttrs), q.slice.Attrs.(*move.SliceAttrs)
	x, y := a.Type.Shape, b.Type.Shape
	return a.Op == b.Op && a.Type.Format == b.Type.Format && reflect.DeepEqual(a.Attrs, b.Attrs) &&
		slices.Equal(a.Args[1:], b.Args[1:]) && p.slice.Args[0] == q.slice.Args[0] && s.Start+s.Count == t.Start &&
		x[0] == y[0] && x[2] == y[2] && x[3] == y[3]
}

// turn puts one node, of the heads of both, and a slice for each in the place of a and b.
func turn(g *ir.Graph, p, q *heads, a, b *ir.Node) error {
	s, t := *p.slice.Attrs.(*move.SliceAttrs), q.slice.Attrs.(*move.SliceAttrs)
	s.Count += t.Count
	shape := slices.Clone(a.Type.Shape)
	shape[1] += b.Type.Shape[1]
	var nodes []*ir.Node
	add := func(o *ir.Op, like *ir.Node, name string, attrs any, args ...*ir.Node) (n *ir.Node, err error) {
		if n, err = ir.NewNode(o, name, like.Pos, attrs, args...); err == nil {
			n.Type.Format = like.Type.Format
			nodes = append(nodes, n)
		}
		return n, err
	}
	n, err := add(move.Slice, p.slice, together(g, p.slice, q.slice), &s, p.slice.Args[0])
	if err == nil {
		n, err = add(move.Reshape, p.reshape, together(g, p.reshape, q.reshape),
			&move.ReshapeAttrs{Shape: []int{shape[0], shape[2], shape[1], shape[3]}}, n)
	}
	if err == nil {
		n, err = add(move.Transpose, p.transpose, together(g, p.transpose, q.transpose),
			&move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, n)
	}
	if err == nil {
		n, err = add(a.Op, a, together(g, a, b), a.Attrs, append([]*ir.Node{n}, a.Args[1:]...)...)
	}
	from, all := 0, n
	for _, old := range []*ir.Node{a, b} {
		if err != nil {
			return err
		}
		count := old.Type.Shape[1]
		n, err = add(move.Slice, old, old.Name+".heads", &move.SliceAttrs{Axis: 1, Start: from, Count: count, Step: 1}, all)
		from += count
		if err == nil {
			g.Replace(old, n)
		}
	}
	if err != nil {
		return err
	}
	g.Nodes = slices.Insert(g.Nodes, slices.Index(g.Nodes, a), nodes...)
	return g.Sort()
}
