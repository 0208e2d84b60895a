// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"errors"
	"math"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
)

// badCase is a model that is refused with a code and a text.
type badCase struct {
	name, code, want string
	model            testModel
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
		{"old opset", source.CodeVersion, "operator set 6", with(func(m *testModel) { m.opset = 6 })},
		{"no outputs", source.CodeNoOutput, "no outputs", with(func(m *testModel) { m.outputs = nil })},
		{"sparse", source.CodeSparse, "sparse", with(func(m *testModel) { m.extraInside = pb(nil).msg(15, nil) })},
		{"unknown output", source.CodeUndefined, `mean "y"`, with(func(m *testModel) { m.outputs = []pb{vi("yy")} })},
		{"output twice", source.CodeDuplicate, "twice", with(func(m *testModel) { m.outputs = []pb{vi("y"), vi("y")} })},
		{"input twice", source.CodeDuplicate, "twice", with(func(m *testModel) { m.inputs = []pb{x, x} })},
		{"initializer twice", source.CodeDuplicate, "twice", with(func(m *testModel) {
			m.inits = []pb{it("a", 1), it("a",
				1)}
		})},
		{"initializer without name", source.CodeUndefined, "without a name", with(func(m *testModel) {
			m.inits = []pb{it("",
				1)}
		})},
		{"result twice", source.CodeDuplicate, "m.onnx: y (Relu)", with(func(m *testModel) { m.nodes = []pb{relu, relu} })},
		{"undefined", source.CodeUndefined, `mean "weight"`,
			single(13, x, nd("Gemm", "x weigth", "y"), ft("weight", d(3, 4)))},
		{"order", source.CodeOrder, "later", chain(13, x, nil, nd("Relu", "a", "y"), nd("Relu", "x", "a"))},
		{"cycle", source.CodeCycle, "cycle", chain(13, x, nil, nd("Add", "x b", "a"), nd("Relu", "a", "b"), nd("Relu", "b",
			"y"))},
		{"self", source.CodeCycle, "cycle", chain(13, x, nil, nd("Add", "x a", "a"), nd("Relu", "a", "y"))},
		{"input type", source.CodeDType, "int64", single(13, viOf("x", 7, 2), nd("Sigmoid", "x", "y"))},
		{"input string", source.CodeDType, "string", single(13, viOf("x", 8, 2), relu)},
		{"input unknown type", source.CodeDType, "type 99", single(13, viOf("x", 99, 2), relu)},
		{"zero dimension", source.CodeDims, "0x3", single(13, vi("x", 0, 3), relu)},
		{"negative dimension", source.CodeDims, "-1x3", single(13, vi("x", -1, 3), relu)},
		{"huge dimension", source.CodeDims, "2^33", single(13, vi("x", 1<<40, 3), relu)},
		{"open dimension", source.CodeOpenDim, "--dim seq=SIZE", single(13, vi("x", "batch", "seq"), relu)},
		{"nameless dimension", source.CodeOpenDim, "dimension 1", single(13, vi("x", 1, nil), relu)},
		{"unknown rank", source.CodeOpenDim, "shape of input", single(13, pb(nil).str(1, "x").msg(2,
			pb(nil).msg(1, pb(nil).int(1, 1))), relu)},
		{"declared size", source.CodeShape, `output "y" has shape 2x3, the file declares Nx4`, with(func(m *testModel) {
			m.outputs = []pb{vi("y", "N", 4)}
		})},
		{"declared axes", source.CodeShape, "the file declares 2x3x1", with(func(m *testModel) {
			m.outputs = []pb{vi("y", 2, 3, 1)}
		})},
		{"zero points", source.CodeShape, `its zero point "z" has shape 3, its scale scalar`, single(13, x,
			nd("QuantizeLinear", "x s z", "y"), ft("s", nil, 0.5), head("z", 3, 3).str(9, "\x00\x00\x00"))},
		{"one zero point", source.CodeShape, `its zero point "z" has shape 1, its scale 3`, single(13, x, nd("QuantizeLinear",
			"x s z", "y"), ft("s", d(3), 0.5, 0.25, 1), head("z", 3, 1).str(9, "\x00"))},
		{"zero points in floats", source.CodeShape, "has shape 2, its scale 3", single(13, x, nd("QuantizeLinear",
			"x s z", "y"), ft("s", d(3), 0.5, 0.25, 1), head("z", 3, 2).str(9, "\x00\x01"))},
		{"second result", source.CodeSecondUsed, `"z"`,
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
		{"raw too short", source.CodePayload, "8 bytes of data, 3 of float need 12", use(head("c", 1, 3).str(9, raw32(1,
			2)))},
		{"no data", source.CodePayload, "0 bytes", use(head("c", 1, 3))},
		{"typed too long", source.CodePayload, "16 bytes", use(head("c", 1, 3).str(4, raw32(1, 2, 3, 4)))},
		{"integers too many", source.CodePayload, "bytes", single(13, x, nd("Reshape", "x c", "y"), head("c", 7,
			1).packed(7, 1, 2))},
		{"two places", source.CodePayload, "more than one place", use(head("c", 1, 1).str(9, raw32(1)).str(4, raw32(1)))},
		{"two fields", source.CodePayload, "fields 4 and 5", use(head("c", 1, 1).str(4, raw32(1)).packed(5, 1))},
		{"wrong field", source.CodePayload, "field 7", use(head("c", 1, 1).packed(7, 1))},
		{"packed not whole", source.CodeBroken, "multiple of 4", use(head("c", 1, 2).str(4, "ab").f32(4, 1))},
		{"negative size", source.CodeDims, "negative", use(head("c", 1, -3).str(9, raw32(1)))},
		{"huge size", source.CodeDims, "2^33", use(head("c", 1, 1<<30, 1<<30).str(9, raw32(1)))},
		{"many dimensions", source.CodeLimit, "dimensions", use(head("c", 1, make([]int64, 17)...))},
		{"no elements", source.CodeShape, "do not broadcast", use(head("c", 1, 0))},
		{"int4", source.CodeDType, "int4", use(head("c", 22, 2).str(9, "a"))},
		{"string tensor", source.CodeDType, "string", use(head("c", 8, 1))},
		{"integer operand", source.CodeDType, "int64", use(it("c", 1, 2, 3))},
		{"external in memory", source.CodeExternal, "not a file", use(head("c", 1, 3).int(14, 1).msg(13,
			pb(nil).str(1, "location").str(2, "w.bin")))},
		{"external without place", source.CodeExternal, "without a location", use(head("c", 1, 3).int(14, 1))},
		{"external length", source.CodePayload, "8 bytes", use(head("c", 1, 3).int(14, 1).msg(13,
			pb(nil).str(1, "length").str(2, "8")))},
		{"external offset", source.CodeExternal, "not a byte count", use(head("c", 1, 3).int(14, 1).msg(13,
			pb(nil).str(1, "offset").str(2, "-8")))},
	}
}

