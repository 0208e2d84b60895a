// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
)

// opSpec is one row of the table of operations.
type opSpec struct {
	name        string
	attrs       string // names of the known attributes
	least, most int    // inputs
	// convert makes graph nodes, or constants.
	convert func(c *call)
	// several: all results can be used.
	several bool
}

// many is the number of inputs of operations without a bound.
const many = 1 << 20

const windowAttrs = "auto_pad kernel_shape pads strides dilations "

// opTable lists the operations.
func opTable() []opSpec {
	return slices.Concat(layerTable(), pairTable(), functionTable(), moveTable(), indexTable(), shapeTable(),
		reduceTable(), blockTable(), recurrentTable())
}

// layerTable lists layers with weights, windows and what stands between them.
func layerTable() []opSpec {
	return []opSpec{
		{"Gemm", "alpha beta transA transB", 2, 3, convertGemm, false},
		{"MatMul", "", 2, 2, convertMatMul, false},
		{"MatMulInteger", "", 2, 4, convertMatMulInteger, false},
		{"ConvInteger", windowAttrs + "group", 2, 4, convertConvInteger, false},
		{"Conv", windowAttrs + "group", 2, 3, convertConv, false},
		{"ConvTranspose", windowAttrs + "group output_padding output_shape", 2, 3, convertConvTranspose, false},
		{"BatchNormalization", "epsilon momentum spatial training_mode", 5, 5, convertBatchNorm, false},
		{"Relu", "", 1, 1, convertRelu, false},
		{"LeakyRelu", "alpha", 1, 1, convertLeaky, false},
		{"Clip", "min max", 1, 3, convertClip, false},
		{"Sigmoid", "", 1, 1, convertUnary(curve.Sigmoid), false},
		{"Tanh", "", 1, 1, convertUnary(curve.Tanh), false},
		{"Softmax", "axis", 1, 1, convertSoftmax(norm.Softmax), false},
		{"LogSoftmax", "axis", 1, 1, convertSoftmax(norm.LogSoftmax), false},
		{"Hardmax", "axis", 1, 1, convertHardmax, false},
		{"ArgMax", "axis keepdims select_last_index", 1, 1, convertArgMax(false), false},
		{"ArgMin", "axis keepdims select_last_index", 1, 1, convertArgMax(true), false},
		{"MaxPool", windowAttrs + "ceil_mode storage_order", 1, 1, convertMaxPool, false},
		{"AveragePool", windowAttrs + "ceil_mode count_include_pad", 1, 1, convertAvgPool, false},
		{"GlobalAveragePool", "", 1, 1, convertGlobalAvg, false},
		{"GlobalMaxPool", "", 1, 1, convertGlobalMax, false},
		{"Dropout", "ratio seed", 1, 3, convertDropout, true},
		{"If", "then_branch else_branch", 1, 1, convertIf, true},
	}
}

// pairTable lists element-wise operations of two operands or three.
func pairTable() []opSpec {
	pair := func(name string, o *ir.Op) opSpec { return opSpec{name, "", 2, 2, convertBinary(o, nil), false} }
	relation := func(name, rel string) opSpec {
		return opSpec{name, "", 2, 2, convertBinary(whole.Compare, &whole.CompareAttrs{Rel: rel}), false}
	}
	return []opSpec{
		pair("Add", pointwise.Add), pair("Sub", pointwise.Sub), pair("Mul", pointwise.Mul),
		{"Div", "", 2, 2, convertDiv, false},
		{"Mod", "fmod", 2, 2, convertMod, false},
		{"Pow", "", 2, 2, convertPow, false},
		pair("And", whole.And), pair("Or", whole.Or), pair("Xor", whole.Xor),
		pair("BitwiseAnd", whole.And), pair("BitwiseOr", whole.Or), pair("BitwiseXor", whole.Xor),
		{"Not", "", 1, 1, convertAny(whole.Not), false},
		{"BitwiseNot", "", 1, 1, convertAny(whole.Not), false},
		{"BitShift", "direction", 2, 2, convertShift, false},
		relation("Equal", "eq"), relation("Less", "lt"), relation("LessOrEqual", "le"),
		relation("Greater", "gt"), relation("GreaterOrEqual", "ge"),
		{"Where", "", 3, 3, convertWhere, false},
		{"Min", "", 1, many, convertMany(pointwise.Min), false},
		{"Max", "", 1, many, convertMany(pointwise.Max), false},
		{"Sum", "", 1, many, convertMany(pointwise.Add), false},
		{"Mean", "", 1, many, convertMean, false},
	}
}

// opNames lists what opTable holds.
func opNames() []string {
	var names []string
	for _, s := range opTable() {
		names = append(names, s.name)
	}
	return names
}

// convertUnary converts an operation on real numbers with one input and no attributes.
func convertUnary(o *ir.Op) func(*call) {
	return func(c *call) { c.result(c.emit("", o, nil, c.data(0))) }
}

// convertAny is convertUnary for values of any type.
func convertAny(o *ir.Op) func(*call) {
	return func(c *call) { c.result(c.emit("", o, nil, c.arg(0))) }
}

