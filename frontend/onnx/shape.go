// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/whole"
)

// shapeTable lists operations on shapes, types and constants.
func shapeTable() []opSpec {
	return []opSpec{
		{"Reshape", "allowzero", 2, 2, convertReshape, false},
		{"Flatten", "axis", 1, 1, convertFlatten, false},
		{"Squeeze", "axes", 1, 2, convertSqueeze, false},
		{"Unsqueeze", "axes", 1, 2, convertUnsqueeze, false},
		{"Transpose", "perm", 1, 1, convertTranspose, false},
		{"Identity", "", 1, 1, convertIdentity, false},
		{"Cast", "to saturate round_mode", 1, 1, convertCast, false},
		{"CastLike", "saturate round_mode", 2, 2, convertCast, false},
		{"Constant", "value value_int value_ints value_float value_floats", 0, 0, convertConstant, false},
		{"Shape", "start end", 1, 1, convertShape, false},
		{"Size", "", 1, 1, convertSize, false},
		{"ConstantOfShape", "value", 1, 1, convertFill, false},
		{"Range", "", 3, 3, convertRange, false},
		{"EyeLike", "dtype k", 1, 1, convertEyeLike, false},
	}
}

// convertShape is Shape: constant even where its input is not, because all shapes are static.
func convertShape(c *call) {
	shape := c.shape(0)
	start, end := c.int("start", 0), c.int("end", math.MaxInt64)
	n := int64(len(shape))
	var v []int64
	for i := clampIndex(start, n); i < clampIndex(end, n); i++ {
		v = append(v, int64(shape[i]))
	}
	c.result(c.whole64("shape", []int{len(v)}, v...))
}

