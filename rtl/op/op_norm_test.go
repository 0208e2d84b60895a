// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// norm is a normalization of rows, with the names of the definition.
type norm struct {
	n, lanes, rows int
	in             format
	f              int // fraction bits of x
	rms            bool
	eps            float32
	gainW, gainF   int
	biasW, biasF   int
	fo             int
	out            format
	round, over    int
	gamma, beta    []int64
	frames         int
}

func pow2(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }

// shifted is v / 2^n to the nearest integer, ties to even; n may be negative.
func shifted(v *big.Int, n int) *big.Int {
	if n <= 0 {
		return new(big.Int).Lsh(v, uint(-n))
	}
	return num.Quotient(v, pow2(n), num.Even)
}

// rsqrt is 1 / sqrt(v) = r * 2^(-31-k), with the division and the root of the definition.
func rsqrt(v *big.Int) (r *big.Int, k int) {
	k = (v.BitLen() - 23) >> 1
	w := new(big.Int).Set(v)
	if k < 0 {
		w.Lsh(w, uint(-2*k))
	} else {
		w.Rsh(w, uint(2*k))
	}
	q := new(big.Int).Div(pow2(62), w)
	r = new(big.Int).Sqrt(q)
	if rest := new(big.Int).Mul(r, r); rest.Sub(q, rest).Cmp(r) > 0 {
		r.Add(r, big.NewInt(1))
	}
	return r, k
}

// scaled is n^2 * eps * 2^(2f + up), exactly.
func (m *norm) scaled(up int) *big.Rat {
	v := new(big.Rat).SetFloat64(float64(m.eps))
	v.Mul(v, new(big.Rat).SetInt64(int64(m.n)*int64(m.n)))
	if up += 2 * m.f; up < 0 {
		return v.Quo(v, new(big.Rat).SetInt(pow2(-up)))
	}
	return v.Mul(v, new(big.Rat).SetInt(pow2(up)))
}

// constants are h and the term of eps.
func (m *norm) constants() (h int, eps *big.Int) {
	squares := new(big.Int).Mul(big.NewInt(int64(m.n)*int64(m.n)), pow2(2*m.in.width-2))
	if !m.in.signed {
		squares.Lsh(squares, 2)
	}
	least := m.scaled(0)
	least.Quo(least, new(big.Rat).SetInt64(int64(m.n)*int64(m.n)))
	ceil := num.Quotient(least.Num(), least.Denom(), num.Ceil)
	squares.Add(squares, ceil.Mul(ceil, big.NewInt(int64(m.n)*int64(m.n))))
	for h = 20; h > 0 && new(big.Int).Lsh(squares, uint(h)).BitLen() > 63; {
		h -= 2
	}
	term := m.scaled(h)
	return h, num.Quotient(term.Num(), term.Denom(), num.Even)
}

// row normalizes one row by the definition.
func (m *norm) row(x []int64) []int64 {
	n, s, squares := big.NewInt(int64(m.n)), new(big.Int), new(big.Int)
	for _, v := range x {
		s.Add(s, big.NewInt(v))
		squares.Add(squares, big.NewInt(v*v))
	}
	q := squares.Mul(squares, n)
	if m.rms {
		s.SetInt64(0)
	}
	q.Sub(q, new(big.Int).Mul(s, s))
	h, eps := m.constants()
	v := eps.Add(eps, q.Lsh(q, uint(h)))
	y := make([]int64, len(x))
	for i := range x {
		z := new(big.Int)
		if v.Sign() > 0 {
			r, k := rsqrt(v)
			d := new(big.Int).Mul(n, big.NewInt(x[i]))
			d.Sub(d, s)
			z = shifted(d.Mul(d, r), 15+k-h/2)
		}
		cast := num.Cast{Shift: 16 - m.fo, Width: m.out.width, Signed: m.out.signed, Round: m.round, Over: m.over}
		if m.gainW > 0 {
			z.Mul(z, big.NewInt(m.gamma[i]))
			cast.Shift += m.gainF
			if m.biasW > 0 {
				z.Add(z, new(big.Int).Lsh(big.NewInt(m.beta[i]), uint(16+m.gainF-m.biasF)))
			}
		}
		y[i] = cast.Of(z).Int64()
	}
	return y
}

