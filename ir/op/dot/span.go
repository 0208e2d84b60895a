// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/block"
)

// fieldRange is the range of ScaleRange as scale fields.
func fieldRange(x *ir.Node) (lo, hi int) {
	b, _ := x.Type.BlockFormat()
	lo, hi, _ = block.ScaleRange(x)
	least := b.ScaleExp(format.LeastField(b))
	return lo - least, hi - least
}

// BlockWindow is what is known of the accumulator of a sum over blocks before it runs.
type BlockWindow struct {
	Acc format.Fixed
	// Exact says that no bit of any block sum, nor of a bias, lies below the window.
	Exact bool
	// Saturates says that sums beyond the window are possible.
	Saturates bool
	// Terms is the number of summands of a result, a bias only if it is cut: without Exact it is at most Terms steps low.
	Terms int
}

// String is "exact", or the bound of the loss: "at most 3*2^-20 low".
func (w BlockWindow) String() string {
	s := "exact"
	if !w.Exact {
		s = fmt.Sprintf("at most %d*2^%d low", w.Terms, -w.Acc.F)
	}
	if w.Saturates {
		s += ", saturates beyond " + fmt.Sprintf("2^%d", w.Acc.W-1-w.Acc.F)
	}
	return s
}

// spanned is a sum over blocks of which it is known where its bits lie, and how many summands there are.
type spanned interface {
	// span gives the exponent of the lowest bit of any product or bias, and the least t with every |sum| < 2^t.
	span(n *ir.Node) (step, top int)
	// summands of a result; cut says that one of them has lost bits before.
	summands() (count int, cut bool)
}

// spannedInto is the plan of n, of two values or with constant weights, for an accumulator.
func spannedInto(n *ir.Node, acc format.Fixed) (spanned, error) {
	if n.Op.Traits.Weighted {
		return planWindowInto(n, acc)
	}
	return planPairInto(n, acc)
}

func (w *windowSum) summands() (int, bool) {
	if w.cut {
		return len(w.lengths) + 1, true
	}
	return len(w.lengths), false
}

// WindowOf is what the formats of n, whose result is its accumulator, say about it.
func WindowOf(n *ir.Node) (BlockWindow, error) {
	acc, err := windowFormat(n)
	if err != nil {
		return BlockWindow{}, err
	}
	w, err := spannedInto(n, acc)
	if err != nil {
		return BlockWindow{}, err
	}
	step, top := w.span(n)
	terms, cut := w.summands()
	return BlockWindow{Acc: acc, Exact: step >= -acc.F && !cut, Saturates: top > acc.W-1-acc.F, Terms: terms}, nil
}

// ChooseWindow is an accumulator for n, of up to width bits: exact, with no more bits than that takes, where it fits.
// Else its top is 2^limit or what no sum exceeds, if that is less, and the rest is lost below. Blocks that come from
// outside are not known: of them bits from 2^fine on count, and sums up to 2^limit.
func ChooseWindow(n *ir.Node, width, limit, fine int) (format.Fixed, error) {
	acc := format.Fixed{W: width, Signed: true, Round: format.RoundFloor}
	w, err := spannedInto(n, acc)
	if err != nil {
		return acc, err
	}
	step, top := w.span(n)
	for _, a := range n.Args[:2] {
		b, ok := a.Type.BlockFormat()
		if !ok || a.IsConst() {
			continue
		}
		if _, _, low := block.ScaleRange(a); low < fine && low == b.ElementExp(format.LeastField(b)) {
			step, top = step+fine-low, min(top, limit)
		}
	}
	if top-step+1 > width {
		top = min(top, limit)
	}
	acc.F = -step
	acc.W = min(max(top-step+1, 2), width)
	if top-step+1 > width {
		acc.F = width - 1 - top
	}
	return acc, nil
}

func (w *windowSum) span(n *ir.Node) (step, top int) {
	xtop, xstep := w.data.exp, w.data.exp
	if w.data.fields {
		_, hi := fieldRange(n.Args[0])
		_, _, xstep = block.ScaleRange(n.Args[0])
		xtop += hi
	}
	xmax := new(big.Rat).SetInt64(1 << (w.data.ints.W - 1)) // in steps of an element at the greatest scale
	step = 1 << 20
	sums := make([]*big.Rat, w.out)
	for c := range sums {
		sums[c] = new(big.Rat)
	}
	w.each(func(c, j, from, to int) {
		var all, total uint64
		for _, v := range w.weights[from:to] {
			all |= uint64(max(v, -v))
			total += uint64(max(v, -v))
		}
		if all == 0 {
			return
		}
		e := w.wexp[c*len(w.lengths)+j]
		step = min(step, xstep+e+bits.TrailingZeros64(all))
		d := new(big.Rat).SetInt(new(big.Int).SetUint64(total))
		sums[c].Add(sums[c], d.Mul(d, arith.TwoTo(e+xtop)).Mul(d, xmax))
	})
	if step == 1<<20 {
		step = xstep
	}
	most := w.biasSpan(n, sums)
	top = step
	for arith.TwoTo(top).Cmp(most) <= 0 {
		top++
	}
	return step, top
}

// biasSpan adds the magnitudes of the biases to the sums and returns the greatest.
func (w *windowSum) biasSpan(n *ir.Node, sums []*big.Rat) *big.Rat {
	var values []float64
	if len(n.Args) > 2 {
		if t, err := arith.ConstArg(n, 2); err == nil {
			values, _ = t.Decode()
		}
	}
	most := new(big.Rat)
	for c, s := range sums {
		if c < len(values) {
			b := new(big.Rat).SetFloat64(values[c])
			s.Add(s, b.Abs(b))
		}
		if s.Cmp(most) > 0 {
			most = s
		}
	}
	return most
}

// ProductStep is the exponent of the finest product of data and weights of the weighted node n; false where there is no
// step that is known before the result is.
func ProductStep(n *ir.Node) (int, bool) {
	if NamesWindow(n) {
		w, err := planWindowInto(&ir.Node{Name: n.Name, Op: n.Op, Attrs: n.Attrs, Args: n.Args[:2], Pos: n.Pos},
			format.Fixed{W: block.WindowW, Signed: true})
		if err != nil {
			return 0, false
		}
		least, _ := w.span(n)
		return least, true
	}
	x, ok := arith.Step(n.Args[0].Type)
	if !ok {
		return 0, false
	}
	if w, fixed := arith.Step(n.Args[1].Type); fixed {
		return x + w, true
	}
	finest, found := math.MaxInt32, false
	for _, s := range n.Args[1].Type.Scales {
		_, e := math.Frexp(float64(s))
		if _, power := format.Log2(s); power {
			found = true
		}
		finest = min(finest, e-1)
	}
	return x + finest, found
}
