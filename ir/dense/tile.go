// SPDX-License-Identifier: Apache-2.0

package dense

// tile adds to sums, tileRows x tileCols of them, the products of every second index: sums[r][c] += left[r*stride +
// 2*i] * panel[2*i][c] for i < n, in this order.
type tile func(n int, left []float64, stride int, panel, sums []float64)

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
