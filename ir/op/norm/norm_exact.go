// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/column"
	"lathe/ir/op/walk"
)

// The integer meaning of layer_norm and rms_norm. A row has n codes x_i, zero points subtracted; all that follows is
// exact in signed words of 64 bits but for three roundings: of the root, of z, and of the result.
//
//	s = sum of x_i,  Q = n*sum of x_i^2 - s^2,  d_i = n*x_i - s     rms_norm: Q = n*sum of x_i^2,  d_i = n*x_i
//	V = (Q << h) + RN(n^2*eps/step^2*2^h)                            h from 0 to 20, even, as large as V allows
//	1/sqrt(V) = r*2^(-31-k), r in [2^19, 2^20]                       relative error below 2^-19.96
//	z_i = RS(d_i*r, 15+k-h/2), 0 where V is 0                        16 fraction bits
//	y_i = RS(z_i*gamma_i + (beta_i << (16+Fg-Fb)), 16+Fg-Fo)         in the rounding of the result
//
// RN and RS round ties to even; step is the value of one step of x.
const (
	exactBits = 16 // of codes of x without zero point, of gamma and of beta, signs included
	zFrac     = 16 // fraction bits of z
	mostGuard = 20 // the greatest h
	sumBits   = 62 // of z*gamma + beta, without the sign
)

// exactNorm is what a quantized norm computes with, decided once for a node.
type exactNorm struct {
	rms  bool
	n    int   // elements of a row
	rows int   // of a sample
	zero int64 // zero point of x
	h    int
	eps  int64 // what V has more than Q << h
	// gamma and beta hold an integer for each element of a row, beta in steps of z*gamma; nil where the node has none.
	gamma, beta []int64
	frac        int   // fraction bits of z*gamma + beta
	left        int   // places that beta is shifted by
	shape       []int // of a row
}

// exactOf plans a quantized norm. Errors say what has no integer form.
func exactOf(n *ir.Node, rms bool) (*exactNorm, error) {
	if i := slices.IndexFunc(n.Args, func(a *ir.Node) bool { return !a.IsConst() && a != n.Args[0] }); i > 0 {
		return nil, fmt.Errorf("argument %d of %s (%q) is computed; quantized, it is a constant", i, n.Op.Name,
			n.Args[i].Name)
	}
	return exactForm(n, rms)
}

// exactForm is exactOf, but that gains and biases may be values, of which only the formats are known: they are nil.
func exactForm(n *ir.Node, rms bool) (*exactNorm, error) {
	a, shape := n.Attrs.(*Attrs), n.Type.Shape
	axis, err := walk.Axis(a.Axis, len(shape))
	if err != nil {
		return nil, err
	}
	x, ok := format.IntegersOf(n.Args[0].Type.Format)
	if !ok || x.Bits() > exactBits {
		return nil, fmt.Errorf("%s takes integers of up to %d bits, sign included and zero point subtracted, not %s",
			n.Op.Name, exactBits, n.Args[0].Type.Format)
	}
	if !format.IsFixed(n.Type.Format) {
		return nil, fmt.Errorf("%s makes fixed values, not %s", n.Op.Name, n.Type.Format)
	}
	e := &exactNorm{rms: rms, n: walk.Size(shape[axis:]), rows: walk.Size(shape[:axis]), zero: x.Zero,
		frac: zFrac, shape: shape[axis:]}
	if err := e.guard(n, a.Eps, x); err != nil {
		return nil, err
	}
	return e, e.constants(n, shape[axis:])
}

// normLegal is the Legal column.
func normLegal(n *ir.Node, rms bool) error {
	if err := column.Plain(n); err != nil {
		return err
	}
	_, err := exactOf(n, rms)
	return err
}

// guard chooses h, and rounds the term of eps.
func (e *exactNorm) guard(n *ir.Node, eps float32, x format.Integers) error {
	if err := column.Finite("eps", float64(eps)); err != nil || eps < 0 {
		return fmt.Errorf("eps of %s is %g, not a number from 0 on", n.Op.Name, eps)
	}
	step := x.Step.Rat()
	term := new(big.Rat).SetFloat64(float64(eps))
	term.Quo(term, step.Mul(step, step))
	most := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), uint(2*x.Bits()-2)), ceil(term))
	square := new(big.Int).Mul(big.NewInt(int64(e.n)), big.NewInt(int64(e.n)))
	room := 63 - most.Mul(most, square).BitLen() // any number of 63 bits is below 2^63
	if room < 0 {
		return fmt.Errorf("%s over %d elements of %s with eps %g needs more than 63 bits", n.Op.Name, e.n,
			n.Args[0].Type.Format, eps)
	}
	e.h = min(room&^1, mostGuard)
	term.Mul(term, new(big.Rat).SetInt(square.Lsh(square, uint(e.h))))
	v := format.FromRat(term)
	e.eps = format.Fixed{W: 64, Signed: true}.Encode(v)
	return nil
}

