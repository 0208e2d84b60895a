// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"math"
	"math/big"
	mathbits "math/bits"
	goslices "slices"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// logSoftmax is one use of op_log_softmax: rows of softmax, and the rounding of 24 fraction bits.
type logSoftmax struct {
	softmax
	out num.Cast
}

// step is STEP and STEP_SHIFT.
func (s logSoftmax) step() (m int64, shift int) {
	_, exp := math.Frexp(s.scale)
	places := 24 - exp
	m = int64(math.Floor(math.Ldexp(s.scale, places) + 0.5)) // of scales with less than 53 bits
	if m == 1<<24 {
		m, places = m/2, places-1
	}
	return m, places - 24
}

// below is the distance t in 24 fraction bits.
func (s logSoftmax) below(t int64) int64 {
	m, shift := s.step()
	if shift < 0 {
		return t * m << -shift
	}
	return t * m >> shift
}

// logarithm is that of a sum of 32 fraction bits, in 24.
func logarithm(sum int64) int64 {
	a := mathbits.Len64(uint64(sum)) - 24
	d, octaves := (sum+1<<(a-1))>>a, int64(a-9)
	if d == 1<<24 {
		d, octaves = d/2, octaves+1
	}
	point := func(i int64) int64 { return int64(math.Floor(math.Ldexp(math.Log1p(float64(i)/512), 24) + 0.5)) }
	i, rest := d>>14-512, d&(1<<14-1)
	return (octaves*762123384786+1<<15)>>16 + point(i) + ((point(i+1)-point(i))*rest+1<<13)>>14
}

// frame is log-softmax of all rows of a frame.
func (s logSoftmax) frame(x []int64) (out []int64) {
	k, p := s.factor()
	for row := range goslices.Chunk(x, s.n) {
		top, sum := goslices.Max(row), int64(0)
		for _, v := range row {
			_, fine := exp2n(min((top-v)*k>>(p-20), 40<<20))
			sum += fine
		}
		for _, v := range row {
			out = append(out, s.out.Of(big.NewInt(-(s.below(top-v) + logarithm(sum)))).Int64())
		}
	}
	return out
}

func (s logSoftmax) bench() rtltest.Bench {
	p := rtltest.P
	k, places := s.factor()
	m, shift := s.step()
	return rtltest.Bench{
		Module: "op_log_softmax",
		Params: []rtl.Param{p("ROWS", s.rows), p("N", s.n), p("LANES", s.lanes), p("IN_W", s.inW), p("SIGNED", s.signed),
			p("K", int(k)), p("K_SHIFT", places-20), p("STEP", int(m)), p("STEP_SHIFT", shift), p("SHIFT", s.out.Shift),
			p("OUT_W", s.out.Width), p("OUT_SIGNED", flag(s.out.Signed)), p("ROUND", s.out.Round),
			p("OVER", s.out.Over)},
		In:    []rtltest.Port{{Name: "in", Lanes: s.lanes, Signed: s.signed == 1, Beats: s.rows * s.n / s.lanes}},
		Out:   []rtltest.Port{{Name: "out", Lanes: s.lanes, Signed: s.out.Signed}},
		Gen:   s.gen,
		Model: func(in [][]int64) [][]int64 { return [][]int64{s.frame(in[0])} },
	}
}

func fixedTo(w, f int) num.Cast { return num.Cast{Shift: 24 - f, Width: w, Signed: true} }

// exactly is every bit that there is.
var exactly = fixedTo(46, 24)

func TestLogSoftmax(t *testing.T) {
	t.Parallel()
	for _, s := range tools.Few(2, []logSoftmax{
		// One element; rows of one beat, which follow each other in every cycle; two beats; a prime number of elements.
		{softmax{rows: 1, n: 1, lanes: 1, inW: 8, signed: 1, scale: 1. / 16}, exactly},
		{softmax{rows: 70, n: 1, lanes: 1, inW: 8, signed: 1, scale: 1. / 16}, exactly},
		{softmax{rows: 60, n: 12, lanes: 12, inW: 8, signed: 1, scale: 1. / 8}, fixedTo(8, 3)},
		{softmax{rows: 120, n: 17, lanes: 17, inW: 8, signed: 1, scale: 1. / 8}, exactly},
		{softmax{rows: 40, n: 10, lanes: 5, inW: 16, signed: 1, scale: 1. / 2048}, fixedTo(8, 4)},
		{softmax{rows: 2, n: 29, lanes: 1, inW: 8, signed: 1, scale: 1. / 16}, fixedTo(16, 11)},
		{softmax{rows: 2, n: 64, lanes: 2, inW: 8, signed: 0, scale: 0.0235}, exactly},
		{softmax{rows: 2, n: 32, lanes: 1, inW: 3, signed: 1, scale: 8}, exactly},
		// Wide elements; steps that are no power of two, above 1, and of next to nothing.
		{softmax{rows: 1, n: 197, lanes: 1, inW: 16, signed: 1, scale: 1. / 4096}, exactly},
		{softmax{rows: 2, n: 45, lanes: 3, inW: 16, signed: 1, scale: 0.00123}, exactly},
		{softmax{rows: 1, n: 1040, lanes: 8, inW: 12, signed: 1, scale: 7.3}, fixedTo(16, 0)},
		{softmax{rows: 2, n: 40, lanes: 1, inW: 16, signed: 0, scale: 1. / (1 << 30)}, exactly},
		// Other roundings: of halves, of results without a sign, of what wraps.
		{softmax{rows: 3, n: 16, lanes: 4, inW: 8, signed: 1, scale: 1. / 4}, num.Cast{Shift: 22, Width: 8, Signed: true,
			Round: num.Floor, Over: num.Wrap}},
		{softmax{rows: 3, n: 16, lanes: 2, inW: 8, signed: 1, scale: 1. / 16}, num.Cast{Shift: 21, Width: 6,
			Round: num.Outward}},
	}) {
		rtltest.Run(t, s.bench())
	}
}

// TestLogSoftmaxBroken has the bench look at faults: of the queue of logarithms, of the ends of rows, of memories that
// are too small for the rate, of distances, and of the table.
func TestLogSoftmaxBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	short := logSoftmax{softmax{rows: 120, n: 17, lanes: 17, inW: 8, signed: 1, scale: 1. / 16}, exactly}
	long := logSoftmax{softmax{rows: 3, n: 30, lanes: 2, inW: 16, signed: 1, scale: 1. / 512}, exactly}
	real := logSoftmax{softmax{rows: 3, n: 30, lanes: 2, inW: 16, signed: 1, scale: 0.00123}, exactly}
	for _, c := range []struct {
		file, old, fault string
		of               func() rtltest.Bench
	}{
		{"op_log_softmax.sv", "$clog2(PLACES / BEATS + 1)", "$clog2(PLACES / BEATS)", short.bench},
		{"op_log_softmax.sv", "go && sent[0] && ended", "go && sent[0] && !ended", long.bench},
		{"op_log_softmax.sv", "$clog2(BEATS + TREE + 11)", "$clog2(BEATS + TREE)", long.bench},
		{"op_softmax_exp.sv", "IN_W <= 8 ? 2 : 7", "IN_W <= 8 ? 2 : 6", long.bench},
		{"op_log_softmax_term.sv", "(P_W + B_W)'(prod) >> STEP_SHIFT", "(P_W + B_W)'(prod) >> (STEP_SHIFT + 1)", real.bench},
		{"num_log.sv", "rise[13]}", "rise[13] && rise[12]}", long.bench},
	} {
		broken(t, c.file, c.old, c.fault, c.of)
	}
}
