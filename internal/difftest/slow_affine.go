// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
)

// slowQuant is the value of the code of x; in a quantized graph the encoding follows.
func slowQuant(n *ir.Node, x value) ([]*big.Rat, error) {
	a := n.Attrs.(*pointwise.QuantAttrs)
	f, err := format.Parse(a.Format)
	if err != nil {
		return nil, err
	}
	t := ir.Type{Shape: x.shape, Format: f}
	return fill(x.shape, func(i []int) *big.Rat {
		v := x.at(i...)
		switch {
		case a.Bipolar && v.Sign() < 0:
			return decodeOne(t, 0, -1)
		case a.Bipolar:
			return decodeOne(t, 0, 1)
		case n.Type.IsFloat():
			return decodeOne(t, 0, encode(f, v))
		}
		return v
	}), nil
}

// slowQuantEach rounds each channel to codes of its own.
func slowQuantEach(a *pointwise.QuantEachAttrs, x value) []*big.Rat {
	return fill(x.shape, func(i []int) *big.Rat {
		f, err := format.Parse(a.Format)
		own, ok := f.(format.Fixed)
		c := i[a.Axis]
		if own.W = a.Bits[c]; err != nil || !ok || own.W == 0 {
			return integer(0)
		}
		own.F -= a.Drop[c]
		return decodeOne(ir.Type{Shape: x.shape, Format: own}, 0, encode(own, x.at(i...)))
	})
}

// slowSumEach sums, and rounds each row to codes of its own.
func slowSumEach(n *ir.Node, args []value) ([]*big.Rat, error) {
	switch a := n.Attrs.(type) {
	case *sum.LinearEachAttrs:
		return slowQuantEach(&a.QuantEachAttrs, value{n.Type.Shape, slowLinear(args[0], args[1:])}), nil
	case *sum.ConvEachAttrs:
		s := *n
		s.Op, s.Attrs = sum.Conv, &a.ConvAttrs
		x, err := slowWindow(&s, args)
		return slowQuantEach(&a.QuantEachAttrs, value{n.Type.Shape, x}), err
	}
	return nil, fmt.Errorf("%s has no codes of rows", n.Name)
}

// factored says that a weighted sum becomes codes by a factor and a shift: where it reads or makes integers with a zero
// point or with a scale that is no power of two. Weights and bias of other zero points alone change nothing.
func factored(n *ir.Node) bool {
	if n.Type.IsFloat() || !n.Op.Traits.Weighted {
		return false
	}
	real := func(t ir.Type) bool {
		for _, s := range scalesOf(t) {
			if frac, _ := math.Frexp(float64(s)); frac != 0.5 {
				return true
			}
		}
		return false
	}
	zero := func(t ir.Type) bool { a, ok := t.Format.(format.Affine); return ok && a.Axis < 0 && a.Zero != 0 }
	yes := zero(n.Args[0].Type) || zero(n.Type) || real(n.Args[0].Type) || real(n.Type)
	for _, a := range n.Args[1:] {
		yes = yes || real(a.Type)
	}
	return yes
}

// scalesOf are the scales of an affine type, of one channel or of all.
func scalesOf(t ir.Type) []float32 {
	a, ok := t.Format.(format.Affine)
	if ok && a.Axis < 0 {
		return []float32{a.Scale}
	}
	return t.Scales
}

// stepOf is the value of one step of t in channel c.
func stepOf(t ir.Type, c int) *big.Rat {
	switch s := scalesOf(t); len(s) {
	case 0:
		return power(-t.Format.(format.Fixed).F)
	case 1:
		return real32(s[0])
	default:
		return real32(s[c])
	}
}

// factoredSum is a weighted sum in the integers of its definition: t = dot*2^psh + bias in steps of unit output steps.
type factoredSum struct {
	ratio, bias []*big.Rat // of a channel: product steps in output steps; the bias in product steps
	lo, hi      []*big.Int // of a channel: the least and the greatest sum of products
	psh         []int
	t           []*big.Int // the rounded bias
	bits        int        // signed bits that hold every t
	powers      bool
	biasBits    int // of the longest code of the bias
}

// slowFactored evaluates y = zero + round(t*M/2^sh) in the numbers of the definition, as real values of the codes.
func slowFactored(n *ir.Node, args []value) ([]*big.Rat, error) {
	s := newFactoredSum(n, args)
	plain := *n
	plain.Args = n.Args[:2]
	bare := append([]value{}, args[:2]...)
	if n.Op == sum.Scale {
		zero := make([]*big.Rat, len(s.ratio))
		for i := range zero {
			zero[i] = new(big.Rat)
		}
		bare = append(bare, value{[]int{len(zero)}, zero})
	}
	sums, err := slowOp(&plain, bare)
	if err != nil {
		return nil, err
	}
	out, mode := stepOf(n.Type, 0), format.Rounding(n.Type.Format)
	y := make([]*big.Rat, len(sums))
	for i, v := range sums {
		c := i % len(s.ratio)
		dot := new(big.Rat).Quo(v, new(big.Rat).Mul(s.ratio[c], out)) // an integer
		t := new(big.Rat).Mul(dot, power(s.psh[c]))
		t.Add(t, new(big.Rat).SetInt(s.t[c]))
		q := round(t.Mul(t, s.factor(c)), mode)
		y[i] = new(big.Rat).Mul(new(big.Rat).SetInt(q), out)
	}
	return y, nil
}

