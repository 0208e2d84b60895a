// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/column"
)

// narrowWeights is the data of weights whose codes are their integers, one for each turn, where they are very many; nil
// for all others.
func narrowWeights(turns []*ir.Node) (list []*ir.Blob) {
	for _, n := range turns {
		if !codesAlike(n) || n.Args[1].Type.Elems()*len(turns) < manyWeights {
			return nil
		}
		data := n.Args[1].Attrs.(*ir.Const).Data
		if data.DType != ir.I8 && data.DType != ir.I16 || data.Len() != n.Args[1].Type.Elems() {
			return nil
		}
		list = append(list, data)
	}
	return list
}

// manyCodes says that n has very many weights, whose codes are integers of one step, or of one a channel.
func manyCodes(n *ir.Node) bool {
	return n.Args[1].Type.Elems() >= manyWeights && codesAlike(n)
}

func codesAlike(n *ir.Node) bool {
	w := n.Args[1]
	if !w.IsConst() || KindsOf(n).factors() {
		return false
	}
	if axis, _, zero, beside := scalesBeside(w.Type.Format); beside {
		return axis == 0 && zero == 0
	}
	return arith.IsFixed(w.Type.Format)
}

// row is the weights of output channel c. Where they are not held, they are put into *buf, which the next call with it
// overwrites.
func (s *terms) row(c int, buf *[]int64) []int64 {
	if s.codesAt == nil {
		return s.weights[c*s.in : (c+1)*s.in]
	}
	if len(*buf) < s.in {
		*buf = make([]int64, s.in)
	}
	rows := s.out / len(s.codesAt)
	s.codesAt[c/rows].IntsAt((*buf)[:s.in], c%rows*s.in)
	return (*buf)[:s.in]
}

// ints are all weights as integers, row-major.
func (s *terms) ints() []int64 {
	if s.codesAt == nil {
		return s.weights
	}
	all := make([]int64, s.out*s.in)
	for i, size := 0, len(all)/len(s.codesAt); i < len(s.codesAt); i++ {
		s.codesAt[i].IntsAt(all[i*size:(i+1)*size], 0)
	}
	return all
}

// held is the plan with all weights as integers, for what reads them in no order.
func (m *exactSum) held() *exactSum {
	if m.codesAt == nil {
		return m
	}
	h := *m
	h.weights, h.codesAt = m.ints(), nil
	return &h
}