// fill draws gamma and beta, their extremes among them.
func (m *norm) fill(r *rand.Rand) {
	draw := func(width int) []int64 {
		if width == 0 {
			return nil
		}
		list := make([]int64, m.n)
		least, most := bounds(width, true)
		for i := range list {
			list[i] = []int64{least, most, between(r, least, most)}[min(i%7, 2)]
		}
		return list
	}
	m.gamma, m.beta = draw(m.gainW), draw(m.biasW)
}

// kinds of rows that gen makes, in turn.
const kinds = 10

// gen makes rows of all kinds: constant, one hot, of two values, of extremes, near zero and far from it, random.
func (m *norm) gen(r *rand.Rand, _, frame int) []int64 {
	least, most := bounds(m.in.width, m.in.signed)
	x := make([]int64, 0, m.rows*m.n)
	for row := range m.rows {
		a, b, hot, kind := between(r, least, most), between(r, least, most), r.IntN(m.n), (frame*m.rows+row)%kinds
		for i := range m.n {
			var v int64
			switch kind {
			case 0:
				v = least
			case 1:
				v = most
			case 2:
				v = []int64{least, most}[i%2]
			case 3:
				v = a
			case 4, 5:
				if v = 0; i == hot {
					v = []int64{least, most, a}[r.IntN(3)]
				}
			case 6:
				v = []int64{a, b}[r.IntN(2)]
			case 7:
				v = between(r, max(least, -2), min(most, 2))
			case 8:
				v = between(r, max(least, most-3), most)
			default:
				v = between(r, least, most)
			}
			x = append(x, v)
		}
	}
	return x
}

func (m *norm) bench() rtltest.Bench {
	p := rtltest.P
	h, eps := m.constants()
	b := rtltest.Bench{
		Module: "op_norm",
		Params: []rtl.Param{p("ROWS", m.rows), p("N", m.n), p("LANES", m.lanes), p("IN_W", m.in.width),
			p("SIGNED", flag(m.in.signed)), p("RMS", flag(m.rms)), p("H", h), {Name: "EPS", Value: fmt.Sprintf("63'd%d", eps)},
			p("GAIN_W", m.gainW), p("GAIN_F", m.gainF), p("BIAS_W", m.biasW), p("BIAS_F", m.biasF), p("FO", m.fo),
			p("OUT_W", m.out.width), p("OUT_SIGNED", flag(m.out.signed)), p("ROUND", m.round), p("OVER", m.over)},
		In:  []rtltest.Port{{Name: "in", Lanes: m.lanes, Signed: m.in.signed, Beats: m.rows * m.n / m.lanes}},
		Out: []rtltest.Port{{Name: "out", Lanes: m.lanes, Signed: m.out.signed}},
		Gen: m.gen,
		Model: func(in [][]int64) [][]int64 {
			var y []int64
			for x := in[0]; len(x) > 0; x = x[m.n:] {
				y = append(y, m.row(x[:m.n])...)
			}
			return [][]int64{y}
		},
		Frames: m.frames,
	}
	if m.gainW > 0 {
		image := rtl.Image{Param: "IMAGE", Width: m.lanes * (m.gainW + m.biasW)}
		for f := 0; f < m.n; f += m.lanes {
			word := new(big.Int)
			for i := m.lanes - 1; i >= 0; i-- {
				if m.biasW > 0 {
					word.Lsh(word, uint(m.biasW)).Add(word, num.Fit(big.NewInt(m.beta[f+i]), m.biasW, false, num.Wrap))
				}
				word.Lsh(word, uint(m.gainW)).Add(word, num.Fit(big.NewInt(m.gamma[f+i]), m.gainW, false, num.Wrap))
			}
			image.Words = append(image.Words, word)
		}
		b.Images = []rtl.Image{image}
	}
	return b
}

