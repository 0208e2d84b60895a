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
			was, is := x[0].Floats[at]-x[0].Floats[at-stride], y.Floats[at]-y.Floats[at-stride]
			if was > 0 && is < 0 || was < 0 && is > 0 {
				err = fmt.Errorf("elements %d and %d change their order", at-stride, at)
			}
		}
	})
	return err
}
