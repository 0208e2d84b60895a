// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"fmt"
	"math/big"
	"slices"
	"sync"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/bigmath"
)

// LogRows is log-softmax over rows of codes x, in integers of 24 fraction bits. With t = max - x, the result is
// -(t*step + log(S)) before it is rounded to its format. S is the sum of Rows, exact; its 24 leading bits, rounded, are
// 2^e*m, 1 <= m < 2, and the logarithm is e*log(2) and, of m, a line between two of 513 values. Results are within 0.57
// of their last place if they have 16 fraction bits, and within 0.502 if they have up to 11.
type LogRows struct {
	Powers
	// Step has 24 bits, and t*step is t*Step >> StepShift; where that is negative, to the left.
	Step      int64
	StepShift int
}

const (
	logCell = eBits - 1 - 9 // bits of m within one of 512 steps of the table
	logWide = 40            // fraction bits of log(2), of which e*log(2) is a multiple
	logSpan = 45            // bits of results, sign included: steps of up to 8, 16 bits of t, and the logarithm
	mostRow = 1 << 16       // elements that a row of the unit may have
)

// logs is log(1 + i/512) for i from 0 to 512, rounded to 24 fraction bits, and log(2) of more bits.
var logs = sync.OnceValues(func() (table []int64, ln2 int64) {
	places := func(x float64, bits int) int64 {
		y := bigmath.Log(bigmath.Float(x))
		n, _ := y.Add(y.SetMantExp(y, bits), bigmath.Float(0.5)).Int64()
		return n
	}
	for i := range 513 {
		table = append(table, places(1+float64(i)/512, eBits))
	}
	return table, places(2, logWide)
})

// PlanLogRows is log-softmax of argument 0 of n. Errors say what is not possible.
func PlanLogRows(n *ir.Node) (*LogRows, error) {
	powers, step, err := planPowers(n, 1)
	switch {
	case err != nil:
		return nil, err
	case !format.IsFixed(n.Type.Format):
		return nil, fmt.Errorf("%s makes fixed values, not %s", n.Op.Name, n.Type.Format)
	}
	m, places := factor(new(big.Float).Set(step))
	return &LogRows{Powers: powers, Step: m, StepShift: min(places-eBits, shiftMax)}, nil
}

// Row computes a row of codes x, in 24 fraction bits.
func (r *LogRows) Row(y, x []int64) {
	if len(x) == 0 {
		return
	}
	top, table, sum := slices.Max(x), powers(), int64(0)
	for _, v := range x {
		_, wide := r.of(table, top-v)
		sum += wide
	}
	log := logOf(sum)
	for i, v := range x {
		y[i] = -(r.below(top-v) + log)
	}
}

// below is t*step in 24 fraction bits.
func (r *LogRows) below(t int64) int64 {
	if r.StepShift < 0 {
		return t * r.Step << -r.StepShift
	}
	return t * r.Step >> r.StepShift
}

// logOf is the logarithm of a sum of 32 fraction bits, from 1 on, in 24 of them.
func logOf(sum int64) int64 {
	table, ln2 := logs()
	d, a := short(sum)
	e := int64(a) - (wideBits - eBits + 1) + d>>eBits // d is 2^24 where its rounding carries
	return line(table, d&(1<<(eBits-1)-1), logCell) + (e*ln2+1<<(logWide-eBits-1))>>(logWide-eBits)
}

// Print prints Row along an axis of x, codes as I64.
func (r *LogRows) Print(b *hlo.Builder, x hlo.Value, axis int) hlo.Value {
	number := func(like hlo.Value, v int64) hlo.Value { return b.Splat(like, v) }
	dims, all := x.Type().Dims, make([]int, len(x.Type().Dims))
	for i := range all {
		all[i] = i
	}
	spread := func(v hlo.Value) hlo.Value { return b.BroadcastInDim(v, dims, all) }
	t := b.Sub(spread(b.ReduceKeep(hlo.ReduceMax, x, axis)), x)
	_, wide := r.print(b, t)
	below := b.Mul(t, number(t, r.Step))
	if r.StepShift < 0 {
		below = b.ShiftLeft(below, number(t, int64(-r.StepShift)))
	} else {
		below = b.ShiftRightArith(below, number(t, int64(r.StepShift)))
	}
	log := printLog(b, b.ReduceKeep(hlo.ReduceAdd, wide, axis))
	return b.Sub(number(t, 0), b.Add(below, spread(log)))
}

// printLog prints logOf.
func printLog(b *hlo.Builder, sum hlo.Value) hlo.Value {
	table, ln2 := logs()
	d, a := printShort(b, sum)
	number := func(v int64) hlo.Value { return b.Splat(d, v) }
	e := b.Add(b.Sub(a, number(wideBits-eBits+1)), b.ShiftRightArith(d, number(eBits)))
	octaves := b.Add(b.Mul(e, number(ln2)), number(1<<(logWide-eBits-1)))
	return b.Add(printLine(b, table, b.And(d, number(1<<(eBits-1)-1)), logCell),
		b.ShiftRightArith(octaves, number(logWide-eBits)))
}
