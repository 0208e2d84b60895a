// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"lathe/ir"
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
		_, err := arith.FixedOf(n, n.Args[0].Type)
		return hlo.Value{}, err
	}
	if d.Bytes && m.data.kind == stepped && m.data.ints.Signed && m.data.ints.W <= 8 {
		x = b.Convert(x, hlo.I8)
	}
	if m.tBits > 63 {
		return hlo.Value{}, n.Errorf("L0317", "sums need %d bits, StableHLO integers have 64", m.tBits)
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
