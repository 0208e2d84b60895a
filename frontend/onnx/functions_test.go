// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"strings"
	"testing"
)

// functionCases are the functions of one argument; the values lie between -2 and 2.
func functionCases() []opCase {
	x := vi("x", 2, 9)
	var cases []opCase
	plain := func(opset int64, ops string) {
		for _, o := range strings.Fields(ops) {
			cases = append(cases, opCase{strings.ToLower(o), single(opset, x, nd(o, "x", "y"))})
		}
	}
	plain(13, "Exp Neg Abs Sign Floor Ceil Round Erf Softsign Elu Selu HardSigmoid ThresholdedRelu")
	plain(22, "Celu Gelu HardSwish Mish Softplus")
	one := func(name string, opset int64, n pb, inits ...pb) {
		cases = append(cases, opCase{name, single(opset, x, n, inits...)})
	}
	one("swish", 24, nd("Swish", "x", "y"))
	one("swish alpha", 24, nd("Swish", "x", "y", aFlt("alpha", 1.7)))
	one("gelu tanh", 20, nd("Gelu", "x", "y", aStr("approximate", "tanh")))
	one("elu alpha", 7, nd("Elu", "x", "y", aFlt("alpha", 0.3)))
	one("celu alpha", 12, nd("Celu", "x", "y", aFlt("alpha", 2)))
	one("selu alpha", 7, nd("Selu", "x", "y", aFlt("alpha", 2), aFlt("gamma", 3)))
	one("hard sigmoid alpha", 7, nd("HardSigmoid", "x", "y", aFlt("alpha", 0.5), aFlt("beta", 0.6)))
	one("thresholded alpha", 10, nd("ThresholdedRelu", "x", "y", aFlt("alpha", -0.5)))
	one("shrink", 9, nd("Shrink", "x", "y", aFlt("lambd", 0.7), aFlt("bias", 0.3)))
	one("shrink hard", 9, nd("Shrink", "x", "y"))
	one("square", 13, nd("Pow", "x c", "y"), ft("c", nil, 2))
	one("cube", 15, nd("Pow", "x c", "y"), it("c", 3))
	one("power one", 15, nd("Pow", "x c", "y"), ft("c", d(1), 1))
	one("divide", 13, nd("Div", "x c", "y"), ft("c", d(9), 1, 2, 3, 4, 5, 6, 7, 8, -9))
	one("divide scalar", 14, nd("Div", "x c", "y"), ft("c", nil, -0.7))
	img := vi("x", 1, 3, 2, 4)
	cases = append(cases, opCase{"prelu", single(16, img, nd("PRelu", "x s", "y"), ft("s", d(3, 1, 1), 0.5, -0.25, 0))},
		opCase{"prelu all channels", single(16, img, nd("PRelu", "x s", "y"), ft("s", d(1, 3, 1, 1), 0.5, 2, 0.125))},
		opCase{"prelu row", single(16, x, nd("PRelu", "x s", "y"), ft("s", d(9)))},
		opCase{"prelu scalar", single(16, img, nd("PRelu", "x s", "y"), ft("s", d(1), 0.3))})
	shifted := func(name string, opset int64, n ...pb) { // arguments above 1
		cases = append(cases, opCase{name, chain(opset, x, []pb{ft("three", nil, 3.125), ft("half", nil, 0.5),
			ft("third", nil, -1.3), ft("row", d(9), 1, 2, 3, 4, 5, 6, 7, 8, -9)},
			append([]pb{nd("Add", "x three", "s")}, n...)...)})
	}
	shifted("log", 13, nd("Log", "s", "y"))
	shifted("sqrt", 13, nd("Sqrt", "s", "y"))
	shifted("reciprocal", 13, nd("Reciprocal", "s", "y"))
	shifted("root", 13, nd("Pow", "s half", "y"))
	shifted("negative power", 13, nd("Pow", "s third", "y"))
	shifted("number by value", 13, nd("Div", "third s", "y"))
	shifted("row by value", 13, nd("Div", "row s", "y"))
	shifted("constants", 13, nd("Sqrt", "three", "a"), nd("Exp", "half", "b"), nd("Pow", "a b", "p"), nd("Neg", "p", "n"),
		nd("Abs", "n", "m"), nd("Floor", "m", "f"), nd("Log", "p", "l"), nd("Reciprocal", "l", "r"), nd("Mul", "s r", "u"),
		nd("Add", "u f", "y"))
	return cases
}

func TestFunctions(t *testing.T) { compareCases(t, functionCases(), "testdata/functions.golden") }
