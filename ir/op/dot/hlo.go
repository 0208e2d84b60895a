// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
)

// Form is how an op brings data and weights together in StableHLO.
type Form struct {
	Shape   []int     // of the weights
	Carrier hlo.DType // of the weights; empty: the narrowest
	Bytes   bool      // XLA multiplies i8 by i8 many times faster than i32 here
	// products prints the sums of products x*w of magnitudes below 2^bits; the rows of weights are the last axis.
	Products func(x, w hlo.Value, bits int) (hlo.Value, error)
	// tap is what number i of the taps of a kernel meets of codes or scale fields v; nil where all of v is met.
	Tap func(v hlo.Value, i int) hlo.Value
}

// Dot prints the sums for the data x, as codes of the result.
func (m *exactSum) Dot(b *hlo.Builder, n *ir.Node, x hlo.Value, d Form) (hlo.Value, error) {
	if m.data.ints.W == 0 {
		exact, ok := format.ExactFixed(n.Args[0].Type.Format)
		if m.data.coded.Bits == 0 || !ok {
			_, err := arith.FixedOf(n, n.Args[0].Type)
			return hlo.Value{}, err
		}
		x = format.CodecOf(n.Args[0].Type.Format).DecodeHLO(b, x, exact)
	}
	if d.Bytes && m.data.kind == stepped && m.data.ints.Signed && m.data.ints.W <= 8 {
		x = b.Convert(x, hlo.I8)
	}
	if m.tBits > 63 {
		return hlo.Value{}, n.Errorf(diag.IntegerWidth, "sums need %d bits, StableHLO integers have 64", m.tBits).
			WithHint("give data or weights of this node fewer bits; hardware takes such sums: verify --engines ref,rtl")
	}
	w := m.weightValue(b, d.Shape, d.Carrier)
	v, err := d.Products(m.data.centered(b, x), w, m.lowBits-1)
	if err != nil {
		return hlo.Value{}, err
	}
	return m.finish(b, n, v)
}

// finish prints everything behind the raw dot products: v has the output channels on its last axis.
func (m *exactSum) finish(b *hlo.Builder, n *ir.Node, v hlo.Value) (hlo.Value, error) {
	if m.tBits > 31 {
		v = carrier.Wide(b, v)
	}
	d, dims := v.Type().DType, v.Type().Dims
	up, any := make([]int64, m.out), false
	for c, s := range m.up {
		up[c], any = int64(s), any || s != 0
	}
	if any {
		shifts := b.Const(hlo.FromInt64s(d, []int{m.out}, up))
		v = b.ShiftLeft(v, b.Along(shifts, dims, len(dims)-1))
	}
	bias := b.Weight(hlo.FromInt64s(d, []int{m.out}, m.bias64()))
	v = b.Add(v, b.Along(bias, dims, len(dims)-1))
	return m.round.print(b, n, v, m.tBits-1)
}

// centered is x without the zero point.
func (d Data) centered(b *hlo.Builder, x hlo.Value) hlo.Value {
	if d.zero == 0 {
		return x
	}
	if d.lo != int64(int32(d.lo)) || d.hi != int64(int32(d.hi)) {
		x = carrier.Wide(b, x)
	}
	return b.Sub(x, b.Splat(x, d.zero))
}

// weightValue prints the weights as an argument, in carrier d or in the narrowest.
func (m *exactSum) weightValue(b *hlo.Builder, dims []int, d hlo.DType) hlo.Value {
	ints := m.ints()
	if d != "" {
		return b.Weight(hlo.FromInt64s(d, dims, ints))
	}
	d = hlo.I8
	for _, w := range ints {
		if w != int64(int8(w)) && d == hlo.I8 {
			d = hlo.I32
		}
		if w != int64(int32(w)) {
			d = hlo.I64
		}
	}
	return b.Weight(hlo.FromInt64s(d, dims, ints))
}

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
			codes, fields = w.data.takeApart(b, codes, rows(b, fields))
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
	word := hlo.I32
	if slices.ContainsFunc(weights, func(v int64) bool { return v != int64(int32(v)) }) {
		word = hlo.I64
	}
	d := carrier.Wide(b, b.DotInt(v, b.Weight(hlo.FromInt64s(word, []int{w.out, nb, k}, weights)), dot, w.dBits-1))
	dims := []int{nb, vectors, w.out} // of d
	shift := b.BroadcastInDim(b.Transpose(b.Weight(hlo.FromInt64s(hlo.I64, []int{w.out, nb}, exps)), 1, 0), dims,
		[]int{0, 2})
	if w.data.fields {
		shift = b.Add(shift, b.BroadcastInDim(b.Transpose(carrier.Wide(b, fields), 1, 0), dims, []int{0, 1}))
	}
	return b.Reduce(hlo.ReduceAdd, b.WindowTerm(d, shift, w.acc.W), 0)
}

// takeApart prints the integers of codes, and the fields that rise with scales.
func (d Data) takeApart(b *hlo.Builder, codes, fields hlo.Value) (ints, rising hlo.Value) {
	if !format.SignedCodes(d.block) {
		codes = b.Convert(d.block.ElementsHLO(b, codes), hlo.I32)
	}
	if format.Falls(d.block) {
		fields = b.Sub(b.Splat(fields, 1<<d.block.ScaleWidth()-1), fields)
	}
	return codes, fields
}

// rows gives v the shape [all leading axes, last axis].
func rows(b *hlo.Builder, v hlo.Value) hlo.Value {
	dims := v.Type().Dims
	last := dims[len(dims)-1]
	return b.Reshape(v, v.Type().Len()/last, last)
}
