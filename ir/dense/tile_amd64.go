// SPDX-License-Identifier: Apache-2.0

package dense

import "golang.org/x/sys/cpu"

// fastest is the tile of the widest registers that this processor and its system have.
func fastest() tile {
	switch {
	case cpu.X86.HasAVX512F:
		return tileAVX512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return tileAVX2
	}
	return tileGo
}

func tileAVX512(n int, left []float64, stride int, panel, sums []float64) {
	if n == 0 {
		return
	}
	_, _, _ = left[7*stride+2*n-2], panel[(2*n-2)*tileCols+tileCols-1], sums[tileRows*tileCols-1]
	tile8x16(n, &left[0], 8*stride, &panel[0], &sums[0])
}

func tileAVX2(n int, left []float64, stride int, panel, sums []float64) {
	if n == 0 {
		return
	}
	_, _, _ = left[7*stride+2*n-2], panel[(2*n-2)*tileCols+tileCols-1], sums[tileRows*tileCols-1]
	for r := 0; r < tileRows; r += 4 {
		tile4x8(n, &left[r*stride], 8*stride, &panel[0], &sums[r*tileCols])
		tile4x8(n, &left[r*stride], 8*stride, &panel[8], &sums[r*tileCols+8])
	}
}

// tile8x16 is tile of n > 0 in AVX-512; stride is in bytes.
//
//go:noescape
func tile8x16(n int, left *float64, stride int, panel, sums *float64)

// tile4x8 is the upper left quarter of tile of n > 0 in AVX2 and FMA; stride is in bytes.
//
//go:noescape
func tile4x8(n int, left *float64, stride int, panel, sums *float64)
