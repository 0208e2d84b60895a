// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math"
	"math/big"
	mathbits "math/bits"
	"math/rand/v2"
	goslices "slices"
	"sync"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// softmax is one use of op_softmax.
type softmax struct {
	rows, n, lanes, inW, signed int
	scale                       float64
	base2                       bool
	outW, outSigned, fo         int
	live                        int // 0: n
	causal, heads, offset       int
}

// powers are RN(2^(24 - i/256)) for i = 0 .. 256, from square roots of many bits.
var powers = sync.OnceValue(func() (t [257]int64) {
	root := new(big.Float).SetPrec(200).SetInt64(2)
	for range 8 {
		root.Sqrt(root)
	}
	half := big.NewFloat(0.5)
	x := new(big.Float).SetPrec(200).SetInt64(1 << 24)
	for i := range t {
		near := new(big.Float).SetPrec(200).Add(x, half)
		t[i], _ = near.Int64()
		x.Quo(x, root)
	}
	return t
})

// exp2n is 2^-y, y with 20 fraction bits, with 24 and with 32 fraction bits.
func exp2n(y int64) (e24, e32 int64) {
	t := powers()
	n, f := y>>20, y&0xFFFFF
	i, r := f>>12, f&4095
	g := t[i] - ((t[i]-t[i+1])*r+2048)>>12
	half := int64(1) << n >> 1
	return (g + half) >> n, (g<<8 + half) >> n
}

// factor is K and P for a scale.
func (s softmax) factor() (k int64, p int) {
	x := s.scale
	if !s.base2 {
		x *= math.Log2E
	}
	_, exp := math.Frexp(x)
	p = 24 - exp
	// RN of scale * log2(e) * 2^p, with the digits of log2(e) that float64 lacks.
	v := new(big.Float).SetPrec(200).SetFloat64(s.scale)
	if !s.base2 {
		log2e, _, _ := big.ParseFloat("1.44269504088896340735992468100189213742664595415298593413544940693", 10, 200,
			big.ToNearestEven)
		v.Mul(v, log2e)
	}
	v.SetMantExp(v, p).Add(v, big.NewFloat(0.5))
	k, _ = v.Int64()
	return k, p
}

// of is softmax of the elements of x that are live, in the integers of the definition.
func (s softmax) of(x []int64, live func(j int) bool) []int64 {
	k, p := s.factor()
	top, any := int64(0), false
	for j, v := range x {
		if live(j) && (!any || v > top) {
			top, any = v, true
		}
	}
	out := make([]int64, len(x))
	if !any {
		return out
	}
	e, sum := make([]int64, len(x)), int64(0)
	for j, v := range x {
		if live(j) {
			var fine int64
			e[j], fine = exp2n(min((top-v)*k>>(p-20), 40<<20))
			sum += fine
		}
	}
	a := mathbits.Len64(uint64(sum)) - 24
	d := (sum + 1<<(a-1)) >> a
	r := int64(1) << 47 / d
	for j := range x {
		out[j] = min((e[j]*r+1<<(38+a-s.fo))>>(39+a-s.fo), 1<<(s.outW-s.outSigned)-1)
	}
	return out
}

// sees says whether element j of row r takes part.
func (s softmax) sees(r, j int) bool {
	return (s.live == 0 || j < s.live) && (s.causal == 0 || j <= r/s.heads+s.offset)
}

// frame is softmax of all rows of a frame.
func (s softmax) frame(x []int64) (out []int64) {
	for r := range s.rows {
		out = append(out, s.of(x[r*s.n:(r+1)*s.n], func(j int) bool { return s.sees(r, j) })...)
	}
	return out
}

// params are those of the core and, for the number of rows, of the op.
func (s softmax) params() []rtl.Param {
	p := rtltest.P
	k, shift := s.factor()
	return []rtl.Param{p("ROWS", s.rows), p("N", s.n), p("LANES", s.lanes), p("IN_W", s.inW), p("SIGNED", s.signed),
		p("K", int(k)), p("K_SHIFT", shift-20), p("OUT_W", s.outW), p("OUT_SIGNED", s.outSigned), p("FO", s.fo)}
}

