// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
)

// Rescale is the StableHLO form for integers v, |v| < 2^bits, with channels on the last axis.
func Rescale(r *arith.Rescale, b *hlo.Builder, n *ir.Node, v hlo.Value, bits int) (hlo.Value, error) {
	dims := v.Type().Dims
	last := len(dims) - 1
	if r.Mul != nil {
		m := b.Weight(hlo.FromInt64s(hlo.I64, []int{len(r.Mul)}, r.Mul))
		if len(r.Mul) == 1 {
			m = b.BroadcastInDim(b.Reshape(m), dims, nil)
		} else {
			m = b.Along(m, dims, last)
		}
		v, bits = b.Mul(Wide(b, v), m), arith.ProductBits
	}
	left := 0
	for _, s := range r.Shift {
		left = max(left, -s)
	}
	if bits+left > 62 && left > 0 {
		return hlo.Value{}, n.Errorf(diag.IntegerWidth, "codes need %d bits before they saturate, StableHLO integers have 63",
			bits+left)
	}
	v = b.RoundShift(v, bits, hlo.Shift{By: r.Shift, Axis: last}, uint8(r.Out.Round))
	v = b.Add(Wide(b, v), b.Int(hlo.I64, r.Zero))
	return b.Saturate(v, int32(r.Out.Over), r.Out.W, r.Out.Signed, DType(n.Type)), b.Err()
}
