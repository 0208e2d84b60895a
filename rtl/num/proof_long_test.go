// SPDX-License-Identifier: Apache-2.0

//go:build long

package num_test

import (
	"fmt"
	"lathe/rtl/num"
	"testing"
)

// TestRequantProofs proves every rounding with every overflow, signed and unsigned on both sides, at several widths: a
// narrowing cast, one of 40 bits, a shift to the left, one beyond the input, one that widens.
func TestRequantProofs(t *testing.T) {
	for _, shape := range []cast{{in: 16, shift: 5, out: 8}, {in: 40, shift: 17, out: 12}, {in: 9, shift: -3, out: 10},
		{in: 6, shift: 9, out: 4}, {in: 7, shift: 1, out: 12}, {in: 10, shift: 0, out: 6}, {in: 1, shift: 1, out: 1}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			t.Parallel()
			for modes := range 9 * 5 * 4 {
				c := shape
				c.round, c.over, c.signed, c.outSigned = modes%9, modes/9%5, modes/45%2, modes/90
				c.over = limited(num.Cast{Signed: c.outSigned == 1, Over: c.over}, c.out).Over
				requant(c).Prove(t)
			}
		})
	}
}

func TestQuotientProofs(t *testing.T) {
	for _, divisor := range []int{3, 5, 7, 9, 12, 25} {
		t.Run(fmt.Sprint(divisor), func(t *testing.T) {
			t.Parallel()
			for round := range 9 {
				quotient(cast{7, round % 2, 0, 6, 1, round, round % 3}, 0, divisor).Prove(t)
				quotient(cast{6, 1, 0, 6, 1, round, 0}, 2, divisor).Prove(t)
				quotient(cast{7, 1, 0, 4, 1, round, 0}, -1, divisor).Prove(t)
			}
		})
	}
}
