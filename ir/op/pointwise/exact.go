// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"fmt"
	"math"

	"lathe/ir"
	"lathe/ir/format"
)

// argumentFormat is the Exact column of operations whose result is the argument or one of some bounds: the format of
// the argument, where it has codes for the bounds that lie between its values.
func argumentFormat(n *ir.Node, least, most float32) (format.Format, error) {
	f := n.Args[0].Type.Format
	if _, ok := format.IntegersOf(f); !ok {
		return nil, fmt.Errorf("%s has no common step", f)
	}
	f = f.CodeSet()
	lo, hi := f.Limits()
	if float64(least) > hi.Float64() || float64(most) < lo.Float64() {
		return nil, fmt.Errorf("%s has nothing between %g and %g", f, least, most)
	}
	for _, b := range []float32{least, most} {
		x := format.FromFloat32(b)
		if math.IsInf(float64(b), 0) || x.Cmp(lo) < 0 || x.Cmp(hi) > 0 {
			continue
		}
		if f.Decode(f.Encode(x)).Cmp(x) != 0 {
			return nil, fmt.Errorf("%s has no code for %g", f, b)
		}
	}
	return f, nil
}

// exactPairOf is the Exact column of operations on two operands: that of integers in steps of a power of two, or in the
// one step that both operands have.
func exactPairOf(n *ir.Node, o pairOp) (format.Format, error) {
	a, b := n.Args[0].Type.Format, n.Args[1].Type.Format
	x, okX := format.IntegersOf(a)
	y, okY := format.IntegersOf(b)
	if format.IsFixed(a) && format.IsFixed(b) || !okX || !okY {
		p, err := planLattice(n.Args[0].Type, n.Args[1].Type, o)
		return format.Fixed{W: p.bits, F: -p.exp, Signed: true}, err
	}
	if x.Step.Cmp(y.Step) != 0 || o.kind == pairProduct {
		return nil, fmt.Errorf("%s and %s have no common step", a, b)
	}
	bits := max(x.Bits(), y.Bits())
	if o.kind == pairSum {
		bits++
	}
	return format.Affine{W: bits, Signed: true, Scale: x.Step.Float32(), Axis: format.PerTensor}, nil
}
