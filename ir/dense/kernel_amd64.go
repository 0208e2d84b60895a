// SPDX-License-Identifier: Apache-2.0

package dense

import "golang.org/x/sys/cpu"

// The kernels in assembly; the second one needs AVX-512, too.
var (
	kernelAVX2 = kernel{tile: tileAVX2, floats: floatsAVX2, bytes: bytesAVX2, dotFloats: dotFloatsAVX2,
		dotBytes: dotBytesAVX2}
	kernelAVX512 = kernel{tile: tileAVX512, floats: floatsAVX2, bytes: bytesAVX2, dotFloats: dotFloatsAVX2,
		dotBytes: dotBytesAVX2}
)

// fastest is the kernel of the widest registers that this processor and its system have.
func fastest() kernel {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return plainKernel
	case cpu.X86.HasAVX512F:
		return kernelAVX512
	}
	return kernelAVX2
}

func tileAVX512(n int, left []float64, stride int, panel, sums []float64) {
	if n == 0 {
		return
	}
	_, _, _ = left[(tileRows-1)*stride+2*n-2], panel[(2*n-1)*tileCols-1], sums[tileRows*tileCols-1]
	tile8x16(n, &left[0], 8*stride, &panel[0], &sums[0])
}

func tileAVX2(n int, left []float64, stride int, panel, sums []float64) {
	if n == 0 {
		return
	}
	_, _, _ = left[(tileRows-1)*stride+2*n-2], panel[(2*n-1)*tileCols-1], sums[tileRows*tileCols-1]
	for r := 0; r < tileRows; r += 4 {
		tile4x8(n, &left[r*stride], 8*stride, &panel[0], &sums[r*tileCols])
		tile4x8(n, &left[r*stride], 8*stride, &panel[8], &sums[r*tileCols+8])
	}
}

func floatsAVX2(n int, from []float32, row int, panel []float64) {
	if n == 0 {
		return
	}
	_, _ = from[3*row+n-1], panel[(n-1)*tileCols+3]
	floats4x4(n/4, &from[0], 4*row, &panel[0])
}

func bytesAVX2(n int, from []byte, row int, panel []float64) {
	if n == 0 {
		return
	}
	_, _ = from[4*(3*row+n)-1], panel[(n-1)*tileCols+3]
	bytes4x4(n/4, &from[0], 4*row, &panel[0])
}

func dotFloatsAVX2(n int, from []float32, row int, x, sums []float64) {
	if n == 0 {
		return
	}
	_, _, _ = from[3*row+n-1], x[n-1], sums[7]
	dotFloats4(n/2, &from[0], 4*row, &x[0], &sums[0])
}

func dotBytesAVX2(n int, from []byte, row int, x, sums []float64) {
	if n == 0 {
		return
	}
	_, _, _ = from[4*(3*row+n)-1], x[n-1], sums[7]
	dotBytes4(n/2, &from[0], 4*row, &x[0], &sums[0])
}

// tile8x16 is kernel.tile of n > 0 in AVX-512; stride is in bytes.
//
//go:noescape
func tile8x16(n int, left *float64, stride int, panel, sums *float64)

// tile4x8 is the upper left quarter of kernel.tile of n > 0 in AVX2 and FMA; stride is in bytes.
//
//go:noescape
func tile4x8(n int, left *float64, stride int, panel, sums *float64)

// floats4x4 is kernel.floats of 4*n > 0 elements in AVX2; row is in bytes.
//
//go:noescape
func floats4x4(n int, from *float32, row int, panel *float64)

// bytes4x4 is floats4x4 from bytes.
//
//go:noescape
func bytes4x4(n int, from *byte, row int, panel *float64)

// dotFloats4 is kernel.dotFloats of 2*n > 0 elements in AVX2 and FMA; row is in bytes.
//
//go:noescape
func dotFloats4(n int, from *float32, row int, x, sums *float64)

// dotBytes4 is dotFloats4 from bytes.
//
//go:noescape
func dotBytes4(n int, from *byte, row int, x, sums *float64)
