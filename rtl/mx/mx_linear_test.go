// SPDX-License-Identifier: Apache-2.0

package mx_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// product is the constants and the shape of a sum over blocks.
type product struct {
	in, out, run, k        int
	lanes, rows, drain     int
	xW, xsW, wW, wsW       int
	offset, low            int
	outW, biasW            int
	clamp                  bool
	span, dW, sumW         int // from fill
	weights, scales, biass []int64
	lengths                []int
}

// fill draws the constants: row 0 the most negative weights, row 1 the most positive, row 2 zeros.
func (p *product) fill(r *rand.Rand) {
	p.lengths = blocks(p.in, p.run, p.k)
	p.weights = make([]int64, p.in*p.out)
	for i := range p.weights {
		half := int64(1) << (p.wW - 1)
		p.weights[i] = []int64{-half, half - 1, 0, r.Int64N(2*half) - half}[min(i/p.in, 3)]
	}
	p.scales = make([]int64, p.out*len(p.lengths))
	for i := range p.scales {
		if p.wsW > 0 {
			p.scales[i] = r.Int64N(1 << p.wsW)
		}
	}
	p.biass = make([]int64, p.out)
	for i := range p.biass {
		half := int64(1) << (p.biasW - 1)
		p.biass[i] = []int64{-half, half - 1, r.Int64N(2*half) - half}[min(i, 2)]
	}
	p.dW = p.xW + p.wW
	for n := 1; n < min(p.k, p.run); n *= 2 {
		p.dW++
	}
	p.span = p.outW + p.low
	p.sumW = p.outW + 8
	if !p.clamp { // nothing exceeds the result
		p.span = 1<<p.wsW + p.offset
		if p.xsW > 0 {
			p.span += 139
		}
		p.outW = p.dW + p.span - p.low + 4
		p.sumW = p.outW
	}
}

// apply is the definition, for one vector of blocks with their scales.
func (p *product) apply(x, xs []int64) []*big.Int {
	acc := num.Cast{Width: p.outW, Signed: true, Round: num.Floor, Over: num.Saturate}
	var y []*big.Int
	for o := range p.out {
		sum := big.NewInt(p.biass[o])
		at := 0
		for j, n := range p.lengths {
			d := new(big.Int)
			for i := at; i < at+n; i++ {
				d.Add(d, new(big.Int).Mul(big.NewInt(x[i]), big.NewInt(p.weights[o*p.in+i])))
			}
			at += n
			a := int(xs[j]) + int(p.scales[o*len(p.lengths)+j]) + p.offset
			sum.Add(sum, acc.Divided(d, a-p.low, 1))
		}
		y = append(y, acc.Divided(sum, 0, 1))
	}
	return y
}

// images are the three memories.
func (p *product) images() []rtl.Image {
	word := func(w int, fields []int64) *big.Int {
		b := new(big.Int)
		for i := len(fields) - 1; i >= 0; i-- {
			b.Lsh(b, uint(w)).Add(b, num.Fit(big.NewInt(fields[i]), w, false, num.Wrap))
		}
		return b
	}
	weights := rtl.Image{Param: "WEIGHTS", Width: p.rows * p.lanes * p.wW}
	scales := rtl.Image{Param: "SCALES", Width: p.drain * p.wsW}
	bias := rtl.Image{Param: "BIAS", Width: p.drain * p.biasW}
	for g := 0; g < p.out; g += p.rows {
		for s := 0; s < p.in; s += p.lanes {
			var f []int64
			for o := g; o < g+p.rows; o++ {
				f = append(f, p.weights[o*p.in+s:][:p.lanes]...)
			}
			weights.Words = append(weights.Words, word(p.wW, f))
		}
		for j := range p.lengths {
			for d := g; d < g+p.rows; d += p.drain {
				var f []int64
				for o := d; o < d+p.drain; o++ {
					f = append(f, p.scales[o*len(p.lengths)+j])
				}
				scales.Words = append(scales.Words, word(p.wsW, f))
			}
		}
		for d := g; d < g+p.rows; d += p.drain {
			bias.Words = append(bias.Words, word(p.biasW, p.biass[d:d+p.drain]))
		}
	}
	if p.wsW == 0 {
		return []rtl.Image{weights, bias}
	}
	return []rtl.Image{weights, scales, bias}
}

// gen draws a vector of beats; every beat of a block has its scale.
func (p *product) gen(r *rand.Rand, _, frame int) []int64 {
	var out []int64
	for _, n := range p.lengths {
		scale := int64(0)
		if p.xsW > 0 {
			scale = 120 + r.Int64N(20)
			if p.clamp && r.IntN(6) == 0 {
				scale = r.Int64N(255)
			}
		}
		zero := p.xsW > 0 && r.IntN(8) == 0
		for i := 0; i < n; i += p.lanes {
			b := scale
			for range p.lanes {
				c := r.Int64N(1 << p.xW)
				switch {
				case zero:
					c = 0
				case frame%4 == 1:
					c = 1 << (p.xW - 1)
				case frame%4 == 2:
					c = 1<<(p.xW-1) - 1
				}
				b = b<<p.xW | c
			}
			if zero {
				b = 0
			}
			out = append(out, b)
		}
	}
	return out
}

