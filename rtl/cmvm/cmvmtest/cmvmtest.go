// SPDX-License-Identifier: Apache-2.0

// Package cmvmtest has the constant matrices for which sizes are quoted.
package cmvmtest

// Matrix is the one of so many outputs and inputs whose coefficients of width bits, two's complement, a linear
// congruence makes, input by input.
func Matrix(in, out, width int) [][]int64 {
	m := make([][]int64, out)
	for o := range m {
		m[o] = make([]int64, in)
	}
	x := uint64(1)
	for i := range in {
		for o := range out {
			x = (1103515245*x + 12345) % (1 << 31)
			m[o][i] = int64((x>>16)%(1<<width)) - 1<<(width-1)
		}
	}
	return m
}