// alike demands operands of one type.
func (c *call) alike(from int) {
	for i := from; i < len(c.in) && c.err == nil; i++ {
		a, b := c.in[from].dtype, c.in[i].dtype
		if storage(a) != storage(b) && !(isFloat(storage(a)) && isFloat(storage(b))) {
			c.fail(diag.BadElementType, "operands of type %s and %s", dtypeName(a), dtypeName(b))
		}
	}
}

// convertBinary converts an operation with two inputs and broadcasting.
func convertBinary(o *ir.Op, attrs any) func(*call) {
	return func(c *call) {
		c.alike(0)
		a := c.arg(0)
		c.result(c.emit("", o, attrs, a, c.arg(1)))
	}
}

func convertWhere(c *call) {
	if c.in[0].dtype != dtypeBool {
		c.fail(diag.BadElementType, "its condition %s holds %s, truth values are needed", quote(c.in[0].name),
			dtypeName(c.in[0].dtype))
	}
	c.alike(1)
	cond, a, b := c.arg(0), c.arg(1), c.arg(2)
	n := c.emit("", whole.Where, nil, cond, a, b)
	if c.result(n); c.err == nil {
		c.fr.values[c.n.out[0]].dtype = c.in[1].dtype
	}
}

func convertMod(c *call) {
	c.alike(0)
	a := c.arg(0)
	c.result(c.emit("", whole.Mod, &whole.ModAttrs{Floor: c.int("fmod", 0) == 0}, a, c.arg(1)))
}

func convertShift(c *call) {
	c.alike(0)
	a, o := c.arg(0), whole.ShiftLeft
	switch d := c.string("direction", ""); d {
	case "LEFT":
	case "RIGHT":
		o = whole.ShiftRight
		if storage(c.in[0].dtype) == ir.U64 && c.err == nil {
			n, err := c.b.ShiftRight(c.place(""), a, c.arg(1))
			c.wrap(diag.OperandShapes, err)
			c.b.MarkUnsigned(n)
			c.result(n)
			return
		}
	default:
		c.fail(diag.BadAttribute, "direction %s is neither LEFT nor RIGHT", quote(d))
	}
	c.result(c.emit("", o, nil, a, c.arg(1)))
}

// convertRelu: of whole numbers it is the greater of x and 0.
func convertRelu(c *call) {
	if !c.whole(0) {
		convertUnary(pointwise.Relu)(c)
		return
	}
	x := c.arg(0)
	if c.err == nil {
		c.result(c.emit("", pointwise.Max, nil, x, c.like(x, 0, "zero")))
	}
}

func convertLeaky(c *call) {
	c.result(c.emit("", pointwise.LeakyRelu, &pointwise.LeakyAttrs{Alpha: c.float("alpha", 0.01)}, c.data(0)))
}

// convertSoftmax: up to opset 12 all axes from the given one on are taken together.
func convertSoftmax(o *ir.Op) func(*call) {
	return func(c *call) {
		c.flattened(func(x *ir.Node, axis int, suffix string) *ir.Node {
			return c.emit(suffix, o, &column.AxisAttrs{Axis: axis}, x)
		})
	}
}

// flattened applies f along the axis of Softmax and its kin.
func (c *call) flattened(f func(x *ir.Node, axis int, suffix string) *ir.Node) {
	shape := c.shape(0)
	def, last := int64(-1), 0
	if c.opset < 13 {
		def, last = 1, 1
	}
	axis := c.axis(c.int("axis", def), len(shape), last)
	x := c.data(0)
	if c.opset >= 13 || axis == len(shape)-1 || c.err != nil {
		c.result(f(x, axis, ""))
		return
	}
	n := c.reshape("flat", x, []int{elems(shape[:axis]), elems(shape[axis:])})
	c.result(c.reshape("shape", f(n, 1, ""), shape))
}

func elems(shape []int) int { return ir.Type{Shape: shape}.Elems() }

// convertHardmax is 1 at the first maximum along an axis, else 0.
func convertHardmax(c *call) {
	c.flattened(func(x *ir.Node, axis int, suffix string) *ir.Node {
		if c.err != nil {
			return nil
		}
		at := c.emit("place", reduce.ArgMax, &reduce.ArgMaxAttrs{Axis: axis, KeepDims: true}, x)
		shape := slices.Repeat([]int{1}, len(x.Type.Shape))
		shape[axis] = x.Type.Shape[axis]
		hit := c.emit("hit", whole.Compare, &whole.CompareAttrs{Rel: "eq"}, at, c.iota("places", shape))
		return c.emit(suffix, whole.Convert, &whole.ConvertAttrs{To: ir.F32}, hit)
	})
}

// iota is a constant of the numbers from 0 on.
func (c *call) iota(role string, shape []int) *ir.Node {
	v := make([]int64, elems(shape))
	for i := range v {
		v[i] = int64(i)
	}
	return c.whole64(role, shape, v...)
}

func convertArgMax(least bool) func(*call) {
	return func(c *call) {
		a := &reduce.ArgMaxAttrs{
			Axis:     c.axis(c.int("axis", 0), len(c.shape(0)), 0),
			KeepDims: c.int("keepdims", 1) != 0,
			Last:     c.int("select_last_index", 0) != 0,
			Least:    least,
		}
		c.result(c.emit("", reduce.ArgMax, a, c.arg(0)))
	}
}
