// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// convertShape is Shape: constant even where its input is not, because all shapes are static.
func convertShape(c *call) {
	shape := c.shape(0)
	start, end := c.int("start", 0), c.int("end", math.MaxInt64)
	n := int64(len(shape))
	from, to := clampIndex(start, n), clampIndex(end, n)
	k := intKonst([]int{int(max(0, to-from))})
	for i := from; i < to; i++ {
		k.ints = append(k.ints, int64(shape[i]))
	}
	c.constantResult(k)
}

// clampIndex maps an index, negative from the end, into 0..n.
func clampIndex(i, n int64) int64 {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

func convertSize(c *call) {
	c.constantResult(intKonst(nil, int64(ir.Type{Shape: c.shape(0)}.Elems())))
}

// convertConstant reads the one attribute of Constant that is present.
func convertConstant(c *call) {
	if len(c.n.attrs) != 1 {
		c.fail(source.CodeAttr, "has %d attributes instead of one", len(c.n.attrs))
		return
	}
	switch a := &c.n.attrs[0]; a.name {
	case "value":
		if c.attr("value", kindTensor) == nil {
			return
		}
		v := value{name: c.n.out[0], shape: a.t.dims, typ: storage(a.t.dtype), tensor: a.t}
		*c.values[c.n.out[0]] = v
	case "value_int":
		c.constantResult(intKonst(nil, c.int("value_int", 0)))
	case "value_ints":
		if a := c.attr("value_ints", kindInts); a != nil {
			c.constantResult(intKonst([]int{len(a.ints)}, a.ints...))
		}
	case "value_float":
		c.constantResult(&konst{typ: ir.F32, floats: []float64{float64(c.float("value_float", 0))}})
	case "value_floats":
		if a := c.attr("value_floats", kindFloats); a != nil {
			k := newKonst(ir.F32, []int{len(a.floats)})
			for i, v := range a.floats {
				k.floats[i] = float64(v)
			}
			c.constantResult(k)
		}
	}
}

func foldTranspose(c *call, k []*konst) *konst {
	perm := c.perm(len(k[0].shape))
	if !c.room(k[0].shape) {
		return nil
	}
	return k[0].transposed(perm)
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
			c.fail(source.CodeAttr, "%v is no permutation of %d axes", perm, rank)
		}
	}
	if len(perm) != rank {
		c.fail(source.CodeAttr, "%v is no permutation of %d axes", perm, rank)
	}
	return perm
}

// castType is the type that Cast or CastLike converts to.
func (c *call) castType() ir.DType {
	if c.n.op == "CastLike" {
		if c.in[1].typ == "" {
			c.fail(source.CodeDType, "converts to %s, which is not supported", typeName(c.in[1]))
		}
		return c.in[1].typ
	}
	to := c.int("to", 0)
	typ := storage(to)
	if typ == "" {
		c.fail(source.CodeDType, "converts to %s, which is not supported", dtypeName(to))
	}
	return typ
}