var (
	fixed8  = format{8, true}
	fixed16 = format{16, true}
)

// norms are long and short rows, each with what the definition lets differ.
var norms = []norm{
	{n: 192, lanes: 1, rows: 1, in: fixed8, f: 4, eps: 1e-5, gainW: 8, gainF: 6, biasW: 8, biasF: 5, fo: 5, out: fixed8},
	{n: 8, lanes: 1, rows: 3, in: fixed8, f: 4, eps: 1e-5, fo: 5, out: fixed8},
	{n: 16, lanes: 1, rows: 2, in: fixed16, f: 12, eps: 1e-5, gainW: 16, gainF: 14, biasW: 16, biasF: 12, fo: 12,
		out: fixed16},
	{n: 1, lanes: 1, rows: 5, in: fixed8, f: 4, eps: 1e-5, gainW: 8, gainF: 6, biasW: 8, biasF: 5, fo: 5, out: fixed8},
	{n: 2, lanes: 1, rows: 4, in: fixed8, f: 0, eps: 1e-12, rms: true, fo: 3, out: fixed8},
	{n: 48, lanes: 1, rows: 2, in: format{7, false}, f: 3, eps: 1e-6, rms: true, gainW: 9, gainF: 7, fo: -1,
		out: format{4, false}, round: num.Away},
	{n: 4, lanes: 1, rows: 4, in: fixed8, f: 19, eps: 1.5, fo: 14, out: fixed8}, // the term of eps has 63 bits
	{n: 2, lanes: 2, rows: 9, in: fixed8, f: 4, eps: 1e-5, rms: true, fo: 5, out: fixed8},
	{n: 64, lanes: 4, rows: 3, in: fixed8, f: 4, eps: 1e-5, gainW: 8, gainF: 6, biasW: 8, biasF: 5, fo: 5, out: fixed8},
	{n: 96, lanes: 2, rows: 1, in: fixed16, f: 12, eps: 1e-5, gainW: 16, gainF: 14, biasW: 16, biasF: 12, fo: 12,
		out: fixed16},
	{n: 15, lanes: 15, rows: 4, in: format{4, true}, f: 1, eps: 1e-3, gainW: 4, gainF: 1, biasW: 3, biasF: 17, fo: 2,
		out: format{6, true}, round: num.Floor, over: num.Wrap},
	// Rows whose results are the greatest that there are, sqrt(n), and sums of unsigned elements in several lanes.
	{n: 4, lanes: 2, rows: 3, in: fixed8, f: 4, eps: 1e-12, rms: true, fo: 13, out: fixed16},
	{n: 6, lanes: 3, rows: 3, in: format{6, false}, f: 2, eps: 1e-4, fo: 12, out: fixed16},
	// A bias that is larger than any product.
	{n: 8, lanes: 2, rows: 3, in: fixed8, f: 4, eps: 1e-5, gainW: 8, gainF: 6, biasW: 16, biasF: 5, fo: 2, out: fixed16},
	{n: 40, lanes: 1, rows: 3, in: fixed8, f: 7, eps: 0.5, gainW: 5, gainF: 0, biasW: 7, biasF: 16, fo: 4,
		out: format{9, true}, over: num.Symmetric},
}

func TestNorm(t *testing.T) {
	for i, m := range tools.Few(3, norms) {
		m.fill(rand.New(rand.NewPCG(41, uint64(i))))
		rtltest.Run(t, m.bench())
	}
}

