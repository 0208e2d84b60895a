// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/ir/format"
)

// planRows is planMAC that leaves very many weights where they are, as narrow codes: rows of them are read when they
// are needed. As integers of 64 bits they would take more memory than all else that a compilation holds.
func planRows(n *ir.Node) (*mac, error) {
	data, narrow := narrowWeights(n)
	x := n.Args[0].Type
	xexp, ok := step(x)
	if !narrow || !ok {
		return planMAC(n) // which says what is wrong
	}
	w, err := (&ir.Tensor{Type: n.Args[1].Type}).Lattice()
	if err != nil || data.Len() != n.Args[1].Type.Elems() {
		return planMAC(n)
	}
	shape := n.Args[1].Type.Shape
	m := &mac{out: shape[0], in: product(shape[1:]), codesAt: data}
	return m, m.meet(n, xexp, w)
}

// narrowWeights is the data of weights whose codes are their lattice integers, where they are very many.
func narrowWeights(n *ir.Node) (*ir.Blob, bool) {
	if !manyCodes(n) {
		return nil, false
	}
	data := n.Args[1].Attrs.(*ir.Const).Data
	return data, data.DType == ir.I8 || data.DType == ir.I16
}

// manyCodes says that n has very many weights, whose codes are integers of one step, or of one a channel.
func manyCodes(n *ir.Node) bool {
	w := n.Args[1]
	if !w.IsConst() || w.Type.Elems() < manyWeights || realMAC(n) {
		return false
	}
	if a, affine := w.Type.Format.(format.Affine); affine {
		return a.Axis == 0 && a.Zero == 0
	}
	return isFixed(w.Type.Format)
}

// row is the weights of output channel c. Where they are not held, they are put into *buf, which the next call with it
// overwrites.
func (m *mac) row(c int, buf *[]int64) []int64 {
	if m.codesAt == nil {
		return m.weights[c*m.in : (c+1)*m.in]
	}
	if len(*buf) < m.in {
		*buf = make([]int64, m.in)
	}
	m.codesAt.IntsAt((*buf)[:m.in], c*m.in)
	return (*buf)[:m.in]
}

// held is the plan with all weights as integers, for what reads them in no order.
func (m *mac) held() *mac {
	if m.codesAt == nil {
		return m
	}
	h := *m
	h.codesAt, h.weights = nil, make([]int64, m.out*m.in)
	m.codesAt.IntsAt(h.weights, 0)
	return &h
}

// rowKernel is the arithmetic for weights that are not held, one row after the other; nil where it does not apply.
func (m *mac) rowKernel(enc func(c int, v int64) int64, bias []int64) dotKernel {
	if m.codesAt == nil || m.codesAt.DType != ir.I8 {
		return nil
	}
	return func(x, out []int64) {
		for c := range m.out {
			out[c] = enc(c, dotBytes(m.codesAt.Bytes[c*m.in:(c+1)*m.in], x)<<m.psh[c]+bias[c])
		}
	}
}

// dotBytes is dot of signed bytes.
func dotBytes(w []byte, x []int64) int64 {
	var s0, s1, s2, s3 int64
	x = x[:len(w)]
	for len(w) >= 4 && len(x) >= 4 {
		s0 += int64(int8(w[0])) * x[0]
		s1 += int64(int8(w[1])) * x[1]
		s2 += int64(int8(w[2])) * x[2]
		s3 += int64(int8(w[3])) * x[3]
		w, x = w[4:], x[4:]
	}
	for i, v := range w {
		s0 += int64(int8(v)) * x[i]
	}
	return s0 + s1 + s2 + s3
}