func nodeErrors() []badCase {
	x, w := vi("x", 2, 3), ft("w", d(3, 4))
	return []badCase{
		{"too few inputs", source.CodeArity, "takes 1 input,", single(13, x, nd("Relu", "", "y"))},
		{"absent input", source.CodeArity, "input 0 is missing", single(13, x, nd("Add", "_ x", "y"))},
		{"too many inputs", source.CodeArity, "has 3", single(13, x, nd("Add", "x x x", "y"))},
		{"attribute name", source.CodeAttr, "mean alpha", single(13, x, nd("LeakyRelu", "x", "y", aFlt("alhpa", 1)))},
		{"attribute type", source.CodeAttr, "wrong type", single(13, x, nd("LeakyRelu", "x", "y", aInt("alpha", 1)))},
		{"attribute twice", source.CodeAttr, "twice", single(13, x, nd("LeakyRelu", "x", "y", aFlt("alpha", 1),
			aFlt("alpha", 1)))},
		{"attribute reference", source.CodeAttr, "refers to", single(13, x, nd("LeakyRelu", "x", "y", aFlt("alpha",
			1).str(21, "a")))},
		{"clip attributes", source.CodeAttr, "is an input since operator set 11, and the model states set 13", single(13,
			x, nd("Clip", "x", "y", aFlt("min", 1)))},
		{"reduce attributes", source.CodeAttr, "axes is an input since operator set 13", single(13, x, nd("ReduceSum", "x",
			"y", aInts("axes", 1)))},
		{"squeeze attributes", source.CodeAttr, "axes is an input since operator set 13", single(13, vi("x", 1, 1),
			nd("Squeeze", "x", "y", aInts("axes", 1)))},
		{"slice attributes", source.CodeAttr, "starts is an input since operator set 10", single(13, x, nd("Slice", "x", "y",
			aInts("starts", 1), aInts("ends", 2)))},
		{"slice inputs", source.CodeArity, "the model states set 9", single(9, x, nd("Slice", "x i i", "y"), it("i", 1))},
		{"slice of nothing", source.CodeArity, "no starts", single(13, x, nd("Slice", "x", "y"))},
		{"pad attributes", source.CodeAttr, "value is an input since operator set 11", single(13, x, nd("Pad", "x p", "y",
			aFlt("value", 1)), it("p", 0, 1, 0, 1))},
		{"pad value", source.CodeForm, "pads whole numbers by 16777217", chain(13, x, []pb{it("p", 0, 1), it("v", 16777217)},
			nd("Shape", "x", "s"), nd("Pad", "s p v", "y"))},
		{"clip bound", source.CodeShape, "one number", single(13, x, nd("Clip", "x x", "y"))},
		{"clip vector", source.CodeShape, "one number", single(13, x, nd("Clip", "x c", "y"), ft("c", d(2)))},
		{"softmax axis", source.CodeAttr, "axis 2", single(13, x, nd("Softmax", "x", "y", aInt("axis", 2)))},
		{"gemm rank", source.CodeShape, "two matrices", single(13, vi("x", 3), nd("Gemm", "x w", "y"), w)},
		{"gemm inner", source.CodeShape, "columns", single(13, vi("x", 2, 5), nd("Gemm", "x w", "y"), w)},
		{"gemm untransposed", source.CodeShape, "hint: transB? with", single(13, vi("x", 2, 4), nd("Gemm", "x w", "y"), w)},
		{"gemm transposed", source.CodeShape, "hint: transB? without", single(13, x, nd("Gemm", "x w", "y",
			aInt("transB", 1)), w)},
		{"gemm sideways", source.CodeShape, "hint: transA?", single(13, vi("x", 3, 2), nd("Gemm", "x w", "y"), w)},
		{"gemm rows", source.CodeShape, "broadcasts", single(13, vi("x", 1, 3), nd("Gemm", "x w c", "y"), w, ft("c", d(5,
			4)))},
		{"gemm c", source.CodeShape, "broadcast", single(13, x, nd("Gemm", "x w c", "y"), w, ft("c", d(3)))},
		{"broadcast", source.CodeShape, "do not broadcast", single(13, x, nd("Add", "x c", "y"), ft("c", d(4)))},
		{"training", source.CodeForm, "model.eval()", single(15, vi("x", 3, 2), nd("BatchNormalization", "x s s s s", "y",
			aInt("training_mode", 1)), ft("s", d(2)))},
		{"spatial", source.CodeForm, "spatial=0", single(8, vi("x", 3, 2), nd("BatchNormalization", "x s s s s", "y",
			aInt("spatial", 0)), ft("s", d(2)))},
		{"norm channels", source.CodeShape, "channels", single(15, vi("x", 3, 4), nd("BatchNormalization", "x s s s s",
			"y"), ft("s", d(2)))},
		{"dropout training", source.CodeForm, "training", single(13, x, nd("Dropout", "x r t", "y"), ft("r", nil, 0.5),
			head("t", 9).str(9, "\x01"))},
		{"cast to string", source.CodeDType, "string", single(13, x, nd("Cast", "x", "y", aInt("to", 8)))},
		{"gelu form", source.CodeAttr, "none or tanh", single(20, x, nd("Gelu", "x", "y", aStr("approximate", "fast")))},
		{"celu", source.CodeAttr, "alpha is 0", single(12, x, nd("Celu", "x", "y", aFlt("alpha", 0)))},
		{"elu", source.CodeAttr, "alpha is NaN", single(12, x, nd("Elu", "x", "y", aFlt("alpha", float32(math.NaN()))))},
	}
}