// ceil is the least integer that is not below r >= 0.
func ceil(r *big.Rat) *big.Int {
	q, m := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// constants reads gamma and beta.
func (e *exactNorm) constants(n *ir.Node, row []int) error {
	var codes [2][]int64
	var frac [2]int
	for i, a := range n.Args[1:] {
		f, fixed := format.AsFixed(a.Type.Format)
		switch {
		case !fixed || arith.Magnitude(f) > exactBits:
			return fmt.Errorf("%s takes a gain and a bias in fixed formats of up to %d bits, sign included, not %s",
				n.Op.Name, exactBits, a.Type.Format)
		}
		frac[i] = f.F
		if !a.IsConst() {
			continue
		}
		v, err := a.Value()
		if err != nil {
			return err
		}
		for _, k := range walk.BroadcastIndex(a.Type.Shape, row) {
			codes[i] = append(codes[i], v.Codes[k])
		}
	}
	if len(n.Args) > 1 {
		e.gamma, e.frac = codes[0], zFrac+frac[0]
	}
	if len(n.Args) > 2 {
		return e.align(n, codes[1], frac[1])
	}
	return nil
}

// align brings beta of the given fraction bits to the step of z*gamma.
func (e *exactNorm) align(n *ir.Node, codes []int64, frac int) error {
	left := e.frac - frac
	if left < 0 {
		return fmt.Errorf("the bias of %s has %d fraction bits, %d more than %d and those of the gain", n.Op.Name, frac,
			-left, zFrac)
	}
	// z is at most sqrt(n), z*gamma has 15 bits more; the sum of both terms has one more than the longer
	if wide := exactBits - 1 + left; wide >= sumBits {
		return fmt.Errorf("the bias of %s has %d fraction bits, its gain %d: their sum has more than %d bits", n.Op.Name,
			frac, e.frac-zFrac, sumBits)
	}
	e.left = left
	if codes == nil {
		return nil
	}
	e.beta = make([]int64, len(codes))
	for i, c := range codes {
		e.beta[i] = c << left
	}
	return nil
}

// rsqrt is 1/sqrt(v) = r*2^(-31-k) for v from 1 on.
func rsqrt(v int64) (r int64, k int) {
	k = (bits.Len64(uint64(v)) - 23) >> 1
	if k < 0 {
		v <<= -2 * k
	} else {
		v >>= 2 * k
	}
	q := int64(1<<62) / v
	r = int64(math.Sqrt(float64(q))) // q has 41 bits: the root in float64 is on the right side of every integer
	if q-r*r > r {
		r++
	}
	return r, k
}

// exactEval is the Eval column on codes.
func exactEval(n *ir.Node, rms bool) (ir.Kernel, error) {
	e, err := exactOf(n, rms)
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	encode := arith.Encoder(n.Type.Format, -e.frac)
	view, _ := format.IntegersOf(n.Args[0].Type.Format)
	fill := column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		workers.Ranges(e.rows, 1+walk.Grain/e.n, func(first, last int) {
			x := make([]int64, e.n)
			for from := first * e.n; from < last*e.n; from += e.n {
				for i := range x {
					x[i] = view.Of(args[0].Codes[from+i])
				}
				e.row(x, out.Codes[from:from+e.n], encode)
			}
		})
		return out, nil
	}, nil
}

// row computes the codes y of integers x.
func (e *exactNorm) row(x, y []int64, encode func(int64) int64) {
	n, sum, squares := int64(e.n), int64(0), int64(0)
	for _, v := range x {
		squares += v * v
		if !e.rms {
			sum += v
		}
	}
	r, k := rsqrt(max((n*squares-sum*sum)<<e.h+e.eps, 1)) // where that is 0 all n*v - sum are
	for i, v := range x {
		z := format.RS((n*v-sum)*r, 15+k-e.h/2, format.RoundEven)
		if e.gamma != nil {
			z *= e.gamma[i]
		}
		if e.beta != nil {
			z += e.beta[i]
		}
		y[i] = encode(z)
	}
}
