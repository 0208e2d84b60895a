// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"lathe/ir"
	"lathe/ir/op/dot"
)

// PackCause says why products of the linear or convolution n, decided but for its lanes, cannot share a DSP in pairs,
// whatever those lanes are; "" where they can. The bounds are those of num_mul_pair. Errors are those of a layer that
// has no hardware.
func PackCause(n *ir.Node) (string, error) {
	a, isConv := n.Attrs.(*ConvAttrs)
	switch {
	case n.Op != Linear && !isConv:
		return n.Op.Name + " has no two products with a common factor", nil
	case isConv && a.Groups > 1 && a.Groups == n.Args[1].Type.Shape[0]:
		return "no two output channels share their data", nil
	case n.HW.Style == ir.StyleUnroll:
		return "an unrolled layer multiplies by constants", nil
	}
	p, err := dot.New(n)
	if err != nil {
		return "", err
	}
	return p.PackCause(n)
}
