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

// kinds of op_pair.
const (
	pairSum = iota
	pairMin
	pairMax
	pairProduct
)

// side is one operand of a pair: x*mul*2^shift + add.
type side struct {
	format
	mul   int64
	shift int
	add   int64
}

// of is the operand of code x, exactly.
func (s side) of(kind int, x int64) *big.Int {
	v := big.NewInt(x)
	if kind != pairProduct {
		v.Mul(v, big.NewInt(s.mul))
		v.Lsh(v, uint(s.shift))
	}
	return v.Add(v, big.NewInt(s.add))
}

// ends are the operands of the least and the greatest code.
func (s side) ends(kind int) [2]*big.Int {
	lo, hi := bounds(s.width, s.signed)
	return [2]*big.Int{s.of(kind, lo), s.of(kind, hi)}
}

// pair is a point of op_pair.
type pair struct {
	kind, lanes, beats, zero, deep int
	a, b                           side
	cast                           num.Cast
}

// total is the exact value before rounding.
func (p pair) total(x, y *big.Int) *big.Int {
	switch p.kind {
	case pairMin, pairMax:
		if (x.Cmp(y) < 0) == (p.kind == pairMin) {
			return x
		}
		return y
	case pairProduct:
		v := new(big.Int).Mul(x, y)
		return v.Mul(v, big.NewInt(p.a.mul))
	}
	return new(big.Int).Add(x, y)
}

// of is the code of the result.
func (p pair) of(x, y int64) *big.Int {
	v := p.total(p.a.of(p.kind, x), p.b.of(p.kind, y))
	c := p.cast
	rounded := num.Quotient(new(big.Int).Lsh(v, uint(max(-c.Shift, 0))), new(big.Int).Lsh(big.NewInt(1),
		uint(max(c.Shift, 0))), c.Round)
	return num.Fit(rounded.Add(rounded, big.NewInt(int64(p.zero))), c.Width, c.Signed, c.Over)
}

// signedBits is the width of a two's complement number that holds all values.
func signedBits(values ...*big.Int) int {
	n := 1
	for _, v := range values {
		if v.Sign() < 0 {
			v = new(big.Int).Not(v)
		}
		n = max(n, v.BitLen()+1)
	}
	return n
}

func (p pair) params() []rtl.Param {
	i := rtltest.P
	ea, eb := p.a.ends(p.kind), p.b.ends(p.kind)
	pa, pb := signedBits(ea[:]...), signedBits(eb[:]...)
	var all []*big.Int
	for _, x := range ea {
		for _, y := range eb {
			all = append(all, p.total(x, y), new(big.Int).Mul(x, y))
			if p.kind != pairProduct {
				all[len(all)-1] = all[len(all)-2]
			}
		}
	}
	literal := func(name string, width int, v int64) rtl.Param {
		return rtl.Param{Name: name, Value: fmt.Sprintf("%d'h%x", width, word(width, []int64{v}))}
	}
	return []rtl.Param{i("LANES", p.lanes), i("KIND", p.kind), i("A_W", p.a.width), i("A_SIGNED", flag(p.a.signed)),
		i("B_W", p.b.width), i("B_SIGNED", flag(p.b.signed)), i("MA", int(p.a.mul)), i("SHA", p.a.shift),
		i("PA_W", pa), literal("CA", pa, p.a.add), i("MB", int(p.b.mul)), i("SHB", p.b.shift), i("PB_W", pb),
		literal("CB", pb, p.b.add), i("T_W", signedBits(all...)), i("SHIFT", p.cast.Shift), i("OUT_W", p.cast.Width),
		i("OUT_SIGNED", flag(p.cast.Signed)), i("ROUND", p.cast.Round), i("OVER", p.cast.Over), i("ZERO", p.zero),
		i("DEEP", p.deep), i("BEATS", p.beats)}
}

// bench makes the bench; with constants of b, that of op_pair_const.
func (p pair) bench(b []int64, more ...rtl.Param) rtltest.Bench {
	bench := rtltest.Bench{
		Module: "op_pair", Params: append(p.params(), more...),
		In: []rtltest.Port{{Name: "a", Lanes: p.lanes, Signed: p.a.signed, Beats: p.beats},
			{Name: "b", Lanes: p.lanes, Signed: p.b.signed, Beats: p.beats}},
		Out: []rtltest.Port{{Name: "out", Lanes: p.lanes, Signed: p.cast.Signed}},
		BigModel: func(in [][]*big.Int) [][]*big.Int {
			out := make([]*big.Int, len(in[0]))
			for i, x := range in[0] {
				y := int64(0)
				if b != nil {
					y = b[i%len(b)]
				} else {
					y = in[1][i].Int64()
				}
				out[i] = p.of(x.Int64(), y)
			}
			return [][]*big.Int{out}
		},
	}
	if b == nil {
		return bench
	}
	bench.Module, bench.In = "op_pair_const", bench.In[:1]
	bench.In[0].Name = "in"
	bench.Params = append(bench.Params, rtltest.P("WORDS", len(b)/p.lanes))
	im := rtl.Image{Param: "CONSTS", Width: p.lanes * p.b.width}
	for i := 0; i < len(b); i += p.lanes {
		im.Words = append(im.Words, word(p.b.width, b[i:i+p.lanes]))
	}
	bench.Images = []rtl.Image{im}
	return bench
}

