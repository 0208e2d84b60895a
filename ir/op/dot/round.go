// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/hardware"
	"lathe/rtl"
)

// sumRound is the one rounding of exact sums t to codes. Sums of one step, a power of two, are shifted into the result
// format; where scales are factors, or codes have a zero point, they are rescaled.
type sumRound struct {
	to  format.Format // the result, whose codes are numbers; sums are t*2^exp
	exp int
	res *arith.Rescale // in place of both
}

// encoder gives the code of sum t of row c.
func (s sumRound) encoder() func(c int, t int64) int64 {
	if s.res != nil {
		return s.res.Code
	}
	enc := arith.Encoder(s.to, s.exp)
	return func(_ int, t int64) int64 { return enc(t) }
}

// codeBig is encoder without bounds; it may change t.
func (s sumRound) codeBig(c int, t *big.Int) int64 {
	if s.res == nil {
		return s.to.Encode(format.FromBig(t, s.exp))
	}
	if s.res.Mul != nil {
		t.Mul(t, big.NewInt(s.res.Mul[arith.At(len(s.res.Mul), c)]))
	}
	return s.res.CodeBig(c, t)
}

// rows is the rounding of n rows from the given one on.
func (s sumRound) rows(from, n int) sumRound {
	s.res = s.res.Channels(from, n)
	return s
}

// print prints the rounding of integers v, |v| < 2^bits, whose last axis are rows.
func (s sumRound) print(b *hlo.Builder, n *ir.Node, v hlo.Value, bits int) (hlo.Value, error) {
	if s.res != nil {
		return carrier.Rescale(s.res, b, n, v, bits)
	}
	return carrier.Requant(b, n, v, s.exp, bits)
}

// factors are those of the rows at one common shift; width is their bits, 0 where there are none.
func (s sumRound) factors() (mul []*big.Int, width int) {
	if s.res == nil {
		return nil, 0
	}
	mul, width, _ = s.res.Common()
	return mul, width
}

// params are the parameters of a unit behind those of the sum. Errors are L0310 and L0311.
func (s sumRound) params(n *ir.Node) ([]any, error) {
	if s.res == nil {
		return hardware.ResultParams(n, s.exp)
	}
	if err := s.res.CheckHardware(n); err != nil {
		return nil, err
	}
	var p []any
	_, factor, shift := s.res.Common()
	if factor > 0 {
		p = append(p, "M_W", factor)
	}
	p = append(p, "SHIFT", shift)
	if s.res.Zero != 0 {
		p = append(p, "ZERO", s.res.Zero)
	}
	out := s.res.Out
	return append(p, "OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "ROUND", int(out.Round), "OVER",
		int(out.Over)), nil
}

// result is the codes as numbers, F = 0, and their zero point.
func (s sumRound) result(n *ir.Node) (format.Fixed, int64, error) {
	if s.res != nil {
		return s.res.Out, s.res.Zero, nil
	}
	fx, err := arith.FixedOf(n, n.Type)
	fx.F = 0
	return fx, 0, err
}

// step is what row c is multiplied with and then shifted to the right by. The result is integers.
func (s sumRound) step(c int) (mul int64, shift int) {
	if s.res == nil {
		exp, _, _ := s.to.Lattice()
		return 1, exp - s.exp
	}
	mul = 1
	if s.res.Mul != nil {
		mul = s.res.Mul[arith.At(len(s.res.Mul), c)]
	}
	return mul, s.res.Shift[arith.At(len(s.res.Shift), c)]
}

// Levels is an exact sum without bias and scales, of which the codes of n are a rising function for each row.
type Levels struct {
	// Weights are integers, row-major, of the format WeightFormat.
	Weights      []int64
	WeightFormat format.Format
	// Sum holds every sum of products of the data and Weights.
	Sum format.Fixed

	m    *exactSum
	code func(c int, t int64) int64
	bias []int64
}

// LevelsOf is the sum of the weighted node n; false where its codes do not rise with sums of integers of one step, or
// where those are too wide.
func LevelsOf(n *ir.Node) (*Levels, bool) {
	result, fixed := format.AsFixed(n.Type.Format)
	exp, step := arith.Step(n.Args[0].Type)
	p, err := New(n)
	if err != nil || !fixed || !step || result.Over == format.Wrap || result.Round == format.RoundStochastic {
		return nil, false
	}
	m, exact := p.(*exactSum)
	if !exact || m.turns > 1 || m.codesAt != nil || m.tBits > 62 || m.data.zero != 0 {
		return nil, false
	}
	_, w := m.inHardware()
	return &Levels{Weights: m.weights, WeightFormat: format.Fixed{W: w.weight, Signed: true},
		Sum: format.Fixed{W: m.dotBits, F: -exp, Signed: true}, m: m, code: m.round.encoder(), bias: m.bias64()}, true
}

// From is, for each row, the least sum whose code is q or more: one beyond the greatest sum where none is.
func (l *Levels) From(q int64) []int64 {
	from := make([]int64, l.m.out)
	for c := range from {
		from[c] = format.First(l.Sum.Min(), l.Sum.Max(), func(sum int64) bool {
			return l.code(c, sum<<l.m.up[c]+l.bias[c]) >= q
		})
	}
	return from
}