// TestNormAnchors holds the model to the values that the definition gives.
func TestNormAnchors(t *testing.T) {
	x := []int64{1, 2, 3, 4, 5, 6, 7, 40}
	m := norm{n: 8, in: fixed8, f: 4, eps: 1e-5, fo: 5, out: fixed8}
	if h, eps := m.constants(); h != 20 || eps.Int64() != 171799 {
		t.Errorf("h is %d, the term of eps %d", h, eps)
	}
	for _, c := range []struct {
		rms  bool
		want []int64
	}{{false, []int64{-20, -17, -15, -12, -9, -7, -4, 84}}, {true, []int64{2, 4, 7, 9, 11, 13, 15, 87}}} {
		if m.rms = c.rms; fmt.Sprint(m.row(x)) != fmt.Sprint(c.want) {
			t.Errorf("rms %v: %v, want %v", c.rms, m.row(x), c.want)
		}
	}
	for v, want := range map[int64][2]int64{1: {1048576, -11}, 2: {741455, -11}, 1000: {530542, -7},
		1e12: {549756, 8}, 1<<62 - 1: {524288, 19}} {
		if r, k := rsqrt(big.NewInt(v)); r.Int64() != want[0] || int64(k) != want[1] {
			t.Errorf("rsqrt of %d: %d, %d, want %v", v, r, k, want)
		}
	}
}

// TestNormBroken has the bench look at faults that plain rows would not show.
func TestNormBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	long := norm{n: 56, lanes: 1, rows: 1, in: fixed8, f: 4, eps: 0.25, gainW: 8, gainF: 6, biasW: 8, biasF: 5, fo: 5,
		out: fixed8}
	short := norm{n: 12, lanes: 2, rows: 2, in: format{5, true}, f: 2, eps: 1e-5, fo: 5, out: fixed8}
	fine := norm{n: 8, lanes: 1, rows: 3, in: fixed8, f: 4, eps: 1e-5, fo: 16, out: format{24, true}}
	most := norm{n: 4, lanes: 2, rows: 3, in: fixed8, f: 4, eps: 1e-12, rms: true, fo: 13, out: fixed16}
	high := norm{n: 8, lanes: 2, rows: 3, in: fixed8, f: 4, eps: 1e-5, gainW: 8, gainF: 6, biasW: 16, biasF: 5, fo: 2,
		out: fixed16}
	bare := norm{n: 6, lanes: 3, rows: 3, in: format{6, false}, f: 2, eps: 1e-4, fo: 12, out: fixed16}
	for i, m := range []*norm{&long, &short, &fine, &high} {
		m.fill(rand.New(rand.NewPCG(43, uint64(i))))
	}
	for _, c := range []struct {
		file, old, fault string
		of               *norm
	}{
		{"op_norm.sv", "(PLACES) && !pausing;", "(PLACES);", &short},
		{"op_norm.sv", "used != ($clog2(PLACES + 1))'(PLACES)", "used <= ($clog2(PLACES + 1))'(PLACES)", &short},
		{"op_norm.sv", "step = en && (ready || !begins)", "step = en && ready", &long},
		{"op_norm_row.sv", "if (first[1]) r_out", "if (first == 2'd1) r_out", &long},
		{"op_norm_row.sv", ".out_valid(ready), .out_ready(take)", ".out_valid(ready), .out_ready(en)", &short},
		{"op_norm_sums.sv", "if (rst || b_last) sum", "if (b_last) sum", &long},
		{"op_norm_sums.sv", "ACC_W'(EPS >> H)", "ACC_W'(0)", &long},
		{"op_norm_lane.sv", ".SHIFT(SHIFT), .OUT_W(Z_W), .ROUND(0)", ".SHIFT(SHIFT), .OUT_W(Z_W), .ROUND(2)", &fine},
		{"op_norm_sums.sv", "SIGNED != 0 ? beat_raw[B_W-1] : 1'b0", "beat_raw[B_W-1]", &bare},
		{"op_norm_lane.sv", "Z_W = 18 + ($clog2(N) + 1) / 2", "Z_W = 17 + ($clog2(N) + 1) / 2", &most},
		{"op_norm_lane.sv", "G_W - UP : BIAS_W) + 1", "G_W - UP : BIAS_W)", &high},
		{"num_rsqrt.sv", "2'b10: r <= r << 2", "2'b10: r <= r << 1", &long},
	} {
		broken(t, c.file, c.old, c.fault, c.of.bench)
	}
}
