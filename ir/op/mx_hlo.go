// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/ir/hlo"
)

// windowSum prints sums over blocks: x and fields are the codes and scale fields (fixed data: none) of taps, each
// [samples, run] and [samples, blocks]; the result is [samples, out].
type windowSum struct {
	b   *hlo.Builder
	n   *ir.Node
	w   *blockSum
	run int // elements of a tap
	k   int // of a block
	sum hlo.Value
}

func newWindowSum(b *hlo.Builder, n *ir.Node) (*windowSum, error) {
	w, err := planWindow(n)
	if err != nil {
		return nil, err
	}
	shape := n.Args[1].Type.Shape
	return &windowSum{b: b, n: n, w: w, run: shape[len(shape)-1], k: w.lengths[0]}, nil
}

// add adds tap number tap.
func (s *windowSum) add(tap int, x, fields hlo.Value) {
	b, w := s.b, s.w
	nb := len(ir.Blocks(s.run, s.k))
	weights := make([]int64, w.out*nb*s.k)
	exps := make([]int64, w.out*nb)
	w.each(func(c, j, from, to int) {
		if j/nb == tap {
			copy(weights[(c*nb+j%nb)*s.k:], w.weights[from:to])
			exps[c*nb+j%nb] = int64(w.wexp[c*len(w.lengths)+j] + w.acc.F + w.xexp)
		}
	})
	v := b.Blocks(x, s.k)
	samples := v.Type().Dims[0]
	dot := hlo.Dot{LhsContract: []int{2}, RhsContract: []int{2}, LhsBatch: []int{1}, RhsBatch: []int{1}}
	d := wide(b, b.DotInt(v, b.Weight(hlo.FromInt64s(hlo.I32, []int{w.out, nb, s.k}, weights)), dot, w.dBits-1))
	dims := []int{nb, samples, w.out} // of d
	shift := b.BroadcastInDim(b.Transpose(b.Weight(hlo.FromInt64s(hlo.I64, []int{w.out, nb}, exps)), 1, 0), dims,
		[]int{0, 2})
	if w.mx {
		shift = b.Add(shift, b.BroadcastInDim(b.Transpose(wide(b, fields), 1, 0), dims, []int{0, 1}))
	}
	terms := b.Reduce(hlo.FoldAdd, b.WindowTerm(d, shift, w.acc.W), 0)
	if s.sum.Type().DType == "" {
		s.sum = b.Along(b.Weight(hlo.FromInt64s(hlo.I64, []int{w.out}, w.bias)), terms.Type().Dims, 1)
	}
	s.sum = b.Add(s.sum, terms)
}

// result saturates the sum and gives it the shape of the node.
func (s *windowSum) result(samples int) (hlo.Value, error) {
	v := s.b.Saturate(s.sum, hlo.OverSat, s.w.acc.W, true, carry(s.n.Type))
	return s.b.Reshape(v, append([]int{samples}, s.n.Type.Shape...)...), s.b.Err()
}

// rows gives x, and its scale fields, the shape [all leading axes, last axis].
func rows(b *hlo.Builder, x hlo.Value) (codes, fields hlo.Value) {
	flat := func(v hlo.Value) hlo.Value {
		dims := v.Type().Dims
		last := dims[len(dims)-1]
		return b.Reshape(v, v.Type().Len()/last, last)
	}
	codes = flat(x)
	if s := x.Scale(); s.Type().DType != "" {
		fields = flat(s)
	}
	return codes, fields
}

func windowLinearHLO(b *hlo.Builder, n *ir.Node, x hlo.Value) (hlo.Value, error) {
	s, err := newWindowSum(b, n)
	if err != nil {
		return hlo.Value{}, err
	}
	codes, fields := rows(b, x)
	s.add(0, codes, fields)
	return s.result(x.Type().Dims[0])
}

// windowConvHLO sums one tap of the kernel after the other: the pixels that it meets, as rows.
func windowConvHLO(b *hlo.Builder, n *ir.Node, x hlo.Value) (hlo.Value, error) {
	s, err := newWindowSum(b, n)
	if err != nil {
		return hlo.Value{}, err
	}
	a := n.Attrs.(*ConvAttrs)
	g, err := NewGeometry(n.Args[0].Type.Shape, &a.Window)
	if err != nil {
		return hlo.Value{}, n.Errorf("L0306", "%v", err)
	}
	samples := x.Type().Dims[0]
	for ky := range g.KH {
		for kx := range g.KW {
			p := tapPixels(b, g, samples, x, ky, kx)
			if x.Scale().Type().DType != "" {
				p = p.WithScale(tapPixels(b, g, samples, x.Scale(), ky, kx))
			}
			codes, fields := rows(b, p)
			s.add(ky*g.KW+kx, codes, fields)
		}
	}
	return s.result(samples)
}

// tapPixels picks the pixels [samples*n, oh, ow, c] of v that one tap of the kernel meets, zeros outside of the image.
func tapPixels(b *hlo.Builder, g *Geometry, samples int, v hlo.Value, ky, kx int) hlo.Value {
	dims := v.Type().Dims
	c := dims[len(dims)-1]
	v = b.Reshape(v, samples*g.N, g.H, g.W, c)
	fromY, fromX := ky*g.DH-g.PT, kx*g.DW-g.PL
	endY, endX := fromY+(g.OH-1)*g.SH+1, fromX+(g.OW-1)*g.SW+1
	v = b.Pad(v, b.Int(v.Type().DType, 0), []int{0, max(0, -fromY), max(0, -fromX), 0},
		[]int{0, max(0, endY-g.H), max(0, endX-g.W), 0}, nil)
	y, x := max(fromY, 0), max(fromX, 0)
	return b.Slice(v, []int{0, y, x, 0}, []int{samples * g.N, y + endY - fromY, x + endX - fromX, c},
		[]int{1, g.SH, g.SW, 1})
}
