// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/norm"
)

// Lines turns the axis of each softmax and log-softmax to the end, between two transposes: units take lines of
// neighbours.
func Lines(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		t := &n.Op.Traits
		if !norm.KeepsRanks(n.Op) || n.IsConst() {
			continue
		}
		rank := len(n.Type.Shape)
		axis := t.Axis(n.Attrs)
		at := (*axis + rank) % rank
		if behindOnes(n.Type.Shape[at+1:]) {
			continue
		}
		perm := append(slices.Delete(identity(rank), at, at+1), at)
		n.Args[0] = transpose(g, n, n.Args[0], perm)
		n.Type.Shape = ir.TransposeShape(n.Type.Shape, perm)
		*axis = rank - 1
		behind(g, n, inverse(perm))
	}
	return nil
}

// behindOnes says that an axis in front of these is the innermost that counts.
func behindOnes(shape []int) bool {
	return !slices.ContainsFunc(shape, func(d int) bool { return d != 1 })
}
