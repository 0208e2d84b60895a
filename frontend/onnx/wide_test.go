// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"lathe/frontend/source"
	"lathe/internal/diag"
)

// withFunctions is the model with functions of the domain "local".
func (m testModel) withFunctions(list ...pb) testModel {
	for _, f := range list {
		m.extra = m.extra.msg(25, f)
	}
	m.extra = m.extra.msg(8, pb(nil).str(1, "local").int(2, 1))
	return m
}

// fn is a function of the domain "local": names with spaces between, attributes with defaults behind those without.
func fn(name, ins, outs, attrs string, nodes []pb, defaults ...pb) pb {
	f := pb(nil).str(1, name).str(10, "local").msg(9, pb(nil).str(1, "").int(2, 18)).msg(9, pb(nil).str(1,
		"local").int(2, 1))
	for i, list := range [...]string{ins, outs, attrs} {
		for _, s := range strings.Fields(list) {
			f = f.str(protowire.Number(4+i), s)
		}
	}
	for _, n := range nodes {
		f = f.msg(7, n)
	}
	for _, a := range defaults {
		f = f.msg(11, a)
	}
	return f
}

// local is a call of a function.
func local(op, ins, outs string, attrs ...pb) pb { return nd(op, ins, outs, attrs...).str(7, "local") }

// aRef is an attribute that takes its value from one of the function around.
func aRef(name, of string, kind int64) pb { return pb(nil).str(1, name).str(21, of).int(20, kind) }

// aGraph is a subgraph without inputs.
func aGraph(name, out string, nodes ...pb) pb {
	var g pb
	for _, n := range nodes {
		g = g.msg(1, n)
	}
	return pb(nil).str(1, name).msg(6, g.str(2, name).msg(12, vi(out))).int(20, 5)
}

func yes(name string, v byte) pb { return head(name, 9).str(9, string([]byte{v})) }