// factor is M/2^sh: the ratio of the steps of t and result, M its nearest integer of 31 bits, fewer where t is wider
// than 32. Powers of two are kept as they are.
func (s *factoredSum) factor(c int) *big.Rat {
	r := new(big.Rat).Mul(s.ratio[c], power(-s.psh[c]))
	if s.powers {
		return r
	}
	bits := min(31, 63-s.bits)
	sh := 0
	for half := power(bits - 1); new(big.Rat).Mul(r, power(sh)).Cmp(half) < 0; {
		sh++
	}
	for full := power(bits); new(big.Rat).Mul(r, power(sh)).Cmp(full) >= 0; {
		sh--
	}
	m := round(new(big.Rat).Mul(r, power(sh)), format.RoundEven)
	return new(big.Rat).Mul(new(big.Rat).SetInt(m), power(-sh))
}

// newFactoredSum reads ratios, bias and ranges of a weighted sum.
func newFactoredSum(n *ir.Node, args []value) *factoredSum {
	w, x := args[1], n.Args[0].Type
	s := &factoredSum{powers: true}
	channels := w.shape[0]
	row := len(w.x) / channels
	xlo, xhi := decodeOne(x, 0, codeRange(x.Format).Min()), decodeOne(x, 0, codeRange(x.Format).Max())
	greatest := new(big.Rat)
	for c := range channels {
		r := new(big.Rat).Mul(stepOf(x, 0), stepOf(n.Args[1].Type, c))
		lo, hi := new(big.Rat), new(big.Rat)
		for _, v := range w.x[c*row : (c+1)*row] {
			a, b := new(big.Rat).Mul(v, xlo), new(big.Rat).Mul(v, xhi)
			if a.Cmp(b) > 0 {
				a, b = b, a
			}
			lo.Add(lo, a)
			hi.Add(hi, b)
		}
		s.lo, s.hi = append(s.lo, new(big.Rat).Quo(lo, r).Num()), append(s.hi, new(big.Rat).Quo(hi, r).Num())
		s.ratio = append(s.ratio, r.Quo(r, stepOf(n.Type, 0)))
		if !s.zeros(w, c, row) {
			greatest = largest(greatest, r)
		}
	}
	for c := range channels {
		if s.zeros(w, c, row) && greatest.Sign() > 0 {
			s.ratio[c] = greatest
		}
		b := new(big.Rat)
		if len(args) > 2 {
			code := new(big.Rat).Quo(args[2].x[c], stepOf(n.Args[2].Type, c)).Num()
			s.biasBits = max(s.biasBits, format.SignedBits(code, code))
			b = new(big.Rat).Quo(args[2].x[c], new(big.Rat).Mul(s.ratio[c], stepOf(n.Type, 0)))
		}
		s.bias = append(s.bias, b)
		s.powers = s.powers && isPower(s.ratio[c])
	}
	s.shifts()
	return s
}

func (s *factoredSum) zeros(w value, c, row int) bool {
	for _, v := range w.x[c*row : (c+1)*row] {
		if v.Sign() != 0 {
			return false
		}
	}
	return true
}

func isPower(r *big.Rat) bool {
	ones := func(v *big.Int) bool { return v.TrailingZeroBits()+1 == uint(v.BitLen()) }
	return ones(r.Num()) && ones(r.Denom())
}

// shifts chooses how many fraction bits the sums have below a product step, for the bias: none where every bias is a
// multiple of that step but for a relative 2^-22; as many as it takes where steps are powers of two and the bias is an
// exact multiple; else 8 below a result step, and one more for each bit of the codes of the bias beyond 16, unless sums
// grew beyond 31 bits.
func (s *factoredSum) shifts() {
	near, exact, guard := true, s.powers, 0
	for _, b := range s.bias {
		off := new(big.Rat).Sub(b, new(big.Rat).SetInt(round(b, format.RoundEven)))
		near = near && off.Abs(off).Cmp(new(big.Rat).Mul(new(big.Rat).Abs(b), power(-22))) <= 0
		exact = exact && isPower(new(big.Rat).SetInt(b.Denom()))
	}
	s.psh = make([]int, len(s.bias))
	if !near {
		top := -1 << 30
		for _, r := range s.ratio {
			top = max(top, r.Num().BitLen()-r.Denom().BitLen()+1)
		}
		s.measure()
		guard = max(0, min(top+8+max(0, s.biasBits-16), 31-s.bits))
	}
	if s.powers { // one step for all channels
		low := new(big.Rat)
		for c, r := range s.ratio {
			down := guard
			if exact {
				down = s.bias[c].Denom().BitLen() - 1
			}
			if step := new(big.Rat).Mul(r, power(-down)); c == 0 || step.Cmp(low) < 0 {
				low = step
			}
		}
		for c, r := range s.ratio {
			for k := new(big.Rat).Set(low); k.Cmp(r) < 0; k.Mul(k, power(1)) {
				s.psh[c]++
			}
		}
	} else {
		for c := range s.psh {
			s.psh[c] = guard
		}
	}
	s.measure()
}

