// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/ir"
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
	p, err := PlanSum(n)
	if err != nil {
		return "", err
	}
	return p.packCause(n)
}

// packWidths is PackCause of the widths of data and weights.
func packWidths(x int, signed bool, w int) string {
	factor := x + flag(!signed)
	switch {
	case min(factor, w) < 2 || x+w < 9:
		return fmt.Sprintf("products of %d bits by weights of %d take LUTs, not DSPs", x, w)
	case factor > 18 || x+2*w+1 > 27:
		return fmt.Sprintf("two products of %d bits by weights of %d do not fit into one DSP", x, w)
	}
	return ""
}

// multipliers asks for products in LUTs, or two in a DSP.
func multipliers(n *ir.Node) []any {
	switch n.HW.DSP {
	case "none":
		return []any{"MULT", "lut"}
	case "pack":
		return []any{"MULT", "pack"}
	}
	return nil
}
