// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/ir"
)

// opCase is a model whose output for x = ramp(n, 3) stands in testdata/ops.golden under its name, as the ONNX
// reference evaluator computes it.
type opCase struct {
	name  string
	model testModel
}

// chain is a model of several nodes from x to y.
func chain(opset int64, x pb, inits []pb, nodes ...pb) testModel {
	return testModel{opset: opset, nodes: nodes, inits: inits, inputs: []pb{x}, outputs: []pb{vi("y")}}
}

func opCases() []opCase {
	img := vi("x", 1, 2, 5, 6)
	return append(append(append(append([]opCase{
		{"relu", single(13, vi("x", 2, 3), nd("Relu", "x", "y"))},
		{"leaky", single(16, vi("x", 2, 3), nd("LeakyRelu", "x", "y"))},
		{"leaky alpha", single(16, vi("x", 2, 3), nd("LeakyRelu", "x", "y", aFlt("alpha", 0.25)))},
		{"sigmoid", single(13, vi("x", 9), nd("Sigmoid", "x", "y"))},
		{"tanh", single(13, vi("x", 9), nd("Tanh", "x", "y"))},
		{"clip inputs", single(13, vi("x", 9), nd("Clip", "x lo hi", "y"), ft("lo", nil, -0.5), ft("hi", nil, 1))},
		{"clip low only", single(13, vi("x", 9), nd("Clip", "x lo", "y"), ft("lo", nil, -0.5))},
		{"clip high only", single(13, vi("x", 9), nd("Clip", "x _ hi", "y"), ft("hi", nil, 0.5))},
		{"clip attributes", single(8, vi("x", 9), nd("Clip", "x", "y", aFlt("min", -1), aFlt("max", 0.75)))},
		{"softmax", single(13, vi("x", 2, 3, 4), nd("Softmax", "x", "y"))},
		{"softmax axis", single(13, vi("x", 2, 3, 4), nd("Softmax", "x", "y", aInt("axis", 1)))},
		{"softmax flat", single(11, vi("x", 2, 3, 4), nd("Softmax", "x", "y"))},
		{"softmax flat last", single(11, vi("x", 2, 3, 4), nd("Softmax", "x", "y", aInt("axis", 2)))},
		{"argmax", single(13, vi("x", 3, 4), nd("ArgMax", "x", "y", aInt("axis", 1)))},
		{"argmax drop", single(13, vi("x", 3, 4), nd("ArgMax", "x", "y", aInt("axis", -2), aInt("keepdims", 0)))},
		{"add", single(14, vi("x", 2, 3), nd("Add", "x c", "y"), ft("c", d(3)))},
		{"sub", single(14, vi("x", 2, 3), nd("Sub", "c x", "y"), ft("c", d(2, 1)))},
		{"mul scalar", single(14, vi("x", 2, 3), nd("Mul", "x c", "y"), ft("c", nil, 1.5))},
		{"add self", single(14, vi("x", 2, 3), nd("Add", "x x", "y"))},
		{"batchnorm", single(15, img, nd("BatchNormalization", "x s b m v", "y", aFlt("epsilon", 0.01)),
			ft("s", d(2)), ft("b", d(2)), ft("m", d(2)), ft("v", d(2), 0.5, 2))},
		{"batchnorm matrix", single(15, vi("x", 3, 2), nd("BatchNormalization", "x s b m v", "y"),
			ft("s", d(2)), ft("b", d(2)), ft("m", d(2)), ft("v", d(2), 0.5, 2))},
	}, linearCases()...), windowCases()...), shapeCases()...), computedCases()...)
}

