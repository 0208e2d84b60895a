// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"slices"

	"lathe/ir"
)

// flops are the operations of n on one sample, as those of its form in floats: the same whatever the formats are and
// whatever kernels compute it.
func flops(n *ir.Node) int64 {
	p, err := record(inFloats(n))
	if err != nil { // it has no form in floats: nothing but codes
		return 0
	}
	return p.Flops()
}

// inFloats is n with values in fp32; its constants are no particular ones.
func inFloats(n *ir.Node) *ir.Node {
	if n.Type.IsFloat() && !slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return !a.Type.IsFloat() }) {
		return n
	}
	out := *n
	out.Type, out.Args = ir.Float(n.Type.Shape...), make([]*ir.Node, len(n.Args))
	for i, a := range n.Args {
		arg := *a
		arg.Type = ir.Float(a.Type.Shape...)
		if a.IsConst() {
			arg.Attrs = &ir.Const{Data: ir.FloatBlob(slices.Repeat([]float32{1.5}, a.Type.Elems()))}
		}
		out.Args[i] = &arg
	}
	return &out
}