// measure rounds the bias to the step of the sums and finds the width that holds every sum, with the bias, without it,
// and the bias alone.
func (s *factoredSum) measure() {
	s.t, s.bits = nil, 1
	for c := range s.bias {
		t := round(new(big.Rat).Mul(s.bias[c], power(s.psh[c])), format.RoundEven)
		s.t = append(s.t, t)
		for _, v := range []*big.Int{s.lo[c], s.hi[c], new(big.Int)} {
			sum := new(big.Int).Lsh(v, uint(s.psh[c]))
			for _, u := range []*big.Int{sum, new(big.Int).Add(sum, t)} {
				if u.Sign() < 0 {
					u = new(big.Int).Not(u)
				}
				s.bits = max(s.bits, u.BitLen()+1)
			}
		}
	}
}

// factoredMean says that a mean becomes codes by a factor and a shift.
func factoredMean(n *ir.Node) bool {
	return (n.Op == window.AvgPool || n.Op == window.GlobalAvgPool) && affine(n)
}

// affine says that n reads and makes integers with one scale each, and that at least one of them has a zero point or a
// scale that is no power of two.
func affine(n *ir.Node) bool {
	yes := false
	for _, t := range append([]ir.Type{n.Type}, typesOf(n.Args)...) {
		switch f := t.Format.(type) {
		case format.Fixed:
		case format.Affine:
			yes = yes || f.Zero != 0 || !isPower(real32(f.Scale))
		default:
			return false
		}
	}
	return yes
}

func typesOf(nodes []*ir.Node) []ir.Type {
	var all []ir.Type
	for _, n := range nodes {
		all = append(all, n.Type)
	}
	return all
}

// spanOf is the range of q - zero over all codes of t.
func spanOf(t ir.Type) (lo, hi *big.Int) {
	least := new(big.Rat).Quo(decodeOne(t, 0, codeRange(t.Format).Min()), stepOf(t, 0))
	most := new(big.Rat).Quo(decodeOne(t, 0, codeRange(t.Format).Max()), stepOf(t, 0))
	return least.Num(), most.Num()
}

// widthOf is the two's complement width of the widest of some integers.
func widthOf(all ...*big.Int) int {
	w := 1
	for _, v := range all {
		if v.Sign() < 0 {
			v = new(big.Int).Not(v)
		}
		w = max(w, v.BitLen()+1)
	}
	return w
}

// rounded is the value of the result code for the integer or fraction t, counted in steps of the result.
func rounded(n *ir.Node, t *big.Rat) *big.Rat {
	q := round(t, format.Rounding(n.Type.Format))
	return t.Mul(new(big.Rat).SetInt(q), stepOf(n.Type, 0))
}

// scaleOf is the shift at which ratio has a nearest integer of the given bits.
func scaleOf(ratio *big.Rat, bits int) int {
	sh := -200
	for half := power(bits - 1); new(big.Rat).Mul(ratio, power(sh)).Cmp(half) < 0; {
		sh++
	}
	return sh
}

// nearestFactor is M/2^sh for a ratio: M is the nearest integer of that many bits; one that rounds up to a power of two
// is that power.
func nearestFactor(ratio *big.Rat, bits int) *big.Rat {
	sh := scaleOf(ratio, bits)
	m := round(new(big.Rat).Mul(ratio, power(sh)), format.RoundEven)
	return new(big.Rat).Mul(new(big.Rat).SetInt(m), power(-sh))
}

// slowFactoredMean is round(sum*M/2^sh), M/2^sh the factor of the ratio of the steps divided by the count.
func slowFactoredMean(n *ir.Node, args []value) ([]*big.Rat, error) {
	x := n.Args[0].Type
	lo, hi := spanOf(x)
	kernel := 1
	switch a := n.Attrs.(type) {
	case *window.AvgAttrs:
		for _, k := range a.Kernel {
			kernel *= k
		}
	case *window.GlobalAttrs:
		for _, d := range x.Shape[1 : len(x.Shape)-1] {
			kernel *= d
		}
	}
	size := big.NewInt(int64(kernel))
	bits := min(31, 63-widthOf(new(big.Int).Mul(lo, size), new(big.Int).Mul(hi, size)))
	return slowWindows(n, args, func(sum *big.Rat, count int64) *big.Rat {
		ratio := new(big.Rat).Quo(stepOf(x, 0), stepOf(n.Type, 0))
		f := nearestFactor(ratio.Quo(ratio, integer(count)), bits)
		return rounded(n, f.Mul(f, sum.Quo(sum, stepOf(x, 0))))
	})
}
