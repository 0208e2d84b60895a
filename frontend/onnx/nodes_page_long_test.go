// SPDX-License-Identifier: Apache-2.0

//go:build long

package onnx

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// limits are what the operations do not do, for docs/onnx.md; those that are not listed have none.
var limits = [...]struct{ ops, text string }{
	{"ArgMax ArgMin", "the first place of equal values, or the last"},
	{"AveragePool", "1 to 3 spatial axes; no window in the padding alone"},
	{"MaxPool", "1 to 3 spatial axes; no window in the padding alone; no Indices"},
	{"BatchNormalization", "inference only; statistics constant"},
	{"Cast CastLike", "no types of 8 bits and less but integers of 8 bits; no strings"},
	{"Clip", "bounds of one element"},
	{"Conv", "1 and 2 spatial axes; weights and biases constant"},
	{"ConvTranspose", "1 and 2 spatial axes; weights and biases constant"},
	{"CumSum", "axis constant"},
	{"DequantizeLinear QuantizeLinear", "codes of 4 bits as weights only, no float8; in hardware one scale a tensor, " +
		"or one an output channel of weights"},
	{"Dropout", "inference only"},
	{"DynamicQuantizeLinear MatMulInteger ConvInteger", "in float graphs, not in hardware"},
	{"Einsum", "a letter once an operand"},
	{"Expand Tile Reshape", "shape constant"},
	{"Gather GatherElements GatherND", "an index outside of its axis is an error in the reference; PJRT takes the " +
		"nearest"},
	{"If", "condition constant"},
	{"LSTM GRU RNN", "weights, biases, peepholes and lengths of sequences constant; hardware with a state, or up to " +
		"4096 steps, which are written out (recurrent.md)"},
	{"NonZero", "operand constant"},
	{"OneHot", "depth constant"},
	{"Pad", "pads and value constant"},
	{"QLinearConv QLinearMatMul", "scales and zero points constant"},
	{"Range", "all operands constant"},
	{"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare",
		"axes constant"},
	{"Resize", "scales, sizes and region constant; nearest, linear, cubic"},
	{"Slice Split Squeeze Unsqueeze", "positions, sizes and axes constant"},
	{"TopK", "k constant"},
	{"Trilu", "diagonal constant"},
}

// since are the operator sets that brought operations, where these are newer than 7.
var since = [...]struct {
	opset int
	ops   string
}{
	{9, "ConstantOfShape EyeLike IsNaN NonZero OneHot Where Sinh Cosh Asinh Acosh Atanh Sign Erf"},
	{10, "ThresholdedRelu IsInf Mod QLinearConv QLinearMatMul QuantizeLinear DequantizeLinear Resize MatMulInteger " +
		"ConvInteger"},
	{11, "BitShift CumSum DynamicQuantizeLinear GatherElements GatherND Range Round ScatterElements ScatterND"},
	{12, "Celu Einsum GreaterOrEqual LessOrEqual"},
	{14, "HardSwish Trilu"},
	{15, "CastLike"},
	{17, "LayerNormalization"},
	{18, "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor GroupNormalization Mish"},
	{20, "Gelu"},
	{23, "Attention RMSNormalization RotaryEmbedding"},
	{24, "Swish"},
}

const nodePageCommand = "go test -count=1 -timeout 1h -tags long -run '^TestNodeTests$' ./frontend/onnx"

