// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"errors"
	"math"
	"strings"
	"testing"

	"lathe/frontend/layers"
	"lathe/frontend/source"
	"lathe/internal/diag"
)

// badCase is a model that is refused with a code and a text.
type badCase struct {
	name  string
	code  diag.Code
	want  string
	model testModel
}

var img = vi("x", 1, 2, 5, 6)

func modelErrors() []badCase {
	x := vi("x", 2, 3)
	relu := nd("Relu", "x", "y")
	ok := single(13, x, relu)
	with := func(change func(m *testModel)) testModel {
		m := ok
		change(&m)
		return m
	}
	return []badCase{
		{"old opset", diag.OpsetVersion, "operator set 6", with(func(m *testModel) { m.opset = 6 })},
		{"no outputs", diag.NoOutputs, "no outputs", with(func(m *testModel) { m.outputs = nil })},
		{"sparse", diag.SparseTensor, "sparse", with(func(m *testModel) { m.extraInside = pb(nil).msg(15, nil) })},
		{"unknown output", diag.UndefinedValue, `mean "y"`, with(func(m *testModel) { m.outputs = []pb{vi("yy")} })},
		{"output twice", diag.DuplicateName, "twice", with(func(m *testModel) { m.outputs = []pb{vi("y"), vi("y")} })},
		{"input twice", diag.DuplicateName, "twice", with(func(m *testModel) { m.inputs = []pb{x, x} })},
		{"initializer twice", diag.DuplicateName, "twice", with(func(m *testModel) {
			m.inits = []pb{it("a", 1), it("a",
				1)}
		})},
		{"initializer without name", diag.UndefinedValue, "without a name", with(func(m *testModel) {
			m.inits = []pb{it("",
				1)}
		})},
		{"result twice", diag.DuplicateName, "m.onnx: y (Relu)", with(func(m *testModel) { m.nodes = []pb{relu, relu} })},
		{"undefined", diag.UndefinedValue, `mean "weight"`,
			single(13, x, nd("Gemm", "x weigth", "y"), ft("weight", d(3, 4)))},
		{"order", diag.ReadBeforeDefined, "later", chain(13, x, nil, nd("Relu", "a", "y"), nd("Relu", "x", "a"))},
		{"cycle", diag.ModelCycle, "cycle", chain(13, x, nil, nd("Add", "x b", "a"), nd("Relu", "a", "b"), nd("Relu", "b",
			"y"))},
		{"self", diag.ModelCycle, "cycle", chain(13, x, nil, nd("Add", "x a", "a"), nd("Relu", "a", "y"))},
		{"input type", diag.BadElementType, "int64", single(13, viOf("x", 7, 2), nd("Sigmoid", "x", "y"))},
		{"input string", diag.BadElementType, "string", single(13, viOf("x", 8, 2), relu)},
		{"input unknown type", diag.BadElementType, "type 99", single(13, viOf("x", 99, 2), relu)},
		{"zero dimension", diag.BadDimension, "0x3", single(13, vi("x", 0, 3), relu)},
		{"negative dimension", diag.BadDimension, "-1x3", single(13, vi("x", -1, 3), relu)},
		{"huge dimension", diag.BadDimension, "2^33", single(13, vi("x", 1<<40, 3), relu)},
		{"open dimension", diag.OpenDimension, "--dim seq=SIZE", single(13, vi("x", "batch", "seq"), relu)},
		{"nameless dimension", diag.OpenDimension, "dimension 1", single(13, vi("x", 1, nil), relu)},
		{"unknown rank", diag.OpenDimension, "shape of input", single(13, pb(nil).str(1, "x").msg(2,
			pb(nil).msg(1, pb(nil).int(1, 1))), relu)},
		{"declared size", diag.OperandShapes, `output "y" has shape 2x3, the file declares Nx4`, with(func(m *testModel) {
			m.outputs = []pb{vi("y", "N", 4)}
		})},
		{"declared axes", diag.OperandShapes, "the file declares 2x3x1", with(func(m *testModel) {
			m.outputs = []pb{vi("y", 2, 3, 1)}
		})},
		{"zero points", diag.OperandShapes, `its zero point "z" has shape 3, its scale scalar`, single(13, x,
			nd("QuantizeLinear", "x s z", "y"), ft("s", nil, 0.5), head("z", 3, 3).str(9, "\x00\x00\x00"))},
		{"one zero point", diag.OperandShapes, `its zero point "z" has shape 1, its scale 3`, single(13, x,
			nd("QuantizeLinear",
				"x s z", "y"), ft("s", d(3), 0.5, 0.25, 1), head("z", 3, 1).str(9, "\x00"))},
		{"zero points in floats", diag.OperandShapes, "has shape 2, its scale 3", single(13, x, nd("QuantizeLinear",
			"x s z", "y"), ft("s", d(3), 0.5, 0.25, 1), head("z", 3, 2).str(9, "\x00\x01"))},
		{"second result", diag.SecondResult, `"z"`,
			chain(13, img, nil, nd("MaxPool", "x", "y z", aInts("kernel_shape", 2, 2)), nd("Relu", "z", "q"), nd("Add", "y q",
				"w"),
				nd("Identity", "w", "unused")).withOutput("w")},
	}
}

