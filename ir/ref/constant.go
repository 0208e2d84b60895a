// SPDX-License-Identifier: Apache-2.0

package ref

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/leaf"
)

// Constant evaluates a node whose arguments are all constants.
func Constant(n *ir.Node) (*ir.Tensor, error) {
	args := make([]*ir.Tensor, len(n.Args))
	for i, a := range n.Args {
		t, err := a.Value()
		if err != nil {
			return nil, err
		}
		args[i] = t
	}
	k, err := n.Kernel()
	if err != nil {
		return nil, err
	}
	return k(args)
}

// Constants evaluates the nodes of g that read nothing but constants, directly or through each other, and returns the
// constant that each is. It leaves g as it is. Blocks are not evaluated.
func Constants(g *ir.Graph) (map[*ir.Node]*ir.Node, error) {
	known := map[*ir.Node]*ir.Node{}
	for _, n := range g.Nodes {
		if !evaluates(n) {
			continue
		}
		m := Reading(n, known)
		if slices.ContainsFunc(m.Args, func(a *ir.Node) bool { return !a.IsConst() }) {
			continue
		}
		t, err := Constant(m)
		if err != nil {
			return nil, n.Diag(diag.OpFormats, err)
		}
		data := ir.CodeBlob(t.Codes)
		if n.Type.IsFloat() {
			data = ir.FloatBlob(t.Floats)
		}
		known[n] = &ir.Node{Name: n.Name, Op: leaf.Const, Attrs: ir.Computed(data, m.Args...), Type: n.Type,
			Pos: n.Pos}
	}
	return known, nil
}

// Reading is n with the arguments that are known constants replaced by those; n itself where none is.
func Reading(n *ir.Node, known map[*ir.Node]*ir.Node) *ir.Node {
	if !slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return known[a] != nil }) {
		return n
	}
	m := *n
	m.Args = slices.Clone(n.Args)
	for i, a := range m.Args {
		if c := known[a]; c != nil {
			m.Args[i] = c
		}
	}
	return &m
}

// Compute makes constants of the nodes of g that read nothing but constants, in place and under their names. Blocks are
// not evaluated. It establishes what Uncomputed checks, and leaves no dead nodes.
func Compute(g *ir.Graph) error {
	known, err := Constants(g)
	if err != nil {
		return err
	}
	for n, c := range known {
		n.Op, n.Args, n.Attrs = c.Op, nil, c.Attrs
	}
	g.DropDead()
	return nil
}

// Uncomputed is the first node of g that reads nothing but constants; nil where constants are computed: the invariant
// of docs/architecture.md. Blocks do not count.
func Uncomputed(g *ir.Graph) *ir.Node {
	for _, n := range g.Nodes {
		if evaluates(n) && !slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return !a.IsConst() }) {
			return n
		}
	}
	return nil
}

// evaluates says that n is computed from others, and gives no blocks.
func evaluates(n *ir.Node) bool {
	_, blocks := n.Type.BlockFormat()
	return !blocks && len(n.Args) > 0
}
