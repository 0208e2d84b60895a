// SPDX-License-Identifier: Apache-2.0

package mx_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// coding is how elements of w bits have codes that are no integers, and how scales are found.
type coding struct {
	e, most, oneZero         int
	point, scaleW, bias      int
	nan, falls, ceil, rounds int
}

// integer is the definition of mx_integer.
func (c coding) integer(code int64, w int) int64 {
	m := w - 1 - c.e
	field, v := int(code>>m)%(1<<c.e), code%(1<<m)
	if field > 0 {
		v = (v + 1<<m) << (field - 1)
	}
	if code>>(w-1) != 0 {
		return -v
	}
	return v
}

// code is the nearest to v*2^exp, of two the even one; other roundings by what lies on either side.
func (c coding) code(v int64, exp, w int) int64 {
	half := int64(1) << (w - 1)
	minus := v < 0
	at := func(i int64) int { // of twice the integer of code i against twice |v|*2^exp
		x, y := new(big.Int).Abs(big.NewInt(v)), big.NewInt(i)
		if exp >= 0 {
			x.Lsh(x, uint(exp))
		} else {
			y.Lsh(y, uint(-exp))
		}
		return y.Cmp(x.Lsh(x, 1))
	}
	below := int64(0)
	for i := int64(1); i <= int64(c.most); i++ {
		if at(2*c.integer(i, w)) <= 0 {
			below = i
		}
	}
	if low := c.integer(below, w); below < int64(c.most) && at(2*low) != 0 {
		side := -at(low + c.integer(below+1, w)) // of v against the middle
		up := side > 0 || side == 0 && below%2 != 0
		switch c.rounds {
		case 1:
			up = side >= 0
		case 5:
			up = minus
		case 6:
			up = !minus
		case 7:
			up = false
		case 10: // against the square root of two powers
			up = below > 0 && squareAbove(v, exp, 2*low*low) || below == 0 && side > 0
		}
		if up {
			below++
		}
	}
	if minus && (below != 0 || c.oneZero == 0) {
		return below + half
	}
	return below
}

// squareAbove says that (v*2^exp)^2 > square.
func squareAbove(v int64, exp int, square int64) bool {
	x := new(big.Int).Mul(big.NewInt(v), big.NewInt(v))
	y := big.NewInt(square)
	if exp >= 0 {
		x.Lsh(x, uint(2*exp))
	} else {
		y.Lsh(y, uint(-2*exp))
	}
	return x.Cmp(y) > 0
}

// block is the definition of mx_encode for one block.
func (c coding) block(v []int64, exp, w int) (scale int64, codes []int64) {
	most := int64(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	if most == 0 {
		return 0, make([]int64, len(v))
	}
	e := 0
	for 2<<e <= most {
		e++
	}
	if c.ceil != 0 && 1<<e < most {
		e++
	}
	field := min(max(e+exp+c.bias, 0), 1<<c.scaleW-1-c.nan)
	for _, x := range v {
		codes = append(codes, c.code(x, exp-(field-c.bias+1-c.point), w))
	}
	if c.falls != 0 {
		field = 1<<c.scaleW - 1 - field
	}
	return int64(field), codes
}

// codings are those of formats: e2m1 and e4m3 in mxfp, bfp, bminifloat, blog.
var codings = []struct {
	w int
	coding
}{
	{4, coding{2, 7, 0, 4, 8, 125, 1, 0, 0, 0}},
	{8, coding{4, 0x7e, 0, 18, 8, 119, 1, 0, 0, 0}},
	{6, coding{3, 31, 0, 9, 8, 123, 1, 0, 0, 1}},
	{5, coding{0, 15, 1, 4, 4, 7, 0, 0, 0, 0}},
	{4, coding{0, 7, 1, 3, 8, 127, 0, 0, 0, 5}},
	{6, coding{3, 31, 0, 10, 5, 24, 0, 1, 0, 7}},
	{5, coding{4, 15, 1, 15, 6, 48, 0, 1, 1, 0}},
	{4, coding{3, 7, 1, 7, 8, 250, 0, 1, 1, 6}},
	{5, coding{4, 15, 1, 15, 6, 48, 0, 1, 1, 10}},
}

func TestEncodeCoded(t *testing.T) {
	for i, c := range codings {
		for k, s := range []struct{ lanes, inW, signed, exp, k, row, rows int }{
			{2, 16, 1, -8, 8, 20, 1}, {1, 9, 0, -c.bias - 4 + i, 3, 7, 2}, {4, 22, 1, 1<<c.scaleW - c.bias - 12, 8, 8, 1},
		} {
			if !tools.Long && k != i%3 {
				continue
			}
			rtltest.Run(t, rtltest.Bench{
				Module: "mx_encode", Seed: uint64(i),
				Params: params("LANES", s.lanes, "IN_W", s.inW, "IN_SIGNED", s.signed, "EXP", s.exp, "W", c.w, "E", c.e, "MOST",
					c.most, "ONE_ZERO", c.oneZero, "POINT", c.point, "K", s.k, "SCALE_W", c.scaleW, "BIAS", c.bias, "NAN", c.nan,
					"FALLS", c.falls, "CEIL", c.ceil, "ROW", s.row, "ROWS", s.rows, "ROUND", c.rounds),
				In:  []rtltest.Port{{Name: "in", Lanes: s.lanes, Signed: s.signed != 0, Beats: s.row / s.lanes * s.rows}},
				Out: []rtltest.Port{{Name: "out"}},
				Gen: func(r *rand.Rand, _, frame int) []int64 { return small(r, frame, s.row*s.rows, s.inW, s.signed != 0) },
				BigModel: func(in [][]*big.Int) [][]*big.Int {
					var out []*big.Int
					at := 0
					for _, n := range blocks(s.row*s.rows, s.row, s.k) {
						v := make([]int64, n)
						for i := range v {
							v[i] = in[0][at+i].Int64()
						}
						at += n
						scale, codes := c.block(v, s.exp, c.w)
						for i := 0; i < n; i += s.lanes {
							out = append(out, beat(scale, codes[i:i+s.lanes], c.w))
						}
					}
					return [][]*big.Int{out}
				},
			})
		}
	}
}

func TestDecodeCoded(t *testing.T) {
	for i, c := range codings {
		lanes, out := 1+i%3, 9+2*i
		offset := 8 - c.bias
		mid := c.bias - 8
		if c.falls != 0 {
			mid = 1<<c.scaleW - 1 - mid
		}
		rtltest.Run(t, rtltest.Bench{
			Module: "mx_decode", Seed: uint64(i),
			Params: params("LANES", lanes, "W", c.w, "E", c.e, "SCALE_W", c.scaleW, "FALLS", c.falls, "OFFSET", offset,
				"LOW", 22, "HIGH", out, "OUT_W", out, "ROUND", i%8, "BEATS", 2),
			In:  []rtltest.Port{{Name: "in", Beats: 2}},
			Out: []rtltest.Port{{Name: "out", Lanes: lanes, Signed: true}},
			Gen: func(r *rand.Rand, _, frame int) []int64 {
				if frame%4 == 0 {
					return nil
				}
				var beats []int64
				for range 2 {
					field := min(max(mid+r.IntN(32)-16, 0), 1<<c.scaleW-1)
					beats = append(beats, int64(field)<<(lanes*c.w)|r.Int64N(1<<(lanes*c.w)))
				}
				return beats
			},
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				var y []*big.Int
				for _, b := range in[0] {
					scale, codes := parts(b, lanes, c.w)
					if c.falls != 0 {
						scale = 1<<c.scaleW - 1 - scale
					}
					for _, q := range codes {
						v := c.integer(q&(1<<c.w-1), c.w)
						y = append(y, scaled(big.NewInt(v), int(scale)+offset, num.Cast{Width: out, Signed: true, Round: i % 8}))
					}
				}
				return [][]*big.Int{y}
			},
		})
	}
}