func (m testModel) withOutput(name string) testModel {
	m.outputs = []pb{vi(name)}
	return m
}

func tensorErrors() []badCase {
	x := vi("x", 2, 3)
	use := func(t pb) testModel { return single(13, x, nd("Add", "x c", "y"), t) }
	return []badCase{
		{"raw too short", diag.TensorData, "8 bytes of data, 3 of float need 12", use(head("c", 1, 3).str(9, raw32(1,
			2)))},
		{"no data", diag.TensorData, "0 bytes", use(head("c", 1, 3))},
		{"typed too long", diag.TensorData, "16 bytes", use(head("c", 1, 3).str(4, raw32(1, 2, 3, 4)))},
		{"integers too many", diag.TensorData, "bytes", single(13, x, nd("Reshape", "x c", "y"), head("c", 7,
			1).packed(7, 1, 2))},
		{"two places", diag.TensorData, "more than one place", use(head("c", 1, 1).str(9, raw32(1)).str(4, raw32(1)))},
		{"two fields", diag.TensorData, "fields 4 and 5", use(head("c", 1, 1).str(4, raw32(1)).packed(5, 1))},
		{"wrong field", diag.TensorData, "field 7", use(head("c", 1, 1).packed(7, 1))},
		{"packed not whole", diag.ModelBroken, "multiple of 4", use(head("c", 1, 2).str(4, "ab").f32(4, 1))},
		{"negative size", diag.BadDimension, "negative", use(head("c", 1, -3).str(9, raw32(1)))},
		{"huge size", diag.BadDimension, "2^33", use(head("c", 1, 1<<30, 1<<30).str(9, raw32(1)))},
		{"many dimensions", diag.ModelLimit, "dimensions", use(head("c", 1, make([]int64, 17)...))},
		{"no elements", diag.OperandShapes, "do not broadcast", use(head("c", 1, 0))},
		{"int4", diag.BadElementType, "int4", use(head("c", 22, 2).str(9, "a"))},
		{"string tensor", diag.BadElementType, "string", use(head("c", 8, 1))},
		{"integer operand", diag.BadElementType, "int64", use(it("c", 1, 2, 3))},
		{"external in memory", diag.ExternalData, "not a file", use(head("c", 1, 3).int(14, 1).msg(13,
			pb(nil).str(1, "location").str(2, "w.bin")))},
		{"external without place", diag.ExternalData, "without a location", use(head("c", 1, 3).int(14, 1))},
		{"external length", diag.TensorData, "8 bytes", use(head("c", 1, 3).int(14, 1).msg(13,
			pb(nil).str(1, "length").str(2, "8")))},
		{"external offset", diag.ExternalData, "not a byte count", use(head("c", 1, 3).int(14, 1).msg(13,
			pb(nil).str(1, "offset").str(2, "-8")))},
	}
}