// vector takes the beats of a vector apart.
func (p *product) vector(beats []*big.Int) (x, xs []int64) {
	at := 0
	for _, n := range p.lengths {
		var scale int64
		for i := 0; i < n; i += p.lanes {
			s, codes := parts(beats[at], p.lanes, p.xW)
			scale = s
			x = append(x, codes...)
			at++
		}
		xs = append(xs, scale)
	}
	return x, xs
}

func (p *product) params() []rtl.Param {
	clamp := 0
	if p.clamp {
		clamp = 1
	}
	return params("IN", p.in, "OUT", p.out, "RUN", p.run, "K", p.k, "IN_LANES", p.lanes, "ROWS", p.rows, "DRAIN", p.drain,
		"X_W", p.xW, "XS_W", p.xsW, "W_W", p.wW, "WS_W", p.wsW, "D_W", p.dW, "OFFSET", p.offset, "SPAN", p.span, "LOW", p.low,
		"CLAMP", clamp, "SUM_W", p.sumW, "BIAS_W", p.biasW, "OUT_W", p.outW)
}

var products = []product{
	{in: 16, out: 8, run: 16, k: 8, lanes: 4, rows: 2, drain: 1, xW: 8, xsW: 8, wW: 8, wsW: 4,
		offset: -132, low: 19, outW: 30, biasW: 16, clamp: true},
	{in: 24, out: 6, run: 12, k: 8, lanes: 2, rows: 6, drain: 3, xW: 8, xsW: 8, wW: 8, wsW: 3,
		offset: -130, low: 18, outW: 24, biasW: 12, clamp: true},
	{in: 12, out: 4, run: 4, k: 32, lanes: 4, rows: 2, drain: 2, xW: 6, xsW: 8, wW: 4, offset: -120, biasW: 9},
	{in: 8, out: 5, run: 8, k: 4, lanes: 1, rows: 1, drain: 1, xW: 8, wW: 8, wsW: 5, biasW: 8},
	{in: 8, out: 12, run: 8, k: 8, lanes: 2, rows: 4, drain: 1, xW: 8, xsW: 8, wW: 8, wsW: 4,
		offset: -120, low: 3, biasW: 16},
	{in: 6, out: 4, run: 1, k: 32, lanes: 1, rows: 4, drain: 4, xW: 5, xsW: 8, wW: 7, wsW: 6,
		offset: -128, low: 11, outW: 16, biasW: 16, clamp: true},
	{in: 5, out: 4, run: 5, k: 5, lanes: 5, rows: 4, drain: 4, xW: 8, xsW: 8, wW: 8, wsW: 2,
		offset: -120, low: 2, biasW: 10},
}

func TestLinear(t *testing.T) {
	for i, p := range tools.Few(4, products) {
		p.fill(rand.New(rand.NewPCG(uint64(i), 5)))
		rtltest.Run(t, rtltest.Bench{
			Module: "mx_linear", Params: p.params(), Images: p.images(), Seed: uint64(i),
			In:  []rtltest.Port{{Name: "in", Beats: p.in / p.lanes}},
			Out: []rtltest.Port{{Name: "out", Lanes: p.drain, Signed: true}},
			Gen: p.gen,
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				x, xs := p.vector(in[0])
				return [][]*big.Int{p.apply(x, xs)}
			},
		})
	}
}

func TestTerm(t *testing.T) {
	for i, p := range []struct{ d, ws, offset, span, low, sat, out int }{
		{20, 4, -120, 24, 8, 30, 34}, {9, 1, -130, 12, 8, 4, 6}, {6, 8, -250, 20, 0, 10, 10}, {12, 3, -127, 3, 11, 12, 14},
	} {
		rtltest.Run(t, rtltest.Bench{
			Module: "mx_linear_term", Pipeline: true, Seed: uint64(i),
			Params: params("XS_W", 8, "WS_W", p.ws, "D_W", p.d, "OFFSET", p.offset, "SPAN", p.span, "LOW", p.low, "CLAMP", 1,
				"SAT_W", p.sat, "OUT_W", p.out),
			In:     []rtltest.Port{{Name: "d", Signed: true}, {Name: "xs"}, {Name: "ws"}},
			Out:    []rtltest.Port{{Name: "term", Signed: true}},
			Frames: 3000,
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				a := int(in[1][0].Int64()) + int(in[2][0].Int64()) + p.offset
				if a > p.span {
					a = 200 // saturates, unless d is 0
				}
				return [][]*big.Int{{num.Cast{Width: p.sat, Signed: true, Round: num.Floor}.Divided(in[0][0], max(a, 0)-p.low, 1)}}
			},
		})
	}
}
