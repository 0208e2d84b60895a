// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
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

// treeSizes has sizes with and without odd numbers left over on each level.
var treeSizes = []struct{ n, w, pipe int }{{1, 8, 2}, {2, 3, 1}, {3, 8, 0}, {5, 4, 1}, {7, 8, 2}, {13, 1, 2},
	{32, 5, 0},
	{33, 6, 2}}

func TestAddTree(t *testing.T) {
	for _, i := range tools.Drawn(3, len(treeSizes)) {
		c, signed := treeSizes[i], i%3 != 1
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
	for _, i := range tools.Drawn(3, len(treeSizes)) {
		c, signed := treeSizes[i], i%3 != 1
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

// TestDotLow has signs on either side, and factors of one to four bits, with every code of all operands.
func TestDotLow(t *testing.T) {
	for _, c := range []struct {
		n, a, ae, b, be, pipe int
		signed                bool
	}{{1, 8, 0, 1, -1, 2, true}, {5, 4, 0, 1, -1, 2, false}, {8, 3, 0, 1, -1, 1, true}, {6, 1, -1, 5, 0, 2, false},
		{2, 1, -1, 3, 0, 0, false}, {7, 8, 0, 1, 0, 2, true}, {16, 8, 0, 2, 0, 2, false}, {3, 2, 0, 2, 0, 0, true},
		{4, 1, 0, 2, 0, 1, false}, {9, 4, 0, 3, 0, 2, true}, {6, 4, 0, 4, 0, 2, false}, {1, 2, 0, 4, 0, 2, true},
		{3, 8, 0, 4, 0, 1, true}, {1, 1, -1, 1, -1, 2, false}, {2, 1, -1, 1, -1, 0, false}, {5, 1, -1, 1, -1, 2, false},
		{16, 1, -1, 1, -1, 2, false}, {37, 1, -1, 1, -1, 2, false}, {12, 1, -1, 1, -1, 1, false}} {
		value := func(v *big.Int, e int) *big.Int {
			if e < 0 {
				return big.NewInt(2*v.Int64() - 1)
			}
			return v
		}
		pipeline(t, "num_dot", append(params("N", c.n, "A_W", c.a, "A_SIGNED", flag(c.signed), "A_E", c.ae, "B_W", c.b,
			"B_E", c.be, "PIPE", c.pipe), rtl.Param{Name: "MULT", Value: `"low"`}),
			[]rtltest.Port{{Name: "a", Lanes: c.n, Signed: c.signed && c.ae == 0}, {Name: "b", Lanes: c.n, Signed: c.be == 0}},
			func(in [][]*big.Int) *big.Int {
				sum := new(big.Int)
				for i, a := range in[0] {
					sum.Add(sum, new(big.Int).Mul(value(a, c.ae), value(in[1][i], c.be)))
				}
				return sum
			})
	}
}

// TestMulPair has the widest pairs that a DSP takes, and every borrow: products of all signs, and of the least
// numbers.
func TestMulPair(t *testing.T) {
	for _, c := range tools.Few(3, pairWidths) {
		c.bench(t, "num_mul_pair", params("X_W", c.x, "X_SIGNED", flag(c.signed), "W_W", c.w), 1)
	}
}

func TestDotPair(t *testing.T) {
	for _, i := range tools.Drawn(3, len(pairWidths)) {
		c, n := pairWidths[i], []int{1, 3, 9, 6}[i%4]
		c.bench(t, "num_dot_pair", params("N", n, "X_W", c.x, "X_SIGNED", flag(c.signed), "W_W", c.w, "PIPE", i%3), n)
	}
}

// pairWidth is the widths of x and of both its factors.
type pairWidth struct {
	x, w   int
	signed bool
}

var pairWidths = []pairWidth{{8, 8, true}, {8, 8, false}, {10, 8, true}, {4, 4, true}, {16, 5, false}, {2, 12, false},
	{18, 4, true}, {17, 4, false}, {3, 2, true}}

// bench benches a module that has the products of x with a and with b, also at all combinations of extremes.
func (c pairWidth) bench(t *testing.T, module string, p []rtl.Param, n int) {
	t.Helper()
	dot := func(x, w []*big.Int) *big.Int {
		sum := new(big.Int)
		for i := range x {
			sum.Add(sum, new(big.Int).Mul(x[i], w[i]))
		}
		return sum
	}
	rtltest.Run(t, rtltest.Bench{Module: module, Params: p, Pipeline: true,
		In: []rtltest.Port{{Name: "x", Lanes: n, Signed: c.signed}, {Name: "a", Lanes: n, Signed: true},
			{Name: "b", Lanes: n, Signed: true}},
		Out:    []rtltest.Port{{Name: "out", Lanes: 2}},
		Frames: 200,
		Gen: func(_ *rand.Rand, port, frame int) []int64 {
			k := frame - 6
			if k < 0 || k >= 64 {
				return nil
			}
			least, most, one := -int64(1)<<(c.w-1), int64(1)<<(c.w-1)-1, int64(-1)
			if port == 0 && c.signed {
				least, most = -int64(1)<<(c.x-1), int64(1)<<(c.x-1)-1
			} else if port == 0 {
				least, most, one = 0, int64(1)<<c.x-1, 1
			}
			return slices.Repeat([]int64{[]int64{least, one, 0, most}[k>>(2*port)&3]}, n)
		},
		BigModel: func(in [][]*big.Int) [][]*big.Int {
			return [][]*big.Int{{dot(in[0], in[2]), dot(in[0], in[1])}}
		}})
}

// TestDotFour has products with and without a shared bit, of data with signs and without, at every factor.
func TestDotFour(t *testing.T) {
	for i, c := range []pairWidth{{4, 4, true}, {4, 4, false}, {5, 3, true}, {3, 4, false}, {2, 4, true}, {6, 2, false}} {
		n := []int{1, 5, 16, 3}[i%4]
		rtltest.Run(t, rtltest.Bench{Module: "num_dot_four", Pipeline: true, Frames: 300,
			Params: params("N", n, "X_W", c.x, "X_SIGNED", flag(c.signed), "W_W", c.w, "PIPE", i%3),
			In:     []rtltest.Port{{Name: "x", Lanes: n, Signed: c.signed}, {Name: "w", Lanes: 4 * n, Signed: true}},
			Out:    []rtltest.Port{{Name: "out", Lanes: 4}},
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				sums := make([]*big.Int, 4)
				for k := range sums {
					sums[k] = new(big.Int)
					for j, x := range in[0] {
						sums[k].Add(sums[k], new(big.Int).Mul(x, in[1][k*n+j]))
					}
				}
				return [][]*big.Int{sums}
			}})
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
	modes(func(c num.Cast, inSigned bool) {
		for i := range 4 {
			s := shapes[(len(points)+i/3)%len(shapes)]
			c := limited(c, s.out)
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
		c := num.Cast{Width: s.out, Signed: i%2 == 0, Round: 3 * i % 9, Over: i % 3}
		pipeline(t, "num_div_const", params("IN_W", s.in, "LSHIFT", s.lshift, "N", s.n, "OUT_W", s.out, "OUT_SIGNED",
			flag(c.Signed), "ROUND", c.Round, "OVER", c.Over, "PIPE", s.pipe),
			[]rtltest.Port{{Name: "in", Signed: true}},
			func(in [][]*big.Int) *big.Int { return c.Divided(in[0][0], s.lshift, s.n) })
	}
}

// TestLength tries every number of up to ten bits.
func TestLength(t *testing.T) {
	var points []point
	for width := 1; width <= 10; width++ {
		points = append(points, point{inWidth: width, outWidth: bits.Len(uint(width)),
			model:  func(v *big.Int) *big.Int { return big.NewInt(int64(v.BitLen())) },
			params: fmt.Sprintf(".IN_W(%d)", width)})
	}
	exhaust(t, "num_length", "", points)
}