func nodeErrors() []badCase {
	x, w := vi("x", 2, 3), ft("w", d(3, 4))
	return []badCase{
		{"too few inputs", diag.OperandCount, "takes 1 input,", single(13, x, nd("Relu", "", "y"))},
		{"absent input", diag.OperandCount, "input 0 is missing", single(13, x, nd("Add", "_ x", "y"))},
		{"too many inputs", diag.OperandCount, "has 3", single(13, x, nd("Add", "x x x", "y"))},
		{"attribute name", diag.BadAttribute, "mean alpha", single(13, x, nd("LeakyRelu", "x", "y", aFlt("alhpa", 1)))},
		{"attribute type", diag.BadAttribute, "wrong type", single(13, x, nd("LeakyRelu", "x", "y", aInt("alpha", 1)))},
		{"attribute twice", diag.BadAttribute, "twice", single(13, x, nd("LeakyRelu", "x", "y", aFlt("alpha", 1),
			aFlt("alpha", 1)))},
		{"attribute reference", diag.BadAttribute, "refers to", single(13, x, nd("LeakyRelu", "x", "y", aFlt("alpha",
			1).str(21, "a")))},
		{"clip attributes", diag.BadAttribute, "is an input since operator set 11, and the model states set 13", single(13,
			x, nd("Clip", "x", "y", aFlt("min", 1)))},
		{"reduce attributes", diag.BadAttribute, "axes is an input since operator set 13", single(13, x, nd("ReduceSum", "x",
			"y", aInts("axes", 1)))},
		{"squeeze attributes", diag.BadAttribute, "axes is an input since operator set 13", single(13, vi("x", 1, 1),
			nd("Squeeze", "x", "y", aInts("axes", 1)))},
		{"slice attributes", diag.BadAttribute, "starts is an input since operator set 10", single(13, x, nd("Slice", "x",
			"y",
			aInts("starts", 1), aInts("ends", 2)))},
		{"slice inputs", diag.OperandCount, "the model states set 9", single(9, x, nd("Slice", "x i i", "y"), it("i", 1))},
		{"slice of nothing", diag.OperandCount, "no starts", single(13, x, nd("Slice", "x", "y"))},
		{"pad attributes", diag.BadAttribute, "value is an input since operator set 11", single(13, x, nd("Pad", "x p", "y",
			aFlt("value", 1)), it("p", 0, 1, 0, 1))},
		{"pad value", diag.UnsupportedForm, "pads whole numbers by 16777217", chain(13, x, []pb{it("p", 0, 1), it("v",
			16777217)},
			nd("Shape", "x", "s"), nd("Pad", "s p v", "y"))},
		{"clip bound", diag.OperandShapes, "one number", single(13, x, nd("Clip", "x x", "y"))},
		{"clip vector", diag.OperandShapes, "one number", single(13, x, nd("Clip", "x c", "y"), ft("c", d(2)))},
		{"softmax axis", diag.BadAttribute, "axis 2", single(13, x, nd("Softmax", "x", "y", aInt("axis", 2)))},
		{"gemm rank", diag.OperandShapes, "two matrices", single(13, vi("x", 3), nd("Gemm", "x w", "y"), w)},
		{"gemm inner", diag.OperandShapes, "columns", single(13, vi("x", 2, 5), nd("Gemm", "x w", "y"), w)},
		{"gemm untransposed", diag.OperandShapes, "hint: transB? with", single(13, vi("x", 2, 4), nd("Gemm", "x w", "y"), w)},
		{"gemm transposed", diag.OperandShapes, "hint: transB? without", single(13, x, nd("Gemm", "x w", "y",
			aInt("transB", 1)), w)},
		{"gemm sideways", diag.OperandShapes, "hint: transA?", single(13, vi("x", 3, 2), nd("Gemm", "x w", "y"), w)},
		{"gemm rows", diag.OperandShapes, "broadcasts", single(13, vi("x", 1, 3), nd("Gemm", "x w c", "y"), w, ft("c", d(5,
			4)))},
		{"gemm c", diag.OperandShapes, "broadcast", single(13, x, nd("Gemm", "x w c", "y"), w, ft("c", d(3)))},
		{"broadcast", diag.OperandShapes, "do not broadcast", single(13, x, nd("Add", "x c", "y"), ft("c", d(4)))},
		{"training", diag.UnsupportedForm, "model.eval()", single(15, vi("x", 3, 2), nd("BatchNormalization", "x s s s s",
			"y",
			aInt("training_mode", 1)), ft("s", d(2)))},
		{"spatial", diag.UnsupportedForm, "spatial=0", single(8, vi("x", 3, 2), nd("BatchNormalization", "x s s s s", "y",
			aInt("spatial", 0)), ft("s", d(2)))},
		{"norm channels", diag.OperandShapes, "channels", single(15, vi("x", 3, 4), nd("BatchNormalization", "x s s s s",
			"y"), ft("s", d(2)))},
		{"dropout training", diag.UnsupportedForm, "training", single(13, x, nd("Dropout", "x r t", "y"), ft("r", nil, 0.5),
			head("t", 9).str(9, "\x01"))},
		{"cast to string", diag.BadElementType, "string", single(13, x, nd("Cast", "x", "y", aInt("to", 8)))},
		{"gelu form", diag.BadAttribute, "none or tanh", single(20, x, nd("Gelu", "x", "y", aStr("approximate", "fast")))},
		{"celu", diag.BadAttribute, "alpha is 0", single(12, x, nd("Celu", "x", "y", aFlt("alpha", 0)))},
		{"elu", diag.BadAttribute, "alpha is NaN", single(12, x, nd("Elu", "x", "y", aFlt("alpha", float32(math.NaN()))))},
	}
}

