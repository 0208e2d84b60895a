// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/norm"
	"lathe/ir/op/reduce"
)

// Lines turns the axis of each softmax, log-softmax and argmax to the end, between two transposes: units take lines of
// neighbours. An argmax without that axis in its result needs the first alone.
func Lines(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		t := &n.Op.Traits
		best, index := n.Attrs.(*reduce.ArgMaxAttrs)
		if !norm.KeepsRanks(n.Op) && !index || n.IsConst() {
			continue
		}
		rank := len(n.Args[0].Type.Shape)
		axis := t.Axis(n.Attrs)
		at := (*axis + rank) % rank
		if behindOnes(n.Args[0].Type.Shape[at+1:]) {
			continue
		}
		perm := append(slices.Delete(identity(rank), at, at+1), at)
		n.Args[0] = transpose(g, n, n.Args[0], perm)
		*axis = rank - 1
		if index && !best.KeepDims {
			continue
		}
		n.Type.Shape = ir.TransposeShape(n.Type.Shape, perm)
		behind(g, n, inverse(perm))
	}
	return nil
}

// behindOnes says that an axis in front of these is the innermost that counts.
func behindOnes(shape []int) bool {
	return !slices.ContainsFunc(shape, func(d int) bool { return d != 1 })
}
