// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"math/big"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/walk"
)

// guardBits is how far below a step of the result a bias is rounded that is no multiple of the products' step; one
// whose codes have more than plainBias bits is rounded as much further below as they have more.
const guardBits, plainBias = 8, 16

// constCodes is a constant seen as integers with one step, or one for each index of axis 0.
type constCodes struct {
	ints  []int64
	steps []format.Exact
}

// bits are those of the longest code.
func (k constCodes) bits() int {
	return format.SignedBits(big.NewInt(slices.Min(k.ints)), big.NewInt(slices.Max(k.ints)))
}

func (k constCodes) step(c int) *big.Rat { return k.steps[arith.At(len(k.steps), c)].Rat() }

// scalesBeside are the axis and the group of scales that travel beside codes of f, and their zero point; ok is false
// where the format itself has the scale.
func scalesBeside(f format.Format) (axis, group int, zero int64, ok bool) {
	s, scaled := f.(format.Scaled)
	if !scaled {
		return 0, 0, 0, false
	}
	_, zero = s.Factor()
	axis, group, ok = s.ScaleAxis()
	return axis, group, zero, ok
}

// codesOfTurns reads constant argument i of each turn, and puts their rows under each other.
func codesOfTurns(turns []*ir.Node, i int) (all constCodes, err error) {
	for _, n := range turns {
		k, err := codesOfConst(n, i)
		if err != nil || len(turns) == 1 {
			return k, err
		}
		all.ints = append(all.ints, k.ints...)
		for c := range n.Args[i].Type.Shape[0] {
			all.steps = append(all.steps, k.steps[arith.At(len(k.steps), c)])
		}
	}
	return all, nil
}

// codesOfConst reads constant argument i as integers.
func codesOfConst(n *ir.Node, i int) (constCodes, error) {
	t, err := arith.ConstArg(n, i)
	if err != nil {
		return constCodes{}, err
	}
	k := constCodes{ints: t.Codes}
	zero := int64(0)
	if axis, group, own, beside := scalesBeside(t.Type.Format); beside {
		if axis != 0 || group > 1 {
			return k, n.Errorf(diag.OpFormats, "%s: scales run along axis %d, output channels are axis 0", n.Args[i].Name, axis)
		}
		zero = own
		for _, s := range t.Type.Scales {
			k.steps = append(k.steps, format.FromFloat32(s))
		}
	} else {
		c, ok := format.IntegersOf(t.Type.Format)
		if !ok {
			return k, n.Errorf(diag.OpFormats, "%s: %s has no integers", n.Args[i].Name, t.Type.Format)
		}
		zero, k.steps = c.Zero, []format.Exact{c.Step}
	}
	if zero != 0 {
		k.ints = make([]int64, len(t.Codes))
		for j, q := range t.Codes {
			k.ints[j] = q - zero
		}
	}
	return k, nil
}

// planFactors is the plan where steps are scales: a sum t[c] counts steps of its own channel.
func planFactors(n *ir.Node) (*exactSum, error) {
	data, step, ok := factorData(n)
	out, okOut := format.IntegersOf(n.Type.Format)
	if !ok || !okOut {
		return nil, n.Errorf(diag.OpFormats,
			"%s of %s gives %s: scales that are no powers of two need integers on both sides",
			n.Op.Name, n.Args[0].Type.Format, n.Type.Format)
	}
	turns := n.InTurns()
	w, err := codesOfTurns(turns, 1)
	if err != nil {
		return nil, err
	}
	shape := n.Args[1].Type.Shape
	m := &exactSum{terms: terms{out: shape[0] * len(turns), in: walk.Size(shape[1:]), weights: w.ints, data: data},
		turns: len(turns)}
	bias := constCodes{ints: make([]int64, m.out), steps: []format.Exact{format.FromInt(1, 0)}}
	if len(n.Args) > 2 {
		if bias, err = codesOfTurns(turns, 2); err != nil {
			return nil, err
		}
	}
	m.ratios(w, step, out.Step.Rat())
	if slices.ContainsFunc(m.ratio, func(r *big.Rat) bool { return r.Sign() == 0 }) {
		return nil, n.Errorf(diag.FactorRange, "%s (node %q) has products whose step is 0: a scale of data or weights is 0",
			n.Op.Name,
			n.Name).WithHint("give data and weights scales above 0")
	}
	powers := m.center(bias, out.Step.Rat())
	m.bounds()
	if powers {
		m.round.res = &arith.Rescale{Out: out.Codes, Zero: out.Zero, Shift: []int{-m.exp}}
		return m, nil
	}
	if m.round.res, err = arith.NewRescale(out, m.ratio, m.tBits); err != nil {
		return nil, n.Errorf(diag.FactorRange, "%s (node %q) cannot be rescaled: %v", n.Op.Name, n.Name, err).
			WithHint("use fewer bits for data, weights or bias, or a result whose step is closer to that of the products")
	}
	return m, nil
}

// factorData is the data of a sum whose steps are scales, and their step: integers, or codes that units multiply as
// they are.
func factorData(n *ir.Node) (d Data, step *big.Rat, ok bool) {
	if x, ok := format.IntegersOf(n.Args[0].Type.Format); ok {
		return scaledData(KindsOf(n).data, x), x.Step.Rat(), true
	}
	d, err := fixedData(n)
	return d, arith.TwoTo(d.exp), err == nil && d.coded.Bits > 0
}

