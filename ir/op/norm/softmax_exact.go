// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"sync"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/bigmath"
)

// Rows is softmax over rows of codes x, in integers. With K = log2(e)*step*2^P, of 24 bits, the distance t = max - x
// from the greatest code becomes y = t*K*2^-P, of 20 fraction bits; 2^-y comes from a table of 257 values of 24
// fraction bits, between which lines run. The row is summed in 32 fraction bits, the sum rounded to 24 significant
// ones, and its reciprocal multiplies each 2^-y; the product is rounded, halves up. Results of up to 16 bits are within
// 0.53 of their last place.
type Rows struct {
	// K has 24 bits, and y = t*K >> Shift.
	K     int64
	Shift int
	// Frac is the fraction bits of the results, and Max their greatest code.
	Frac int
	Max  int64
}

const (
	yBits    = 20       // fraction bits of y
	yMost    = 40 << 20 // 2^-40 is nothing in 32 fraction bits
	cellBits = 12       // of y, within one step of the table
	eBits    = 24       // fraction bits of the terms that are multiplied
	wideBits = 32       // and of those that are summed
	quotient = 47       // the reciprocal of d is floor(2^47/d)
	maxWidth = 16       // bits of arguments and results
	shiftMax = 62       // every product has fewer bits
)

// powers is 2^(24 - i/256) for i from 0 to 256, rounded.
var powers = sync.OnceValue(func() []int64 {
	t, ln2 := make([]int64, 257), bigmath.Log(bigmath.Float(2))
	for i := range t {
		x := new(big.Float).SetPrec(bigmath.Prec).Quo(bigmath.Times(ln2, bigmath.Float(float64(-i))), bigmath.Float(256))
		y := bigmath.Times(bigmath.Exp(x), bigmath.Float(1<<eBits))
		t[i], _ = y.Add(y, bigmath.Float(0.5)).Int64()
	}
	return t
})

// PlanRows is softmax(scale*x), x argument 0 of n, in the format of n. Errors say what is not possible.
func PlanRows(n *ir.Node, scale float64) (*Rows, error) {
	in, ok := format.IntegersOf(n.Args[0].Type.Format)
	if !ok || in.Codes.W > maxWidth {
		return nil, fmt.Errorf("%s takes integers or fixed values of up to %d bits, not %s", n.Op.Name, maxWidth,
			n.Args[0].Type.Format)
	}
	out, ok := format.AsFixed(n.Type.Format)
	switch {
	case !ok || out.W > maxWidth+1 || out.F < 0 || out.F > maxWidth:
		return nil, fmt.Errorf("%s makes fixed values of up to %d fraction bits, not %s", n.Op.Name, maxWidth, n.Type.Format)
	case out.Over != format.Sat || out.Round != format.RoundEven:
		return nil, fmt.Errorf("%s has a rounding of its own and saturates; %s asks for another", n.Op.Name, n.Type.Format)
	}
	r := &Rows{Frac: out.F, Max: out.Max()}
	step := new(big.Rat).Mul(in.Step.Rat(), new(big.Rat).SetFloat64(scale))
	if step.Sign() <= 0 || step.Cmp(big.NewRat(8, 1)) > 0 {
		s, _ := step.Float64()
		return nil, fmt.Errorf("%s takes steps above 0 and up to 8, not %g", n.Op.Name, s)
	}
	k := new(big.Float).SetPrec(bigmath.Prec).Quo(bigmath.FromRat(step), bigmath.Log(bigmath.Float(2)))
	p := eBits - k.MantExp(nil) // 2^23 <= k*2^p < 2^24
	r.K, _ = k.Add(k.SetMantExp(k, p), bigmath.Float(0.5)).Int64()
	if r.K == 1<<eBits {
		r.K, p = r.K/2, p-1
	}
	r.Shift = min(p-yBits, shiftMax)
	return r, nil
}

