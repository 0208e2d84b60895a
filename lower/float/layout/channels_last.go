// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/sum"
	"lathe/lower/float/simplify"
)

// ChannelsLast makes every convolution and pool, and every scale along the channels of an image, work on N, ..., C,
// with a transpose before it and one behind it; convolution weights become output channel, kernel, input channel.
func ChannelsLast(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		rank := len(n.Type.Shape)
		switch last := n.LastOf(); {
		case last != nil && !*last:
			*last = true
		case n.Op.Traits.PerChannel && rank > 2 && *n.AxisOf() == 1:
			*n.AxisOf() = rank - 1
		default:
			continue
		}
		if n.Op == sum.Conv {
			if err := permuteConst(g, n, 1, toLast(rank)); err != nil {
				return err
			}
		}
		n.Args[0] = transpose(g, n, n.Args[0], toLast(rank))
		n.Type.Shape = ir.TransposeShape(n.Type.Shape, toLast(rank))
		behind(g, n, toFirst(rank))
	}
	g.DropDead()
	return nil
}

// permuteConst transposes the constant argument i of n.
func permuteConst(g *ir.Graph, n *ir.Node, i int, perm []int) error {
	shape := n.Args[i].Type.Shape
	return simplify.MoveConst(g, n, i, ir.TransposeShape(shape, perm), ir.TransposeIndex(shape, perm))
}
