// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"testing"

	"lathe/internal/diag"
)

// moveCases join, cut, pad and reorder.
func moveCases() []opCase {
	x, img := vi("x", 2, 3, 4), vi("x", 1, 4, 3, 5)
	axis := func(v int64) pb { return aInt("axis", v) }
	cut := func(name string, from, to, axes, steps []int64) opCase {
		return opCase{name, single(13, x, nd("Slice", "x f t a s", "y"), it("f", from...), it("t", to...), it("a", axes...),
			it("s", steps...))}
	}
	pad := func(name, mode string, pads ...int64) opCase {
		return opCase{name, single(19, img, nd("Pad", "x p", "y", aStr("mode", mode)), it("p", pads...))}
	}
	two := nd("Relu", "x", "r")
	return []opCase{
		{"min", chain(13, x, []pb{ft("c", d(3, 1))}, two, nd("Min", "x c r", "y"))},
		{"max", chain(13, x, nil, nd("Neg", "x", "n"), nd("Max", "x n", "y"))},
		{"max of one", single(13, x, nd("Max", "x", "y"))},
		{"sum", chain(13, x, []pb{ft("c", d(4))}, two, nd("Sum", "x r c x", "y"))},
		{"min of constants", chain(13, x, []pb{ft("a", d(4)), ft("b", d(4)), ft("c", nil, 0.5)}, nd("Min", "a b c", "m"),
			nd("Mul", "x m", "y"))},
		{"concat channels", chain(13, x, nil, two, nd("Concat", "x r x", "y", axis(1)))},
		{"concat last", chain(13, x, nil, two, nd("Concat", "r x", "y", axis(-1)))},
		{"concat constant", chain(13, x, []pb{ft("c", d(2, 3, 2))}, nd("Concat", "x c", "y", axis(2)))},
		{"split equal", chain(13, img, nil, nd("Split", "x", "a b", axis(1)), nd("Sub", "a b", "y"))},
		{"split attribute", chain(11, img, nil, nd("Split", "x", "a b", axis(1), aInts("split", 3, 1)),
			nd("Mul", "a b", "y"))},
		{"split input", chain(13, img, []pb{it("s", 1, 3)}, nd("Split", "x s", "a b", axis(-1+2)), nd("Add", "a b", "y"))},
		{"split uneven", chain(18, img, nil, nd("Split", "x", "a b c", axis(3), aInt("num_outputs", 3)),
			nd("Concat", "c b a", "y", axis(3)))},
		cut("slice", d(0, 1), d(1, -1), d(0, 2), d(1, 1)),
		cut("slice steps", d(1, -3), d(100, 100), d(2, 1), d(2, 2)),
		cut("slice backwards", d(-1), d(-100), d(2), d(-1)),
		{"slice attributes", single(9, x, nd("Slice", "x", "y", aInts("starts", 1), aInts("ends", 3), aInts("axes", 1)))},
		{"slice nothing", single(13, x, nd("Slice", "x f t", "y"), it("f", 0), it("t", 9))},
		{"gather one", single(13, x, nd("Gather", "x i", "y", axis(1)), head("i", 7).str(9, raw64(2)))},
		{"gather list", single(13, x, nd("Gather", "x i", "y", axis(2)), it("i", 3, 0, 1, -1, 0, 2))},
		{"gather table", single(13, x, nd("Gather", "x i", "y"), head("i", 7, 2, 2).str(9, raw64(1, 0, 0, 1)))},
		pad("pad", "constant", 0, 1, 2, 0, 0, 0, 1, 3),
		pad("pad cut", "constant", 0, -1, 0, 2, 0, 0, 0, -2),
		pad("pad edge", "edge", 0, 0, 2, 1, 0, 0, 1, 3),
		pad("pad reflect", "reflect", 0, 0, 2, 1, 0, 0, 1, 4),
		pad("pad wrap", "wrap", 0, 0, 2, 1, 0, 0, 3, 4),
		{"pad value", single(18, img, nd("Pad", "x p v a", "y"), it("p", 1, 2), ft("v", nil, 0.5), it("a", -1))},
		{"pad attributes", single(9, x, nd("Pad", "x", "y", aInts("pads", 0, 0, 1, 0, 2, 0), aFlt("value", -1)))},
		{"expand", single(13, vi("x", 3, 1), nd("Expand", "x s", "y"), it("s", 2, 1, 4))},
		{"depth to space", single(13, vi("x", 1, 8, 2, 3), nd("DepthToSpace", "x", "y", aInt("blocksize", 2)))},
		{"depth to space crd", single(13, vi("x", 1, 8, 2, 3), nd("DepthToSpace", "x", "y", aInt("blocksize", 2),
			aStr("mode", "CRD")))},
		{"space to depth", single(13, vi("x", 1, 2, 4, 6), nd("SpaceToDepth", "x", "y", aInt("blocksize", 2)))},
	}
}

func TestMoves(t *testing.T) { compareCases(t, moveCases(), "testdata/move.golden") }

// moveErrors are moves that mean nothing, or that hardware does not do.
func moveErrors() []badCase {
	x := vi("x", 2, 3)
	return []badCase{
		{"concat shapes", diag.OperandShapes, "join 2x3 and 2x2", single(13, x, nd("Concat", "x c", "y", aInt("axis", 0)),
			ft("c", d(2, 2)))},
		{"split sizes", diag.BadDimension, "3 elements of axis 1 into [1 1]", chain(13, x, []pb{it("s", 1, 1)},
			nd("Split", "x s", "a b", aInt("axis", 1)), nd("Add", "a b", "y"))},
		{"slice of nothing", diag.BadDimension, "no elements", single(13, x, nd("Slice", "x f t", "y"), it("f", 2),
			it("t", 9))},
		{"gather beyond", diag.ConstantExpression, "index 2 is outside", single(13, x, nd("Gather", "x i", "y"), it("i", 2))},
		{"pad mode", diag.BadAttribute, `"mirror" is not supported`, single(13, x, nd("Pad", "x p", "y",
			aStr("mode", "mirror")), it("p", 0, 1, 0, 1))},
		{"pad far", diag.BadAttribute, "needs more elements", single(13, x, nd("Pad", "x p", "y", aStr("mode", "reflect")),
			it("p", 0, 3, 0, 0))},
		{"expand shape", diag.OperandShapes, "2x3", single(13, x, nd("Expand", "x s", "y"), it("s", 4, 1, 2))},
		{"blocks", diag.OperandShapes, "do not divide the channels", single(13, vi("x", 1, 6, 2, 2),
			nd("DepthToSpace", "x", "y", aInt("blocksize", 2)))},
	}
}