// rowKernel is the arithmetic for weights that are not held, one row after the other; nil where it does not apply.
func (m *exactSum) rowKernel(enc func(c int, v int64) int64, bias []int64) Kernel {
	if m.codesAt == nil || m.codesAt[0].DType != ir.I8 {
		return nil
	}
	bytes := m.codesAt[0].Bytes
	return func(x Input, out []int64) {
		for c := range m.out {
			out[c] = enc(c, dotBytes(bytes[c*m.in:(c+1)*m.in], x.Ints)<<m.up[c]+bias[c])
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

// Legal is the Legal column of weighted sums: constants with steps that fit, and data that have one.
func Legal(n *ir.Node) error {
	if !KindsOf(n).Window() {
		if err := plain(n); err != nil {
			return err
		}
		if done, err := largeLegal(n); done {
			return err
		}
	}
	_, err := New(n)
	return err
}

// plain is column.Plain, and lets codes of floats in, which units multiply as they are.
func plain(n *ir.Node) error {
	if _, coded := format.MinifloatOf(n.Args[0].Type.Format); !coded || format.Coded(n.Type.Format) {
		return column.Plain(n)
	}
	return arith.OneStep(n)
}

// manyWeights is the number from which reading them all in every check would take longer than the work between.
const manyWeights = 1 << 18

// largeLegal checks a sum of very many weights by their type alone, where no value of a weight can matter: codes that
// are integers of one step, or of one a channel. done is false where the weights themselves must be read.
func largeLegal(n *ir.Node) (done bool, err error) {
	w := n.Args[1]
	if !manyCodes(n) {
		return false, nil
	}
	if _, ok := arith.Step(n.Args[0].Type); !ok {
		return false, nil
	}
	if _, err := (&ir.Tensor{Type: w.Type}).Lattice(); err != nil {
		return false, nil // the plan says it in full
	}
	if len(n.Args) > 2 {
		_, err = arith.ConstLattice(n, 2)
	}
	return true, err
}

// Kernel picks the fastest exact arithmetic for the proven widths.
func (m *exactSum) Kernel() Kernel {
	if m.tBits > 62 || m.lowBits > 62 {
		return m.held().bigKernel()
	}
	enc, bias := m.round.encoder(), m.bias64()
	if k := m.rowKernel(enc, bias); k != nil {
		return k
	}
	m = m.held()
	if m.lowBits > 31 {
		return func(x Input, out []int64) {
			for c := range m.out {
				out[c] = enc(c, dot(m.weights[c*m.in:(c+1)*m.in], x.Ints)<<m.up[c]+bias[c])
			}
		}
	}
	pairs := m.packTwo()
	return func(x Input, out []int64) {
		for c := 0; c+1 < m.out; c += 2 {
			lo, hi := split(dot(pairs[c/2*m.in:(c/2+1)*m.in], x.Ints))
			out[c] = enc(c, lo<<m.up[c]+bias[c])
			out[c+1] = enc(c+1, hi<<m.up[c+1]+bias[c+1])
		}
		if c := m.out - 1; m.out&1 == 1 {
			out[c] = enc(c, dot(m.weights[c*m.in:], x.Ints)<<m.up[c]+bias[c])
		}
	}
}

// packTwo puts two rows into one word, w[c] + w[c+1]*2^32: one multiplication then serves both rows. Sums of either
// row fit 32 signed bits, so split recovers them exactly.
func (m *exactSum) packTwo() []int64 {
	pairs := make([]int64, m.out/2*m.in)
	for c := 0; c+1 < m.out; c += 2 {
		for j := range m.in {
			pairs[c/2*m.in+j] = m.weights[c*m.in+j] + m.weights[(c+1)*m.in+j]<<32
		}
	}
	return pairs
}

// split undoes lo + hi*2^32 for 32-bit signed lo and hi.
func split(s int64) (lo, hi int64) {
	lo = int64(int32(s))
	return lo, (s - lo) >> 32
}

// dot is the sum of products, modulo 2^64. Four sums keep the multiplier busy.
func dot(w, x []int64) int64 {
	var s0, s1, s2, s3 int64
	x = x[:len(w)]
	for len(w) >= 4 && len(x) >= 4 {
		s0 += w[0] * x[0]
		s1 += w[1] * x[1]
		s2 += w[2] * x[2]
		s3 += w[3] * x[3]
		w, x = w[4:], x[4:]
	}
	for i, v := range w {
		s0 += v * x[i]
	}
	return s0 + s1 + s2 + s3
}

// Groups computes rows in n equal runs, with all weights held: each serves many rows of data.
func (m *exactSum) Groups(n int) []Kernel {
	held := m.held()
	kernels, rows := make([]Kernel, n), m.out/n
	for i := range kernels {
		from, to := i*rows, (i+1)*rows
		p := *held
		p.out, p.weights = rows, held.weights[from*m.in:to*m.in]
		p.up, p.bias, p.round = m.up[from:to], m.bias[from:to], m.round.rows(from, rows)
		kernels[i] = p.Kernel()
	}
	return kernels
}

// bigKernel is the arithmetic without bounds.
func (m *exactSum) bigKernel() Kernel {
	return func(x Input, out []int64) {
		var p, a, b big.Int
		for c := range m.out {
			sum := new(big.Int)
			for j, v := range x.Ints[:m.in] {
				sum.Add(sum, p.Mul(a.SetInt64(v), b.SetInt64(m.weights[c*m.in+j])))
			}
			sum.Lsh(sum, m.up[c])
			sum.Add(sum, m.bias[c])
			out[c] = m.round.codeBig(c, sum)
		}
	}
}
