// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"lathe/ir"
	"lathe/ir/op/column"
)

// bounds is the column of operations on two operands that fall with one of them; the others are Monotone.
func (o pairOp) bounds() func(*ir.Node, []ir.Bounds) (ir.Bounds, error) {
	switch {
	case o.kind == pairProduct:
		return productBounds
	case o.kind == pairSum && o.sign < 0:
		return differenceBounds
	}
	return nil
}

func differenceBounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	a, b := args[0], args[1]
	return column.Extremes(n, []*ir.Tensor{a.Lo, b.Hi}, []*ir.Tensor{a.Hi, b.Lo})
}

// productBounds looks at the corners. A square is never negative: roots are taken of means of squares.
func productBounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	x, y := args[0], args[1]
	if n.Args[0] != n.Args[1] {
		return column.Extremes(n, []*ir.Tensor{x.Lo, y.Lo}, []*ir.Tensor{x.Lo, y.Hi}, []*ir.Tensor{x.Hi, y.Lo},
			[]*ir.Tensor{x.Hi, y.Hi})
	}
	b, err := column.Extremes(n, []*ir.Tensor{x.Lo, x.Lo}, []*ir.Tensor{x.Hi, x.Hi})
	if err != nil {
		return b, err
	}
	for i, lo := range x.Lo.Floats {
		if lo < 0 && x.Hi.Floats[i] > 0 {
			b.Lo.Floats[i] = 0
		}
	}
	return b, nil
}
