// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"testing"

	"lathe/cuda/cudatest"
	"lathe/cuda/reduce"
	"lathe/cuda/word"
)

// TestWide runs the last rows of matrices of more than 2^31 elements, of which only the ends exist.
func TestWide(t *testing.T) {
	for _, c := range []struct {
		rows, cols  int64
		first, each int64 // the first row that exists, and the rows of a block
	}{{1<<21 + 3, 1024, 1 << 21, 4}, {1<<19 + 2, 4104, 1 << 19, 1}, {1<<18 + 1, 9000, 1 << 18, 1}} {
		m := reduce.Matrix{Rows: c.rows, Cols: c.cols}
		few := newSoftmax(reduce.Softmax{Matrix: reduce.Matrix{Rows: c.rows - c.first, Cols: c.cols}, In: word.BFloat16,
			Out: word.Float32})
		all := few
		all.p.Matrix = m
		j := all.job(t)
		j.First, j.Quick = c.first/c.each, true
		at := c.first * c.cols
		j.Buffers[0] = cudatest.Buffer{Name: "x", Bytes: 2 * c.rows * c.cols, Sparse: true,
			Pieces: []cudatest.Piece{{At: 2 * at, Data: encode(word.BFloat16, few.x)}}}
		j.Buffers[1] = cudatest.Buffer{Name: "y", Bytes: 4 * c.rows * c.cols, Sparse: true, Out: true,
			Pieces: []cudatest.Piece{{At: 4 * at, Bytes: 4 * (c.rows - c.first) * c.cols}}}
		few.check(t, cudatest.Run(t, j)[0])
	}
}
