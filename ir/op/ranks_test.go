// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// ranks compares neighbours along the axis.
func ranks(r *rand.Rand, n *ir.Node) error {
	x := drawn(r, n)
	y, err := draw.Run(n, x)
	if err != nil {
		return err
	}
	shape := n.Args[0].Type.Shape
	axis, err := walk.Axis(*n.AxisOf(), len(shape))
	walk.EachLine(shape, axis, func(base, count, stride int, _ []float64) {
		for at := base + stride; at < base+count*stride; at += stride {
			was, is := ordinal(x[0], at)-ordinal(x[0], at-stride), ordinal(y, at)-ordinal(y, at-stride)
			if was > 0 && is < 0 || was < 0 && is > 0 {
				err = fmt.Errorf("elements %d and %d change their order", at-stride, at)
			}
		}
	})
	return err
}

// ordinal is a float or a code of one scale, whose order is that of the values.
func ordinal(t *ir.Tensor, i int) float64 {
	if t.Codes != nil {
		return float64(t.Codes[i])
	}
	return float64(t.Floats[i])
}