// blockCases are the operations of transformers.
func blockCases() []opCase {
	q, kv := vi("x", 1, 4, 3, 8), ft("k", d(1, 2, 5, 8))
	long := ft("v", d(1, 2, 5, 6))
	heads := func(n, kv int64) []pb { return []pb{aInt("q_num_heads", n), aInt("kv_num_heads", kv)} }
	mask := head("m", 9, 3, 5).str(9, "\x01\x01\x00\x01\x00\x00\x01\x01\x01\x01\x01\x00\x01\x00\x01")
	rows := vi("x", 2, 3, 8)
	flat := []pb{ft("k", d(2, 5, 4)), ft("v", d(2, 5, 4))}
	turn := []pb{ft("c", d(10, 2)), ft("s", d(10, 2)), head("p", 7, 1, 3).str(9, raw64(4, 0, 7))}
	return []opCase{
		{"attention", single(23, q, nd("Attention", "x k v", "y"), kv, long)},
		{"attention causal", single(23, q, nd("Attention", "x k v", "y", aInt("is_causal", 1)), kv, long)},
		{"attention mask cap", single(24, q, nd("Attention", "x k v m", "y", aFlt("softcap", 1.5), aFlt("scale", 0.7)),
			kv, long, mask)},
		{"attention rows", single(23, rows, nd("Attention", "x k v m", "y", heads(4, 2)...), append(flat, ft("m",
			d(3, 5)))...)},
		{"attention past", chain(23, q, []pb{ft("k", d(1, 2, 3, 8)), ft("v", d(1, 2, 3, 8)), ft("pk", d(1, 2, 2, 8)),
			ft("pv", d(1, 2, 2, 8))}, nd("Attention", "x k v _ pk pv", "a nk nv", aInt("is_causal", 1)),
			nd("ReduceSum", "nk", "s"), nd("Add", "a s", "y"))},
		{"rotary", single(23, vi("x", 1, 2, 3, 4), nd("RotaryEmbedding", "x c s p", "y"), turn...)},
		{"rotary interleaved part", single(23, vi("x", 1, 3, 12), nd("RotaryEmbedding", "x c s p", "y",
			aInt("interleaved", 1),
			aInt("num_heads", 2), aInt("rotary_embedding_dim", 4)), turn...)},
		{"layer norm", single(17, rows, nd("LayerNormalization", "x g b", "y", aInt("axis", 1)), ft("g", d(3, 8)),
			ft("b", d(3, 8)))},
		{"layer norm mean", chain(17, rows, []pb{ft("g", d(8))}, nd("LayerNormalization", "x g", "n m i"),
			nd("Mul", "n i", "p"), nd("Add", "p m", "y"))},
		{"rms norm", single(23, rows, nd("RMSNormalization", "x g", "y", aFlt("epsilon", 0.1)), ft("g", d(8)))},
		{"instance norm", single(6+1, vi("x", 2, 3, 4), nd("InstanceNormalization", "x g b", "y"), ft("g", d(3)),
			ft("b", d(3)))},
		{"group norm channels", single(21, vi("x", 1, 4, 3), nd("GroupNormalization", "x g b", "y", aInt("num_groups", 2)),
			ft("g", d(4)), ft("b", d(4)))},
		{"einsum", single(12, rows, nd("Einsum", "x w", "y", aStr("equation", "bij,jk->bki")), ft("w", d(8, 2)))},
		{"upsample", single(9, vi("x", 1, 1, 2, 3), nd("Upsample", "x s", "y"), ft("s", d(4), 1, 1, 2, 1.5))},
		{"upsample linear", single(9, vi("x", 1, 1, 2, 3), nd("Upsample", "x s", "y", aStr("mode", "linear")), ft("s",
			d(4), 1, 1, 2, 1))},
		{"l1 norm", single(13, rows, nd("LpNormalization", "x", "y", aInt("axis", 1), aInt("p", 1)))},
		{"log softmax", single(13, rows, nd("LogSoftmax", "x", "y", aInt("axis", 1)))},
		{"hardmax", single(13, rows, nd("Hardmax", "x", "y", aInt("axis", 1)))},
		{"resize", single(19, vi("x", 1, 1, 3, 4), nd("Resize", "x _ s", "y", aStr("mode", "linear")), ft("s", d(4),
			1, 1, 2, 1.5))},
		{"resize sizes", single(19, vi("x", 1, 1, 3, 4), nd("Resize", "x _ _ s", "y", aStr("nearest_mode", "floor"),
			aStr("coordinate_transformation_mode", "asymmetric")), it("s", 1, 1, 5, 2))},
		{"resize antialias", single(19, vi("x", 1, 1, 6, 4), nd("Resize", "x _ s", "y", aStr("mode", "cubic"),
			aInt("antialias", 1)), ft("s", d(4), 1, 1, 0.5, 0.75))},
		{"resize crop", single(19, vi("x", 1, 1, 5, 4), nd("Resize", "x r _ s", "y", aStr("mode", "linear"), aStr(
			"coordinate_transformation_mode", "tf_crop_and_resize"), aInts("axes", 2, 3), aFlt("extrapolation_value", 7)),
			ft("r", d(4), 0.25, 0, 1.25, 1), it("s", 4, 4))},
		{"conv transpose", single(11, vi("x", 1, 2, 3, 4), nd("ConvTranspose", "x w", "y", aInts("strides", 2, 1),
			aInts("output_padding", 1, 0), aInts("pads", 0, 1, 1, 0)), ft("w", d(2, 3, 3, 2)))},
		{"lrn", single(13, vi("x", 1, 5, 2, 2), nd("LRN", "x", "y", aInt("size", 3), aFlt("alpha", 0.5)))},
		{"max pool volume", single(12, vi("x", 1, 2, 4, 5, 4), nd("MaxPool", "x", "y", aInts("kernel_shape", 2, 3, 2),
			aInts("strides", 2, 1, 1), aInts("pads", 0, 1, 0, 1, 1, 1)))},
		{"average pool volume", single(19, vi("x", 1, 2, 4, 5, 4), nd("AveragePool", "x", "y", aInts("kernel_shape",
			2, 3, 2),
			aInts("pads", 0, 1, 0, 1, 1, 1)))},
	}
}

