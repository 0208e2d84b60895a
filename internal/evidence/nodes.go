// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"fmt"
	"slices"
	"strings"

	"lathe/frontend/onnx"
)

// Nodes are the node tests of the ONNX project about an operation, or those left out for a reason.
type Nodes struct {
	Op    string `json:"op,omitempty"`
	Apart string `json:"apart,omitempty"`
	Tests int    `json:"tests"`
	// Faults are those of the tests that fail.
	Faults []Fault `json:"faults,omitempty"`
}

// Fault is why a node test fails.
type Fault struct {
	Test string `json:"test"`
	Why  string `json:"why"`
}

// Passed is how many tests do not fail.
func (n Nodes) Passed() int { return n.Tests - len(n.Faults) }

// NodeTotals counts the tests in scope, and those of them that pass.
func (e *Evidence) NodeTotals() (passed, tests int) {
	for _, n := range e.Nodes {
		if n.Apart == "" {
			passed, tests = passed+n.Passed(), tests+n.Tests
		}
	}
	return passed, tests
}

// NodesPage is docs/onnx.md.
func (e *Evidence) NodesPage() string {
	var b strings.Builder
	passed, tests := e.NodeTotals()
	fmt.Fprintf(&b, nodesHead, passed, tests, 100*float64(passed)/float64(tests), onnx.NodeRel, onnx.NodeAbs,
		onnx.HalfRel, onnx.HalfAbs, onnx.OldestOpset, onnx.NewestOpset)
	listed := onnx.NodeOps()
	slices.Sort(listed)
	per := map[string]string{}
	other := Nodes{}
	var apart strings.Builder
	for _, n := range e.Nodes {
		switch {
		case n.Apart != "":
			fmt.Fprintf(&apart, "| %s | %d |\n", n.Apart, n.Tests)
		case slices.Contains(listed, n.Op):
			per[n.Op] = fmt.Sprintf("%d of %d", n.Passed(), n.Tests)
		default:
			other.Tests += n.Tests
			other.Faults = append(other.Faults, n.Faults...)
		}
	}
	for _, op := range slices.Compact(listed) {
		fmt.Fprintf(&b, "| %s | %d to %d | %s | %s |\n", op, nodeOpset(op), onnx.NewestOpset, nodeLimit(op), per[op])
	}
	fmt.Fprintf(&b, "\nTests of operations that are not listed, written out as listed ones: %d of %d.\n", other.Passed(),
		other.Tests)
	b.WriteString("\n## Tests that fail\n\n" + e.nodeFaults())
	b.WriteString("\n## Tests that are left out\n\n| why | tests |\n|---|--:|\n" + apart.String())
	return b.String()
}

// nodeFaults are all faults, by test.
func (e *Evidence) nodeFaults() string {
	var faults []string
	for _, n := range e.Nodes {
		for _, f := range n.Faults {
			faults = append(faults, fmt.Sprintf("- %s: %s\n", f.Test, f.Why))
		}
	}
	slices.Sort(faults)
	return strings.Join(faults, "")
}

func nodeLimit(name string) string {
	for _, l := range nodeLimits {
		if slices.Contains(strings.Fields(l.ops), name) {
			return l.text
		}
	}
	return ""
}

func nodeOpset(name string) int {
	for _, s := range nodeSince {
		if slices.Contains(strings.Fields(s.ops), name) {
			return s.opset
		}
	}
	return onnx.OldestOpset
}

// nodeLimits are what the operations do not do, for docs/onnx.md; those that are not listed have none.
var nodeLimits = [...]struct{ ops, text string }{
	{"ArgMax ArgMin", "the first place of equal values, or the last"},
	{"AveragePool", "1 to 3 spatial axes; no window in the padding alone"},
	{"MaxPool", "1 to 3 spatial axes; no window in the padding alone; no Indices"},
	{"BatchNormalization", "inference only; statistics constant"},
	{"Cast CastLike", "no types of 8 bits and less but integers of 8 bits; no strings"},
	{"Clip", "bounds of one element"},
	{"Conv", "1 to 3 spatial axes; weights and biases constant"},
	{"ConvTranspose", "1 to 3 spatial axes; weights and biases constant"},
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

// nodeSince are the operator sets that brought operations, where these are newer than 7.
var nodeSince = [...]struct {
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

const nodesHead = `# ONNX: operations and node tests

Written by

    scripts/measure onnx

which runs the node tests of the ONNX project (package onnx 1.22.0) through the importer, on the reference and on PJRT:
**%d of %d pass (%.1f %%)**. The tolerances are %g relative and %g absolute for float32, %g and %g for half
floats; integers and booleans must be equal. These tests pass parameters of operations (axes, shapes, weights) as graph
inputs; those that must be constant become initializers. A test whose name ends in _expanded spells the operation out
in others and counts for that operation. The counts are lines of [evidence](evidence).

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

Quant of QONNX rounds x/scale + zero point, all engines here round x/scale: under an odd zero point, a tie of ROUND
goes to the odd code, and signed codes around a zero point other than 0 are refused UP, DOWN, HALF_UP and HALF_DOWN.
Trunc on codes of a real scale may fall one code aside in float engines; integers are exact. Otherwise 1000 random
QONNX graphs beside qonnx 1.0.0, and 1000 of QuantizeLinear and DequantizeLinear beside ONNX Runtime 1.32.0, give equal
codes, but for 940 of 3,011,856 values behind ties that float32 decides, by

    scripts/setup peers
    go test -tags long -run TestPeers -v ./internal/driver

Models of scikit-learn, as skl2onnx writes them: Scaler, Normalizer, Binarizer, LinearRegressor, LinearClassifier,
ArrayFeatureExtractor and ZipMap of ai.onnx.ml. ZipMap gives the array of probabilities, a column a class; labels that
are texts are their places in the list, which lathe inspect prints. Trees, support vector machines and encoders of
texts are refused.

| operation | opsets | limits | node tests |
|---|---|---|---|
`
