// SPDX-License-Identifier: Apache-2.0

package onnx

import "testing"

// reduceCases are the reductions, and the pools whose windows run past the padding.
func reduceCases() []opCase {
	x := vi("x", 1, 3, 4, 5)
	img, line := vi("x", 1, 2, 5, 6), vi("x", 1, 2, 9)
	one := func(name string, opset int64, op string, inits []pb, attrs ...pb) opCase {
		in := "x"
		if len(inits) > 0 {
			in = "x a"
		}
		return opCase{name, single(opset, x, nd(op, in, "y", attrs...), inits...)}
	}
	axes := func(v ...int64) []pb { return []pb{it("a", v...)} }
	k3, s2 := aInts("kernel_shape", 3, 3), aInts("strides", 2, 2)
	k2, ceil, include := aInts("kernel_shape", 2, 2), aInt("ceil_mode", 1), aInt("count_include_pad", 1)
	return []opCase{
		one("sum channels", 13, "ReduceSum", axes(1)),
		one("sum all", 13, "ReduceSum", nil),
		one("sum nothing", 13, "ReduceSum", nil, aInt("noop_with_empty_axes", 1)),
		one("sum attribute", 11, "ReduceSum", nil, aInts("axes", -1, 1)),
		one("sum drop", 13, "ReduceSum", axes(3, 2), aInt("keepdims", 0)),
		one("mean columns", 18, "ReduceMean", axes(3)),
		one("mean rows drop", 13, "ReduceMean", nil, aInts("axes", 2), aInt("keepdims", 0)),
		one("mean everything", 18, "ReduceMean", nil, aInt("keepdims", 0)),
		one("mean channels and columns", 18, "ReduceMean", axes(1, 3)),
		one("max channels", 18, "ReduceMax", axes(-3), aInt("keepdims", 0)),
		one("max all", 13, "ReduceMax", nil),
		one("min image", 18, "ReduceMin", axes(2, 3)),
		one("min columns", 13, "ReduceMin", nil, aInts("axes", 3)),
		{"argmax channels last", single(13, x, nd("ArgMax", "x", "y", aInt("axis", 1), aInt("select_last_index", 1)))},
		{"average include ceil", single(19, img, nd("AveragePool", "x", "y", k3, s2, ceil, include,
			aInts("pads", 1, 1, 1, 1)))},
		{"average ceil pads", single(19, img, nd("AveragePool", "x", "y", k3, s2, ceil, aInts("pads", 1, 0, 0, 1)))},
		{"average line", single(19, line, nd("AveragePool", "x", "y", aInts("kernel_shape", 4), aInts("strides", 3),
			aInts("pads", 2, 1)))},
		{"average dilation", single(19, img, nd("AveragePool", "x", "y", k2, aInts("dilations", 2, 3), include,
			aInts("pads", 1, 1, 0, 0)))},
		{"max ceil pads", single(19, img, nd("MaxPool", "x", "y", k3, s2, ceil, aInts("pads", 0, 1, 1, 0)))},
		{"max dilation same", single(19, img, nd("MaxPool", "x", "y", k2, aInts("dilations", 2, 2),
			aStr("auto_pad", "SAME_LOWER")))},
	}
}

func TestReductions(t *testing.T) { compareCases(t, reduceCases(), "testdata/reduce.golden") }
