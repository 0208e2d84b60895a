// SPDX-License-Identifier: Apache-2.0

package mx_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

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

// beat packs a scale above codes of w bits.
func beat(scale int64, codes []int64, w int) *big.Int {
	b := big.NewInt(scale)
	for i := len(codes) - 1; i >= 0; i-- {
		b.Lsh(b, uint(w))
		b.Add(b, num.Fit(big.NewInt(codes[i]), w, false, num.Wrap))
	}
	return b
}

// parts takes a beat apart.
func parts(b *big.Int, lanes, w int) (scale int64, codes []int64) {
	for i := range lanes {
		c := new(big.Int).Rsh(b, uint(i*w))
		codes = append(codes, num.Fit(c, w, true, num.Wrap).Int64())
	}
	return new(big.Int).Rsh(b, uint(lanes*w)).Int64(), codes
}

// scaled is v * 2^e, rounded, and brought into a range.
func scaled(v *big.Int, e int, c num.Cast) *big.Int { return c.Divided(v, e, 1) }

// blocks cuts n elements into runs of run elements, those into blocks of k: lengths.
func blocks(n, run, k int) (lengths []int) {
	for at := 0; at < n; at += run {
		for i := 0; i < run; i += k {
			lengths = append(lengths, min(k, run-i))
		}
	}
	return lengths
}

// encodeBlock is the definition: the exponent of the greatest magnitude, then one rounding an element.
func encodeBlock(v []int64, exp, w, round int) (scale int64, codes []int64) {
	most := new(big.Int)
	for _, x := range v {
		if a := new(big.Int).Abs(big.NewInt(x)); a.Cmp(most) > 0 {
			most = a
		}
	}
	if most.Sign() == 0 {
		return 0, make([]int64, len(v))
	}
	e := min(max(most.BitLen()-1+exp, -127), 127)
	for _, x := range v {
		q := scaled(big.NewInt(x), exp+w-2-e, num.Cast{Width: w, Signed: true, Round: round, Over: num.Symmetric})
		codes = append(codes, q.Int64())
	}
	return int64(e + 127), codes
}

func TestEncode(t *testing.T) {
	for _, c := range []struct{ lanes, inW, signed, exp, w, k, row, rows, round int }{
		{1, 24, 1, -16, 8, 4, 10, 2, 0}, {2, 20, 1, 3, 8, 8, 8, 1, 1}, {4, 48, 1, -41, 8, 4, 8, 3, 0},
		{2, 6, 0, -4, 8, 6, 14, 1, 0}, {3, 9, 1, -133, 5, 9, 3, 2, 5}, {1, 30, 1, 104, 8, 3, 7, 1, 0},
		{1, 12, 1, -200, 4, 2, 5, 1, 0}, {1, 7, 1, 0, 16, 32, 1, 5, 8}, {2, 3, 1, 0, 2, 2, 12, 1, 2},
		{1, 16, 1, -8, 8, 32, 40, 2, 0},
	} {
		rtltest.Run(t, rtltest.Bench{
			Module: "mx_encode", Seed: 1,
			Params: params("LANES", c.lanes, "IN_W", c.inW, "IN_SIGNED", c.signed, "EXP", c.exp, "W", c.w, "K", c.k, "ROW",
				c.row, "ROWS", c.rows, "ROUND", c.round),
			In:  []rtltest.Port{{Name: "in", Lanes: c.lanes, Signed: c.signed != 0, Beats: c.row / c.lanes * c.rows}},
			Out: []rtltest.Port{{Name: "out"}},
			Gen: func(r *rand.Rand, _, frame int) []int64 { return small(r, frame, c.row*c.rows, c.inW, c.signed != 0) },
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				var out []*big.Int
				at := 0
				for _, n := range blocks(c.row*c.rows, c.row, c.k) {
					v := make([]int64, n)
					for i := range v {
						v[i] = in[0][at+i].Int64()
					}
					at += n
					scale, codes := encodeBlock(v, c.exp, c.w, c.round)
					for i := 0; i < n; i += c.lanes {
						out = append(out, beat(scale, codes[i:i+c.lanes], c.w))
					}
				}
				return [][]*big.Int{out}
			},
		})
	}
}

