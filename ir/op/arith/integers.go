// SPDX-License-Identifier: Apache-2.0

package arith

import (
	"math/big"

	"lathe/ir/format"
)

// Integers is a format seen as integers: the code q has the value (q-zero)*step.
type Integers struct {
	Ints format.Fixed // the codes q as numbers, F = 0, with rounding and overflow
	Zero int64
	Step format.Exact
}

// IntegersOf is the view of fixed formats and of affine ones with one scale.
func IntegersOf(f format.Format) (Integers, bool) {
	v, ok := format.IntegersOf(f)
	return Integers{v.Codes, v.Zero, v.Step}, ok
}

// Span is the range of q-zero over all codes, those included that encoding never returns.
func (c Integers) Span() (lo, hi int64) {
	return format.Integers{Codes: c.Ints, Zero: c.Zero}.Span()
}

// IsFixed says that codes of f are integers times a power of two, which adders and shifters compute on directly.
func IsFixed(f format.Format) bool { return format.IsFixed(f) }

// Bits is the width of a two's complement number that holds every code without its zero point.
func (c Integers) Bits() int {
	lo, hi := c.Span()
	return format.SignedBits(big.NewInt(lo), big.NewInt(hi))
}
