// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/ir"
	"lathe/rtl"
)

// PackCause says why products of the linear or convolution n, decided but for its lanes, cannot share a DSP in pairs,
// whatever those lanes are; "" where they can. The bounds are those of num_mul_pair. Errors are those of a layer that
// has no hardware.
func PackCause(n *ir.Node) (string, error) {
	a, isConv := n.Attrs.(*ConvAttrs)
	switch {
	case usesWindow(n):
		return "sums over blocks take a DSP a product", nil
	case n.Op != Linear && !isConv:
		return n.Op.Name + " has no two products with a common factor", nil
	case isConv && a.Groups > 1 && a.Groups == n.Args[1].Type.Shape[0]:
		return "no two output channels share their data", nil
	case n.HW.Style == ir.StyleUnroll:
		return "an unrolled layer multiplies by constants", nil
	}
	m, err := planMAC(n)
	if err != nil {
		return "", err
	}
	m = m.raw()
	w := m.widths()
	var x int
	var signed bool
	if m.res != nil {
		x, signed = m.codes.ints.W, m.codes.ints.Signed
	} else {
		_, fx, err := operandParams(n)
		if err != nil {
			return "", err
		}
		x, signed = fx.W, fx.Signed
	}
	return packWidths(x, signed, w.weight), nil
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
func multipliers(u *rtl.Unit, n *ir.Node) {
	switch n.HW.DSP {
	case "none":
		with(u, "MULT", "lut")
	case "pack":
		with(u, "MULT", "pack")
	}
}