// furtherCases are attention through windows of keys, norms without gains, norms of windows, and volumes.
func furtherCases() []opCase {
	q, kv, long := vi("x", 1, 4, 3, 8), ft("k", d(1, 2, 5, 8)), ft("v", d(1, 2, 5, 6))
	mask := head("m", 9, 3, 5).str(9, "\x01\x01\x00\x01\x00\x00\x01\x01\x01\x01\x01\x00\x01\x00\x01")
	return []opCase{
		{"attention window", single(27, q, nd("Attention", "x k v", "y", aInt("left_window_size", 1),
			aInt("right_window_size", 2)), kv, long)},
		{"attention left window", single(27, q, nd("Attention", "x k v m", "y", aInt("left_window_size", 0),
			aInt("is_causal", 1)), kv, long, mask)},
		{"attention window past", chain(27, q, []pb{ft("k", d(1, 2, 3, 8)), ft("v", d(1, 2, 3, 8)), ft("pk", d(1, 2, 2, 8)),
			ft("pv", d(1, 2, 2, 8))}, nd("Attention", "x k v _ pk pv", "a nk nv", aInt("left_window_size", 1),
			aInt("right_window_size", 0)), nd("ReduceSum", "nk", "s"), nd("Add", "a s", "y"))},
		{"mean variance", single(13, vi("x", 1, 3, 2, 4), nd("MeanVarianceNormalization", "x", "y"))},
		{"mean variance of rows", single(13, vi("x", 2, 3, 4), nd("MeanVarianceNormalization", "x", "y",
			aInts("axes", -1)))},
		{"mean variance of columns", single(13, vi("x", 2, 3, 4), nd("MeanVarianceNormalization", "x", "y",
			aInts("axes", 0, 1)))},
		{"norms of windows", single(18, vi("x", 1, 2, 5, 4), nd("LpPool", "x", "y", aInts("kernel_shape", 3, 2),
			aInts("strides", 2, 1), aInts("pads", 1, 0, 1, 1)))},
		{"sums of windows", single(22, vi("x", 1, 2, 6), nd("LpPool", "x", "y", aInts("kernel_shape", 2), aInt("p", 1),
			aInts("strides", 3), aInt("ceil_mode", 1)))},
		{"norms of volumes", single(18, vi("x", 1, 2, 3, 3, 4), nd("LpPool", "x", "y", aInts("kernel_shape", 2, 2, 2),
			aInt("p", 3)))},
		{"norms of images", single(18, vi("x", 1, 2, 3, 4), nd("GlobalLpPool", "x", "y", aInt("p", 3)))},
		{"space to columns", single(28, vi("x", 1, 2, 4, 2), nd("SpaceToDepth", "x", "y", aInt("blocksize", 2),
			aStr("mode", "CRD")))},
		{"conv volume", single(11, vi("x", 2, 4, 5, 4, 3), nd("Conv", "x w b", "y", aInts("strides", 2, 1, 1),
			aInt("group", 2), aInts("dilations", 1, 2, 1), aInts("pads", 1, 0, 1, 0, 1, 1)), ft("w", d(2, 2, 3, 2, 2)),
			ft("b", d(2)))},
		{"conv transpose volume", single(11, vi("x", 1, 2, 2, 3, 2), nd("ConvTranspose", "x w", "y",
			aInts("strides", 2, 1, 3), aInts("output_padding", 1, 0, 0), aInts("pads", 0, 1, 1, 1, 0, 0)),
			ft("w", d(2, 3, 3, 2, 2)))},
	}
}

