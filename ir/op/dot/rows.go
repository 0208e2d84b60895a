// SPDX-License-Identifier: Apache-2.0

package dot

import (
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