// small draws values of all magnitudes, whole runs of zeros and powers of two among them; nil: as the bench pleases.
func small(r *rand.Rand, frame, n, w int, signed bool) []int64 {
	if frame < 6 || frame%4 == 0 {
		return nil
	}
	v := make([]int64, n)
	size := r.IntN(w)
	for i := range v {
		if i%3 == 0 {
			size = r.IntN(w)
		}
		switch r.IntN(4) {
		case 0:
			v[i] = 1 << size >> 1
		case 1:
			v[i] = 0
		default:
			v[i] = r.Int64N(1<<size + 1)
		}
		if limit := int64(1)<<(w-1) - 1; signed {
			v[i] = min(v[i], limit) * (1 - 2*r.Int64N(2))
		}
	}
	return v
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ lanes, w, offset, low, high, outW, signed, round, over, beats int }{
		{2, 8, -125, 9, 16, 16, 1, 0, 0, 3}, {1, 8, -130, 9, 8, 8, 1, 1, 0, 1}, {3, 5, -127, 6, 12, 12, 1, 5, 1, 2},
		{2, 8, -120, 9, 24, 24, 1, 6, 2, 1}, {1, 4, -128, 5, 6, 6, 0, 0, 0, 2}, {2, 2, -127, 3, 9, 9, 1, 8, 0, 1},
	} {
		rtltest.Run(t, rtltest.Bench{
			Module: "mx_decode", Seed: 2,
			Params: params("LANES", c.lanes, "W", c.w, "OFFSET", c.offset, "LOW", c.low, "HIGH", c.high, "OUT_W", c.outW,
				"OUT_SIGNED", c.signed, "ROUND", c.round, "OVER", c.over, "BEATS", c.beats),
			In:  []rtltest.Port{{Name: "in", Beats: c.beats}},
			Out: []rtltest.Port{{Name: "out", Lanes: c.lanes, Signed: c.signed != 0}},
			Gen: func(r *rand.Rand, _, frame int) []int64 { return nearBeats(r, frame, c.beats, c.lanes, c.w, 125) },
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				var out []*big.Int
				for _, b := range in[0] {
					scale, codes := parts(b, c.lanes, c.w)
					for _, q := range codes {
						out = append(out, scaled(big.NewInt(q), int(scale)+c.offset,
							num.Cast{Width: c.outW, Signed: c.signed != 0, Round: c.round, Over: c.over}))
					}
				}
				return [][]*big.Int{out}
			},
		})
	}
}

// nearBeats draws beats whose scales lie around mid; nil: any.
func nearBeats(r *rand.Rand, frame, n, lanes, w, mid int) []int64 {
	if frame < 6 || frame%4 == 0 {
		return nil
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(mid+r.IntN(32)-16)<<(lanes*w) | r.Int64N(1<<(lanes*w))
	}
	return out
}

func TestRelu(t *testing.T) {
	for _, c := range [][3]int{{4, 8, 2}, {1, 3, 1}, {2, 16, 3}} {
		lanes, w := c[0], c[1]
		rtltest.Run(t, rtltest.Bench{
			Module: "mx_relu", Params: params("LANES", lanes, "W", w, "BEATS", c[2]),
			In: []rtltest.Port{{Name: "in", Beats: c[2]}}, Out: []rtltest.Port{{Name: "out"}},
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				var out []*big.Int
				for _, b := range in[0] {
					scale, codes := parts(b, lanes, w)
					for i := range codes {
						codes[i] = max(codes[i], 0)
					}
					out = append(out, beat(scale, codes, w))
				}
				return [][]*big.Int{out}
			},
		})
	}
}

func TestWiden(t *testing.T) {
	for _, c := range [][2]int{{8, 4}, {3, 2}, {16, 3}} {
		w, n := c[0], c[1]
		rtltest.Run(t, rtltest.Bench{
			Module: "mx_widen", Params: params("WIDTH", w, "N", n),
			In: []rtltest.Port{{Name: "in", Beats: n}}, Out: []rtltest.Port{{Name: "out"}},
			Gen: func(r *rand.Rand, _, _ int) []int64 {
				beats, scale := make([]int64, n), r.Int64N(256)
				for i := range beats {
					beats[i] = scale<<w | r.Int64N(1<<w)
				}
				return beats
			},
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				codes := make([]int64, n)
				var scale int64
				for i, b := range in[0] {
					s, c := parts(b, 1, w)
					scale, codes[i] = s, c[0]
				}
				return [][]*big.Int{{beat(scale, codes, w)}}
			},
		})
	}
}

func TestNarrow(t *testing.T) {
	for _, c := range [][2]int{{8, 4}, {3, 2}, {16, 3}} {
		w, n := c[0], c[1]
		rtltest.Run(t, rtltest.Bench{
			Module: "mx_narrow", Params: params("WIDTH", w, "N", n),
			In: []rtltest.Port{{Name: "in"}}, Out: []rtltest.Port{{Name: "out"}},
			BigModel: func(in [][]*big.Int) [][]*big.Int {
				scale, codes := parts(in[0][0], n, w)
				var out []*big.Int
				for _, q := range codes {
					out = append(out, beat(scale, []int64{q}, w))
				}
				return [][]*big.Int{out}
			},
		})
	}
}
