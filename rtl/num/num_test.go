// SPDX-License-Identifier: Apache-2.0

package num

import (
	"fmt"
	"math/big"
	"testing"

	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// params makes a parameter list of names and integers.
func params(pairs ...any) []rtl.Param {
	var list []rtl.Param
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, rtltest.P(pairs[i].(string), pairs[i+1].(int)))
	}
	return list
}

// pipeline benches a module that maps the operands of its ports to one number.
func pipeline(t *testing.T, module string, p []rtl.Param, in []rtltest.Port, model func(in [][]*big.Int) *big.Int) {
	t.Helper()
	rtltest.Run(t, rtltest.Bench{Module: module, Params: p, In: in, Out: []rtltest.Port{{Name: "out"}}, Pipeline: true,
		BigModel: func(in [][]*big.Int) [][]*big.Int { return [][]*big.Int{{model(in)}} }})
}

func TestAdd(t *testing.T) {
	for _, c := range []struct {
		a, b, shift, sub, out int
		as, bs                bool
	}{
		{8, 8, 0, 0, 10, true, true}, {8, 5, 3, 1, 11, true, false},
		{4, 9, 6, 0, 17, false, true}, {12, 3, 2, 1, 6, true, true},
		{1, 1, 0, 1, 3, false, false}, {70, 64, 20, 1, 86, true, true},
	} {
		pipeline(t, "num_add", params("A_W", c.a, "A_SIGNED", flag(c.as), "B_W", c.b, "B_SIGNED", flag(c.bs), "B_SHIFT",
			c.shift, "SUB", c.sub, "OUT_W", c.out),
			[]rtltest.Port{{Name: "a", Signed: c.as}, {Name: "b", Signed: c.bs}},
			func(in [][]*big.Int) *big.Int {
				b := new(big.Int).Lsh(in[1][0], uint(c.shift))
				if c.sub != 0 {
					b.Neg(b)
				}
				return b.Add(b, in[0][0])
			})
	}
}

// treeSizes has sizes with and without odd numbers left over on each level.
var treeSizes = []struct{ n, w, pipe int }{{1, 8, 2}, {2, 3, 1}, {3, 8, 0}, {5, 4, 1}, {7, 8, 2}, {13, 1, 2},
	{32, 5, 0},
	{33, 6, 2}}

func TestAddTree(t *testing.T) {
	for i, c := range treeSizes {
		signed := i%3 != 1
		pipeline(t, "num_add_tree", params("N", c.n, "IN_W", c.w, "IN_SIGNED", flag(signed), "PIPE", c.pipe),
			[]rtltest.Port{{Name: "in", Lanes: c.n, Signed: signed}},
			func(in [][]*big.Int) *big.Int {
				sum := new(big.Int)
				for _, v := range in[0] {
					sum.Add(sum, v)
				}
				return sum
			})
	}
}

func TestMaxTree(t *testing.T) {
	for i, c := range treeSizes {
		signed := i%3 != 1
		pipeline(t, "num_max_tree", params("N", c.n, "W", c.w, "SIGNED", flag(signed), "PIPE", c.pipe),
			[]rtltest.Port{{Name: "in", Lanes: c.n, Signed: signed}},
			func(in [][]*big.Int) *big.Int {
				best := in[0][0]
				for _, v := range in[0] {
					if v.Cmp(best) > 0 {
						best = v
					}
				}
				return best
			})
	}
}

func TestMul(t *testing.T) {
	for i, c := range []struct {
		a, b   int
		signed bool
	}{{8, 8, true}, {8, 6, false}, {1, 1, true}, {1, 4, false}, {27, 18, true}} {
		mult := rtl.Param{Name: "MULT", Value: fmt.Sprintf("%q", []string{"auto", "dsp", "lut"}[i%3])}
		pipeline(t, "num_mul", append(params("A_W", c.a, "A_SIGNED", flag(c.signed), "B_W", c.b), mult),
			[]rtltest.Port{{Name: "a", Signed: c.signed}, {Name: "b", Signed: true}},
			func(in [][]*big.Int) *big.Int { return new(big.Int).Mul(in[0][0], in[1][0]) })
	}
}