// Row computes a row of codes. Where live is not nil, elements that it denies take no part and give 0.
func (r *Rows) Row(y, x []int64, live func(i int) bool) {
	top, any := int64(math.MinInt64), false
	for i, v := range x {
		if live == nil || live(i) {
			top, any = max(top, v), true
		}
	}
	clear(y)
	if !any {
		return
	}
	table, sum := powers(), int64(0)
	for i, v := range x {
		if live == nil || live(i) {
			var wide int64
			y[i], wide = power(table, min((top-v)*r.K>>r.Shift, yMost))
			sum += wide
		}
	}
	a := bits.Len64(uint64(sum)) - eBits
	d := (sum + 1<<(a-1)) >> a
	inverse := int64(1<<quotient) / d
	shift := min(quotient-wideBits+eBits+a-r.Frac, shiftMax)
	for i, e := range y {
		y[i] = min((e*inverse+1<<(shift-1))>>shift, r.Max)
	}
}

// power is 2^-y in 24 and in 32 fraction bits.
func power(table []int64, y int64) (e, wide int64) {
	n, i, rest := y>>yBits, y>>cellBits&0xff, y&(1<<cellBits-1)
	g := table[i] - ((table[i]-table[i+1])*rest+1<<(cellBits-1))>>cellBits
	half := int64(1) << n >> 1
	return (g + half) >> n, (g<<(wideBits-eBits) + half) >> n
}

// Print prints Row along an axis of x, codes as I64. Where live, of truth values, is there, elements that it denies
// take no part and give 0.
func (r *Rows) Print(b *hlo.Builder, x hlo.Value, axis int, live *hlo.Value) hlo.Value {
	number := func(like hlo.Value, v int64) hlo.Value { return b.Splat(like, v) }
	dims, all := x.Type().Dims, make([]int, len(x.Type().Dims))
	for i := range all {
		all[i] = i
	}
	spread := func(v hlo.Value) hlo.Value { return b.BroadcastInDim(v, dims, all) }
	seen := x
	if live != nil {
		seen = b.Select(*live, x, number(x, math.MinInt32))
	}
	t := b.Sub(spread(b.ReduceKeep(hlo.ReduceMax, seen, axis)), seen)
	y := b.Min(b.ShiftRightArith(b.Mul(t, number(t, r.K)), number(t, int64(r.Shift))), number(t, yMost))
	e, wide := printPower(b, y)
	if live != nil {
		e, wide = b.Select(*live, e, number(e, 0)), b.Select(*live, wide, number(e, 0))
	}
	sum := b.ReduceKeep(hlo.ReduceAdd, wide, axis)
	sum = b.Max(sum, number(sum, 1<<wideBits)) // which is the least, but in rows without elements
	a := b.Sub(number(sum, 64-eBits), b.CountLeadingZeros(sum))
	d := b.ShiftRightArith(b.Add(sum, b.ShiftLeft(number(sum, 1), b.Sub(a, number(a, 1)))), a)
	shift := b.Min(b.Add(a, number(a, int64(quotient-wideBits+eBits-r.Frac))), number(a, shiftMax))
	half := b.ShiftLeft(number(a, 1), b.Sub(shift, number(a, 1)))
	p := b.Mul(e, spread(b.Div(number(d, 1<<quotient), d)))
	p = b.ShiftRightArith(b.Add(p, spread(half)), spread(shift))
	return b.Min(p, number(p, r.Max))
}

// printPower prints power.
func printPower(b *hlo.Builder, y hlo.Value) (e, wide hlo.Value) {
	number := func(v int64) hlo.Value { return b.Splat(y, v) }
	table := powers()
	falls := make([]int64, len(table)-1)
	for i := range falls {
		falls[i] = table[i] - table[i+1]
	}
	n, i := b.ShiftRightArith(y, number(yBits)), b.And(b.ShiftRightArith(y, number(cellBits)), number(0xff))
	rest := b.And(y, number(1<<cellBits-1))
	at := func(t []int64) hlo.Value { return b.TakeI(b.Weight(hlo.FromInt64s(hlo.I64, []int{len(t)}, t)), i) }
	g := b.Mul(at(falls), rest)
	g = b.Sub(at(table[:len(falls)]), b.ShiftRightArith(b.Add(g, number(1<<(cellBits-1))), number(cellBits)))
	half := b.ShiftRightArith(b.ShiftLeft(number(1), n), number(1))
	round := func(g hlo.Value) hlo.Value { return b.ShiftRightArith(b.Add(g, half), n) }
	return round(g), round(b.ShiftLeft(g, number(wideBits-eBits)))
}
