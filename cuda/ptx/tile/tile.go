// SPDX-License-Identifier: Apache-2.0

// Package tile holds the tensor-core instructions: which element of a matrix each register of each lane holds, and the
// products of matrices that lie in registers so.
//
// A product of floats is the sum of the products of the exact elements and the accumulator in double precision, k
// ascending, rounded once at the end. Tensor cores add in an order and a precision that are not published; so this is
// an ideal, not a prediction of bits. Products of integers are exact.
package tile

import "lathe/cuda/ptx/lane"

// Shape is a shape of mma.sync with its elements: d[M,N] += a[M,K] * b[K,N], of M = 16 and N = 8.
type Shape struct {
	// K is the depth; Bits the width of an element of a and b.
	K, Bits int
}

// Per is the number of elements a register.
func (s Shape) Per() int { return 32 / s.Bits }

// RegsA and RegsB are the numbers of registers of a and b.
func (s Shape) RegsA() int { return 16 * s.K * s.Bits / 32 / lane.Width }

// RegsB is the number of registers of b.
func (s Shape) RegsB() int { return 8 * s.K * s.Bits / 32 / lane.Width }

// A gives row and column (k) of element j of register reg of a lane (PTX ISA, figures of mma.m16n8k*).
func (s Shape) A(l, reg, j int) (row, k int) {
	return l/4 + reg%2*8, reg/2*4*s.Per() + l%4*s.Per() + j
}

// B gives row (k) and column of element j of register reg of a lane.
func (s Shape) B(l, reg, j int) (k, col int) {
	return reg*4*s.Per() + l%4*s.Per() + j, l / 4
}

// C gives row and column of register reg of a lane, for accumulators of 32 bits.
func C(l, reg int) (row, col int) { return l/4 + reg/2*8, l%4*2 + reg%2 }

// C16 gives row and column of half j of register reg of a lane, for accumulators of 16 bits.
func C16(l, reg, j int) (row, col int) { return l/4 + reg*8, l%4*2 + j }

// maxK is the depth that fits the buffers below.
const maxK = 64
