// SPDX-License-Identifier: Apache-2.0

// Package cmvm turns products of vectors with a constant integer matrix into graphs of carry chains: no multipliers,
// and as few cells of LUT and carry as it finds. It knows neither networks nor Verilog.
//
// A carry cell of the FPGAs meant here is a LUT that drives the sum and a net of its own that the carry chooses: it
// adds one bit to any function of up to five others. A Chain is a row of such cells, where the function is a bit of the
// count of ones among those five, so that three cells in neighbouring columns add up six bits of one column.
package cmvm

import (
	"fmt"
	"math/bits"
	"slices"
)

// Range is what an input may be: Lo to Hi, both included.
type Range struct{ Lo, Hi int64 }

// A Problem is y[o] = Bias[o] + Scale[o] * sum_i Matrix[o][i] * x[i], with x[i] in Inputs[i].
type Problem struct {
	Matrix [][]int64
	Inputs []Range
	Bias   []int64 // one an output; nil: zeros
	// Scale multiplies finished sums, which takes less than coefficients that are so much longer; nil: ones.
	Scale []int64
	// Group is the largest number of bits that a function of a cell counts: 5 where a LUT of six inputs stands in front of
	// a carry, 1 where cells only add two bits.
	Group int
	// Levels bounds the longest path, in the units of Graph.Levels; 0: no bound, the least hardware.
	Levels float64
	// Effort is how many ways each heap of bits is added up, to keep the best; 0: DefaultEffort. A quarter as many ways
	// to share sums are tried at most.
	Effort int
}

// DefaultEffort is the number of settings that are tried for a heap.
const DefaultEffort = 128

// maxBits bounds every sum, so that all of them fit an int64.
const maxBits = 62

// check refuses what cannot be solved, and completes what is left out.
func (p *Problem) check() error {
	if p.Group != 1 && p.Group != 5 {
		return fmt.Errorf("cells count 1 or 5 bits, not %d", p.Group)
	}
	if p.Bias == nil {
		p.Bias = make([]int64, len(p.Matrix))
	}
	if p.Scale == nil {
		p.Scale = slices.Repeat([]int64{1}, len(p.Matrix))
	}
	if len(p.Bias) != len(p.Matrix) || len(p.Scale) != len(p.Matrix) {
		return fmt.Errorf("%d biases and %d scales for %d outputs", len(p.Bias), len(p.Scale), len(p.Matrix))
	}
	if p.Effort == 0 {
		p.Effort = DefaultEffort
	}
	for i, r := range p.Inputs {
		if r.Lo > r.Hi {
			return fmt.Errorf("input %d: no number is in %d to %d", i, r.Lo, r.Hi)
		}
	}
	for o, row := range p.Matrix {
		if len(row) != len(p.Inputs) {
			return fmt.Errorf("row %d has %d coefficients for %d inputs", o, len(row), len(p.Inputs))
		}
		if _, err := p.Range(o); err != nil {
			return err
		}
	}
	return nil
}

// reach is the range of a sum, as the sum of the ranges of its terms.
type reach struct {
	Range
	over bool // beyond maxBits
}

// Range is that of an output, or the error that it has too many bits.
func (p *Problem) Range(o int) (Range, error) {
	r := p.reach(o)
	if r.over {
		return r.Range, fmt.Errorf("row %d: sums of more than %d bits", o, maxBits)
	}
	return r.Range, nil
}

func (p *Problem) reach(o int) reach {
	sum := reachOf(p.Matrix[o], p.Inputs, 0)
	r := newReach(p.Bias[o])
	r.add(p.Scale[o], sum.Range)
	r.over = r.over || sum.over
	return r
}

// reachOf is that of the products of a row, and a start.
func reachOf(row []int64, inputs []Range, start int64) reach {
	r := newReach(start)
	for i, w := range row {
		r.add(w, inputs[i])
	}
	return r
}

func newReach(start int64) reach {
	r := reach{Range: Range{start, start}}
	r.over = width(start) > maxBits
	return r
}

func (r *reach) add(w int64, x Range) {
	lo, ok1 := product(w, x.Lo)
	hi, ok2 := product(w, x.Hi)
	if w < 0 {
		lo, hi = hi, lo
	}
	r.Lo, r.Hi = r.Lo+lo, r.Hi+hi
	r.over = r.over || !ok1 || !ok2 || width(r.Lo) > maxBits || width(r.Hi) > maxBits
}

// product is a * b, and whether that has maxBits bits at most.
func product(a, b int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	return a * b, high == 0 && bits.Len64(low) < maxBits
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// width is the number of bits of v in two's complement, sign included; 1 for zero.
func width(v int64) int { return bits.Len64(uint64(v^(v>>63))) + 1 }

// Bits is the number of bits that numbers of r need: unsigned if none is negative, else two's complement.
func (r Range) Bits() int {
	if r.Lo >= 0 {
		return bits.Len64(uint64(r.Hi))
	}
	return max(width(r.Lo), width(r.Hi))
}