func windowErrors() []badCase {
	pool := func(op string, attrs ...pb) testModel { return single(19, img, nd(op, "x", "y", attrs...)) }
	k2 := aInts("kernel_shape", 2, 2)
	conv := func(w pb, attrs ...pb) testModel { return single(11, img, nd("Conv", "x w", "y", attrs...), w) }
	w := ft("w", d(4, 2, 3, 3))
	return []badCase{
		{"conv4d", diag.SpatialAxes, "4 spatial axes", single(11, vi("x", 1, 2, 5, 6, 7, 2), nd("Conv", "x w", "y"),
			ft("w", d(4, 2, 3, 3, 3, 1)))},
		{"conv rank", diag.OperandShapes, "spatial", single(11, vi("x", 1, 2), nd("Conv", "x w", "y"), w)},
		{"conv weights", diag.NotConstant, "weights", single(11, img, nd("Conv", "x x", "y"))},
		{"conv group", diag.OperandShapes, "group 3 does not divide", conv(w, aInt("group", 3))},
		{"conv group zero", diag.BadAttribute, "group is 0", conv(w, aInt("group", 0))},
		{"conv channels", diag.OperandShapes, "channels", conv(ft("w", d(4, 3, 3, 3)))},
		{"conv kernel", diag.OperandShapes, "kernel", conv(w, aInts("kernel_shape", 2, 3))},
		{"conv too large", diag.OperandShapes, "larger than", conv(ft("w", d(4, 2, 7, 3)))},
		{"stride zero", diag.BadAttribute, "must be positive", conv(w, aInts("strides", 0, 1))},
		{"strides short", diag.BadAttribute, "do not fit", conv(w, aInts("strides", 1))},
		{"pads short", diag.BadAttribute, "do not fit", conv(w, aInts("pads", 1, 1))},
		{"pads negative", diag.UnsupportedForm, "crop", conv(w, aInts("pads", 0, 0, -1, 0))},
		{"pads huge", diag.BadAttribute, "limit", conv(w, aInts("pads", 0, 0, 1<<40, 0))},
		{"auto_pad", diag.BadAttribute, "SAME_UPPER", conv(w, aStr("auto_pad", "SAME"))},
		{"auto_pad huge", diag.ModelLimit, "padding", conv(w, aStr("auto_pad", "SAME_UPPER"), aInts("dilations", 1<<20,
			1<<20))},
		{"no kernel", diag.BadAttribute, "kernel_shape", pool("MaxPool")},
		{"empty window before", diag.UnsupportedForm, "padding alone", pool("MaxPool", k2, aInts("pads", 2, 0, 0, 0))},
		{"empty window behind", diag.UnsupportedForm, "padding alone", pool("AveragePool", k2, aInts("pads", 0, 0, 2, 0))},
		{"empty window between", diag.UnsupportedForm, "padding alone", pool("MaxPool", k2, aInts("pads", 4, 0, 0, 0),
			aInts("dilations", 6, 1))},
	}
}