// wholeCases compute with whole numbers, truth values and indices that come from the input.
func wholeCases() []opCase {
	x, table := vi("x", 2, 6), ft("t", d(5, 3))
	cast := func(in, out string, to int64) pb { return nd("Cast", in, out, aInt("to", to)) }
	ints := []pb{nd("Mul", "x four", "x4"), cast("x4", "i", 7)} // -8 to 8
	from := func(opset int64, inits []pb, nodes ...pb) testModel {
		return chain(opset, x, append([]pb{ft("four", nil, 4)}, inits...), append(slices.Clone(ints), nodes...)...)
	}
	bytes := []pb{it("m", 7), it("two", 2)}
	return []opCase{
		{"gather rows", from(13, []pb{table, it("five", 5)}, nd("Mod", "i five", "at"), nd("Gather", "t at", "y"))},
		{"gather elements", from(13, []pb{it("six", 6)}, nd("Mod", "i six", "at"), nd("GatherElements", "x at", "y",
			aInt("axis", 1)))},
		{"gather nd", from(13, []pb{it("at", 1, 3)}, nd("Gather", "x z", "r"), nd("GatherND", "x at", "s"),
			nd("Add", "r s", "y")).
			with(head("z", 7).str(9, raw64(0)))},
		{"scatter nd", from(18, []pb{head("at", 7, 2, 1).str(9, raw64(1, 1)), ft("u", d(2, 6))}, nd("ScatterND",
			"x at u", "y",
			aStr("reduction", "add")))},
		{"scatter elements", from(18, []pb{head("at", 7, 1, 3).str(9, raw64(0, -1, 0)), ft("u", d(1, 3))},
			nd("ScatterElements", "x at u", "y", aInt("axis", 1), aStr("reduction", "max")))},
		{"compare", from(13, bytes, nd("Greater", "i two", "a"), nd("LessOrEqual", "x x4", "b"), nd("Xor", "a b", "c"),
			nd("Not", "c", "e"), nd("And", "e b", "f"), nd("Where", "f x x4", "y"))},
		{"bits", from(18, bytes, nd("BitwiseAnd", "i m", "a"), nd("BitwiseXor", "a two", "b"), nd("BitwiseNot", "b", "c"),
			cast("c", "y", 1))},
		{"mod", from(13, bytes, nd("Mod", "i m", "a"), nd("Mod", "i m", "b", aInt("fmod", 1)), nd("Sub", "a b",
			"c"), cast("c", "y", 1))},
		{"divide", from(14, bytes, nd("Div", "i two", "a"), nd("Mul", "a a", "b"), nd("Neg", "b", "c"), cast("c", "y", 1))},
		{"divide floats", from(14, nil, nd("Exp", "x", "e"), nd("Div", "x e", "y"))},
		{"power", from(15, bytes, nd("Pow", "i two", "a"), nd("Abs", "x", "b"), nd("Pow", "b x", "c"), cast("a", "f", 1),
			nd("Add", "c f", "y"))},
		{"cumsum", from(14, []pb{head("a", 7).str(9, raw64(1))}, nd("CumSum", "x a", "y", aInt("reverse", 1),
			aInt("exclusive", 1)))},
		{"top k", from(11, []pb{it("k", 3)}, nd("TopK", "x k", "v j"), cast("j", "f", 1), nd("Add", "v f", "y"))},
		{"one hot", from(11, []pb{head("n", 7).str(9, raw64(4)), ft("o", d(2), -1, 3)}, nd("OneHot", "i n o", "y",
			aInt("axis", 1)))},
		{"triangle", from(14, []pb{head("k", 7).str(9, raw64(1))}, nd("Trilu", "x k", "a"), nd("Trilu", "x", "b",
			aInt("upper", 0)),
			nd("Sub", "a b", "y"))},
		{"places", from(13, []pb{head("c", 9, 2, 3).str(9, "\x01\x00\x01\x00\x00\x01")}, nd("NonZero", "c", "p"),
			nd("Transpose", "p", "q", aInts("perm", 1, 0)), nd("GatherND", "x q", "y"))},
		{"infinite", from(20, []pb{ft("zero", nil, 0)}, nd("Div", "x zero", "q"), nd("IsInf", "q", "a",
			aInt("detect_negative", 0)),
			nd("IsNaN", "q", "b"), nd("Or", "a b", "c"), cast("c", "y", 1))},
		{"half", from(13, nil, cast("x4", "h", 10), nd("Exp", "h", "e"), cast("e", "b", 16), cast("b", "y", 1))},
		{"extremes", from(18, bytes, nd("Max", "i two", "a"), nd("Min", "a m", "b"), nd("ReduceSum", "b", "s"),
			nd("ReduceProd", "b", "p"), nd("Sub", "p s", "c"), cast("c", "y", 1))},
		{"norms", from(18, nil, nd("ReduceL1", "x", "a"), nd("ReduceL2", "x", "b"), nd("ReduceLogSumExp", "x", "c"),
			nd("ReduceSumSquare", "x", "e"), nd("Sum", "a b c e", "y"))},
		{"arg", from(13, nil, nd("ArgMin", "x", "a", aInt("axis", 1)), nd("ArgMax", "x", "b", aInt("axis", 1)),
			nd("Sub", "a b", "c"), cast("c", "y", 1))},
		{"integer product", from(13, []pb{u8("w", d(6, 2), 1, 2, 3, 4, 5, 6, 7, 8, 9, 200, 255, 12), u8("z", nil, 130)},
			nd("Add", "x4 o", "s"), cast("s", "u", 2), nd("MatMulInteger", "u w z", "p"), cast("p", "y",
				1)).with(ft("o", nil, 128))},
		{"dynamic", from(19, nil, nd("DynamicQuantizeLinear", "x", "q s z"), nd("DequantizeLinear", "q s z", "y"))},
		{"trigonometry", from(13, nil, nd("Sin", "x", "a"), nd("Cos", "a", "b"), nd("Atan", "b", "c"), nd("Asinh",
			"x", "e"),
			nd("Sum", "a b c e", "y"))},
	}
}

