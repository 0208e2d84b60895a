// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"fmt"
	"math/big"
	"math/bits"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/block"
	"lathe/ir/op/column"
	"lathe/ir/op/walk"
)

// windowSum is a sum over blocks. Rows of weights are cut into blocks, all taps of a convolution in order; block j of
// row c contributes its exact integer sum
//
//	D[c][j] = sum_i x[i]*w[c][i]                            at exponent g = xexp[j] + wexp[c][j]
//	y[c]    = sat(bias[c] + sum_j sat(floor(D[c][j]*2^(g+F))))
//
// with sat the range of the result format acc = fixed(W,F). Data may be blocks or fixed, weights too; not both fixed.
type windowSum struct {
	terms
	lengths []int   // of the blocks of a row
	wexp    []int   // row-major, out x blocks: exponent of the integers of a block
	bias    []int64 // in steps of acc
	cut     bool    // a bias lost bits
	acc     format.Fixed
	dBits   int // signed bits that hold every partial sum of a block
}

// maxBlocks bounds the blocks of a row: their sums, and so all engines, stay within 63 bits.
const maxBlocks = 1 << 14

// planWindow reads weights and bias of a linear or conv (channels last, one group).
func planWindow(n *ir.Node) (*windowSum, error) {
	acc, err := windowFormat(n)
	if err != nil {
		return nil, err
	}
	return planWindowInto(n, acc)
}

// windowFormat is the accumulator of n, its result format.
func windowFormat(n *ir.Node) (format.Fixed, error) {
	acc, ok := format.AsFixed(n.Type.Format)
	if !ok || !acc.Signed || acc.W > block.WindowW || acc.Over != format.Sat || acc.Round != format.RoundFloor {
		return acc, n.Errorf(diag.OpFormats, "sums over blocks go into fixed(W,F,round=floor) of up to %d bits, not %s",
			block.WindowW, n.Type.Format)
	}
	return acc, nil
}

// planWindowInto is planWindow for an accumulator that is not yet decided.
func planWindowInto(n *ir.Node, acc format.Fixed) (*windowSum, error) {
	w := &windowSum{acc: acc}
	if err := w.readTypes(n); err != nil {
		return nil, err
	}
	if err := w.constants(n); err != nil {
		return nil, err
	}
	return w, w.addBias(n)
}

// readTypes reads what follows from the types of data and weights: the sizes of the sum, and the blocks of a row.
func (w *windowSum) readTypes(n *ir.Node) error {
	if x, w := n.Args[0].Type.Shape, n.Args[1].Type.Shape; len(w) < 2 || w[len(w)-1] != x[len(x)-1] {
		return n.Errorf(diag.NoBlockAccumulator, "a sum over blocks takes all channels of a pixel, not a group of them").
			WithHint("give its weights a fixed format")
	}
	if err := w.readData(n); err != nil {
		return err
	}
	return w.divide(n)
}

// readData reads the format of the argument.
func (w *windowSum) readData(n *ir.Node) error {
	x := n.Args[0].Type
	if b, ok := x.BlockFormat(); ok {
		if why := sumProblem(b, false); why != "" {
			return n.Errorf(diag.OpFormats, "%s: %s", b, why)
		}
		_, bits, _ := b.Element().Lattice()
		w.data = Data{kind: blocked, ints: format.Fixed{W: bits, Signed: true}, exp: b.ElementExp(format.LeastField(b)),
			fields: true}
		w.data.block, _ = b.(format.BlockCodec)
	} else {
		fx, _ := format.AsFixed(x.Format)
		if !meetsBlocks(x.Format) {
			return n.Errorf(diag.OpFormats, "weights in blocks take data in blocks or fixed of up to %d signed bits, not %s",
				block.MaxW,
				x.Format)
		}
		w.data = Data{ints: format.Fixed{W: fx.W, Signed: true}, exp: -fx.F}
	}
	w.data.lo, w.data.hi = w.data.ints.Min(), w.data.ints.Max()
	return nil
}

