// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/big"
	"reflect"
	"slices"
	"sync"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/walk"
)

// exactSum is a sum that keeps every bit:
//
//	t[c] = (sum_j x[j]*w[c][j]) << up[c] + bias[c]         value t*2^exp, or t*ratio[c] steps of the result
//	y[c] = over(zero + RS(t[c]*mul[c], shift[c]))          mul 1 and zero 0 where steps are powers of two
type exactSum struct {
	terms
	up      []uint
	bias    []*big.Int
	exp     int
	dotBits int // signed bits that hold every partial sum of any row
	tBits   int // signed bits that hold every t
	lowBits int // signed bits that hold every sum of a subset of terms: the order of addition is free

	round sumRound
	ratio []*big.Rat // the step of t[c] in steps of the result, where steps are scales

	solved *solved // units with weights as constants

	turns int // sets of rows, one for each turn of a unit that layers share

	inHardware func() (raw *exactSum, w widths) // what units take, computed when first asked for
	shifted    func() (raw *exactSum, w widths) // the same with shifted weights, where canShift allows it
}

// keptExact is planExact, once for the same weights, bias and types: whoever weighs foldings asks hundreds of times.
func keptExact(n *ir.Node) (*exactSum, error) {
	if !n.Args[1].IsConst() {
		return planExact(n) // which says what is wrong
	}
	all := n.Args[1].Attrs.(*ir.Const).Data.Keep(plansKey{}, func() any { return &plans{} }).(*plans)
	all.mu.Lock()
	defer all.mu.Unlock()
	from := foundationOf(n)
	if at := slices.IndexFunc(all.list, from.same); at >= 0 {
		return all.list[at].sum, nil
	}
	m, err := planExact(n)
	if err != nil {
		return nil, err
	}
	m.solved = &solved{}
	m.inHardware = sync.OnceValues(func() (*exactSum, widths) {
		raw := m.raw()
		return raw, raw.widths()
	})
	m.shifted = sync.OnceValues(func() (*exactSum, widths) {
		raw, _ := m.inHardware()
		raw = raw.shiftWeights()
		return raw, raw.widths()
	})
	if from.sum = m; len(m.weights) < manyWeights {
		all.list = append(all.list, from)
	}
	return m, nil
}

// plansKey is the key of the plans beside weights.
type plansKey struct{}

// plans are those made of the same weights.
type plans struct {
	mu   sync.Mutex
	list []foundation
}

// foundation is what a plan is made of beside the weights, and the plan.
type foundation struct {
	types []ir.Type // of the result and the arguments
	bias  *ir.Blob
	turns []*ir.Blob // constants of later turns
	sum   *exactSum
}

func foundationOf(n *ir.Node) foundation {
	f := foundation{types: []ir.Type{n.Type}}
	for _, a := range n.Args {
		f.types = append(f.types, a.Type)
	}
	if len(n.Args) > 2 && n.Args[2].IsConst() {
		f.bias = n.Args[2].Attrs.(*ir.Const).Data
	}
	for _, a := range n.Args {
		if c, ok := a.Attrs.(*ir.Const); ok {
			for _, t := range c.Turns {
				f.types, f.turns = append(f.types, t.Type), append(f.turns, t.Attrs.(*ir.Const).Data)
			}
		}
	}
	return f
}

func (f foundation) same(g foundation) bool {
	return f.bias == g.bias && slices.Equal(f.turns, g.turns) && reflect.DeepEqual(f.types, g.types)
}

// planExact reads weights and bias. Very many weights stay where they are, as narrow codes: as integers of 64 bits they
// would take more memory than all else that a compilation holds.
func planExact(n *ir.Node) (*exactSum, error) {
	if KindsOf(n).factors() {
		return planFactors(n)
	}
	data, err := fixedData(n)
	if err != nil {
		return nil, err
	}
	shape, turns := n.Args[1].Type.Shape, n.InTurns()
	m := &exactSum{terms: terms{out: shape[0] * len(turns), in: walk.Size(shape[1:]), data: data}, turns: len(turns)}
	w, err := m.latticeWeights(turns)
	if err != nil {
		return nil, err
	}
	if len(w.Exps) > 1 && w.Axis != 0 {
		return nil, n.Errorf(diag.OpFormats, "weight scales run along axis %d, output channels are axis 0", w.Axis)
	}
	bias, err := m.biasLattice(turns, data.exp+w.Exp(0))
	if err != nil {
		return nil, err
	}
	m.align(w, bias)
	m.bounds()
	m.round = sumRound{to: n.Type.Format, exp: m.exp}
	return m, nil
}

