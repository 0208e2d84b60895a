// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"sync/atomic"

	"lathe/ir"
	"lathe/ir/format"
)

// largeWeight is the number of weights from which they are encoded a row at a time, from the model to bytes, without
// copies of all of them in other types.
const largeWeight = 1 << 18

// largeWeights encodes the weights of n, if they are very many and take at most eight bits under choice c; it does
// what constants does. done is false where it does not apply, or where constants has something to complain about.
func (q *quantizer) largeWeights(n *ir.Node, c Choice) (done bool) {
	w := n.Args[1]
	data := w.Attrs.(*ir.Const).Data
	if data.DType != ir.F32 || data.Len() < largeWeight || data.Len() != w.Type.Elems() || !w.Type.IsFloat() {
		return false
	}
	f, open := c.Pattern.Open()
	if ints, ok := format.OutputChannels(c.Pattern.Format); ok {
		f, open = ints, true
	}
	if _, blocks := c.blocks(); blocks || !open || !f.Signed || f.W > 8 {
		return false
	}
	channels := w.Type.Shape[0]
	size := data.Len() / channels
	row := func(c int, buf []float32) []float32 {
		if len(buf) < size {
			buf = make([]float32, size)
		}
		data.FloatsAt(buf[:size], c*size)
		return buf[:size]
	}
	var infinite atomic.Bool
	fracs := channelFracs(f, channels, spread, func(c int, buf []float32) []float32 {
		buf = row(c, buf)
		if infiniteAt(buf) >= 0 {
			infinite.Store(true)
		}
		return buf
	})
	if infinite.Load() {
		return false
	}
	typ := fracsType(ir.Type{Shape: w.Type.Shape}, f, fracs)
	codes := make([]byte, data.Len())
	rowsWith(channels, func(c int, buf *[]float32) {
		*buf = row(c, *buf)
		g := f
		g.F = fracs[c]
		into := make([]int64, size)
		g.EncodeFloats(into, *buf)
		for i, v := range into {
			codes[c*size+i] = byte(v)
		}
	})
	q.explain(n, "weight", typ, c.From)
	q.setConst(n, 1, typ, &ir.Blob{DType: ir.I8, Bytes: codes})
	return true
}