// row draws the elements of a row of some kind.
func (s softmax) row(r *rand.Rand, kind int) []int64 {
	least, most := int64(0), int64(1)<<s.inW-1
	if s.signed == 1 {
		least, most = -1<<(s.inW-1), 1<<(s.inW-1)-1
	}
	any := func() int64 { return least + r.Int64N(most-least+1) }
	x, level, hot := make([]int64, s.n), any(), r.IntN(s.n)
	for j := range x {
		switch kind {
		case 0: // random
			x[j] = any()
		case 1: // normal, about 3 units wide
			x[j] = min(max(level+int64(r.NormFloat64()*3/s.scale), least), most)
		case 2: // flat
			x[j] = level
		case 3: // one above the others
			x[j] = least
			if j == hot {
				x[j] = level
			}
		case 4: // extreme
			x[j] = []int64{least, most}[r.IntN(2)]
		case 5: // the greatest
			x[j] = most
		default: // about as large as each other
			x[j] = min(level+r.Int64N(4), most)
		}
	}
	return x
}

// gen draws frames of rows of all kinds.
func (s softmax) gen(r *rand.Rand, _, frame int) (x []int64) {
	for range s.rows {
		kind := r.IntN(7)
		if frame < 2 { // all at their limits, for the widths inside
			kind = 5 - frame
		}
		x = append(x, s.row(r, kind)...)
	}
	return x
}

func (s softmax) bench() rtltest.Bench {
	p := rtltest.P
	live := s.live
	if live == 0 {
		live = s.n
	}
	return rtltest.Bench{
		Module: "op_softmax",
		Params: append(s.params(), p("LIVE", live), p("CAUSAL", s.causal), p("HEADS", max(s.heads, 1)),
			p("OFFSET", s.offset)),
		In:    []rtltest.Port{{Name: "in", Lanes: s.lanes, Signed: s.signed == 1, Beats: s.rows * s.n / s.lanes}},
		Out:   []rtltest.Port{{Name: "out", Lanes: s.lanes}},
		Gen:   s.gen,
		Model: func(in [][]int64) [][]int64 { return [][]int64{s.frame(in[0])} },
	}
}

// TestSoftmaxExp holds powers alone to the definition: all of them where there is a table, some far below 2^-64.
func TestSoftmaxExp(t *testing.T) {
	t.Parallel()
	for i, s := range tools.Few(3, []softmax{{inW: 8, scale: 1. / 16}, {inW: 8, scale: 0.0062}, {inW: 8, scale: 1. / 63},
		{inW: 5, scale: 0.5}, {inW: 8, scale: 0.5}, {inW: 8, scale: 8}, {inW: 9, scale: 1. / 16},
		{inW: 16, scale: 1. / 4096}, {inW: 16, scale: 1. / 64}, {inW: 13, scale: 1. / 1024 / 1024}}) {
		s.powers(t, i%2, 1000)
	}
}

// powers benches op_softmax_exp on so many differences.
func (s softmax) powers(t *testing.T, masked, count int) {
	t.Helper()
	k, p := s.factor()
	most := int64(1)<<s.inW - 1
	rtltest.Run(t, rtltest.Bench{
		Module: "op_softmax_exp", Pipeline: true, Frames: count,
		Params: []rtl.Param{rtltest.P("IN_W", s.inW), rtltest.P("K", int(k)), rtltest.P("K_SHIFT", p-20),
			rtltest.P("MASKED", masked)},
		In:  []rtltest.Port{{Name: "top"}, {Name: "x"}, {Name: "live"}},
		Out: []rtltest.Port{{Name: "e"}},
		Gen: func(_ *rand.Rand, port, frame int) []int64 {
			r := rand.New(rand.NewPCG(uint64(frame), 5)) // the same for all ports
			diff := int64(frame) & most
			if s.inW > 8 {
				diff = r.Int64N(most+1) >> r.IntN(s.inW)
			}
			x := r.Int64N(most - diff + 1)
			live := int64(1)
			if masked == 1 && frame >= 256 {
				live = r.Int64N(2)
			}
			return []int64{[]int64{x + diff, x, live}[port]}
		},
		Model: func(in [][]int64) [][]int64 {
			if in[2][0] == 0 {
				return [][]int64{{0}}
			}
			e24, e32 := exp2n(min((in[0][0]-in[1][0])*k>>(p-20), 40<<20))
			return [][]int64{{e24<<33 | e32}}
		},
	})
}

