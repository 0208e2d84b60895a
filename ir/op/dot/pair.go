// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"fmt"
	"math/big"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/block"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
)

// Pair is how products of two values in blocks are summed, in every engine. A row of argument 0 and a line of argument
// 1 are cut into the same blocks; block j contributes its exact integer sum D[j], at the exponent g of both scales:
//
//	y = sat(sum_j sat(floor(D[j]*2^(g+F))))
//
// with sat the range of the result format acc = fixed(W,F). Blocks run along the last axis of argument 0. Argument 1
// is in blocks too where it is summed along its last axis; else it is fixed, and encoded in the format of argument 0 in
// blocks along the axis that is summed.
type Pair struct {
	Acc     format.Fixed
	Lengths []int // of the blocks of a row
	Bits    int   // signed bits that hold every sum of a block
	Exp     int   // the shift of a sum where both scale fields are 0
	sides   [2]side
}

// side is an operand: the format of its blocks, the exponents that their scales have, and of what its values are
// multiples.
type side struct {
	format       format.Block
	lo, hi, step int
}

// PairNamesWindow says that n multiplies two values, and that argument 0 is in blocks.
func PairNamesWindow(n *ir.Node) bool {
	return n.Op.Traits.Meets > 0 && n.Args[0].Type.InBlocks() && column.SumsInBlocks(n)
}

// PairTogether says that the operands of n, the first of which is in blocks, go together.
func PairTogether(n *ir.Node) bool {
	_, err := pairSides(n)
	return err == nil
}

// PlanPair is the plan of n, whose result is its accumulator.
func PlanPair(n *ir.Node) (*Pair, error) {
	acc, err := windowFormat(n)
	if err != nil {
		return nil, err
	}
	return planPairInto(n, acc)
}

// planPairInto is PlanPair for an accumulator that is not yet decided.
func planPairInto(n *ir.Node, acc format.Fixed) (*Pair, error) {
	sides, err := pairSides(n)
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	p := &Pair{Acc: acc, sides: sides}
	p.Lengths = ir.Blocks(n.Args[0].Type.Row(), sides[0].format.BlockSize())
	p.Exp = acc.F
	most := big.NewInt(int64(p.Lengths[0]))
	for _, s := range sides {
		p.Exp += s.format.ElementExp(0)
		most.Lsh(most, uint(s.format.Width()-1))
	}
	p.Bits = arith.SignedBits(most)
	if p.Bits > block.WindowW || len(p.Lengths) > maxBlocks {
		return nil, n.Errorf(diag.NoBlockAccumulator,
			"%d sums of blocks of %d bits exceed a window accumulator: at most %d of %d bits",
			len(p.Lengths), p.Bits, maxBlocks, block.WindowW).WithHint("give it fixed formats")
	}
	return p, nil
}

// pairSides reads the operands of n.
func pairSides(n *ir.Node) (s [2]side, err error) {
	for i, a := range n.Args {
		b, blocks := a.Type.BlockFormat()
		switch last := i == 0 || !n.MeetsAcross(); {
		case last && !blocks, !last && blocks:
			return s, fmt.Errorf("%s of values in blocks takes %s, not %s", n.Op.Name, pairWants(i, last), a.Type.Format)
		case blocks:
			if why := sumProblem(b, false); why != "" {
				return s, fmt.Errorf("%s: %s", b, why)
			}
			s[i].format = b
			s[i].lo, s[i].hi, s[i].step = block.ScaleRange(a)
		default:
			fx, ok := format.AsFixed(a.Type.Format)
			if !ok || fx.W > block.MaxW {
				return s, fmt.Errorf("%s of values in blocks takes %s, not %s", n.Op.Name, pairWants(i, last), a.Type.Format)
			}
			s[i].format = s[0].format
			s[i].lo, s[i].hi, s[i].step = block.EncodedRange(s[0].format, fx)
		}
	}
	row := n.Args[0].Type.Row()
	if k, other := s[0].format.BlockSize(), s[1].format.BlockSize(); min(k, row) != min(other, row) {
		return s, fmt.Errorf("%s takes blocks of one size, not of %d and of %d", n.Op.Name, k, other)
	}
	return s, nil
}