// sumProblem says why there are no sums over blocks of b; empty if there are.
func sumProblem(b format.Block, constant bool) string {
	if !column.SumsBlocks(b, constant) {
		return fmt.Sprintf("sums over blocks take elements of up to %d bits as integers of one step", column.SumBits)
	}
	return block.BlockProblem(b)
}

// elements are the integers of codes of b.
func elements(b format.Block, codes []int64) []int64 {
	if format.SignedCodes(b) {
		return codes
	}
	ints := make([]int64, len(codes))
	for i, c := range codes {
		ints[i] = b.ElementInt(c)
	}
	return ints
}

// meetsBlocks says that data of format f, which is no block format, can be multiplied with weights in blocks.
func meetsBlocks(f format.Format) bool {
	fx, ok := format.AsFixed(f)
	return ok && fx.Signed && fx.W <= block.MaxW
}

// SumsTogether says that data and weights of the weighted sum n, one of which is in blocks, go together: blocks of one
// size, or fixed data that the unit takes.
func SumsTogether(n *ir.Node) bool {
	x, blocks := n.Args[0].Type.BlockFormat()
	if !blocks {
		return meetsBlocks(n.Args[0].Type.Format)
	}
	w, blocks := n.Args[1].Type.BlockFormat()
	shape := n.Args[1].Type.Shape
	run := shape[len(shape)-1]
	return !blocks || min(x.BlockSize(), run) == min(w.BlockSize(), run)
}

// divide gives the elements of a row their blocks, which data and weights have in common.
func (w *windowSum) divide(n *ir.Node) error {
	shape := n.Args[1].Type.Shape
	run := shape[len(shape)-1]
	w.out, w.in = shape[0], walk.Size(shape[1:])
	taps := w.in / run
	wb, blocks := n.Args[1].Type.BlockFormat()
	k := 0
	if blocks {
		k = wb.BlockSize()
	}
	if xb, ok := n.Args[0].Type.BlockFormat(); ok {
		if size := xb.BlockSize(); blocks && min(k, run) != min(size, run) {
			return n.Errorf(diag.BlockSizes, "data has blocks of %d, weights have blocks of %d", size, k).
				WithHint("give both the same block size")
		}
		k = xb.BlockSize()
	}
	one := ir.Blocks(run, k)
	for range taps {
		w.lengths = append(w.lengths, one...)
	}
	return nil
}

// constants reads the weights: blocks along the last axis, or fixed with one scale a row, cut as the data are.
func (w *windowSum) constants(n *ir.Node) error {
	t, err := arith.ConstArg(n, 1)
	if err != nil {
		return err
	}
	wb, blocks := n.Args[1].Type.BlockFormat()
	w.wexp = make([]int, 0, w.out*len(w.lengths))
	if blocks {
		if why := sumProblem(wb, true); why != "" {
			return n.Errorf(diag.OpFormats, "%s: %s", wb, why)
		}
		w.weights = elements(wb, t.Codes)
		w.each(func(_, _, from, _ int) { w.wexp = append(w.wexp, wb.ElementExp(t.BlockScales[t.Type.Block(from)])) })
		if _, bits, _ := wb.Element().Lattice(); bits > column.SumBits {
			w.narrow()
		}
		return w.bound(n)
	}
	l, err := arith.ConstLattice(n, 1)
	if err != nil {
		return err
	}
	w.weights = l.Ints
	for c := range w.out {
		for range w.lengths {
			w.wexp = append(w.wexp, l.Exp(c))
		}
	}
	return w.bound(n)
}

