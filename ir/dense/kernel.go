// SPDX-License-Identifier: Apache-2.0

package dense

import (
	"encoding/binary"
	"math"
)

// kernel is the inner loops, for one kind of processor.
type kernel struct {
	// tile adds to sums, tileRows x tileCols of them, the products of every second index: sums[r][c] +=
	// left[r*stride + 2*i] * panel[2*i][c] for i < n, in this order.
	tile func(n int, left []float64, stride int, panel, sums []float64)
	// floats writes n elements, a multiple of 4, of each of four rows, row apart, as panel[k][0 to 3]; bytes does so
	// from little-endian bytes.
	floats func(n int, from []float32, row int, panel []float64)
	bytes  func(n int, from []byte, row int, panel []float64)
	// dotFloats adds to sums[2*r] and sums[2*r+1] the products of even and of odd index of x and each of four rows, row
	// apart, in this order; n, an even number, is how many there are. dotBytes does so from little-endian bytes.
	dotFloats func(n int, from []float32, row int, x, sums []float64)
	dotBytes  func(n int, from []byte, row int, x, sums []float64)
}

// plainKernel is written in Go.
var plainKernel = kernel{tile: tileGo, floats: floatsGo, bytes: bytesGo, dotFloats: dotFloatsGo, dotBytes: dotBytesGo}

// tileGo is tile in Go. A compiler may fuse product and sum: the product is exact, so that nothing changes.
func tileGo(n int, left []float64, stride int, panel, sums []float64) {
	for r := 0; r < tileRows; r += 2 {
		for c := 0; c < tileCols; c += 4 {
			low, high := sums[r*tileCols+c:][:4], sums[(r+1)*tileCols+c:][:4]
			s0, s1, s2, s3 := low[0], low[1], low[2], low[3]
			t0, t1, t2, t3 := high[0], high[1], high[2], high[3]
			x, y := left[r*stride:], left[(r+1)*stride:]
			for i := range n {
				w := panel[2*i*tileCols+c:][:4]
				a, b := x[2*i], y[2*i]
				s0, s1, s2, s3 = s0+a*w[0], s1+a*w[1], s2+a*w[2], s3+a*w[3]
				t0, t1, t2, t3 = t0+b*w[0], t1+b*w[1], t2+b*w[2], t3+b*w[3]
			}
			low[0], low[1], low[2], low[3] = s0, s1, s2, s3
			high[0], high[1], high[2], high[3] = t0, t1, t2, t3
		}
	}
}

func floatsGo(n int, from []float32, row int, panel []float64) {
	for r := range 4 {
		for k, v := range from[r*row:][:n] {
			panel[k*tileCols+r] = float64(v)
		}
	}
}

func bytesGo(n int, from []byte, row int, panel []float64) {
	for r := range 4 {
		for k := range n {
			v := math.Float32frombits(binary.LittleEndian.Uint32(from[4*(r*row+k):]))
			panel[k*tileCols+r] = float64(v)
		}
	}
}

func dotFloatsGo(n int, from []float32, row int, x, sums []float64) {
	x = x[:n]
	for r := range 4 {
		w, even, odd := from[r*row:][:n], sums[2*r], sums[2*r+1]
		for k := 0; k+1 < len(w) && k+1 < len(x); k += 2 {
			even += float64(w[k]) * x[k]
			odd += float64(w[k+1]) * x[k+1]
		}
		sums[2*r], sums[2*r+1] = even, odd
	}
}

func dotBytesGo(n int, from []byte, row int, x, sums []float64) {
	for r := range 4 {
		w, v, even, odd := from[4*r*row:][:4*n], x[:n], sums[2*r], sums[2*r+1]
		for len(w) >= 8 && len(v) >= 2 {
			even += float64(math.Float32frombits(binary.LittleEndian.Uint32(w))) * v[0]
			odd += float64(math.Float32frombits(binary.LittleEndian.Uint32(w[4:]))) * v[1]
			w, v = w[8:], v[2:]
		}
		sums[2*r], sums[2*r+1] = even, odd
	}
}