const nodePageHead = `# ONNX: operations and node tests

Written by

    %s -args -update

which runs the node tests of the ONNX project (package onnx 1.22.0) through the importer, on the reference and on PJRT:
**%d of %d pass (%.1f %%)**. The tolerances are %g relative and %g absolute for float32, %g and %g for half
floats; integers and booleans must be equal. These tests pass parameters of operations (axes, shapes, weights) as graph
inputs; those that must be constant become initializers. A test whose name ends in _expanded spells the operation out
in others and counts for that operation.

Lathe reads operator sets %d to %d, and newer ones with a warning. Beyond the operations below, it inlines model
functions, with attributes by reference, and reads the operations that runtimes and QONNX add to quantized models
(com.microsoft QLinearAdd,
QLinearMul, QLinearSigmoid, QLinearLeakyRelu, QLinearAveragePool, QLinearGlobalAveragePool, QLinearSoftmax,
QLinearConcat, QGemm; Quant, IntQuant,
BipolarQuant, Trunc). float64, float16 and bfloat16 are computed in float32; a Cast to a narrower type rounds in
the float engines, and vanishes before quantization, which chooses formats of its own. uint64 is
computed modulo 2^64, with its own order: values from 2^63 up are positive. [ops.md](ops.md) lists the operations with
hardware.

Between QuantizeLinear and DequantizeLinear, what only moves or compares codes of one scale does the same to the
numbers behind them, and needs no whole numbers: pools of maxima, nearest Resize, Pad, Tile, Expand, DepthToSpace,
Gather, Slice, Split, Transpose, Concat, Max, Min, Where, ReduceMax, ArgMax and their relatives.

Models of scikit-learn, as skl2onnx writes them: Scaler, Normalizer, Binarizer, LinearRegressor, LinearClassifier,
ArrayFeatureExtractor and ZipMap of ai.onnx.ml. ZipMap gives the array of probabilities, a column a class; labels that
are texts are their places in the list, which lathe inspect prints. Trees, support vector machines and encoders of
texts are refused.

| operation | opsets | limits | node tests |
|---|---|---|---|
`

// nodePage is docs/onnx.md.
func nodePage(cases []*nodeCase) string {
	passed, total := 0, 0
	per, apart := map[string][2]int{}, map[string]int{}
	var faults []string
	for _, c := range cases {
		if c.apart != "" {
			apart[c.apart]++
			continue
		}
		n := per[c.op]
		total++
		if n[1]++; c.fault == "" {
			passed++
			n[0]++
		} else {
			faults = append(faults, fmt.Sprintf("- %s: %s\n", c.name, c.reason()))
		}
		per[c.op] = n
	}
	var b strings.Builder
	fmt.Fprintf(&b, nodePageHead, nodePageCommand, passed, total, 100*float64(passed)/float64(total), nodeRel, nodeAbs,
		halfRel, halfAbs, oldestOpset, newestOpset)
	names := scopeOps()
	sort.Strings(names)
	for _, name := range slices.Compact(names) {
		tests := ""
		if n := per[name]; n[1] > 0 {
			tests = fmt.Sprintf("%d of %d", n[0], n[1])
		}
		delete(per, name)
		fmt.Fprintf(&b, "| %s | %d to %d | %s | %s |\n", name, sinceOf(name), newestOpset, limitOf(name), tests)
	}
	composite := [2]int{}
	for _, n := range per {
		composite[0], composite[1] = composite[0]+n[0], composite[1]+n[1]
	}
	fmt.Fprintf(&b, "\nTests of operations that are not listed, written out as listed ones: %d of %d.\n", composite[0],
		composite[1])
	b.WriteString("\n## Tests that fail\n\n" + strings.Join(faults, ""))
	b.WriteString("\n## Tests that are left out\n\n| why | tests |\n|---|--:|\n")
	var why []string
	for w := range apart {
		why = append(why, w)
	}
	sort.Strings(why)
	for _, w := range why {
		fmt.Fprintf(&b, "| %s | %d |\n", w, apart[w])
	}
	return b.String()
}

// reason is why a test fails, without the place.
func (c *nodeCase) reason() string {
	text := c.fault
	if strings.HasPrefix(c.name, "resize_") && strings.Contains(c.name, "_scales_") &&
		strings.HasSuffix(c.name, "_align_corners") {
		return "scales that give no whole size: with align_corners the size counts here, the product there"
	}
	if _, after, ok := strings.Cut(text, "L0"); ok && len(after) > 4 && after[2] != ' ' {
		if _, msg, ok := strings.Cut(after, ": "); ok {
			text = msg
		}
	}
	text, _, _ = strings.Cut(text, "   hint")
	return text
}

func limitOf(name string) string {
	for _, l := range limits {
		if slices.Contains(strings.Fields(l.ops), name) {
			return l.text
		}
	}
	return ""
}

func sinceOf(name string) int {
	for _, s := range since {
		if slices.Contains(strings.Fields(s.ops), name) {
			return s.opset
		}
	}
	return oldestOpset
}