func linearCases() []opCase {
	x, w := vi("x", 2, 3), ft("w", d(3, 4))
	return []opCase{
		{"gemm", single(13, x, nd("Gemm", "x w c", "y", aInt("transB", 1)), ft("w", d(4, 3)), ft("c", d(4)))},
		{"gemm no bias", single(13, x, nd("Gemm", "x w", "y"), w)},
		{"gemm alpha beta", single(13, x, nd("Gemm", "x w c", "y", aFlt("alpha", 0.5), aFlt("beta", 3)), w, ft("c", d(1,
			4)))},
		{"gemm trans a", single(13, vi("x", 3, 2), nd("Gemm", "x w", "y", aInt("transA", 1)), w)},
		{"gemm scalar c", single(13, x, nd("Gemm", "x w c", "y"), w, ft("c", nil, 0.25))},
		{"gemm column c", single(13, x, nd("Gemm", "x w c", "y", aFlt("beta", 2)), w, ft("c", d(2, 1)))},
		{"gemm beta zero", single(13, x, nd("Gemm", "x w c", "y", aFlt("beta", 0)), w, ft("c", d(2, 1)))},
		{"gemm shared", chain(13, x, []pb{w}, nd("Gemm", "x w", "a"), nd("Gemm", "x w", "b"), nd("Add", "a b", "y"))},
		{"gemm shared alpha", chain(13, x, []pb{w}, nd("Gemm", "x w", "a", aFlt("alpha", 0.5)), nd("Gemm", "x w", "b"),
			nd("Gemm", "x w", "c", aFlt("alpha", 2)), nd("Add", "a b", "ab"), nd("Add", "ab c", "y"))},
		{"matmul", single(13, vi("x", 2, 2, 3), nd("MatMul", "x w", "y"), w)},
		{"matmul vector", single(13, vi("x", 3), nd("MatMul", "x w", "y"), w)},
		{"matmul by vector", single(13, vi("x", 2, 3), nd("MatMul", "x w", "y"), ft("w", d(3)))},
		{"matmul dot", single(13, vi("x", 3), nd("MatMul", "x w", "y"), ft("w", d(3)))},
		{"matmul stack", single(13, x, nd("MatMul", "x w", "y"), ft("w", d(1, 1, 3, 4)))},
		{"matmul vector stack", single(13, vi("x", 3), nd("MatMul", "x w", "y"), ft("w", d(1, 3, 4)))},
	}
}

func windowCases() []opCase {
	img, line := vi("x", 1, 2, 5, 6), vi("x", 2, 2, 9)
	pool := func(op string, attrs ...pb) testModel { return single(19, img, nd(op, "x", "y", attrs...)) }
	k3, s2 := aInts("kernel_shape", 3, 3), aInts("strides", 2, 2)
	conv := func(w pb, attrs ...pb) testModel { return single(11, img, nd("Conv", "x w", "y", attrs...), w) }
	w := ft("w", d(4, 2, 3, 3))
	return []opCase{
		{"conv", single(11, img, nd("Conv", "x w b", "y", aInts("pads", 1, 1, 1, 1)), w, ft("b", d(4)))},
		{"conv stride", conv(w, s2, aInts("pads", 0, 1, 2, 3), k3)},
		{"conv group", conv(ft("w", d(4, 1, 2, 3)), aInt("group", 2))},
		{"conv dilation", conv(ft("w", d(3, 2, 2, 2)), aInts("dilations", 2, 3))},
		{"conv same upper", conv(ft("w", d(1, 2, 2, 3)), s2, aStr("auto_pad", "SAME_UPPER"))},
		{"conv same lower", conv(ft("w", d(1, 2, 2, 3)), s2, aStr("auto_pad", "SAME_LOWER"))},
		{"conv valid", conv(w, s2, aStr("auto_pad", "VALID"))},
		{"conv line", single(11, line, nd("Conv", "x w", "y", aInts("strides", 2), aInts("pads", 1, 2)), ft("w", d(3, 2,
			3)))},
		{"maxpool", pool("MaxPool", k3)},
		{"maxpool pads", pool("MaxPool", k3, s2, aInts("pads", 1, 0, 1, 2))},
		{"maxpool ceil", pool("MaxPool", aInts("kernel_shape", 2, 2), s2, aInt("ceil_mode", 1))},
		{"maxpool dilation", pool("MaxPool", aInts("kernel_shape", 2, 2), aInts("dilations", 3, 2))},
		{"maxpool line", single(12, line, nd("MaxPool", "x", "y", aInts("kernel_shape", 4), aInts("strides", 3)))},
		{"maxpool same", pool("MaxPool", k3, s2, aStr("auto_pad", "SAME_UPPER"))},
		{"avgpool", pool("AveragePool", k3, s2)},
		{"avgpool pads", pool("AveragePool", k3, s2, aInts("pads", 1, 1, 1, 1))},
		{"avgpool include", pool("AveragePool", k3, s2, aInts("pads", 1, 1, 1, 1), aInt("count_include_pad", 1))},
		{"avgpool ceil", pool("AveragePool", aInts("kernel_shape", 2, 2), s2, aInt("ceil_mode", 1))},
		{"global average", pool("GlobalAveragePool")},
		{"global max", pool("GlobalMaxPool")},
		{"reduce mean attribute", single(13, img, nd("ReduceMean", "x", "y", aInts("axes", 2, 3)))},
		{"reduce mean input", single(18, img, nd("ReduceMean", "x a", "y"), it("a", -1, -2))},
		{"reduce mean drop", single(18, img, nd("ReduceMean", "x a", "y", aInt("keepdims", 0)), it("a", 2, 3))},
	}
}