var pairs = []pair{
	{kind: pairSum, lanes: 4, beats: 3, a: side{format{8, true}, 1, 0, 0}, b: side{format{8, true}, 1, 3, 0},
		cast: num.Cast{Shift: 2, Width: 8, Signed: true}},
	{kind: pairSum, lanes: 1, beats: 5, a: side{format{3, false}, 1, 40, 0}, b: side{format{11, true}, -1, 0, 0},
		cast: num.Cast{Shift: 38, Width: 6, Signed: true, Round: num.Ceil, Over: num.Wrap}},
	{kind: pairSum, lanes: 3, beats: 2, deep: 1, zero: 117,
		a:    side{format{8, false}, 1<<30 + 12345, 0, -131 * (1<<30 + 12345)},
		b:    side{format{8, true}, 1<<29 + 777, 0, 5 * (1<<29 + 777)},
		cast: num.Cast{Shift: 31, Width: 8}},
	{kind: pairSum, lanes: 2, beats: 1, zero: -9, a: side{format{2, true}, 1, 0, 0}, b: side{format{1, true}, -3, 1, 1},
		cast: num.Cast{Shift: -3, Width: 5, Signed: true, Round: num.Away, Over: num.Symmetric}},
	{kind: pairMin, lanes: 2, beats: 3, a: side{format{6, false}, 1, 2, 0}, b: side{format{9, true}, 1, 0, 0},
		cast: num.Cast{Shift: 1, Width: 7, Signed: true}},
	{kind: pairMax, lanes: 2, beats: 3, deep: 1, a: side{format{6, true}, 5, 0, -7}, b: side{format{5, true}, 11, 0, 3},
		cast: num.Cast{Shift: 0, Width: 7, Round: num.Down}},
	{kind: pairProduct, lanes: 3, beats: 2, a: side{format{8, true}, 1, 0, 0}, b: side{format{8, false}, 1, 0, 0},
		cast: num.Cast{Shift: 6, Width: 8, Signed: true, Round: num.HalfZero}},
	{kind: pairProduct, lanes: 1, beats: 4, deep: 1, zero: 100, a: side{format{8, false}, 1<<30 + 99, 0, -128},
		b:    side{format{8, false}, 1, 0, -3},
		cast: num.Cast{Shift: 37, Width: 8}},
	{kind: pairProduct, lanes: 2, beats: 1, a: side{format{1, true}, 1, 0, 0}, b: side{format{16, true}, 1, 0, 0},
		cast: num.Cast{Shift: 3, Width: 16, Signed: true, Round: num.Outward, Over: num.Wrap}},
}

func TestPair(t *testing.T) {
	for _, p := range tools.Few(3, pairs) {
		rtltest.Run(t, p.bench(nil))
	}
}

func TestPairConst(t *testing.T) {
	for i, p := range tools.Few(3, pairs) {
		r := rand.New(rand.NewPCG(41, uint64(i)))
		p.beats *= 2
		lo, hi := bounds(p.b.width, p.b.signed)
		b := make([]int64, p.lanes*p.beats/(1+i%2))
		for k := range b {
			b[k] = between(r, lo, hi)
		}
		b[0] = lo
		rtltest.Run(t, p.bench(b, text("STYLE", []string{"auto", "distributed", "block"}[i%3])))
	}
}

func TestPairBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	point := func(i int) func() rtltest.Bench { return func() rtltest.Bench { return pairs[i].bench(nil) } }
	broken(t, "op_pair_lane.sv", "A_SIGNED != 0 ?", "A_SIGNED == 0 ?", point(2))
	broken(t, "op_pair_lane.sv", "ZW'(ZERO)", "ZW'(ZERO) + ZW'(1)", point(2))
	broken(t, "op_pair_lane.sv", "KIND == 1", "KIND == 2", point(4))
	broken(t, "op_pair.sv", "assign a_ready = en && b_valid", "assign a_ready = en", point(6))
	broken(t, "op_pair.sv", "out_room || !done", "out_room || 1'b1", point(0))
	broken(t, "op_pair.sv", "if (rst) moving <= STAGES'(0);", "", point(7))
	broken(t, "op_pair_const.sv", "word   <= AW'(0);", "", func() rtltest.Bench {
		p := pairs[0]
		return p.bench([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	})
}
