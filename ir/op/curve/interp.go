// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"fmt"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
)

// The meaning of smooth functions of fixed arguments of more than LookedUp bits: parabolas through samples 2^-5 apart,
// which have guardBits more fraction bits than the result. With F >= 5 fraction bits of x (others are shifted to 5)
//
//	v[j] = RN(f(j*2^-5 - 2^D)*2^(Fo+6)),  j = 0..2^(D+6)
//	u = x + 2^(D+F);  R = F-4;  i = u >> R;  r = u & (2^R-1);  f0, fm, f1 = v[2i], v[2i+1], v[2i+2]
//	c1 = 4*fm - 3*f0 - f1;  c2 = 2*(f0 - 2*fm + f1)
//	y = f0 + (((c1 + ((c2*r) >> R))*r) >> R), of Fo+6 fraction bits, rounded into the result
//
// for x in [-2^D, 2^D). Beyond, y is a constant, or x. Both are within 2^-17.5 of the function, so that results of more
// than fineBits fraction bits come from tables where those have at most 2^16 entries.
const (
	// LookedUp is the bits of an argument up to which a function is looked up in a table; beyond, parabolas compute it.
	LookedUp   = 12
	guardBits  = 6
	sampleBits = 5 // fraction bits of the places of samples
	fineBits   = 16
	wordBits   = 62
)

// domain is where a function is neither a constant nor its argument: below 2^bits on either side of 0.
type domain struct {
	bits int
	// keeps: above it the function is x, and else 1. Below it is low.
	keeps bool
	low   int64
}

// interpolation is what a node computes with, decided once.
type interpolation struct {
	in, out   format.Fixed
	d         domain
	up        int // places that x goes left
	frac      int // fraction bits of x then
	v         []int64
	low, high int64 // codes beyond the domain; high means nothing where d.keeps
}

// interpolates says that n is computed by interpolation; why not, where its argument is too wide for a table.
func (f *function) interpolates(n *ir.Node) (*interpolation, error) {
	w := n.Args[0].Type.Format.Width()
	if w <= LookedUp {
		return nil, nil
	}
	why := fmt.Errorf("%s is a table of 2^W entries and takes arguments of up to %d bits, not %d (%s)",
		n.Op.Name, arith.TableBits, w, n.Args[0].Type.Format)
	if f.domain != nil {
		d, smooth := f.domain(n.Attrs)
		in, inFixed := format.AsFixed(n.Args[0].Type.Format)
		out, outFixed := format.AsFixed(n.Type.Format)
		p := &interpolation{in: in, out: out, d: d, up: max(0, sampleBits-in.F), frac: max(sampleBits, in.F)}
		if smooth && inFixed && outFixed && p.fits() && (w > arith.TableBits || out.F <= fineBits) {
			return p, nil
		}
		if smooth {
			why = fmt.Errorf("%s of more than %d bits takes and makes fixed values of up to 62 bits in all, not %s to %s",
				n.Op.Name, arith.TableBits, n.Args[0].Type.Format, n.Type.Format)
		}
	}
	if w <= arith.TableBits {
		why = nil
	}
	return nil, why
}

// fits says that all intermediate results fit in signed words: samples have Fo+6+D bits, the coefficients and their sum
// at most 4 more, and R = F-4.
func (p *interpolation) fits() bool {
	samples := max(0, p.out.F+guardBits+p.d.bits)
	return samples+p.frac <= wordBits && p.frac+p.d.bits < wordBits && p.in.W+p.up <= wordBits
}

// fill computes the samples.
func (p *interpolation) fill(f *function, attrs any) {
	near, exact := f.near(attrs), f.exact(attrs)
	sample := format.Fixed{W: 64, F: p.out.F + guardBits, Signed: true}
	for j := int64(0); j <= 1<<(p.d.bits+sampleBits+1); j++ {
		x := format.FromInt(j-1<<(p.d.bits+sampleBits), -sampleBits)
		p.v = append(p.v, encodeNear(sample, x, f.fraction, near, exact))
	}
	p.low, p.high = p.out.Requant(p.d.low, 0), p.out.Requant(1, 0)
}

// coefficients are those of the parabola of segment i.
func (p *interpolation) coefficients(i int64) (f0, c1, c2 int64) {
	f0, fm, f1 := p.v[2*i], p.v[2*i+1], p.v[2*i+2]
	return f0, 4*fm - 3*f0 - f1, 2 * (f0 - 2*fm + f1)
}

// code is the code of the result for a code of the argument.
func (p *interpolation) code(c int64) int64 {
	x := c << p.up
	half := int64(1) << (p.d.bits + p.frac)
	switch {
	case x < -half:
		return p.low
	case x >= half && p.d.keeps:
		return p.out.Requant(c, -p.in.F)
	case x >= half:
		return p.high
	}
	shift := p.frac - sampleBits + 1
	u := x + half
	r := u & (1<<shift - 1)
	f0, c1, c2 := p.coefficients(u >> shift)
	return p.out.Requant(f0+((c1+((c2*r)>>shift))*r)>>shift, -p.out.F-guardBits)
}

// print is code as StableHLO.
func (p *interpolation) print(b *hlo.Builder, n *ir.Node, arg hlo.Value) (hlo.Value, error) {
	arg = carrier.Wide(b, arg)
	x := b.ShiftLeft(arg, b.Splat(arg, int64(p.up)))
	half, shift := int64(1)<<(p.d.bits+p.frac), int64(p.frac-sampleBits+1)
	u := b.Clamp(b.Splat(x, 0), b.Add(x, b.Splat(x, half)), b.Splat(x, 2*half-1))
	r, at := b.And(u, b.Splat(u, 1<<shift-1)), b.ShiftRightArith(u, b.Splat(u, shift))
	tables := p.fields()
	look := func(t []int64) hlo.Value {
		return b.TakeI(b.Weight(hlo.FromInt64s(hlo.I64, []int{len(t)}, t)), at)
	}
	t := look(tables[2])
	for _, next := range []hlo.Value{look(tables[1]), look(tables[0])} {
		t = b.Add(next, b.ShiftRightArith(b.Mul(t, r), b.Splat(t, shift)))
	}
	y, err := carrier.Requant(b, n, t, -p.out.F-guardBits, wordBits)
	if err != nil {
		return y, err
	}
	high := b.Splat(y, p.high)
	if p.d.keeps {
		if high, err = carrier.Requant(b, n, arg, -p.in.F, p.in.W); err != nil {
			return y, err
		}
	}
	y = b.Select(b.Compare(hlo.LT, x, b.Splat(x, -half)), b.Splat(y, p.low), y)
	return b.Select(b.Compare(hlo.LT, x, b.Splat(x, half)), y, high), b.Err()
}