func shapeCases() []opCase {
	x := vi("x", 2, 3, 4)
	return []opCase{
		{"flatten", single(13, x, nd("Flatten", "x", "y"))},
		{"flatten all", single(13, x, nd("Flatten", "x", "y", aInt("axis", 3)))},
		{"flatten negative", single(13, x, nd("Flatten", "x", "y", aInt("axis", -1)))},
		{"reshape", single(14, x, nd("Reshape", "x s", "y"), it("s", 0, -1, 2))},
		{"transpose", single(13, x, nd("Transpose", "x", "y", aInts("perm", 1, 2, 0)))},
		{"transpose default", single(13, x, nd("Transpose", "x", "y"))},
		{"squeeze", single(13, vi("x", 1, 3, 1, 2), nd("Squeeze", "x a", "y"), it("a", -2))},
		{"squeeze all", single(13, vi("x", 1, 3, 1, 2), nd("Squeeze", "x", "y"))},
		{"squeeze attribute", single(11, vi("x", 1, 3, 1, 2), nd("Squeeze", "x", "y", aInts("axes", 0)))},
		{"unsqueeze", single(13, vi("x", 3, 2), nd("Unsqueeze", "x a", "y"), it("a", 0, -1))},
		{"unsqueeze attribute", single(11, vi("x", 3, 2), nd("Unsqueeze", "x", "y", aInts("axes", 1)))},
		{"identity", single(13, x, nd("Identity", "x", "y"))},
		{"dropout", single(13, x, nd("Dropout", "x", "y"))},
		{"cast", single(13, x, nd("Cast", "x", "y", aInt("to", 1)))},
		{"argmax cast", chain(13, x, nil, nd("ArgMax", "x", "i"), nd("Squeeze", "i", "j"), nd("Cast", "j", "k", aInt("to",
			1)),
			nd("Add", "k k", "y"))},
	}
}

