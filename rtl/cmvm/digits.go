// SPDX-License-Identifier: Apache-2.0

package cmvm

import "math/bits"

// digits writes w as a sum of signed powers of two, few of them: bit j of plus says 2^j, of minus -2^j. Where two
// digits of different signs stand two places apart, the pair is written one place lower, with equal signs, since fewer
// bits are then needed above them.
func digits(w int64) (plus, minus uint64) {
	m := magnitude(w)
	// The canonical form: no two digits in neighbouring places (Reitwiesner, 1960).
	half := m >> 1
	carry := half + m
	plus, minus = carry&^half, half&^carry
	for j := range bits.Len64(plus | minus) {
		for _, d := range [2]*[2]*uint64{{&plus, &minus}, {&minus, &plus}} {
			high, low := d[0], d[1]
			if *high>>(j+2)&1 != 0 && *low>>j&1 != 0 {
				*high ^= 4<<j | 2<<j | 1<<j
				*low ^= 1 << j
			}
		}
	}
	if w < 0 {
		plus, minus = minus, plus
	}
	return plus, minus
}

// Digits counts those of all coefficients: the terms that a matrix costs before any are shared.
func Digits(matrix [][]int64) (n int) {
	for _, row := range matrix {
		for _, w := range row {
			plus, minus := digits(w)
			n += bits.OnesCount64(plus) + bits.OnesCount64(minus)
		}
	}
	return n
}