// latticeWeights reads the weights, or their steps alone where they stay where they are.
func (m *exactSum) latticeWeights(turns []*ir.Node) (*ir.Lattice, error) {
	if blobs := narrowWeights(turns); blobs != nil {
		l, err := m.stacked(turns, func(n *ir.Node) (*ir.Lattice, error) {
			return (&ir.Tensor{Type: n.Args[1].Type}).Lattice()
		})
		if err == nil {
			m.codesAt = blobs
			return l, nil
		}
	}
	l, err := m.stacked(turns, func(n *ir.Node) (*ir.Lattice, error) { return arith.ConstLattice(n, 1) })
	if err == nil {
		m.weights = l.Ints
	}
	return l, err
}

// stacked reads a constant of each turn, and puts their rows under each other.
func (m *exactSum) stacked(turns []*ir.Node, read func(n *ir.Node) (*ir.Lattice, error)) (*ir.Lattice, error) {
	if len(turns) == 1 {
		return read(turns[0])
	}
	all := &ir.Lattice{}
	for _, n := range turns {
		l, err := read(n)
		if err != nil {
			return nil, err
		}
		if len(l.Exps) > 1 && l.Axis != 0 {
			return l, nil // which the caller refuses
		}
		all.Ints = append(all.Ints, l.Ints...)
		for c := range m.out / len(turns) {
			all.Exps = append(all.Exps, l.Exp(c))
		}
	}
	return all, nil
}

// Size is the number of rows of a turn, and of terms in each.
func (m *exactSum) Size() (rows, terms int) { return m.out / max(m.turns, 1), m.in }

// biasLattice is the bias of n, or zeros of step 2^exp.
func (m *exactSum) biasLattice(turns []*ir.Node, exp int) (*ir.Lattice, error) {
	if len(turns[0].Args) > 2 {
		return m.stacked(turns, func(n *ir.Node) (*ir.Lattice, error) { return arith.ConstLattice(n, 2) })
	}
	return &ir.Lattice{Ints: make([]int64, m.out), Exps: []int{exp}}, nil
}

// align chooses the common exponent and moves products and bias to it.
func (m *exactSum) align(w, bias *ir.Lattice) {
	xexp := m.data.exp
	m.exp = xexp + w.Exp(0)
	for c := range m.out {
		m.exp = min(m.exp, xexp+w.Exp(c))
		if bias.Ints[c] != 0 {
			m.exp = min(m.exp, bias.Exp(c))
		}
	}
	m.up, m.bias = make([]uint, m.out), make([]*big.Int, m.out)
	for c := range m.out {
		m.up[c] = uint(xexp + w.Exp(c) - m.exp)
		m.bias[c] = big.NewInt(bias.Ints[c])
		if bias.Ints[c] != 0 {
			m.bias[c].Lsh(m.bias[c], uint(bias.Exp(c)-m.exp))
		}
	}
}

// bounds finds the widths from the actual weights: a row's sum lies in [sum min(w*x), sum max(w*x)].
func (m *exactSum) bounds() {
	m.dotBits, m.tBits, m.lowBits = 1, 1, 1
	absMax := big.NewInt(max(m.data.hi, -m.data.lo))
	var buf []int64
	for c := range m.out {
		row := m.row(c, &buf)
		pos, neg := format.SignedSums(row)
		lo, hi := format.SumRange(pos, neg, m.data.lo, m.data.hi)
		m.dotBits = max(m.dotBits, format.SignedBits(lo, hi))
		total := pos.Sub(pos, neg)
		m.lowBits = max(m.lowBits, arith.SignedBits(total.Mul(total, absMax)))
		for _, v := range []*big.Int{lo, hi} {
			v.Lsh(v, m.up[c])
			m.tBits = max(m.tBits, arith.SignedBits(v))
			m.tBits = max(m.tBits, arith.SignedBits(v.Add(v, m.bias[c])))
		}
		m.tBits = max(m.tBits, arith.SignedBits(m.bias[c]))
	}
}

// bias64 returns the bias as int64 values; every one fits when tBits <= 63.
func (m *exactSum) bias64() []int64 {
	out := make([]int64, len(m.bias))
	for i, b := range m.bias {
		out[i] = b.Int64()
	}
	return out
}
