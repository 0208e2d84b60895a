// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// disjoint turns g into one whose windows neither overlap nor have padding.
func (g geometry) disjoint() geometry {
	g.KH, g.KW = min(g.KH, g.H), min(g.KW, g.W)
	g.SH, g.SW, g.DH, g.DW = max(g.SH, g.KH), max(g.SW, g.KW), 1, 1
	g.PT, g.PL, g.PB, g.PR = 0, 0, 0, 0
	return g
}

// drawPool draws a geometry, of disjoint windows on request, and lanes. Not too few results leave for the beats that
// come in, or close together, so that back-pressure reaches the input.
func drawPool(r *rand.Rand, channels []int, disjoint bool) (g geometry, lanes int) {
	for {
		g = randomGeometry(r, pick(r, channels))
		if disjoint {
			g = g.disjoint()
		}
		lanes = pick(r, divisors(g.C))
		if g.H*g.W <= 6*g.outH()*g.outW() || g.C/lanes > 3 {
			return g, lanes
		}
	}
}

func greatest(least int64) func([]int64) int64 {
	return func(e []int64) int64 {
		m := least
		for _, v := range e {
			m = max(m, v)
		}
		return m
	}
}

func total(e []int64) int64 {
	var s int64
	for _, v := range e {
		s += v
	}
	return s
}

// poolBench benches a module that folds windows of g, channel by channel.
func poolBench(t *testing.T, module string, g geometry, lanes int, signed bool, fold func([]int64) int64,
	params []rtl.Param) {
	t.Helper()
	rtltest.Run(t, rtltest.Bench{
		Module: module,
		Params: append(params, rtltest.P("LANES", lanes)),
		In:     []rtltest.Port{{Name: "in", Lanes: lanes, Signed: signed, Beats: g.H * g.W * g.C / lanes}},
		Out:    []rtltest.Port{{Name: "out", Lanes: lanes, Signed: signed}},
		Model:  func(x [][]int64) [][]int64 { return [][]int64{g.pools(x[0], fold)} },
	})
}

func TestMaxPool(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 1))
	for i := range tools.Sample(3, 12) {
		g, lanes := drawPool(r, []int{1, 2, 3, 4}, i%2 == 0)
		signed, width, least := r.IntN(2), 7, int64(0)
		if i%3 == 1 { // of windows that overlap
			signed, width = 1, 40
		}
		if signed == 1 {
			least = -1 << (width - 1)
		}
		poolBench(t, "op_maxpool", g, lanes, signed == 1, greatest(least),
			g.params(rtltest.P("E_W", width), rtltest.P("SIGNED", signed), lineStyle(i)))
	}
}

func TestPoolScan(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 1))
	for range 3 {
		g, lanes := drawPool(r, []int{2}, false)
		poolBench(t, "op_pool_scan", g, lanes, true, total,
			g.params(rtltest.P("E_W", 5), rtltest.P("SUM", 1), rtltest.P("ACC_W", 9)))
	}
}

func TestPoolTile(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 1))
	for i := range tools.Sample(3, 12) {
		g, lanes := drawPool(r, []int{1, 2, 3}, true)
		p := rtltest.P
		poolBench(t, "op_pool_tile", g, lanes, false, total, []rtl.Param{p("H", g.H), p("W", g.W),
			p("C", g.C), p("KH", g.KH), p("KW", g.KW), p("SH", g.SH), p("SW", g.SW), p("E_W", 5), p("SIGNED", 0),
			p("SUM", 1), p("ACC_W", 9), lineStyle(i)})
	}
}

func TestPool(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 1))
	for range 3 {
		g, lanes := drawPool(r, []int{2}, false)
		params := g.params(rtltest.P("E_W", 6), rtltest.P("ACC_W", 6))
		poolBench(t, "op_pool", g, lanes, true, greatest(-32), params)
	}
}

func TestPoolFold(t *testing.T) {
	t.Parallel()
	for _, p := range []struct{ signed, sum, acc int }{{1, 0, 5}, {0, 0, 5}, {1, 1, 8}, {0, 1, 8}} {
		rtltest.Run(t, rtltest.Bench{
			Module: "op_pool_fold",
			Params: []rtl.Param{rtltest.P("LANES", 2), rtltest.P("IN_W", 5), rtltest.P("SIGNED", p.signed),
				rtltest.P("SUM", p.sum), rtltest.P("ACC_W", p.acc)},
			Pipeline: true,
			In: []rtltest.Port{{Name: "first"}, {Name: "in", Lanes: 2, Signed: p.signed == 1},
				{Name: "acc", Lanes: 2, Signed: p.signed == 1}},
			Out: []rtltest.Port{{Name: "out", Lanes: 2, Signed: p.signed == 1}},
			Model: func(x [][]int64) [][]int64 {
				out := make([]int64, 2)
				for i := range out {
					switch {
					case x[0][0] == 1:
						out[i] = x[1][i]
					case p.sum == 1:
						out[i] = x[1][i] + x[2][i]
					default:
						out[i] = max(x[1][i], x[2][i])
					}
				}
				return [][]int64{out}
			},
			Frames: 500,
		})
	}
}

