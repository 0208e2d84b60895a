// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"lathe/ir"
	"lathe/ir/op/dot"
)

// packCause is the PackCause column of sums whose data are common to all outputs. The bounds are those of num_mul_pair.
func packCause(n *ir.Node) (string, error) {
	if n.HW.Style == ir.StyleUnroll {
		return "an unrolled layer multiplies by constants", nil
	}
	p, err := dot.New(n)
	if err != nil {
		return "", err
	}
	return p.PackCause(n)
}

func convPackCause(n *ir.Node) (string, error) {
	if a := n.Attrs.(*ConvAttrs); a.Groups > 1 && a.Groups == n.Args[1].Type.Shape[0] {
		return "no two output channels share their data", nil
	}
	return packCause(n)
}
