// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"math/big"

	"lathe/ir"
	"lathe/ir/op"
)

// slowMove is the meaning of operations that move elements, index by index of the result.
func slowMove(n *ir.Node, args []value) []*big.Rat {
	x := args[0]
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		from := append([]int(nil), i...)
		switch a := n.Attrs.(type) {
		case *op.ConcatAttrs:
			for _, part := range args {
				if size := part.shape[a.Axis]; from[a.Axis] >= size {
					from[a.Axis] -= size
					continue
				}
				return part.at(from...)
			}
		case *op.SliceAttrs:
			from[a.Axis] = a.Start + i[a.Axis]*a.Step
		case *op.PadAttrs:
			from[a.Axis] -= a.Before
			if k := from[a.Axis]; k < 0 || k >= x.shape[a.Axis] {
				return new(big.Rat).SetFloat64(float64(a.Value))
			}
		case *op.RepeatAttrs:
			return repeat(x, i)
		}
		return x.at(from...)
	})
}
