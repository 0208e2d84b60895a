// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/lower/float/simplify"
)

// Join makes one transpose between two reshapes out of transposes and reshapes in a row, where two of them or more
// change the order of elements: axes are cut into pieces that move as one. Channel shuffles and changes between depth
// and space become one move of small frames that way.
func Join(g *ir.Graph) error { return join(g, false) }

// Cancel makes one reshape out of transposes and reshapes in a row that leave the order of elements as it was.
func Cancel(g *ir.Graph) error { return join(g, true) }

// join rewrites chains, or only those that keep the order of elements.
func join(g *ir.Graph, kept bool) error {
	users := g.Users()
	done := map[*ir.Node]bool{}
	for _, n := range slices.Backward(slices.Clone(g.Nodes)) {
		if done[n] || !moves(n) {
			continue
		}
		chain, turns := []*ir.Node{n}, 0
		for x := n.Args[0]; moves(x) && len(users[x]) == 1 && !g.IsOutput(x); x = x.Args[0] {
			chain = append(chain, x)
		}
		for _, x := range chain {
			done[x] = true
			if x.Op == move.Transpose && !move.KeepsOrder(x) {
				turns++
			}
		}
		if turns > 1 {
			joinChain(g, chain, kept)
		}
	}
	g.DropDead()
	return simplify.Identities(g)
}

func moves(n *ir.Node) bool { return n.Op == move.Transpose || n.Op == move.Reshape }

// piece is a part of an axis; pieces are told apart by id.
type piece struct{ size, id int }

// cutting is how the axes of the source of a chain are cut so far, and the pieces in the order that they have come to.
type cutting struct {
	source []piece
	axes   [][]piece // of the value that the chain has come to
	next   int
}

// joinChain rewrites a chain, last node first, unless an axis would have to be cut across others, or the order of
// elements is to be kept and is not.
func joinChain(g *ir.Graph, chain []*ir.Node, kept bool) {
	n, x := chain[0], chain[len(chain)-1].Args[0]
	var c cutting
	for _, d := range x.Type.Shape {
		p := piece{d, c.next}
		c.next++
		c.source, c.axes = append(c.source, p), append(c.axes, []piece{p})
	}
	for _, m := range slices.Backward(chain) {
		if perm := permOf(m); perm != nil {
			old := c.axes
			c.axes = nil
			for _, p := range perm {
				c.axes = append(c.axes, old[p])
			}
		} else if !c.reshape(m.Type.Shape) {
			return
		}
	}
	var shape, perm []int
	for _, p := range c.source {
		shape = append(shape, p.size)
	}
	for _, p := range slices.Concat(c.axes...) {
		perm = append(perm, slices.Index(c.source, p))
	}
	// Pieces of size 1 that a reshape dropped stand in front.
	for i := range c.source {
		if !slices.Contains(perm, i) {
			perm = append([]int{i}, perm...)
		}
	}
	if kept && !move.Ascending(perm, shape) {
		return
	}
	cut := &ir.Node{Name: g.FreshName(n.Name + ".cut"), Op: move.Reshape, Args: []*ir.Node{x}, Pos: n.Pos,
		Attrs: &move.ReshapeAttrs{Shape: shape}, Type: x.Type.WithShape(shape)}
	g.InsertBefore(n, cut)
	moved := transpose(g, n, cut, perm)
	n.Op, n.Attrs, n.Args = move.Reshape, &move.ReshapeAttrs{Shape: slices.Clone(n.Type.Shape)}, []*ir.Node{moved}
}

// reshape groups the pieces anew, cutting them where an axis ends within one; false if an axis ends across one.
func (c *cutting) reshape(shape []int) bool {
	rest := slices.Concat(c.axes...)
	c.axes = nil
	for _, need := range shape {
		var axis []piece
		for need > 1 {
			p := rest[0]
			switch {
			case need%p.size == 0:
				axis, rest, need = append(axis, p), rest[1:], need/p.size
			case p.size%need == 0:
				outer, inner := c.cut(p, need)
				axis, rest, need = append(axis, outer), slices.Concat([]piece{inner}, rest[1:]), 1
			default:
				return false
			}
		}
		c.axes = append(c.axes, axis)
	}
	return true
}

// cut replaces a piece by two, of which the outer one has the given size.
func (c *cutting) cut(p piece, size int) (outer, inner piece) {
	outer, inner = piece{size, c.next}, piece{p.size / size, c.next + 1}
	c.next += 2
	at := slices.Index(c.source, p)
	c.source = slices.Replace(c.source, at, at+1, outer, inner)
	return outer, inner
}
