// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
)

// Dot prints sums over blocks, one tap after the other: as many runs of a row of weights as the data have no axis for.
func (w *windowSum) Dot(b *hlo.Builder, n *ir.Node, x hlo.Value, d Form) (hlo.Value, error) {
	run := d.Shape[len(d.Shape)-1]
	sum := hlo.Value{}
	for tap := range w.in / run {
		codes, fields := x, x.Scale()
		if d.Tap != nil {
			codes = d.Tap(x, tap)
		}
		if d.Tap != nil && w.data.fields {
			fields = d.Tap(fields, tap)
		}
		codes = rows(b, codes)
		if w.data.fields {
			fields = rows(b, fields)
		}
		terms := w.tap(b, run, tap, codes, fields)
		if tap == 0 {
			sum = b.Along(b.Weight(hlo.FromInt64s(hlo.I64, []int{w.out}, w.bias)), terms.Type().Dims, 1)
		}
		sum = b.Add(sum, terms)
	}
	v := b.Saturate(sum, hlo.OverSat, w.acc.W, true, carrier.DType(n.Type))
	return b.Reshape(v, b.Dims(n.Type.Shape...)...), b.Err()
}

// tap is what one tap of run elements adds: of x and fields, the codes and scale fields (fixed data: none) that it
// meets, [vectors, run] and [vectors, blocks]; the result is [vectors, out].
func (w *windowSum) tap(b *hlo.Builder, run, tap int, x, fields hlo.Value) hlo.Value {
	k := w.lengths[0]
	nb := len(ir.Blocks(run, k))
	weights := make([]int64, w.out*nb*k)
	exps := make([]int64, w.out*nb)
	w.each(func(c, j, from, to int) {
		if j/nb == tap {
			copy(weights[(c*nb+j%nb)*k:], w.weights[from:to])
			exps[c*nb+j%nb] = int64(w.wexp[c*len(w.lengths)+j] + w.acc.F + w.data.exp)
		}
	})
	v := b.Blocks(x, k)
	vectors := v.Type().Dims[0]
	dot := hlo.Dot{LhsContract: []int{2}, RhsContract: []int{2}, LhsBatch: []int{1}, RhsBatch: []int{1}}
	d := carrier.Wide(b, b.DotInt(v, b.Weight(hlo.FromInt64s(hlo.I32, []int{w.out, nb, k}, weights)), dot, w.dBits-1))
	dims := []int{nb, vectors, w.out} // of d
	shift := b.BroadcastInDim(b.Transpose(b.Weight(hlo.FromInt64s(hlo.I64, []int{w.out, nb}, exps)), 1, 0), dims,
		[]int{0, 2})
	if w.data.fields {
		shift = b.Add(shift, b.BroadcastInDim(b.Transpose(carrier.Wide(b, fields), 1, 0), dims, []int{0, 1}))
	}
	return b.Reduce(hlo.ReduceAdd, b.WindowTerm(d, shift, w.acc.W), 0)
}

// rows gives v the shape [all leading axes, last axis].
func rows(b *hlo.Builder, v hlo.Value) hlo.Value {
	dims := v.Type().Dims
	last := dims[len(dims)-1]
	return b.Reshape(v, v.Type().Len()/last, last)
}
