// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/composite"
)

// normHLO is the HLO column: floats as the parts, codes in i64 as exactNorm.
func normHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value, rms bool) (hlo.Value, error) {
	if n.Type.IsFloat() {
		return composite.PartsHLO(b, n, args)
	}
	e, err := exactForm(n, rms)
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.OpFormats, "%v", err)
	}
	x, err := carrier.EachSample(b, n, args, 0)
	if err != nil {
		return hlo.Value{}, err
	}
	shape := x.Type().Dims
	x = b.Reshape(carrier.Wide(b, x), b.Dims(e.rows, e.n)...)
	y := e.print(b, b.Sub(x, b.Splat(x, e.zero)), e.gains(b, n, args))
	return carrier.Requant(b, n, b.Reshape(y, shape...), -e.frac, sumBits)
}

// gains are gain and bias in i64, along the last axis of rows, in the steps in which they are multiplied and added; the
// zero Value for what there is not.
func (e *exactNorm) gains(b *hlo.Builder, n *ir.Node, args []hlo.Value) (out [2]hlo.Value) {
	for i, codes := range [2][]int64{e.gamma, e.beta} {
		switch {
		case codes != nil:
			out[i] = b.Weight(hlo.FromInt64s(hlo.I64, []int{e.n}, codes))
		case len(n.Args) > i+1:
			v := b.Reshape(b.BroadcastTo(carrier.Wide(b, args[i+1]), e.shape...), e.n)
			if i == 1 {
				v = b.ShiftLeft(v, b.Splat(v, int64(e.left)))
			}
			out[i] = v
		}
	}
	return out
}

// print is z*gamma + beta of rows, the last axis of the integers x in i64.
func (e *exactNorm) print(b *hlo.Builder, x hlo.Value, gains [2]hlo.Value) hlo.Value {
	dims := x.Type().Dims
	last := len(dims) - 1
	axes := make([]int, len(dims))
	for i := range axes {
		axes[i] = i
	}
	size := func(v hlo.Value) hlo.Value { return b.Splat(v, int64(e.n)) }
	q := b.ReduceKeep(hlo.ReduceAdd, b.Mul(x, x), last)
	q = b.Mul(q, size(q))
	d := b.Mul(x, size(x))
	if !e.rms {
		sum := b.ReduceKeep(hlo.ReduceAdd, x, last)
		q = b.Sub(q, b.Mul(sum, sum))
		d = b.Sub(d, carrier.Spread(b, sum, dims, axes))
	}
	v := b.Add(b.ShiftLeft(q, b.Splat(q, int64(e.h))), b.Splat(q, e.eps))
	r, k := rsqrtHLO(b, v)
	places := b.Add(k, b.Splat(k, int64(15-e.h/2)))
	z := b.RoundShiftBy(b.Mul(d, carrier.Spread(b, r, dims, axes)), carrier.Spread(b, places, dims, axes),
		hlo.RoundHalfEven)
	if gains[0].Number() >= 0 {
		z = b.Mul(z, b.Along(gains[0], dims, last))
	}
	if gains[1].Number() >= 0 {
		z = b.Add(z, b.Along(gains[1], dims, last))
	}
	return z
}

// rootBits is the width of sqrt(q), q up to 2^40: the last step adds the 1 that 2^20 has more than fits.
const rootBits = 20

// rsqrtHLO is rsqrt; what it gives for v below 1 is multiplied by zeros, as all deviations are then.
func rsqrtHLO(b *hlo.Builder, v hlo.Value) (r, k hlo.Value) {
	c := func(x int64) hlo.Value { return b.Splat(v, x) }
	v = b.Max(v, c(1))
	k = b.ShiftRightArith(b.Sub(c(64-23), b.CountLeadingZeros(v)), c(1))
	down := b.Max(k, c(0))
	up := b.Sub(down, k)
	v = b.ShiftLeft(b.ShiftRightLogical(v, b.Add(down, down)), b.Add(up, up))
	q := b.Div(c(1<<62), v)
	r = c(0)
	for bit := rootBits - 1; bit >= 0; bit-- { // digit by digit
		t := b.Add(r, c(1<<bit))
		r = b.Select(b.Compare(hlo.LE, b.Mul(t, t), q), t, r)
	}
	rest := b.Sub(q, b.Mul(r, r))
	return b.Add(r, b.Convert(b.Compare(hlo.GT, rest, r), hlo.I64)), k
}