func shapeErrors() []badCase {
	x := vi("x", 2, 3, 4)
	reshape := func(s ...int64) testModel { return single(14, x, nd("Reshape", "x s", "y"), it("s", s...)) }
	list := func(node ...pb) testModel {
		return chain(15, x, []pb{it("a", 1, 2), it("b", 0, 5), it("z", 0), it("big", 1<<19, 16)}, append(node, nd("Reshape",
			"x s", "y"))...)
	}
	return []badCase{
		{"reshape count", diag.OperandShapes, "cannot reshape", reshape(5, 5)},
		{"reshape rest", diag.OperandShapes, "cannot reshape", reshape(5, -1)},
		{"reshape to nothing", diag.OperandShapes, "cannot reshape", single(14, x,
			nd("Reshape", "x s", "y", aInt("allowzero", 1)), it("s", 0, 3, 4))},
		{"reshape two open", diag.BadDimension, "cannot reshape", reshape(-1, -1)},
		{"reshape negative", diag.BadDimension, "cannot reshape", reshape(-2, 12)},
		{"reshape overflow", diag.OperandShapes, "cannot reshape", reshape(1<<33, 1<<33, 1<<33)},
		{"reshape rank", diag.ModelLimit, "17 dimensions", reshape(make([]int64, 17)...)},
		{"reshape dynamic", diag.DataDependent, "the shape", single(14, x, nd("Reshape", "x x", "y"))},
		{"reshape floats", diag.BadElementType, "list of integers", single(14, x, nd("Reshape", "x s", "y"), ft("s", d(2)))},
		{"squeeze", diag.OperandShapes, "cannot drop", single(13, x, nd("Squeeze", "x a", "y"), it("a", 1))},
		{"unsqueeze twice", diag.BadAttribute, "twice", single(13, x, nd("Unsqueeze", "x a", "y"), it("a", 1, -4))},
		{"unsqueeze no axes", diag.OperandCount, "no axes", single(13, x, nd("Unsqueeze", "x", "y"))},
		{"unsqueeze many", diag.ModelLimit, "dimensions", single(13, x, nd("Unsqueeze", "x a", "y"), it("a", 0, 1, 2, 3, 4,
			5, 6, 7, 8, 9, 10, 11, 12, 13))},
		{"transpose", diag.BadAttribute, "permutation", single(13, x, nd("Transpose", "x", "y", aInts("perm", 0, 1, 1)))},
		{"transpose short", diag.BadAttribute, "permutation", single(13, x, nd("Transpose", "x", "y", aInts("perm", 1, 0)))},
		{"flatten", diag.BadAttribute, "axis 4", single(13, x, nd("Flatten", "x", "y", aInt("axis", 4)))},
		{"gather index", diag.ConstantExpression, "index 5", list(nd("Gather", "a b", "s"))},
		{"matmul inner", diag.OperandShapes, "multiply", single(13, vi("x", 2, 3), nd("MatMul", "x x", "y"))},
		{"concat types", diag.BadElementType, "operands", list(nd("Cast", "a", "f", aInt("to", 1)), nd("Concat", "a f", "s",
			aInt("axis", 0)))},
		{"fill too large", diag.ModelLimit, "too large", list(nd("ConstantOfShape", "big", "s"))},
		{"fill two values", diag.BadAttribute, "2 elements", list(nd("ConstantOfShape", "a", "s", aTen("value", it("", 1,
			2))))},
		{"fill with no tensor", diag.BadAttribute, "wrong type",
			list(nd("ConstantOfShape", "a", "s", pb(nil).str(1, "value").int(20, 4)))},
		{"constant with no tensor", diag.BadAttribute, "wrong type", list(nd("Constant", "", "s", pb(nil).str(1,
			"value").int(20, 4)))},
		{"expand too large", diag.ModelLimit, "too large", list(nd("Expand", "z big", "s"))},
		{"range too large", diag.ModelLimit, "range", list(nd("Gather", "big z0", "n"), nd("Gather", "b z0", "o"),
			nd("Constant", "", "l", aInt("value_int", 1<<40)), nd("Constant", "", "e", aInt("value_int", 1)), nd("Range",
				"e l e", "s")).with(
			head("z0", 7).str(9, raw64(0)))},
		{"slice step", diag.BadAttribute, "step is 0", list(nd("Slice", "a z z z z", "s"))},
		{"slice lists", diag.OperandCount, "entries", list(nd("Slice", "a b z", "s"))},
		{"where types", diag.BadElementType, "condition", list(nd("Where", "a a a", "s"))},
		{"where branches", diag.BadElementType, "operands", list(nd("Equal", "a a", "e"), nd("Cast", "a", "f", aInt("to", 1)),
			nd("Where", "e a f", "s"))},
		{"add types", diag.BadElementType, "operands", list(nd("Cast", "a", "f", aInt("to", 6)), nd("Add", "a f", "s"))},
		{"constant without value", diag.BadAttribute, "0 attributes", list(nd("Constant", "", "s"))},
		{"second error waits", diag.ConstantExpression, "index 5", list(nd("Gather", "a b", "s"), nd("Relu", "s", "unused"))},
	}
}

