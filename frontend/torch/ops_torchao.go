// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"fmt"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
)

// torchao is the prefix of the operations by which programs of torchao code values. The blocks that share a scale are
// stated by their size along each axis, block_size.
const torchao = "torch.ops.torchao."

// affine lists the operations of torchao that code values in whole numbers, decode them, or choose scales.
func affine() []row {
	const parameters = "input block_size scale zero_point "
	const more = " quant_min quant_max zero_point_domain"
	return []row{
		{torchao + "quantize_affine.default", parameters + "output_dtype" + more, convertQuantize},
		{torchao + "dequantize_affine.default", parameters + "input_dtype" + more + " output_dtype", convertDequantize},
		{torchao + "choose_qparams_affine.default", "input mapping_type block_size target_dtype quant_min quant_max eps " +
			"scale_dtype zero_point_dtype keepdim", func(c *call) {
			c.fail(diag.QuantForm, "chooses its scales from the data of each sample").Hint = static
		}},
	}
}

// blockAxis is the axis along which a value of a shape has a scale for each index, -1 where one scale serves all. The
// block_size of the operation is read if each block is the whole value, or all of it at one index of one axis: error
// L0251 else, with the nearest such size. A size of -1 is that of the axis.
func (c *call) blockAxis(shape []int) int {
	if domain := c.str("zero_point_domain", "INT"); c.err == nil && domain != "INT" && domain != "NONE" {
		c.fail(diag.QuantForm, "has its zero point in the domain %s; whole numbers are supported", domain).
			Hint = "quantize with zero_point_domain INT, or weights symmetrically"
	}
	size := c.ints("block_size")
	if c.err == nil && len(size) != len(shape) {
		c.fail(diag.OperandShapes, "has the block_size %v for %s", size, ir.ShapeString(shape))
	}
	if c.err != nil {
		return -1
	}
	axis, nearest := -1, slices.Clone(shape)
	for i, n := range size {
		if n == 1 && shape[i] > 1 && axis < 0 {
			axis, nearest[i] = i, 1
		} else if n < 0 {
			size[i] = shape[i]
		}
	}
	if !slices.Equal(size, nearest) {
		hint := fmt.Sprintf("quantize with block_size %v, one scale for all", shape)
		if axis >= 0 {
			hint = fmt.Sprintf("quantize with block_size %v, one scale for each index of axis %d; or %v, one for all",
				nearest, axis, shape)
		}
		c.fail(diag.QuantForm, "has blocks of the size %v in %s; one scale for all, or for each index of one axis, is "+
			"supported", size, ir.ShapeString(shape)).Hint = hint
	}
	return axis
}

// codeRange is the range of the element type of codes, for operations of torchao that do not state theirs.
func (c *call) codeRange() (lo, hi float64) {
	if !c.has("block_size") || c.has("quant_min") && c.has("quant_max") || c.err != nil {
		return 0, 0
	}
	typ := c.outType(nil)
	if c.has("input_dtype") {
		names := tensorNames(c.need("input"))
		if v := c.values[names[0]]; v != nil {
			typ = v.typ
		}
	}
	switch typ {
	case ir.I8:
		return -1 << 7, 1<<7 - 1
	case ir.U8:
		return 0, 1<<8 - 1
	case ir.I16:
		return -1 << 15, 1<<15 - 1
	case ir.I32:
		return -1 << 31, 1<<31 - 1
	}
	c.fail(diag.QuantForm, "has codes of type %s and states no range of them", typ).
		Hint = "quantize to int8 or uint8, or state quant_min and quant_max"
	return 0, 0
}
