// SPDX-License-Identifier: Apache-2.0

package block

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/lane"
)

// Lanes lists the lanes, ascending, that a beat of type t may have: those that divide the length of every block.
func Lanes(t ir.Type) []int { return lane.Divisors(CommonLength(t.BlockLengths())) }

// CommonLength is the greatest number that divides all lengths.
func CommonLength(lengths []int) int {
	common := 0
	for _, n := range lengths {
		for n != 0 {
			common, n = n, common%n
		}
	}
	return max(common, 1)
}

// CheckLanes reports lanes of a stream of blocks that are not legal.
func CheckLanes(n *ir.Node, key string, lanes int, t ir.Type) *diag.Error {
	lengths := t.BlockLengths()
	e := lane.Check(n, key, lanes, Lanes(t), slices.Min(lengths), "elements of the shortest block")
	if e != nil {
		e.Code = diag.BlockLanes
	}
	return e
}

// ScaleRange is what is known of the scale exponents of blocks that node x makes, e in [lo, hi], and of their values:
// multiples of 2^step. Blocks of zeros count for neither.
func ScaleRange(x *ir.Node) (lo, hi, step int) {
	b, _ := x.Type.BlockFormat()
	for len(x.Args) == 1 && x.Args[0].Type.InBlocks() {
		x = x.Args[0]
	}
	if len(x.Args) == 1 { // a cast
		if fx, ok := format.AsFixed(x.Args[0].Type.Format); ok {
			return EncodedRange(b, fx)
		}
	}
	lo, hi = b.ScaleLimits()
	return lo, hi, b.ElementExp(format.LeastField(b))
}

// EncodedRange is ScaleRange of blocks of b that are encoded from values of the format fx.
func EncodedRange(b format.Block, fx format.Fixed) (lo, hi, step int) {
	step = max(b.ElementExp(format.LeastField(b)), -fx.F)
	most := int64(1)<<fx.W - 1
	if fx.Signed {
		most = 1 << (fx.W - 1) // the magnitude of the least code
	}
	scale := func(v int64) int { return b.ScaleExp(b.EncodeInts([]int64{v}, -fx.F, make([]int64, 1))) }
	return scale(1), scale(most), step
}

// Drain is how many of rows sums leave a cycle, so that those of the shortest block are gone before the next are there.
func Drain(rows, lanes int, lengths []int) int {
	beats := max(slices.Min(lengths)/max(lanes, 1), 1)
	for _, d := range lane.Divisors(rows) {
		if rows/d <= beats {
			return d
		}
	}
	return rows
}
