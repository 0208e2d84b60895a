// SPDX-License-Identifier: Apache-2.0

package tile

import (
	"math"

	"lathe/cuda/ptx/lane"
)

// Integer multiplies integers of 4 or 8 bits with accumulators of 32; sat clamps where they would wrap.
func Integer(s Shape, signedA, signedB, sat bool, d, ra, rb, rc []*lane.Row) {
	var a [16][maxK]int32
	var b [8][maxK]int32
	per := s.Per()
	for reg, row := range ra {
		for l, v := range row {
			i, k := s.A(l, reg, 0)
			spread(a[i][k:k+per], uint32(v), s.Bits, signedA)
		}
	}
	for reg, row := range rb {
		for l, v := range row {
			k, j := s.B(l, reg, 0)
			spread(b[j][k:k+per], uint32(v), s.Bits, signedB)
		}
	}
	var sum [16][8]int32
	var c [16][8]int64
	for reg, row := range rc {
		for l, v := range row {
			i, j := C(l, reg)
			c[i][j] = int64(int32(v))
		}
	}
	for i := range a {
		for j := 0; j < 8; j += 4 {
			var p, q, r, t int32
			b0, b1, b2, b3 := &b[j], &b[j+1], &b[j+2], &b[j+3]
			for k, x := range a[i][:s.K] {
				p += x * b0[k]
				q += x * b1[k]
				r += x * b2[k]
				t += x * b3[k]
			}
			sum[i][j], sum[i][j+1], sum[i][j+2], sum[i][j+3] = p, q, r, t
		}
	}
	for reg, row := range d {
		for l := range row {
			i, j := C(l, reg)
			v := c[i][j] + int64(sum[i][j])
			if sat {
				v = min(max(v, math.MinInt32), math.MaxInt32)
			}
			row[l] = uint64(uint32(v))
		}
	}
}

// spread parts a register into its elements.
func spread(out []int32, v uint32, bits int, signed bool) {
	for j := range out {
		x := v << (32 - bits - j*bits)
		if signed {
			out[j] = int32(x) >> (32 - bits)
		} else {
			out[j] = int32(x >> (32 - bits))
		}
	}
}

// Transposed says which element of a matrix of 8x8 a lane gets as half j of ldmatrix with .trans; without, row and
// column are exchanged.
func Transposed(l, j int) (row, col int) { return l%4*2 + j, l / 4 }
