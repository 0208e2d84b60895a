// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"fmt"
	"math/big"
	"testing"

	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// factor is an operand of num_mul_float: an integer, or a code of a float whose field has e bits.
type factor struct {
	w, e   int
	nan    bool
	signed bool
}

func (f factor) port(name string, lanes int) rtltest.Port {
	return rtltest.Port{Name: name, Lanes: lanes, Signed: f.e == 0 && f.signed}
}

// value is that of a number that came in by the port.
func (f factor) value(v *big.Int) *big.Int {
	if f.e == 0 {
		return v
	}
	return big.NewInt(num.FloatValue(v.Int64(), f.w, f.e, f.nan))
}

// factors are pairs of operands: codes both, codes and integers with and without sign, and powers of two.
var factors = []struct{ a, b factor }{
	{factor{w: 8, e: 4, nan: true}, factor{w: 8, e: 4}}, {factor{w: 8, signed: true}, factor{w: 8, e: 4}},
	{factor{w: 6}, factor{w: 6, e: 3}}, {factor{w: 8, e: 4}, factor{w: 5, signed: true}},
	{factor{w: 5, e: 4}, factor{w: 5, e: 4}}, {factor{w: 12, e: 4}, factor{w: 10, e: 3}},
	{factor{w: 1}, factor{w: 4, e: 2}}, {factor{w: 4, e: 2}, factor{w: 1, signed: true}},
}

func TestMulFloat(t *testing.T) {
	for i, c := range factors {
		mult := rtl.Param{Name: "MULT", Value: fmt.Sprintf("%q", []string{"auto", "lut", "dsp"}[i%3])}
		pipeline(t, "num_mul_float", append(params("A_W", c.a.w, "A_SIGNED", flag(c.a.signed), "A_E", c.a.e, "A_NAN",
			flag(c.a.nan), "B_W", c.b.w, "B_E", c.b.e), mult),
			[]rtltest.Port{c.a.port("a", 0), c.b.port("b", 0)},
			func(in [][]*big.Int) *big.Int {
				return new(big.Int).Mul(c.a.value(in[0][0]), c.b.value(in[1][0]))
			})
	}
}

func TestDotFloat(t *testing.T) {
	tiny := []struct{ a, b factor }{{factor{w: 4, e: 2}, factor{w: 4, e: 2}},
		{factor{w: 5, e: 2, nan: true}, factor{w: 3, e: 1}}, {factor{w: 4, e: 3}, factor{w: 4, e: 3}}}
	for _, c := range append(tiny, factors[:2]...) {
		pipeline(t, "num_dot", params("N", 3, "A_W", c.a.w, "A_SIGNED", flag(c.a.signed), "A_E", c.a.e, "A_NAN",
			flag(c.a.nan), "B_W", c.b.w, "B_E", c.b.e, "PIPE", 1), []rtltest.Port{c.a.port("a", 3), c.b.port("b", 3)},
			func(in [][]*big.Int) *big.Int {
				sum := new(big.Int)
				for i, a := range in[0] {
					sum.Add(sum, new(big.Int).Mul(c.a.value(a), c.b.value(in[1][i])))
				}
				return sum
			})
	}
}