// bound finds the width of block sums from the actual weights; codes that encoding never makes count too.
func (w *windowSum) bound(n *ir.Node) error {
	most := big.NewInt(0)
	w.each(func(_, _, from, to int) {
		sum := new(big.Int)
		for _, v := range w.weights[from:to] {
			sum.Add(sum, new(big.Int).Abs(big.NewInt(v)))
		}
		if sum.Cmp(most) > 0 {
			most = sum
		}
	})
	w.dBits = arith.SignedBits(new(big.Int).Lsh(most, uint(w.data.ints.W-1)))
	if w.dBits > block.WindowW || len(w.lengths) > maxBlocks {
		return n.Errorf(diag.NoBlockAccumulator,
			"%d sums of blocks of %d bits exceed a window accumulator: at most %d of %d bits",
			len(w.lengths), w.dBits, maxBlocks, block.WindowW).WithHint("give its weights a fixed format")
	}
	return nil
}

// narrow takes the zeros off that all weights of a block end in.
func (w *windowSum) narrow() {
	w.each(func(c, j, from, to int) {
		any := int64(0)
		for _, v := range w.weights[from:to] {
			any |= v
		}
		if any == 0 {
			return
		}
		zeros := bits.TrailingZeros64(uint64(any))
		for i := range w.weights[from:to] {
			w.weights[from+i] >>= zeros
		}
		w.wexp[c*len(w.lengths)+j] += zeros
	})
}

// each calls f for every block of every row: row c, block j, elements from..to-1 of the weights.
func (w *windowSum) each(f func(c, j, from, to int)) {
	for c := range w.out {
		at := c * w.in
		for j, n := range w.lengths {
			f(c, j, at, at+n)
			at += n
		}
	}
}

// addBias takes the bias to steps of the accumulator: floor, saturated.
func (w *windowSum) addBias(n *ir.Node) error {
	w.bias = make([]int64, w.out)
	if len(n.Args) < 3 {
		return nil
	}
	t, err := arith.ConstArg(n, 2)
	if err != nil {
		return err
	}
	floor := w.acc
	floor.Round, floor.Over = format.RoundFloor, format.Sat
	enter := func(c int, v int64, exp int) {
		w.bias[c] = floor.Requant(v, exp)
		w.cut = w.cut || format.FromInt(v, exp).Cmp(format.FromInt(w.bias[c], -w.acc.F)) != 0
	}
	if b, ok := t.Type.BlockFormat(); ok {
		t.EachBlock(func(block, from, to int) {
			for i := from; i < to; i++ {
				enter(i, b.ElementInt(t.Codes[i]), b.ElementExp(t.BlockScales[block]))
			}
		})
		return nil
	}
	l, err := arith.ConstLattice(n, 2)
	if err != nil {
		return err
	}
	for c := range w.bias {
		enter(c, l.Ints[c], l.Exp(c))
	}
	return nil
}

// windowTerm is d*2^s, floor, in the range of the accumulator.
func windowTerm(acc format.Fixed, d int64, s int) int64 {
	least, most := acc.Min(), acc.Max()
	switch {
	case s <= 0:
		d >>= min(-s, 63)
	case d > most>>min(s, acc.W-1):
		return most
	case d < least>>min(s, acc.W-1):
		return least
	default:
		return d << min(s, acc.W-1)
	}
	return min(max(d, least), most)
}

// row sums row c: x holds its elements in order, and the scale field of each block of them.
func (w *windowSum) row(c int, x Input) int64 {
	total := w.bias[c]
	at, weights := 0, w.weights[c*w.in:(c+1)*w.in]
	for j, n := range w.lengths {
		d := int64(0)
		for i, v := range weights[at : at+n] {
			d += v * x.Ints[at+i]
		}
		g := w.data.exp + w.wexp[c*len(w.lengths)+j]
		if w.data.fields {
			g += int(x.Fields[j])
		}
		total += windowTerm(w.acc, d, g+w.acc.F)
		at += n
	}
	return min(max(total, w.acc.Min()), w.acc.Max())
}

// Kernel computes all rows; the result is the accumulator.
func (w *windowSum) Kernel() Kernel {
	return func(x Input, out []int64) {
		for c := range out {
			out[c] = w.row(c, x)
		}
	}
}

// Groups is kernel: sums over blocks have one group, by plan.
func (w *windowSum) Groups(int) []Kernel { return []Kernel{w.Kernel()} }
