// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"lathe/ir"
	"lathe/ir/op/dot"
)

// dspCause is the DSPCause column of sums whose data are common to all outputs.
func dspCause(n *ir.Node, how string) (lanes int, cause string, err error) {
	if n.HW.Style == ir.StyleUnroll {
		return 0, "an unrolled layer multiplies by constants", nil
	}
	p, err := dot.New(n)
	if err != nil {
		return 0, "", err
	}
	return p.DSPCause(n, how)
}

func convDSPCause(n *ir.Node, how string) (lanes int, cause string, err error) {
	if a := n.Attrs.(*ConvAttrs); a.Groups > 1 && a.Groups == n.Args[1].Type.Shape[0] {
		if how != "chain" {
			return 0, "no two output channels share their data", nil
		}
		return 0, "a depthwise layer has no sums of products side by side", nil
	}
	return dspCause(n, how)
}