// TestLinearCoded multiplies elements that are no integers, of scales that rise and fall.
func TestLinearCoded(t *testing.T) {
	for i, p := range []struct {
		product
		e, falls int
		coded    int // the elements are multiplied as codes
		wE       int // the field of weights
	}{
		{product{in: 16, out: 8, run: 16, k: 8, lanes: 4, rows: 2, drain: 1, xW: 4, xsW: 8, wW: 5, wsW: 4,
			outW: 30, biasW: 16, clamp: true}, 2, 0, 0, 0},
		{product{in: 6, out: 4, run: 6, k: 8, lanes: 2, rows: 4, drain: 2, xW: 8, xsW: 8, wW: 12, wsW: 3,
			outW: 44, biasW: 20, clamp: true}, 3, 1, 0, 0},
		{product{in: 8, out: 4, run: 4, k: 2, lanes: 1, rows: 2, drain: 1, xW: 6, xsW: 8, wW: 6, wsW: 2,
			outW: 20, biasW: 8, clamp: true}, 0, 1, 0, 0},
		{product{in: 16, out: 8, run: 16, k: 8, lanes: 4, rows: 2, drain: 1, xW: 8, xsW: 8, wW: 8, wsW: 4,
			outW: 56, biasW: 16, clamp: true}, 4, 0, 1, 4},
		{product{in: 6, out: 4, run: 6, k: 8, lanes: 2, rows: 4, drain: 2, xW: 4, xsW: 8, wW: 6, wsW: 3,
			outW: 44, biasW: 20, clamp: true}, 2, 1, 1, 0},
		{product{in: 8, out: 4, run: 4, k: 2, lanes: 1, rows: 2, drain: 1, xW: 5, xsW: 8, wW: 4, wsW: 2,
			outW: 20, biasW: 8, clamp: true}, 3, 0, 0, 2},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			p.fill(rand.New(rand.NewPCG(uint64(i), 8)))
			p.dW += 1<<p.e + 1<<p.wE
			images := p.images() // of codes
			if p.wE > 0 {
				for i, w := range p.weights {
					p.weights[i] = num.FloatValue(w&(1<<p.wW-1), p.wW, p.wE, false)
				}
			}
			p.low, p.offset = p.dW, p.dW-138
			p.span = p.outW + p.low
			list := append(p.params(), params("X_E", p.e, "XS_FALLS", p.falls, "CODED", p.coded, "W_E", p.wE)...)
			rtltest.Run(t, rtltest.Bench{
				Module: "mx_linear", Params: list, Images: images, Seed: uint64(i),
				In:  []rtltest.Port{{Name: "in", Beats: p.in / p.lanes}},
				Out: []rtltest.Port{{Name: "out", Lanes: p.drain, Signed: true}},
				Gen: p.gen,
				BigModel: func(in [][]*big.Int) [][]*big.Int {
					x, xs := p.vector(in[0])
					for i := range x {
						x[i] = coding{e: p.e}.integer(x[i]&(1<<p.xW-1), p.xW)
					}
					for i := range xs {
						if p.falls != 0 {
							xs[i] = 255 - xs[i]
						}
					}
					return [][]*big.Int{p.apply(x, xs)}
				},
			})
		})
	}
}