// TestSoftmaxAnchor compares the model with values that were computed by hand.
func TestSoftmaxAnchor(t *testing.T) {
	t.Parallel()
	total := int64(0)
	for _, v := range powers() {
		total += v
	}
	if total != 3110748820 {
		t.Errorf("samples add up to %d", total)
	}
	s := softmax{scale: 1. / 16, outW: 8, fo: 8}
	if k, p := s.factor(); k != 12102203 || p != 27 {
		t.Errorf("K is %d, P is %d", k, p)
	}
	x, all := []int64{16, 0, -16, 40, 40}, func(int) bool { return true }
	if got := s.of(x, all); !goslices.Equal(got, []int64{24, 9, 3, 110, 110}) {
		t.Errorf("%v", got)
	}
	s.outW, s.fo = 16, 16
	if got := s.of(x, all); !goslices.Equal(got, []int64{6261, 2303, 847, 28062, 28062}) {
		t.Errorf("%v", got)
	}
}

func TestSoftmax(t *testing.T) {
	t.Parallel()
	for _, s := range tools.Few(3, []softmax{
		// One element; short rows, which wait for divisions; a prime number of elements; all lanes at once.
		{rows: 1, n: 1, lanes: 1, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8},
		{rows: 4, n: 7, lanes: 1, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8},
		{rows: 2, n: 29, lanes: 1, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8},
		{rows: 2, n: 64, lanes: 2, inW: 8, signed: 0, scale: 0.0235, outW: 8, fo: 8},
		{rows: 1, n: 197, lanes: 1, inW: 8, signed: 1, scale: 1. / 64, outW: 16, fo: 16},
		{rows: 3, n: 12, lanes: 12, inW: 8, signed: 1, scale: 1. / 8, outW: 8, outSigned: 1, fo: 7},
		{rows: 2, n: 32, lanes: 1, inW: 3, signed: 1, scale: 1, base2: true, outW: 9, fo: 8},
		// Wide elements.
		{rows: 1, n: 5, lanes: 1, inW: 16, signed: 1, scale: 1. / 4096, outW: 16, fo: 16},
		{rows: 2, n: 45, lanes: 3, inW: 16, signed: 1, scale: 1. / 512, outW: 17, fo: 16},
		{rows: 1, n: 1040, lanes: 8, inW: 12, signed: 1, scale: 8, outW: 16, fo: 16},
		{rows: 2, n: 40, lanes: 1, inW: 16, signed: 1, scale: 1. / 65536 / 16, outW: 16, fo: 12},
		// Rows of which a part takes part.
		{rows: 2, n: 30, lanes: 2, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8, live: 27},
		{rows: 7, n: 9, lanes: 3, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8, causal: 1, heads: 1, offset: -3},
		{rows: 12, n: 33, lanes: 1, inW: 12, signed: 1, scale: 1. / 64, outW: 8, fo: 8, causal: 1, heads: 3, offset: 29,
			live: 31},
		{rows: 5, n: 8, lanes: 8, inW: 16, signed: 0, scale: 1. / 64, outW: 16, fo: 16, causal: 1, heads: 2},
		{rows: 3, n: 8, lanes: 2, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8, causal: 1, heads: 1, offset: 6, live: 5},
	}) {
		rtltest.Run(t, s.bench())
	}
}