// computedCases end in a constant list of integers that becomes the shape or a factor of the result.
func computedCases() []opCase {
	x := vi("x", 2, 3, 4)
	shape := func(inits []pb, nodes ...pb) testModel {
		return chain(15, x, inits, append(nodes, nd("Reshape", "x s", "y"))...)
	}
	scale := func(inits []pb, nodes ...pb) testModel { // v (integers) becomes a factor
		return chain(15, x, inits, append(nodes, nd("Cast", "v", "f", aInt("to", 1)), nd("Mul", "x f", "y"))...)
	}
	three := []pb{it("a", 5, -7, 2), it("b", 2, 2, -3), it("i", 0), it("n", -1), it("two", 2)}
	return []opCase{
		{"shape gather concat", shape(three, nd("Shape", "x", "h"), nd("Gather", "h i", "g"), nd("Concat", "g n", "s",
			aInt("axis", 0)))},
		{"gather from the end", shape(three, nd("Shape", "x", "h"), nd("Gather", "h n", "g"),
			nd("Concat", "n g", "s", aInt("axis", 0)))},
		{"float rounding", chain(15, x, []pb{ft("big", nil, 1e8), ft("one", nil, 1)}, nd("Add", "big one", "s"),
			nd("Sub", "s big", "d"), nd("Add", "x d", "y"))},
		{"shape end", shape(three, nd("Shape", "x", "h", aInt("start", -2)), nd("Concat", "h n", "s", aInt("axis", 0)))},
		{"shape slice", shape([]pb{it("from", 1), it("to", math.MaxInt64), it("n", -1)}, nd("Shape", "x", "h"),
			nd("Slice", "h from to", "t"), nd("Concat", "n t", "s", aInt("axis", 0)))},
		{"shape reverse", shape([]pb{it("from", -1), it("to", math.MinInt64), it("ax", 0), it("st", -1)},
			nd("Shape", "x", "h"), nd("Slice", "h from to ax st", "s"))},
		{"shape div", shape([]pb{it("two", 2), it("n", -1)}, nd("Shape", "x", "h"), nd("Gather", "h two", "g"),
			nd("Div", "g two", "q"), nd("Concat", "n q", "s", aInt("axis", 0)))},
		{"add sub mul", scale(three, nd("Mul", "a b", "m"), nd("Add", "m a", "p"), nd("Sub", "p b", "q"),
			nd("Concat", "q n", "v", aInt("axis", 0)))},
		{"div truncates", scale(three, nd("Div", "a b", "q"), nd("Concat", "q n", "v", aInt("axis", 0)))},
		{"equal where", scale(three, nd("Equal", "b two", "e"), nd("Where", "e a n", "w"), nd("Concat", "w n", "v",
			aInt("axis", 0)),
			nd("Constant", "", "unused", aTen("value", it("", 1))))},
		{"range", scale([]pb{head("r0", 7).str(9, raw64(3)), head("r1", 7).str(9, raw64(-5)), head("r2", 7).str(9,
			raw64(-2))},
			nd("Range", "r0 r1 r2", "v"))},
		{"fill expand", scale([]pb{it("n", 3, 1), it("e", 1, 4)}, nd("ConstantOfShape", "n", "f0", aTen("value", it("", 7))),
			nd("Expand", "f0 e", "v"))},
		{"constant values", scale(nil, nd("Constant", "", "c", aInts("value_ints", 1, 2, 3)), nd("Constant", "", "k",
			aInt("value_int", 2)),
			nd("Constant", "", "ax", aInts("value_ints", -1)), nd("Mul", "c k", "m"), nd("Unsqueeze", "m ax", "v"))},
		{"transpose constant", chain(15, x, []pb{ft("w", d(4, 3))}, nd("Transpose", "w", "t"), nd("Add", "x t", "y"))},
		{"float constants", chain(15, x, []pb{ft("w", d(4)), ft("q", nil, 3)}, nd("Div", "w q", "t"), nd("Mul", "x t", "y"))},
		{"cast like", scale(three, nd("Constant", "", "c", aFlt("value_float", -2.75)), nd("CastLike", "c a", "v"))},
		{"reshape constant", chain(15, x, []pb{ft("w", d(12)), it("s", 3, 4)}, nd("Reshape", "w s", "t"), nd("Sub", "x t",
			"y"))},
	}
}

// golden reads "name|shape|values" lines.
func golden(t *testing.T, path string) map[string][2]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][2]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if parts := strings.Split(line, "|"); len(parts) == 3 {
			out[parts[0]] = [2]string{parts[1], parts[2]}
		}
	}
	return out
}

func TestOps(t *testing.T) { compareCases(t, opCases(), "testdata/ops.golden") }

// compareCases evaluates models and compares with a file of golden values.
func compareCases(t *testing.T, cases []opCase, path string) {
	t.Helper()
	want := golden(t, path)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g, err := Parse("m.onnx", c.model.bytes(), source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			out := evaluate(t, g, ramp(g.In[0].Type.Elems(), 3))[0]
			w, ok := want[c.name]
			if !ok {
				t.Fatal("no golden values")
			}
			if got := ir.ShapeString(out.Type.Shape); got != w[0] {
				t.Errorf("shape %s, want %s", got, w[0])
			}
			for _, c := range out.Codes { // whole numbers
				out.Floats = append(out.Floats, float32(c))
			}
			if err := near(out.Floats, strings.Fields(w[1])); err != nil {
				t.Error(err)
			}
		})
	}
	if len(want) != len(cases) {
		t.Errorf("%d golden lines for %d cases", len(want), len(cases))
	}
}

// near compares with a relative and absolute tolerance of 2e-6.
func near(got []float32, want []string) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	for i, w := range want {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return err
		}
		if d := math.Abs(float64(got[i]) - v); !(d <= 2e-6*(1+math.Abs(v))) {
			return fmt.Errorf("value %d is %g, want %g", i, got[i], v)
		}
	}
	return nil
}