// foldSlice is Slice: attributes up to opset 9, inputs from 10.
func foldSlice(c *call, k []*konst) *konst {
	data := k[0]
	starts, ends, axes, steps := c.sliceArgs(k)
	if c.err != nil {
		return nil
	}
	shape, strides, offset := slices.Clone(data.shape), rowMajor(data.shape), 0
	seen := map[int]bool{}
	for i := range starts {
		axis := c.axis(axes[i], len(data.shape), 0)
		if c.err != nil || seen[axis] || steps[i] == 0 || steps[i] == math.MinInt64 {
			c.fail(source.CodeAttr, "axis %d is repeated, or its step is 0", axes[i])
			return nil
		}
		seen[axis] = true
		first, n := sliceRange(starts[i], ends[i], steps[i], int64(data.shape[axis]))
		offset += first * strides[axis]
		if shape[axis] = n; n > 1 {
			strides[axis] *= int(steps[i])
		}
	}
	if !c.room(shape) {
		return nil
	}
	if (ir.Type{Shape: shape}).Elems() == 0 {
		return newKonst(data.typ, shape)
	}
	return data.pick(shape, strided(shape, strides, offset))
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

// sliceArgs reads starts, ends, axes and steps with their defaults.
func (c *call) sliceArgs(k []*konst) (starts, ends, axes, steps []int64) {
	var lists [4][]int64
	var given [4]bool
	for i, name := range [...]string{"starts", "ends", "axes", "steps"} {
		switch {
		case c.opset >= 10:
			if p := k[i+1]; p != nil && (p.real() || len(p.shape) != 1) {
				c.fail(source.CodeDType, "%s must be a list of integers", name)
			} else if p != nil {
				lists[i], given[i] = p.ints, true
			}
		case i < 3:
			if a := c.attr(name, kindInts); a != nil {
				lists[i], given[i] = a.ints, true
			}
		}
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
		if len(l) != n {
			c.fail(source.CodeArity, "starts, ends, axes and steps have %d, %d, %d and %d entries", len(lists[0]),
				len(lists[1]), len(lists[2]), len(lists[3]))
		}
	}
	return lists[0], lists[1], lists[2], lists[3]
}

// convertReshape: a 0 copies the input's dimension unless allowzero is set, a -1 takes what is left.
func convertReshape(c *call) {
	want := c.list(1, "the shape")
	if c.err == nil && len(want) > maxRank {
		c.fail(source.CodeLimit, "%d dimensions, the limit is %d", len(want), maxRank)
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
			c.fail(source.CodeDims, "cannot reshape %s to %v", ir.ShapeString(in), want)
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
		c.fail(source.CodeShape, "cannot reshape %s to %v", ir.ShapeString(in), want)
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
	switch a := c.attr("axes", kindInts); {
	case c.has(1):
		list, given = c.list(1, "axes"), true
	case a != nil && c.opset < 13:
		list, given = a.ints, true
	}
	rank := len(c.shape(0))
	if more {
		rank += len(list)
	}
	if c.err == nil && rank > maxRank {
		c.fail(source.CodeLimit, "%d dimensions, the limit is %d", rank, maxRank)
	}
	set = map[int]bool{}
	for _, v := range list[:min(len(list), maxRank)] {
		axis := c.axis(v, rank, 0)
		if set[axis] {
			c.fail(source.CodeAttr, "axis %d is given twice", v)
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
			c.fail(source.CodeShape, "cannot drop axis %d of %s", i, ir.ShapeString(in))
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
		c.fail(source.CodeArity, "has no axes")
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
	typ := c.in[0].typ
	n, err := c.materialize(c.in[0], c.label+".const")
	c.wrap(source.CodeFold, err)
	n = c.emit("", op.Transpose, &op.TransposeAttrs{Perm: c.perm(len(c.shape(0)))}, n)
	c.resultOf(n, typ)
}

// resultOf is result for values that may be integers.
func (c *call) resultOf(n *ir.Node, typ ir.DType) {
	if c.result(n); c.err == nil && n != nil {
		c.values[c.n.out[0]].typ = typ
	}
}

// convertIdentity passes input 0 on.
func convertIdentity(c *call) {
	if c.in[0].constant() {
		c.view(c.shape(0))
		return
	}
	c.resultOf(c.emit("", op.Identity, nil, c.in[0].node), c.in[0].typ)
}

func convertDropout(c *call) {
	if c.has(2) && c.scalar(2, "training_mode") != 0 {
		c.fail(source.CodeForm, "is in training mode").WithHint("export the model after model.eval()")
	}
	convertIdentity(c)
}

func convertCast(c *call)     { c.castTo(c.castType()) }
func convertCastLike(c *call) { c.castTo(c.castType()) }

// castTo: activations are float32 numbers or small indices, so casts to types that hold all of them change nothing.
func (c *call) castTo(typ ir.DType) {
	v := c.in[0]
	wide := typ == ir.F32 || typ == ir.F64
	switch {
	case c.err != nil:
	case v.constant():
		k, ok, err := c.constantOf(v)
		c.wrap(source.CodeFold, err)
		switch {
		case ok && c.room(v.shape):
			c.constantResult(k.cast(typ))
		case isFloat(v.typ) && wide:
			c.view(v.shape) // read as float32 where it is used
		default:
			c.fail(source.CodeLimit, "%s is too large to be converted to %s", quote(v.name), typ)
		}
	case wide || !isFloat(v.typ) && (typ == ir.I64 || typ == ir.I32):
		c.resultOf(c.emit("", op.Identity, nil, v.node), typ)
	default:
		c.fail(source.CodeForm, "converts values that are computed at run time from %s to %s", v.typ, typ)
	}
}