// masked is a bench of op_softmax_masked: the same rows, with a mask for each frame.
func (s softmax) masked() rtltest.Bench {
	beats := s.n / s.lanes
	return rtltest.Bench{
		Module: "op_softmax_masked",
		Params: append(s.params(), rtltest.P("CAUSAL", s.causal), rtltest.P("HEADS", max(s.heads, 1)),
			rtltest.P("OFFSET", s.offset)),
		In: []rtltest.Port{{Name: "a", Lanes: s.lanes, Signed: s.signed == 1, Beats: s.rows * beats},
			{Name: "b", Lanes: s.lanes, Beats: beats}},
		Out: []rtltest.Port{{Name: "out", Lanes: s.lanes}},
		Gen: func(r *rand.Rand, port, frame int) []int64 {
			if port == 0 {
				return s.gen(r, port, frame)
			}
			mask, percent := make([]int64, s.n), []int{100, 50, 10, 0, 90}[frame%5]
			for j := range mask {
				if r.IntN(100) < percent {
					mask[j] = 1
				}
			}
			return mask
		},
		Model: func(in [][]int64) [][]int64 {
			var out []int64
			for r := range s.rows {
				out = append(out, s.of(in[0][r*s.n:(r+1)*s.n], func(j int) bool {
					return in[1][j] == 1 && s.sees(r, j)
				})...)
			}
			return [][]int64{out}
		},
	}
}

func TestSoftmaxMasked(t *testing.T) {
	t.Parallel()
	for _, s := range tools.Few(2, []softmax{
		{rows: 1, n: 13, lanes: 1, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8},
		{rows: 4, n: 31, lanes: 1, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8},
		{rows: 3, n: 66, lanes: 2, inW: 16, signed: 1, scale: 1. / 1024, outW: 16, fo: 16},
		{rows: 5, n: 4, lanes: 4, inW: 8, signed: 0, scale: 1. / 32, outW: 8, fo: 8},
		// Causal ones, with rows that see none, and one row a frame.
		{rows: 8, n: 15, lanes: 3, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8, causal: 1, heads: 2, offset: -1},
		{rows: 6, n: 6, lanes: 6, inW: 16, signed: 1, scale: 1. / 1024, outW: 16, fo: 16, causal: 1, heads: 1, offset: 2},
		{rows: 1, n: 9, lanes: 1, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8, causal: 1, heads: 1, offset: 4},
	}) {
		rtltest.Run(t, s.masked())
	}
}

// TestSoftmaxBroken has the bench look at faults: of what is live, of rows that follow each other, of powers and sums.
func TestSoftmaxBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	causal := softmax{rows: 7, n: 9, lanes: 3, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8, causal: 1, heads: 1,
		offset: -3}
	late := softmax{rows: 3, n: 8, lanes: 2, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8, causal: 1, heads: 1,
		offset: 6, live: 5}
	steep := softmax{rows: 3, n: 4, lanes: 1, inW: 8, signed: 1, scale: 0.5, outW: 8, fo: 8}
	kept := softmax{rows: 4, n: 31, lanes: 1, inW: 8, signed: 1, scale: 1. / 16, outW: 8, fo: 8}
	for _, c := range []struct {
		file, old, fault string
		of               func() rtltest.Bench
	}{
		{"op_softmax_seen.sv", "left > J_W'(i)", "left >= J_W'(i)", causal.bench},
		{"op_softmax_seen.sv", "OFFSET >= LIVE ? LIVE", "OFFSET >= N ? LIVE", late.bench},
		{"op_softmax_powers.sv", "most  <= x_last ? IN_W'(0) : top;", "most  <= top;", causal.bench},
		{"op_softmax_core.sv", ".LEAST(26)", ".LEAST(25)", steep.bench},
		{"op_softmax_exp.sv", "v = y[63:26] != 38'd0", "v = y[63:27] != 37'd0", steep.bench},
		{"op_softmax_sum.sv", "first <= last_q;", "first <= 1'b0;", steep.bench},
		{"op_softmax_masked.sv", ".raddr(move ? next : count)", ".raddr(next)", kept.masked},
		{"op_softmax_masked.sv", "a_valid && fresh;", "fresh;", kept.masked},
	} {
		broken(t, c.file, c.old, c.fault, c.of)
	}
}
