// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"slices"

	"lathe/emit/cuda/generic"
	"lathe/ir"
)

// flops are the operations of a group on one sample, as those of its form in floats: the same whatever the formats are
// and whatever kernels compute it. p is what has been recorded of g, or nil.
func flops(g *ir.Group, p *generic.Program) int64 {
	if len(g.Members) > 1 {
		p = nil
	}
	sum := int64(0)
	for _, n := range g.Members {
		sum += nodeFlops(n, p)
	}
	return sum
}

// nodeFlops are the operations of one node. Operations of float graphs alone are as they are, unless caches are in
// blocks. p is what has been recorded of n, or nil: where n is in floats it serves again.
func nodeFlops(n *ir.Node, p *generic.Program) int64 {
	codes := func(a *ir.Node) bool { return !a.Type.IsFloat() }
	floats := n.Op.Traits.FloatOnly && !slices.ContainsFunc(n.Args, inBlocks) ||
		n.Type.IsFloat() && !slices.ContainsFunc(n.Args, codes)
	if !floats {
		n, p = inFloats(n), nil
	}
	if p == nil {
		var err error
		if p, err = record(ir.GroupOf(n)); err != nil { // it has no form in floats: nothing but codes
			return 0
		}
	}
	return p.Flops()
}

func inBlocks(n *ir.Node) bool { return n.Type.InBlocks() }

// inFloats is n with values in fp32; its constants are no particular ones. An operation that is one of floats keeps the
// whole numbers among its arguments.
func inFloats(n *ir.Node) *ir.Node {
	out := *n
	out.Type, out.Args = ir.Float(n.Type.Shape...), make([]*ir.Node, len(n.Args))
	for i, a := range n.Args {
		if out.Args[i] = a; n.Op.Traits.FloatOnly && ir.IsWhole(a.Type.Format) {
			continue
		}
		arg := *a
		arg.Type = ir.Float(a.Type.Shape...)
		if a.IsConst() {
			arg.Attrs = &ir.Const{Data: ir.FloatBlob(slices.Repeat([]float32{1.5}, a.Type.Elems()))}
		}
		out.Args[i] = &arg
	}
	return &out
}