// pairWants is what argument i may be.
func pairWants(i int, last bool) string {
	if last {
		return fmt.Sprintf("argument %d in blocks too", i)
	}
	return fmt.Sprintf("argument %d in a fixed format of up to %d bits", i, block.MaxW)
}

// span is that of all products: of the greatest elements, those included that encoding never makes.
func (p *Pair) span(*ir.Node) (step, top int) {
	most := new(big.Rat)
	for _, n := range p.Lengths {
		most.Add(most, new(big.Rat).SetInt64(int64(n)))
	}
	for _, s := range p.sides {
		step += s.step
		greatest := s.hi - s.format.ScaleExp(0) + s.format.ElementExp(0) + s.format.Width() - 1
		most.Mul(most, arith.TwoTo(greatest))
	}
	top = step
	for arith.TwoTo(top).Cmp(most) <= 0 {
		top++
	}
	return step, top
}

func (p *Pair) summands() (int, bool) { return len(p.Lengths), false }

// Encoding is the format in which blocks of argument 1 are encoded.
func (p *Pair) Encoding() format.Block { return p.sides[1].format }

// Sum is the result for two lines of integers, with the scale fields of their blocks.
func (p *Pair) Sum(x, y Input) int64 {
	total, at := int64(0), 0
	for j, n := range p.Lengths {
		d := int64(0)
		for i, v := range x.Ints[at : at+n] {
			d += v * y.Ints[at+i]
		}
		total += windowTerm(p.Acc, d, int(x.Fields[j]+y.Fields[j])+p.Exp)
		at += n
	}
	return min(max(total, p.Acc.Min()), p.Acc.Max())
}

// Print prints the sums: x are rows [L...,T,E,D] for lines y [L...,S,D] with the same leading axes, as codes with scale
// fields; the result is [L...,T,E,S].
func (p *Pair) Print(b *hlo.Builder, x, y hlo.Value) hlo.Value {
	k := p.sides[0].format.BlockSize()
	lead := len(y.Type().Dims) - 2
	xs, ys := carrier.Wide(b, x.Scale()), carrier.Wide(b, y.Scale())
	d := hlo.Dot{LhsContract: []int{lead + 3}, RhsContract: []int{lead + 2}}
	for i := range lead {
		d.LhsBatch, d.RhsBatch = append(d.LhsBatch, i), append(d.RhsBatch, i)
	}
	d.LhsBatch, d.RhsBatch = append(d.LhsBatch, lead+2), append(d.RhsBatch, lead+1)
	sums := carrier.Wide(b, b.DotInt(b.Blocks(x, k), b.Blocks(y, k), d, p.Bits-1)) // [L...,blocks,T,E,S]
	dims := sums.Type().Dims
	axes := func(more ...int) (out []int) {
		for i := range lead {
			out = append(out, i)
		}
		for _, a := range more {
			out = append(out, lead+a)
		}
		return out
	}
	shift := b.Add(b.BroadcastInDim(b.Transpose(xs, axes(2, 0, 1)...), dims, axes(0, 1, 2)),
		b.BroadcastInDim(b.Transpose(ys, axes(1, 0)...), dims, axes(0, 3)))
	shift = b.Add(shift, b.Splat(shift, int64(p.Exp)))
	total := b.Reduce(hlo.ReduceAdd, b.WindowTerm(sums, shift, p.Acc.W), lead)
	return b.Saturate(total, hlo.OverSat, p.Acc.W, true, carrier.DType(ir.Type{Format: p.Acc}))
}

// Params are those of a unit that adds in a window.
func (p *Pair) Params(n *ir.Node) []any {
	lo, hi := p.Exp, p.Exp
	for _, s := range p.sides {
		lo, hi = lo+s.lo-s.format.ScaleExp(0), hi+s.hi-s.format.ScaleExp(0)
	}
	_, top := p.span(n)
	u := newShifter(p.Acc, p.Exp, lo, hi, p.Bits, top, len(p.Lengths))
	return append(u.params(), "D_W", p.Bits, "OUT_W", p.Acc.W)
}
