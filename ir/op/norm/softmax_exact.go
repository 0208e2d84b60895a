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
	Powers
	// Frac is the fraction bits of the results, and Max their greatest code.
	Frac int
	Max  int64
}

// Powers are 2^-y for distances t of codes from the greatest: K has 24 bits, and y = t*K >> Shift.
type Powers struct {
	K     int64
	Shift int
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
	powers, _, err := planPowers(n, scale)
	if err != nil {
		return nil, err
	}
	out, ok := format.AsFixed(n.Type.Format)
	switch {
	case !ok || out.W > maxWidth+1 || out.F < 0 || out.F > maxWidth:
		return nil, fmt.Errorf("%s makes fixed values of up to %d fraction bits, not %s", n.Op.Name, maxWidth, n.Type.Format)
	case out.Over != format.Sat || out.Round != format.RoundEven:
		return nil, fmt.Errorf("%s has a rounding of its own and saturates; %s asks for another", n.Op.Name, n.Type.Format)
	}
	return &Rows{Powers: powers, Frac: out.F, Max: out.Max()}, nil
}

// MostStep bounds what a step of the argument of a softmax is worth.
const MostStep = 8

// planPowers is how codes of argument 0 of n, times scale, become powers; step is what one of them is worth.
func planPowers(n *ir.Node, scale float64) (p Powers, step *big.Float, err error) {
	in, ok := format.IntegersOf(n.Args[0].Type.Format)
	if !ok || in.Codes.W > maxWidth {
		return p, nil, fmt.Errorf("%s takes integers or fixed values of up to %d bits, not %s", n.Op.Name, maxWidth,
			n.Args[0].Type.Format)
	}
	ratio := new(big.Rat).Mul(in.Step.Rat(), new(big.Rat).SetFloat64(scale))
	if ratio.Sign() <= 0 || ratio.Cmp(big.NewRat(MostStep, 1)) > 0 {
		s, _ := ratio.Float64()
		return p, nil, fmt.Errorf("%s takes steps above 0 and up to %d, not %g", n.Op.Name, MostStep, s)
	}
	step = bigmath.FromRat(ratio)
	k, places := factor(new(big.Float).SetPrec(bigmath.Prec).Quo(step, bigmath.Log(bigmath.Float(2))))
	return Powers{K: k, Shift: min(places-yBits, shiftMax)}, step, nil
}

// factor is k*2^-places nearest to v, k of 24 bits.
func factor(v *big.Float) (k int64, places int) {
	places = eBits - v.MantExp(nil) // 2^23 <= v*2^places < 2^24
	v = new(big.Float).SetMantExp(v, places)
	if k, _ = v.Add(v, bigmath.Float(0.5)).Int64(); k == 1<<eBits {
		k, places = k/2, places-1
	}
	return k, places
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
			y[i], wide = r.of(table, top-v)
			sum += wide
		}
	}
	d, a := short(sum)
	inverse := int64(1<<quotient) / d
	shift := min(quotient-wideBits+eBits+a-r.Frac, shiftMax)
	for i, e := range y {
		y[i] = min((e*inverse+1<<(shift-1))>>shift, r.Max)
	}
}

// short is a sum d*2^a, rounded, d of 24 bits or 2^24.
func short(sum int64) (d int64, a int) {
	a = bits.Len64(uint64(sum)) - eBits
	return (sum + 1<<(a-1)) >> a, a
}

// of is the power of a distance in 24 and in 32 fraction bits.
func (p Powers) of(table []int64, t int64) (e, wide int64) {
	y := min(t*p.K>>p.Shift, yMost)
	n := y >> yBits
	g, half := line(table, y&(1<<yBits-1), cellBits), int64(1)<<n>>1
	return (g + half) >> n, (g<<(wideBits-eBits) + half) >> n
}

// line is what a table has at a place, of which the last bits lie between two entries; the difference rounds halves up.
func line(table []int64, place int64, bits int) int64 {
	i, rest, half := place>>bits, place&(1<<bits-1), int64(1)<<(bits-1)
	if fall := table[i] - table[i+1]; fall > 0 {
		return table[i] - (fall*rest+half)>>bits
	}
	return table[i] + ((table[i+1]-table[i])*rest+half)>>bits
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
	e, wide := r.print(b, b.Sub(spread(b.ReduceKeep(hlo.ReduceMax, seen, axis)), seen))
	if live != nil {
		e, wide = b.Select(*live, e, number(e, 0)), b.Select(*live, wide, number(e, 0))
	}
	d, a := printShort(b, b.ReduceKeep(hlo.ReduceAdd, wide, axis))
	shift := b.Min(b.Add(a, number(a, int64(quotient-wideBits+eBits-r.Frac))), number(a, shiftMax))
	half := b.ShiftLeft(number(a, 1), b.Sub(shift, number(a, 1)))
	p := b.Mul(e, spread(b.Div(number(d, 1<<quotient), d)))
	p = b.ShiftRightArith(b.Add(p, spread(half)), spread(shift))
	return b.Min(p, number(p, r.Max))
}

// printLine prints line of a table that falls or grows throughout.
func printLine(b *hlo.Builder, table []int64, place hlo.Value, bits int) hlo.Value {
	number := func(v int64) hlo.Value { return b.Splat(place, v) }
	falls, cells := table[0] > table[1], len(table)-1
	steps := make([]int64, cells)
	for i := range steps {
		if steps[i] = table[i+1] - table[i]; falls {
			steps[i] = -steps[i]
		}
	}
	i, rest := b.ShiftRightArith(place, number(int64(bits))), b.And(place, number(1<<bits-1))
	at := func(t []int64) hlo.Value { return b.TakeI(b.Weight(hlo.FromInt64s(hlo.I64, []int{len(t)}, t)), i) }
	part := b.ShiftRightArith(b.Add(b.Mul(at(steps), rest), number(1<<(bits-1))), number(int64(bits)))
	if falls {
		return b.Sub(at(table[:cells]), part)
	}
	return b.Add(at(table[:cells]), part)
}

// printShort prints short.
func printShort(b *hlo.Builder, sum hlo.Value) (d, a hlo.Value) {
	number := func(v int64) hlo.Value { return b.Splat(sum, v) }
	sum = b.Max(sum, number(1<<wideBits)) // which is the least, but in rows without elements
	a = b.Sub(number(64-eBits), b.CountLeadingZeros(sum))
	return b.ShiftRightArith(b.Add(sum, b.ShiftLeft(number(1), b.Sub(a, number(1)))), a), a
}

// print prints the powers of distances.
func (p Powers) print(b *hlo.Builder, t hlo.Value) (e, wide hlo.Value) {
	number := func(v int64) hlo.Value { return b.Splat(t, v) }
	y := b.Min(b.ShiftRightArith(b.Mul(t, number(p.K)), number(int64(p.Shift))), number(yMost))
	n := b.ShiftRightArith(y, number(yBits))
	g := printLine(b, powers(), b.And(y, number(1<<yBits-1)), cellBits)
	half := b.ShiftRightArith(b.ShiftLeft(number(1), n), number(1))
	round := func(g hlo.Value) hlo.Value { return b.ShiftRightArith(b.Add(g, half), n) }
	return round(g), round(b.ShiftLeft(g, number(wideBits-eBits)))
}