func TestDot(t *testing.T) {
	for _, c := range []struct {
		n, a, b, pipe int
		signed        bool
	}{{1, 8, 8, 2, true}, {3, 4, 6, 1, false}, {9, 8, 8, 2, true}, {6, 2, 1, 0, true}} {
		pipeline(t, "num_dot", params("N", c.n, "A_W", c.a, "A_SIGNED", flag(c.signed), "B_W", c.b, "PIPE", c.pipe),
			[]rtltest.Port{{Name: "a", Lanes: c.n, Signed: c.signed}, {Name: "b", Lanes: c.n, Signed: true}},
			func(in [][]*big.Int) *big.Int {
				sum := new(big.Int)
				for i, a := range in[0] {
					sum.Add(sum, new(big.Int).Mul(a, in[1][i]))
				}
				return sum
			})
	}
}

func TestDelay(t *testing.T) {
	for _, c := range []struct{ width, depth int }{{5, 0}, {1, 1}, {70, 2}, {8, 5}} {
		pipeline(t, "num_delay", params("WIDTH", c.width, "DEPTH", c.depth), []rtltest.Port{{Name: "in"}},
			func(in [][]*big.Int) *big.Int { return in[0][0] })
	}
}

// TestDivConstModes tries every mode at every input of up to ten bits; divisors and scales go round.
func TestDivConstModes(t *testing.T) {
	shapes := []struct{ in, lshift, n, out int }{{10, 0, 9, 8}, {8, 2, 3, 9}, {10, -1, 25, 4}, {6, 0, 64, 3}, {9, 4, 7, 5},
		{7, 0, 1, 7}, {5, -2, 100, 2}, {1, 0, 3, 1}, {8, 3, 2, 12}, {10, 6, 1023, 6}, {10, 0, 6, 8}, {8, 0, 12, 5}}
	var points []point
	modes(func(c Cast, inSigned bool) {
		for i := range 4 {
			s := shapes[(len(points)+i/3)%len(shapes)]
			c := c
			c.Width = s.out
			points = append(points, point{inWidth: s.in, inSigned: inSigned, outWidth: s.out,
				model: func(v *big.Int) *big.Int { return c.Divided(v, s.lshift, s.n) },
				params: fmt.Sprintf(".IN_W(%d),.IN_SIGNED(%d),.LSHIFT(%d),.N(%d),.OUT_W(%d),.OUT_SIGNED(%d),.ROUND(%d),.OVER(%d)",
					s.in, flag(inSigned), s.lshift, s.n, s.out, flag(c.Signed), c.Round, c.Over)})
		}
	})
	exhaust(t, "num_div_const", ".clk(1'b0), .en(1'b0), ", points)
}

// TestDivConstPipe tries the pipeline, and widths at which the magic number exceeds 64 bits.
func TestDivConstPipe(t *testing.T) {
	for i, s := range []struct{ in, lshift, n, out, pipe int }{{16, 3, 49, 12, 1}, {8, 0, 16, 8, 1},
		{40, 12, 12544, 44, 1},
		{33, 0, 1000003, 16, 0}} {
		c := Cast{Width: s.out, Signed: i%2 == 0, Round: 3 * i % 9, Over: i % 3}
		pipeline(t, "num_div_const", params("IN_W", s.in, "LSHIFT", s.lshift, "N", s.n, "OUT_W", s.out, "OUT_SIGNED",
			flag(c.Signed), "ROUND", c.Round, "OVER", c.Over, "PIPE", s.pipe),
			[]rtltest.Port{{Name: "in", Signed: true}},
			func(in [][]*big.Int) *big.Int { return c.Divided(in[0][0], s.lshift, s.n) })
	}
}