// nestedCases have functions and subgraphs.
func nestedCases() []opCase {
	x := vi("x", 2, 3)
	scale := fn("Scale", "a", "b", "by", []pb{nd("Constant", "", "c", aRef("value_float", "by", 1)), nd("Mul",
		"a c", "b")})
	leaky := fn("Leaky", "a w", "b", "", []pb{nd("LeakyRelu", "a", "r", aRef("alpha", "slope", 1)), nd("Add",
		"r w", "b")},
		aFlt("slope", 0.25))
	twice := fn("Twice", "a", "b", "by", []pb{local("Scale", "a", "t", aRef("by", "by", 1)), local("Scale", "t",
		"b", aFlt("by", 3))})
	pair := fn("Pair", "a", "b c", "", []pb{nd("Relu", "a", "b"), nd("Exp", "a", "c")})
	choose := func(v byte) testModel {
		return chain(13, x, []pb{yes("cond", v), ft("w", d(3))}, nd("Relu", "x", "r"), nd("If", "cond", "y",
			aGraph("then_branch", "t", nd("Add", "r w", "t")), aGraph("else_branch", "e", nd("Exp", "x", "e0"),
				nd("Sub", "e0 r", "e"))))
	}
	inner := nd("If", "no", "i", aGraph("then_branch", "q", nd("Relu", "h", "q")), aGraph("else_branch", "p",
		nd("Neg", "h", "p")))
	return []opCase{
		{"function", chain(18, x, nil, local("Scale", "x", "y", aFlt("by", 1.5))).withFunctions(scale)},
		{"function default", chain(18, x, []pb{ft("w", d(3))}, local("Leaky", "x w", "a"), local("Leaky", "a w", "y",
			aFlt("slope", -1))).withFunctions(leaky)},
		{"function in function", chain(18, x, nil, local("Twice", "x", "y", aFlt("by", -0.5))).withFunctions(twice, scale)},
		{"function second result", chain(18, x, nil, local("Pair", "x", "_ e"), local("Pair", "e", "r s"), nd("Sub",
			"s r", "y")).
			withFunctions(pair)},
		{"if", choose(1)},
		{"if not", choose(0)},
		{"if in if", chain(13, x, []pb{yes("yes", 1), yes("no", 0)}, nd("If", "yes", "y", aGraph("then_branch", "z",
			nd("Sqrt", "a", "h"), inner, nd("Add", "i x", "z")), aGraph("else_branch", "o", nd("Relu", "x", "o")))).
			before(nd("Abs", "x", "a"))},
		{"if by shape", chain(15, x, []pb{it("two", 2)}, nd("Shape", "x", "s", aInt("end", 1)), nd("Equal", "s two", "c"),
			nd("If", "c", "y", aGraph("then_branch", "t", nd("Exp", "x", "t")), aGraph("else_branch", "e", nd("Relu",
				"x", "e"))))},
	}
}

// before is the model with another first node.
func (m testModel) before(n pb) testModel {
	m.nodes = append([]pb{n}, m.nodes...)
	return m
}