func (m testModel) with(inits ...pb) testModel {
	m.inits = append(append([]pb(nil), m.inits...), inits...)
	return m
}

func TestRefused(t *testing.T) {
	covered := map[diag.Code]bool{}
	for _, list := range [][]badCase{modelErrors(), tensorErrors(), nodeErrors(), windowErrors(), shapeErrors(),
		moveErrors(), nestedErrors()} {
		for _, c := range list {
			covered[c.code] = true
			t.Run(c.name, func(t *testing.T) {
				g, err := Parse("m.onnx", c.model.bytes(), source.Options{})
				if g != nil && err != nil || err == nil {
					t.Fatalf("graph %v, error %v", g != nil, err)
				}
				if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
					t.Errorf("want %s and %q in: %v", c.code, c.want, err)
				}
				if !strings.HasPrefix(err.Error(), "m.onnx: ") {
					t.Errorf("no file name in: %v", err)
				}
			})
		}
	}
	for _, code := range []diag.Code{diag.OpsetVersion, diag.UnsupportedForm, diag.BadAttribute, diag.BadElementType,
		diag.TensorData,
		diag.ExternalData, diag.BadDimension, diag.OpenDimension, diag.UndefinedValue, diag.ModelCycle,
		diag.ReadBeforeDefined,
		diag.DuplicateName, diag.NotConstant, diag.DataDependent, diag.OperandShapes, diag.ConstantExpression,
		diag.OperandCount,
		diag.SparseTensor, diag.SpatialAxes, diag.NoOutputs, diag.SecondResult, diag.ModelLimit,
		diag.ModelBroken, diag.RecursiveFunction} {
		if !covered[code] {
			t.Errorf("no case for %s", code)
		}
	}
}

// TestUnsupported: all unsupported operations stand in one error, and other errors behind it.
func TestUnsupported(t *testing.T) {
	m := chain(13, vi("x", 2, 3), nil, nd("Rleu", "x", "a"), nd("Rleu", "a", "b").str(3, "second"), nd("Quant", "b",
		"c").str(7, "qonnx"),
		nd("LeakyRelu", "x", "e", aInt("alpha", 1)), nd("Add", "c e", "y"), nd("Dead", "x", "dead"))
	_, err := Parse("m.onnx", m.bytes(), source.Options{})
	want := `m.onnx: L0207: 2 operations in 3 places are not supported
  note: Rleu: at "a", "second"; nearest supported operation: Relu
  note: qonnx.Quant: at "c"
  hint: docs/onnx.md lists the operators that are supported; ` + layers.Declare("onnx", "qonnx.Quant") + `
m.onnx: e (LeakyRelu): L0209: attribute alpha has the wrong type`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// TestManyErrors bounds the list.
func TestManyErrors(t *testing.T) {
	m := testModel{opset: 13, inputs: []pb{vi("x", 2)}}
	for i := range 100 {
		name := "y" + string(rune('A'+i%26)) + string(rune('a'+i/26))
		m.nodes = append(m.nodes, nd("LeakyRelu", "x", name, aInt("alpha", 1)))
		m.outputs = append(m.outputs, vi(name))
	}
	_, err := Parse("m.onnx", m.bytes(), source.Options{})
	var list diag.List
	if !errors.As(err, &list) || len(list) != source.MaxErrors || !strings.Contains(err.Error(), "and 80 more errors") {
		t.Errorf("%v", err)
	}
}