func windowErrors() []badCase {
	pool := func(op string, attrs ...pb) testModel { return single(19, img, nd(op, "x", "y", attrs...)) }
	k2 := aInts("kernel_shape", 2, 2)
	conv := func(w pb, attrs ...pb) testModel { return single(11, img, nd("Conv", "x w", "y", attrs...), w) }
	w := ft("w", d(4, 2, 3, 3))
	return []badCase{
		{"conv3d", source.CodeSpatial, "3 spatial axes", single(11, vi("x", 1, 2, 5, 6, 7), nd("Conv", "x w", "y"), ft("w",
			d(4, 2, 3, 3, 3)))},
		{"conv rank", source.CodeShape, "spatial", single(11, vi("x", 1, 2), nd("Conv", "x w", "y"), w)},
		{"conv weights", source.CodeNotConst, "weights", single(11, img, nd("Conv", "x x", "y"))},
		{"conv group", source.CodeShape, "group 3 does not divide", conv(w, aInt("group", 3))},
		{"conv group zero", source.CodeAttr, "group is 0", conv(w, aInt("group", 0))},
		{"conv channels", source.CodeShape, "channels", conv(ft("w", d(4, 3, 3, 3)))},
		{"conv kernel", source.CodeShape, "kernel", conv(w, aInts("kernel_shape", 2, 3))},
		{"conv too large", source.CodeShape, "larger than", conv(ft("w", d(4, 2, 7, 3)))},
		{"stride zero", source.CodeAttr, "must be positive", conv(w, aInts("strides", 0, 1))},
		{"strides short", source.CodeAttr, "do not fit", conv(w, aInts("strides", 1))},
		{"pads short", source.CodeAttr, "do not fit", conv(w, aInts("pads", 1, 1))},
		{"pads negative", source.CodeForm, "crop", conv(w, aInts("pads", 0, 0, -1, 0))},
		{"pads huge", source.CodeAttr, "limit", conv(w, aInts("pads", 0, 0, 1<<40, 0))},
		{"auto_pad", source.CodeAttr, "SAME_UPPER", conv(w, aStr("auto_pad", "SAME"))},
		{"auto_pad huge", source.CodeLimit, "padding", conv(w, aStr("auto_pad", "SAME_UPPER"), aInts("dilations", 1<<20,
			1<<20))},
		{"no kernel", source.CodeAttr, "kernel_shape", pool("MaxPool")},
		{"empty window before", source.CodeForm, "padding alone", pool("MaxPool", k2, aInts("pads", 2, 0, 0, 0))},
		{"empty window behind", source.CodeForm, "padding alone", pool("AveragePool", k2, aInts("pads", 0, 0, 2, 0))},
		{"empty window between", source.CodeForm, "padding alone", pool("MaxPool", k2, aInts("pads", 4, 0, 0, 0),
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
		{"reshape count", source.CodeShape, "cannot reshape", reshape(5, 5)},
		{"reshape rest", source.CodeShape, "cannot reshape", reshape(5, -1)},
		{"reshape to nothing", source.CodeShape, "cannot reshape", single(14, x,
			nd("Reshape", "x s", "y", aInt("allowzero", 1)), it("s", 0, 3, 4))},
		{"reshape two open", source.CodeDims, "cannot reshape", reshape(-1, -1)},
		{"reshape negative", source.CodeDims, "cannot reshape", reshape(-2, 12)},
		{"reshape overflow", source.CodeShape, "cannot reshape", reshape(1<<33, 1<<33, 1<<33)},
		{"reshape rank", source.CodeLimit, "17 dimensions", reshape(make([]int64, 17)...)},
		{"reshape dynamic", source.CodeDynamic, "the shape", single(14, x, nd("Reshape", "x x", "y"))},
		{"reshape floats", source.CodeDType, "list of integers", single(14, x, nd("Reshape", "x s", "y"), ft("s", d(2)))},
		{"squeeze", source.CodeShape, "cannot drop", single(13, x, nd("Squeeze", "x a", "y"), it("a", 1))},
		{"unsqueeze twice", source.CodeAttr, "twice", single(13, x, nd("Unsqueeze", "x a", "y"), it("a", 1, -4))},
		{"unsqueeze no axes", source.CodeArity, "no axes", single(13, x, nd("Unsqueeze", "x", "y"))},
		{"unsqueeze many", source.CodeLimit, "dimensions", single(13, x, nd("Unsqueeze", "x a", "y"), it("a", 0, 1, 2, 3, 4,
			5, 6, 7, 8, 9, 10, 11, 12, 13))},
		{"transpose", source.CodeAttr, "permutation", single(13, x, nd("Transpose", "x", "y", aInts("perm", 0, 1, 1)))},
		{"transpose short", source.CodeAttr, "permutation", single(13, x, nd("Transpose", "x", "y", aInts("perm", 1, 0)))},
		{"flatten", source.CodeAttr, "axis 4", single(13, x, nd("Flatten", "x", "y", aInt("axis", 4)))},
		{"gather index", source.CodeCompute, "index 5", list(nd("Gather", "a b", "s"))},
		{"matmul inner", source.CodeShape, "multiply", single(13, vi("x", 2, 3), nd("MatMul", "x x", "y"))},
		{"concat types", source.CodeDType, "operands", list(nd("Cast", "a", "f", aInt("to", 1)), nd("Concat", "a f", "s",
			aInt("axis", 0)))},
		{"fill too large", source.CodeLimit, "too large", list(nd("ConstantOfShape", "big", "s"))},
		{"fill two values", source.CodeAttr, "2 elements", list(nd("ConstantOfShape", "a", "s", aTen("value", it("", 1,
			2))))},
		{"fill with no tensor", source.CodeAttr, "wrong type",
			list(nd("ConstantOfShape", "a", "s", pb(nil).str(1, "value").int(20, 4)))},
		{"constant with no tensor", source.CodeAttr, "wrong type", list(nd("Constant", "", "s", pb(nil).str(1,
			"value").int(20, 4)))},
		{"expand too large", source.CodeLimit, "too large", list(nd("Expand", "z big", "s"))},
		{"range too large", source.CodeLimit, "range", list(nd("Gather", "big z0", "n"), nd("Gather", "b z0", "o"),
			nd("Constant", "", "l", aInt("value_int", 1<<40)), nd("Constant", "", "e", aInt("value_int", 1)), nd("Range",
				"e l e", "s")).with(
			head("z0", 7).str(9, raw64(0)))},
		{"slice step", source.CodeAttr, "step is 0", list(nd("Slice", "a z z z z", "s"))},
		{"slice lists", source.CodeArity, "entries", list(nd("Slice", "a b z", "s"))},
		{"where types", source.CodeDType, "condition", list(nd("Where", "a a a", "s"))},
		{"where branches", source.CodeDType, "operands", list(nd("Equal", "a a", "e"), nd("Cast", "a", "f", aInt("to", 1)),
			nd("Where", "e a f", "s"))},
		{"add types", source.CodeDType, "operands", list(nd("Cast", "a", "f", aInt("to", 6)), nd("Add", "a f", "s"))},
		{"constant without value", source.CodeAttr, "0 attributes", list(nd("Constant", "", "s"))},
		{"second error waits", source.CodeCompute, "index 5", list(nd("Gather", "a b", "s"), nd("Relu", "s", "unused"))},
	}
}

func (m testModel) with(inits ...pb) testModel {
	m.inits = append(append([]pb(nil), m.inits...), inits...)
	return m
}

func TestRefused(t *testing.T) {
	covered := map[string]bool{}
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
	for _, code := range []string{source.CodeVersion, source.CodeForm, source.CodeAttr, source.CodeDType,
		source.CodePayload,
		source.CodeExternal, source.CodeDims, source.CodeOpenDim, source.CodeUndefined, source.CodeCycle, source.CodeOrder,
		source.CodeDuplicate, source.CodeNotConst, source.CodeDynamic, source.CodeShape, source.CodeCompute, source.CodeArity,
		source.CodeSparse, source.CodeSpatial, source.CodeNoOutput, source.CodeSecondUsed, source.CodeLimit,
		source.CodeBroken, source.CodeRecursion} {
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
  hint: docs/onnx.md lists the operators that are supported
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