// ratios are the steps of products in steps of the result. A row of zeros takes the greatest: its weights are zero in
// any scale.
func (m *exactSum) ratios(w constCodes, x, out *big.Rat) {
	greatest := new(big.Rat)
	for c := range m.out {
		r := new(big.Rat).Mul(x, w.step(c))
		m.ratio = append(m.ratio, r.Quo(r, out))
		if !m.zeroRow(c) && r.Cmp(greatest) > 0 {
			greatest = r
		}
	}
	for c := range m.out {
		if m.zeroRow(c) && greatest.Sign() > 0 {
			m.ratio[c] = greatest
		}
	}
}

func (m *exactSum) zeroRow(c int) bool {
	for _, v := range m.weights[c*m.in : (c+1)*m.in] {
		if v != 0 {
			return false
		}
	}
	return true
}

// center chooses the step of the sums and brings the bias to it. Where all ratios are powers of two the sums have one
// common step, and need no factors.
func (m *exactSum) center(bias constCodes, out *big.Rat) (powers bool) {
	exps := make([]int, m.out)
	powers = true
	for c, r := range m.ratio {
		var ok bool
		exps[c], ok = arith.Log2(r)
		powers = powers && ok
	}
	in := make([]*big.Rat, m.out) // the bias in steps of the products
	for c := range in {
		in[c] = new(big.Rat).Mul(new(big.Rat).SetInt64(bias.ints[c]), bias.step(c))
		in[c].Quo(in[c].Quo(in[c], out), m.ratio[c])
	}
	guard := m.guard(in, guardBits+max(0, bias.bits()-plainBias))
	dyadic := powers
	for _, b := range in {
		_, ok := arith.Log2(new(big.Rat).SetFrac(big.NewInt(1), b.Denom()))
		dyadic = dyadic && ok
	}
	m.up, m.bias = make([]uint, m.out), make([]*big.Int, m.out)
	if powers {
		for c, e := range exps {
			if dyadic { // nothing of the bias is rounded
				guard = in[c].Denom().BitLen() - 1
			}
			if e -= guard; c == 0 || e < m.exp {
				m.exp = e
			}
		}
	}
	for c := range m.out {
		if m.up[c] = uint(guard); powers {
			m.up[c] = uint(exps[c] - m.exp)
		}
		m.bias[c] = arith.Scaled(in[c], int(m.up[c]))
		if !powers {
			m.ratio[c] = new(big.Rat).Mul(m.ratio[c], new(big.Rat).SetFrac(big.NewInt(1), big.NewInt(1<<guard)))
		}
	}
	return powers
}

// guard is the number of fraction bits that sums need for the bias, down to so many bits below a step of the result:
// none where it is a multiple of the products' step but for the rounding of its scale to float32, as models have it.
func (m *exactSum) guard(bias []*big.Rat, below int) int {
	near, top := true, 0
	for c, b := range bias {
		rest := new(big.Rat).Sub(b, new(big.Rat).SetInt(arith.Scaled(b, 0)))
		limit := new(big.Rat).Mul(b, new(big.Rat).SetFrac64(1, 1<<22))
		near = near && rest.Abs(rest).Cmp(limit.Abs(limit)) <= 0
		if e := m.ratio[c].Num().BitLen() - m.ratio[c].Denom().BitLen() + 1; c == 0 || e > top {
			top = e
		}
	}
	if near {
		return 0
	}
	probe := exactSum{terms: m.terms, up: make([]uint, m.out), bias: make([]*big.Int, m.out)}
	for c := range probe.bias {
		probe.bias[c] = arith.Scaled(bias[c], 0)
	}
	probe.bounds()
	return max(0, min(top+below, arith.ProductBits-arith.FactorBits-1-probe.tBits))
}

// raw is the plan for the codes themselves, as streams carry them: the zero point of x is part of the bias.
func (m *exactSum) raw() *exactSum {
	if m.data.zero == 0 {
		return m
	}
	r := *m
	r.bias = make([]*big.Int, m.out)
	for c := range r.bias {
		sum := new(big.Int)
		for _, w := range m.weights[c*m.in : (c+1)*m.in] {
			sum.Add(sum, big.NewInt(w))
		}
		sum.Mul(sum, big.NewInt(m.data.zero))
		r.bias[c] = new(big.Int).Sub(m.bias[c], sum.Lsh(sum, m.up[c]))
	}
	r.data.lo, r.data.hi = r.data.ints.Min(), r.data.ints.Max()
	r.bounds()
	return &r
}

// ExactSum is the format that holds every sum of the weighted node n, whose constants are codes, without any rounding.
// Sums whose steps are no powers of two have none.
func ExactSum(n *ir.Node) (format.Format, error) {
	c := *n
	c.Type.Format = format.Fixed{W: 1}
	m, err := planExact(&c)
	if err != nil {
		return nil, err
	}
	if m.round.res != nil {
		return nil, n.Errorf(diag.FactorRange, "the sums of %s have no step that is a power of two", n.Name)
	}
	return format.Fixed{W: m.tBits, F: -m.exp, Signed: true}, nil
}

// ExactResult is the format of up to so many bits that holds every result of n; false where there is none.
func ExactResult(n *ir.Node, bits int) (f format.Format, ok bool) {
	if n.Op.Exact == nil {
		return nil, false
	}
	f, err := n.Op.Exact(n)
	return f, err == nil && f.Width() <= bits
}
