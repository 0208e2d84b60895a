// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"math"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// zeroModes are the rounding modes of QONNX, of x/scale + zero point.
var zeroModes = map[string]func(float64) float64{
	"ROUND": math.RoundToEven, "FLOOR": math.Floor, "CEIL": math.Ceil, "DOWN": math.Trunc,
	"UP":      func(v float64) float64 { return math.Copysign(math.Ceil(math.Abs(v)), v) },
	"HALF_UP": math.Round,
	"HALF_DOWN": func(v float64) float64 {
		return math.Copysign(math.Ceil(math.Abs(v)-0.5), v)
	},
}

// TestQonnxZero: QONNX rounds behind the zero point, so that codes are what rounds up and down, not numbers.
func TestQonnxZero(t *testing.T) {
	x := make([]float32, 41)
	for i := range x {
		x[i] = float32(i-20) / 8 // quarters of a step
	}
	for mode, round := range zeroModes {
		for _, zero := range []float64{-3, -2, 3, 6} {
			for signed := range int64(2) {
				for _, constant := range []bool{true, false} {
					name := fmt.Sprintf("%s, zero %g, signed %d, constant %v", mode, zero, signed, constant)
					least, most := 0.0, 15.0
					if signed == 1 {
						least, most = -8, 7
					}
					if !constant && mode == "ROUND" && math.Mod(zero, 2) != 0 {
						continue // its ties go to the odd code
					}
					in := map[bool]string{true: "k", false: "x"}[constant]
					m := chain(13, vi("x", 1, 41), []pb{ft("k", d(1, 41), x...), ft("s", nil, 0.5),
						ft("z", nil, float32(zero)), ft("w", nil, 4)},
						qonnxNode("Quant", in+" s z w", "q", aInt("signed", signed), aInt("narrow", 0), aStr("rounding_mode", mode)),
						nd("Mul", "x two", "xx"), nd("Add", "q xx", "y"))
					m.inits = append(m.inits, ft("two", nil, 0))
					g, err := Parse("m.onnx", m.bytes(), source.Options{})
					if !constant && signed == 1 && mode != "ROUND" && mode != "FLOOR" && mode != "CEIL" {
						if diag.CodeOf(err) != diag.QuantForm {
							t.Errorf("%s: want L0251: %v", name, err)
						}
						continue
					}
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					for i, got := range evaluate(t, g, x)[0].Floats {
						v := min(max(float64(x[i])/0.5+zero, least), most)
						if want := (round(v) - zero) * 0.5; float64(got) != want {
							t.Fatalf("%s: %g becomes %g, want %g", name, x[i], got, want)
						}
					}
				}
			}
		}
	}
}

// TestTruncUp: the greatest code rounds up to a power of two, one bit more.
func TestTruncUp(t *testing.T) {
	m := chain(13, vi("x", 1, 3), []pb{ft("s", nil, 0.5), ft("z", nil, 0), ft("i", nil, 3), ft("o", nil, 2)},
		qonnxNode("Trunc", "x s z i o", "y", aStr("rounding_mode", "CEIL")))
	g, err := Parse("m.onnx", m.bytes(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := evaluate(t, g, []float32{3.5, 0.5, 1})[0].Floats
	if want := []float32{2, 0.5, 0.5}; !equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func equal(a, b []float32) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// TestFlooredWeights: weights that the model floors are numbers in float32, of which some lie below their code times
// the scale. They keep their codes.
func TestFlooredWeights(t *testing.T) {
	k := make([]float32, 63)
	for i := range k {
		k[i] = (float32(i-31) + 0.5) * 0.0069846017
	}
	m := chain(13, vi("x", 1, 63), []pb{ft("k", d(1, 63), k...), ft("s", nil, 0.0069846017), ft("z", nil, 0),
		ft("w", nil, 6)}, qonnxNode("Quant", "k s z w", "q", aStr("rounding_mode", "FLOOR")),
		nd("Gemm", "x q", "y", aInt("transB", 1)))
	g, err := Parse("m.onnx", m.bytes(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range g.Nodes {
		c, ok := n.Attrs.(*ir.Const)
		if !ok {
			continue
		}
		for i, v := range c.Data.Floats() {
			if got := c.Own.Format.Encode(format.FromFloat32(v)); got != int64(i-31) {
				t.Errorf("weight %g has the code %d, want %d", v, got, i-31)
			}
		}
		return
	}
	t.Error("no weights")
}