// rounded is sum * 2^lshift / div, rounded in one of the modes 0 (half to even), 1 (half away), 5 (floor), and clamped
// to a signed number of the given width.
func rounded(sum int64, lshift, div, mode, width int) int64 {
	num, den := big.NewInt(sum), big.NewInt(int64(div))
	if lshift >= 0 {
		num.Lsh(num, uint(lshift))
	} else {
		den.Lsh(den, uint(-lshift))
	}
	q, rest := new(big.Int), new(big.Int)
	q.DivMod(num, den, rest) // Euclidean: the floor, as den > 0
	half := rest.Lsh(rest, 1).Cmp(den)
	up := mode == 0 && half == 0 && q.Bit(0) == 1 || mode == 1 && half == 0 && num.Sign() > 0 || mode != 5 && half > 0
	y := q.Int64()
	if up {
		y++
	}
	limit := int64(1) << (width - 1)
	return min(max(y, -limit), limit-1)
}

func TestAvgPool(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(10, 1))
	for i := range tools.Sample(3, 12) {
		g, lanes := drawPool(r, []int{1, 2, 4}, i%2 == 0)
		if i < 2 { // windows of a power of two, disjoint and not
			g.KH, g.KW, g.H, g.W, g.SH, g.SW = 2, 2, 6, 4, 2, 2-i
		}
		lshift, mode, div := r.IntN(5)-1, pick(r, []int{0, 1, 5}), g.KH*g.KW
		poolBench(t, "op_avgpool", g, lanes, true,
			func(e []int64) int64 { return rounded(total(e), lshift, div, mode, 8) },
			g.params(rtltest.P("E_W", 7), rtltest.P("LSHIFT", lshift), rtltest.P("ROUND", mode)))
	}
}

func TestGlobalAvgPool(t *testing.T) {
	t.Parallel()
	p := rtltest.P
	for _, c := range []struct{ h, w, c, lanes, lshift int }{{2, 3, 8, 2, 2}, {4, 4, 4, 1, 1}, {1, 1, 2, 2, 0},
		{3, 1, 1, 1, 3}, {1, 2, 6, 2, -1}} {
		g := geometry{H: c.h, W: c.w, C: c.c, KH: c.h, KW: c.w, SH: 1, SW: 1, DH: 1, DW: 1}
		poolBench(t, "op_global_avgpool", g, c.lanes, true,
			func(e []int64) int64 { return rounded(total(e), c.lshift, c.h*c.w, 0, 8) },
			[]rtl.Param{p("H", c.h), p("W", c.w), p("C", c.c), p("E_W", 7), p("LSHIFT", c.lshift)})
	}
}

func TestPoolMean(t *testing.T) {
	t.Parallel()
	for _, div := range []int{1, 7, 8} {
		rtltest.Run(t, rtltest.Bench{
			Module: "op_pool_mean",
			Params: []rtl.Param{rtltest.P("DIV", div), rtltest.P("LSHIFT", 1), rtltest.P("OUT_W", 9)},
			In:     []rtltest.Port{{Name: "in", Lanes: 2, Signed: true}},
			Out:    []rtltest.Port{{Name: "out", Lanes: 2, Signed: true}},
			Model: func(x [][]int64) [][]int64 {
				return [][]int64{{rounded(x[0][0], 1, div, 0, 9), rounded(x[0][1], 1, div, 0, 9)}}
			},
			Frames: 500,
		})
	}
}

// TestPoolMeanReal has factors, a zero point on either side, and sums that are narrower than what is taken off them.
func TestPoolMeanReal(t *testing.T) {
	t.Parallel()
	for i, c := range []struct{ inW, mW, m, sub, shift, zero int }{{12, 31, 1518500250, -1152, 35, 3},
		{8, 31, 1 << 30, 40, 31, -128}, {14, 18, 200_003, 0, 24, 0}} {
		cast := num.Cast{Shift: c.shift, Width: 8, Signed: true, Round: i * 4, Over: i}
		code := func(v int64) int64 {
			t := new(big.Int).Mul(big.NewInt(v-int64(c.sub)), big.NewInt(int64(c.m)))
			return cast.Offset(t, int64(c.zero)).Int64()
		}
		p := rtltest.P
		rtltest.Run(t, rtltest.Bench{
			Module: "op_pool_mean",
			Params: []rtl.Param{p("DIV", 9), p("IN_W", c.inW), p("SIGNED", i%2), p("M_W", c.mW), p("M", c.m), p("SUB", c.sub),
				p("SHIFT", c.shift), p("ZERO", c.zero), p("ROUND", cast.Round), p("OVER", cast.Over)},
			In:  []rtltest.Port{{Name: "in", Lanes: 2, Signed: i%2 == 1}},
			Out: []rtltest.Port{{Name: "out", Lanes: 2, Signed: true}},
			Model: func(x [][]int64) [][]int64 {
				return [][]int64{{code(x[0][0]), code(x[0][1])}}
			},
			Frames: 500,
		})
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 7} {
		rtltest.Run(t, rtltest.Bench{
			Module:   "op_pick",
			Params:   []rtl.Param{rtltest.P("N", n), rtltest.P("WIDTH", 5)},
			Pipeline: true,
			In:       []rtltest.Port{{Name: "in", Lanes: n}, {Name: "sel", Max: int64(n - 1)}},
			Out:      []rtltest.Port{{Name: "out"}},
			Model:    func(x [][]int64) [][]int64 { return [][]int64{{x[0][x[1][0]]}} },
			Frames:   200,
		})
	}
}