// clampIndex maps an index, negative from the end, into 0..n.
func clampIndex(i, n int64) int64 {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

func convertSize(c *call) { c.result(c.whole64("size", nil, int64(elems(c.shape(0))))) }

// convertConstant reads the one attribute of Constant that is present.
func convertConstant(c *call) {
	if len(c.n.attrs) != 1 {
		c.fail(diag.BadAttribute, "has %d attributes instead of one", len(c.n.attrs))
		return
	}
	switch a := &c.n.attrs[0]; a.name {
	case "value":
		if c.attr("value", kindTensor) == nil {
			return
		}
		name := c.n.out[0]
		*c.fr.values[name] = value{name: name, dtype: a.t.dtype, tensor: a.t}
	case "value_int":
		c.result(c.whole64("value", nil, c.int("value_int", 0)))
	case "value_ints":
		if a := c.attr("value_ints", kindInts); a != nil {
			c.result(c.whole64("value", []int{len(a.ints)}, a.ints...))
		}
	case "value_float":
		c.result(c.number(c.float("value_float", 0), "value"))
	case "value_floats":
		if a := c.attr("value_floats", kindFloats); a != nil {
			c.result(c.made("value", ir.FloatBlob(a.floats), []int{len(a.floats)}))
		}
	}
}

// convertFill is ConstantOfShape: zeros of float32 unless an attribute says otherwise.
func convertFill(c *call) {
	shape := c.size(0, "the shape")
	one := c.number(0, "value")
	if a := c.attr("value", kindTensor); a != nil {
		b, err := a.t.blob(&c.ext)
		c.wrap(diag.ConstantExpression, err)
		if c.err == nil && b.Len() != 1 {
			c.fail(diag.BadAttribute, "attribute value has %d elements instead of one", b.Len())
		}
		one = c.made("value", b, nil)
	}
	if c.err != nil {
		return
	}
	if n := elems(shape); n > maxMade {
		c.fail(diag.ModelLimit, "a constant of %d elements is too large, the limit is %d", n, maxMade)
		return
	}
	c.result(c.repeat("", one, shape))
}

// maxMade bounds the elements of constants that stand for a shape in the file.
const maxMade = 1 << 24

// convertRange is a constant: lengths of values do not depend on data.
func convertRange(c *call) {
	c.alike(0)
	start, limit, delta := c.scalar(0, "the start"), c.scalar(1, "the limit"), c.scalar(2, "the step")
	if c.err != nil {
		return
	}
	n := math.Ceil((limit - start) / delta)
	if !(n <= maxSmall) { // NaN too
		c.fail(diag.ModelLimit, "a range of %s elements, the limit is %d", diag.Number(n, -1), maxSmall)
		return
	}
	shape := []int{max(0, int(n))}
	if first, ok := build.Ints(c.arg(0)); ok {
		step, _ := build.Ints(c.arg(2))
		v := make([]int64, shape[0])
		for i := range v {
			v[i] = first[0] + int64(i)*step[0]
		}
		c.result(c.made("range", build.IntBlob(storage(c.in[0].dtype), v), shape))
		return
	}
	v := make([]float32, shape[0])
	for i := range v {
		v[i] = float32(start + float64(i)*delta)
	}
	c.result(c.made("range", ir.FloatBlob(v), shape))
}

// convertEyeLike is a constant with ones on a diagonal.
func convertEyeLike(c *call) {
	shape, k := c.shape(0), c.int("k", 0)
	typ := storage(c.int("dtype", c.in[0].dtype))
	switch {
	case len(shape) != 2:
		c.fail(diag.OperandShapes, "takes a matrix, not %s", ir.ShapeString(shape))
	case typ == "":
		c.fail(diag.BadElementType, "makes elements of type %s, which is not supported", dtypeName(c.int("dtype", 0)))
	case elems(shape) > maxMade:
		c.fail(diag.ModelLimit, "a constant of %d elements is too large, the limit is %d", elems(shape), maxMade)
	}
	if c.err != nil {
		return
	}
	v := make([]int64, elems(shape))
	for i := range v {
		if int64(i%shape[1]-i/shape[1]) == k {
			v[i] = 1
		}
	}
	c.result(c.converted("", c.made("eye", build.IntBlob(ir.U8, v), shape), typ))
}

// perm reads the attribute of Transpose; without it the axes are reversed.
func (c *call) perm(rank int) []int {
	perm := c.ints("perm")
	if !c.hasAttr("perm") {
		for i := range rank {
			perm = append(perm, rank-1-i)
		}
	}
	sorted := slices.Sorted(slices.Values(perm))
	for i, p := range sorted {
		if i != p {
			c.fail(diag.BadAttribute, "%v is not a permutation of %d axes", perm, rank)
		}
	}
	if len(perm) != rank {
		c.fail(diag.BadAttribute, "%v is not a permutation of %d axes", perm, rank)
	}
	return perm
}

// sliceRange is the first index and the number of elements that start:end:step selects out of dim.
func sliceRange(start, end, step, dim int64) (first, n int) {
	if start < 0 {
		start += dim
	}
	if end < 0 && end >= -dim {
		end += dim
	} else if end < -dim {
		end = -1
	}
	if step > 0 {
		start, end = min(max(start, 0), dim), min(max(end, 0), dim)
		if end > start {
			return int(start), int((end-start-1)/step) + 1
		}
		return 0, 0
	}
	start, end = min(max(start, 0), dim-1), min(max(end, -1), dim-1)
	if start > end {
		return int(start), int((start-end-1)/-step) + 1
	}
	return 0, 0
}

// sliceArgs reads starts, ends, axes and steps with their defaults: attributes up to opset 9, inputs from 10.
func (c *call) sliceArgs() (starts, ends, axes, steps []int64) {
	var lists [4][]int64
	var given [4]bool
	old := c.byAttrs(10, "starts", "ends", "axes")
	for i, name := range [...]string{"starts", "ends", "axes", "steps"} {
		switch {
		case !old:
			if c.has(i + 1) {
				lists[i], given[i] = c.list(i+1, name), true
			}
		case i < 3:
			if a := c.attr(name, kindInts); a != nil {
				lists[i], given[i] = a.ints, true
			}
		}
	}
	if !given[0] || !given[1] || old && len(c.in) > 1 {
		c.fail(diag.OperandCount, "has no starts or no ends: they are attributes up to operator set 9, inputs from 10 on, "+
			"and the model states set %d", c.opset)
	}
	n := len(lists[0])
	for i := range n {
		if !given[2] {
			lists[2] = append(lists[2], int64(i))
		}
		if !given[3] {
			lists[3] = append(lists[3], 1)
		}
	}
	for _, l := range lists {
		if c.err == nil && len(l) != n {
			c.fail(diag.OperandCount, "starts, ends, axes and steps have %d, %d, %d and %d entries", len(lists[0]),
				len(lists[1]), len(lists[2]), len(lists[3]))
		}
	}
	return lists[0], lists[1], lists[2], lists[3]
}

// convertReshape: a 0 copies the input's dimension unless allowzero is set, a -1 takes what is left.
func convertReshape(c *call) {
	want := c.list(1, "the shape")
	if c.err == nil && len(want) > maxRank {
		c.fail(diag.ModelLimit, "%d dimensions, the limit is %d", len(want), maxRank)
	}
	in, allowZero := c.shape(0), c.int("allowzero", 0) != 0
	shape, open, rest := make([]int, 0, maxRank), -1, elems(in)
	for i, d := range want {
		switch {
		case c.err != nil:
			return
		case d == 0 && !allowZero && i < len(in):
			d = int64(in[i])
		case d == -1 && open < 0:
			open, d = i, 1
		case d < 0 || d > ir.MaxElems || d == 0 && !allowZero:
			c.fail(diag.BadDimension, "cannot reshape %s to %v", ir.ShapeString(in), want)
			return
		}
		if d > 0 {
			rest /= int(d)
		}
		shape = append(shape, int(d))
	}
	if open >= 0 {
		shape[open] = rest
	}
	if err := ir.CheckShape(shape); err != nil || elems(shape) != elems(in) {
		c.fail(diag.OperandShapes, "cannot reshape %s to %v", ir.ShapeString(in), want)
	}
	c.view(shape)
}

func convertFlatten(c *call) {
	in := c.shape(0)
	axis := c.axis(c.int("axis", 1), len(in), 1)
	c.view([]int{elems(in[:axis]), elems(in[axis:])})
}

// axes reads the axes of Squeeze and Unsqueeze as a set: an attribute up to opset 12, then input 1. They count from
// the input, and with more from the result, which has one dimension more for each of them.
func (c *call) axes(more bool) (set map[int]bool, given bool) {
	var list []int64
	old := c.byAttrs(13, "axes")
	switch a := c.attr("axes", kindInts); {
	case c.has(1):
		list, given = c.list(1, "axes"), true
	case a != nil && old:
		list, given = a.ints, true
	}
	rank := len(c.shape(0))
	if more {
		rank += len(list)
	}
	if c.err == nil && rank > maxRank {
		c.fail(diag.ModelLimit, "%d dimensions, the limit is %d", rank, maxRank)
	}
	set = map[int]bool{}
	for _, v := range list[:min(len(list), maxRank)] {
		axis := c.axis(v, rank, 0)
		if set[axis] {
			c.fail(diag.BadAttribute, "axis %d is given twice", v)
		}
		set[axis] = true
	}
	return set, given
}

func convertSqueeze(c *call) {
	in := c.shape(0)
	drop, given := c.axes(false)
	shape := make([]int, 0, len(in))
	for i, d := range in {
		switch {
		case drop[i] && d != 1:
			c.fail(diag.OperandShapes, "cannot drop axis %d of %s", i, ir.ShapeString(in))
		case drop[i] || !given && d == 1:
		default:
			shape = append(shape, d)
		}
	}
	c.view(shape)
}

func convertUnsqueeze(c *call) {
	in := c.shape(0)
	set, given := c.axes(true)
	if !given {
		c.fail(diag.OperandCount, "has no axes")
	}
	shape := make([]int, 0, len(in)+len(set))
	for i, next := 0, 0; c.err == nil && i < len(in)+len(set); i++ {
		if set[i] {
			shape = append(shape, 1)
		} else {
			shape = append(shape, in[next])
			next++
		}
	}
	c.view(shape)
}

func convertTranspose(c *call) {
	n := c.arg(0)
	c.result(c.emit("", move.Transpose, &move.TransposeAttrs{Perm: c.perm(len(c.shape(0)))}, n))
}

// convertIdentity passes input 0 on.
func convertIdentity(c *call) {
	n := c.arg(0)
	c.result(c.emit("", move.Identity, nil, n))
}

// convertCast converts to the type of the attribute, or to that of input 1. Floats of all widths are computed as
// float32, so that a cast to a wider one changes nothing.
func convertCast(c *call) {
	var to int64
	if c.n.op == "CastLike" {
		to = c.in[1].dtype
	} else {
		to = c.int("to", 0)
	}
	typ := storage(to)
	if typ == "" || to == dtypeUint4 || to == dtypeInt4 {
		c.fail(diag.BadElementType, "converts to %s, which is not supported", dtypeName(to))
	}
	n := c.arg(0)
	switch {
	case c.err != nil:
		return
	case n.Type.Format == ir.FormatOf(typ) && (typ == ir.F32 || typ == ir.F64 || ir.IsWhole(n.Type.Format)):
		n = c.emit("", move.Identity, nil, n)
	default:
		n = c.emit("", whole.Convert, &whole.ConvertAttrs{To: typ}, n)
	}
	if c.result(n); c.err == nil {
		c.fr.values[c.n.out[0]].dtype = to
	}
}