func TestBlocks(t *testing.T) {
	compareCases(t, slices.Concat(blockCases(), furtherCases()),
		"testdata/block.golden")
}
func TestWholes(t *testing.T)  { compareCases(t, wholeCases(), "testdata/whole.golden") }
func TestNesting(t *testing.T) { compareCases(t, nestedCases(), "testdata/nested.golden") }

// nestedErrors are functions and subgraphs that mean nothing.
func nestedErrors() []badCase {
	x := vi("x", 2, 3)
	loop := fn("Loop", "a", "b", "", []pb{local("Round", "a", "b")})
	round := fn("Round", "a", "b", "", []pb{local("Loop", "a", "b")})
	call := func(f pb, name string) testModel { return chain(18, x, nil, local(name, "x", "y")).withFunctions(f) }
	deep := aGraph("then_branch", "t", nd("Relu", "x", "t"))
	for range maxSubgraphs {
		deep = aGraph("then_branch", "t", nd("If", "c", "t", deep, aGraph("else_branch", "e", nd("Relu", "x", "e"))))
	}
	grow := []pb{fn("F0", "a", "b", "", []pb{nd("Relu", "a", "b")})}
	for i := range 21 {
		name, below := "F"+string(rune('B'+i)), "F"+string(rune('A'+i))
		if i == 0 {
			below = "F0"
		}
		grow = append(grow, fn(name, "a", "b", "", []pb{local(below, "a", "t"), local(below, "t", "b")}))
	}
	branch := func(then pb) testModel {
		return chain(13, x, []pb{yes("c", 1)}, nd("If", "c", "y", then, aGraph("else_branch", "e", nd("Relu", "x", "e"))))
	}
	return []badCase{
		{"recursion", diag.RecursiveFunction, `function "Loop" calls itself`, chain(18, x, nil, local("Loop", "x", "y")).
			withFunctions(loop, round)},
		{"expansion", diag.ModelLimit, "grow to more than", chain(18, x, nil, local("FV", "x",
			"y")).withFunctions(grow...)},
		{"function inputs", diag.OperandCount, "takes 1 inputs", chain(18, x, nil, local("F0", "x x",
			"y")).withFunctions(grow[0])},
		{"function undefined", diag.UndefinedValue, `"q"`, call(fn("F", "a", "b", "", []pb{nd("Relu", "q", "b")}), "F")},
		{"function operation", diag.UnsupportedOps, `Nothing: at "y.b"`, call(fn("F", "a", "b", "", []pb{nd("Nothing",
			"a", "b")}), "F")},
		{"if computed", diag.DataDependent, "the condition", chain(13, x, []pb{ft("z", nil, 0)}, nd("ReduceSum", "x", "s",
			aInt("keepdims", 0)), nd("Greater", "s z", "c"), nd("If", "c", "y", aGraph("then_branch", "t", nd("Exp",
			"x", "t")),
			aGraph("else_branch", "e", nd("Relu", "x", "e"))))},
		{"if undefined", diag.UndefinedValue, `"q"`, branch(aGraph("then_branch", "t", nd("Relu", "q", "t")))},
		{"if without branch", diag.BadAttribute, "then_branch", chain(13, x, []pb{yes("c", 1)}, nd("If", "c", "y"))},
		{"nesting", diag.ModelLimit, "deep in each other", branch(deep)},
	}
}

// TestFunctionNames: nodes of a function stand below the name of its call.
func TestFunctionNames(t *testing.T) {
	scale := fn("Scale", "a", "b", "", []pb{nd("Exp", "a", "t").str(3, "up"), nd("Neg", "t", "b")})
	m := chain(18, vi("x", 2), nil, local("Scale", "x", "h").str(3, "block1"), local("Scale", "h", "y").str(3, "block2"))
	g, err := Parse("m.onnx", m.withFunctions(scale).bytes(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range g.Nodes {
		if !n.IsConst() {
			names = append(names, n.Name)
		}
	}
	if want := []string{"x", "block1.up", "block1.b", "block2.up", "block2.b"}; !slices.Equal(names, want) {
		t.Errorf("names %v, want %v", names, want)
	}
	if v := evaluate(t, g, []float32{0, 1})[0].Floats; math.Abs(float64(v[0])+math.Exp(-1)) > 1e-6 {
		t.Errorf("values %v", v)
	}
}
