// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"fmt"
	"math"
	"testing"

	"lathe/cuda/cudatest"
	"lathe/cuda/reduce"
	"lathe/cuda/word"
	"lathe/internal/tools"
)

// TestEdges has rows that end around the ends of what a team holds or takes at a time, by single values and by eight.
// Every second row begins and ends with what is no number, so that a value of the row beside it is seen; the last value
// of the last row outweighs the others.
func TestEdges(t *testing.T) {
	ends := []int64{256, 1024, 4096, 8192, 3 * 2048, 2 * 8192}
	if tools.Long {
		ends = append(ends, 512, 2048, 4*2048, 3*8192)
	}
	for _, end := range ends {
		step := int64(1)
		if end%8192 == 0 {
			step = 8 // no team takes as many single values
		}
		for _, cols := range []int64{end - step, end, end + step} {
			m := reduce.Matrix{Rows: 3, Cols: cols, Unaligned: end == 3*2048}
			t.Run(fmt.Sprint(cols), func(t *testing.T) {
				t.Parallel()
				soft := newSoftmax(reduce.Softmax{Matrix: m, In: word.BFloat16, Out: word.BFloat16})
				apart(soft.x, cols)
				soft.check(t, cudatest.Run(t, quick(soft.job(t)))[0])
				for _, rms := range []bool{false, true} {
					norm := newNorm(reduce.Norm{Matrix: m, In: word.BFloat16, Out: word.BFloat16, Gain: word.BFloat16, Eps: 1e-5,
						RMS: rms})
					apart(norm.x, cols)
					norm.check(t, cudatest.Run(t, quick(norm.job(t))))
				}
			})
		}
	}
}

// apart makes the second of three rows begin with an infinity and end with NaN, and the third end with a large value.
func apart(x []float64, cols int64) { x[cols], x[2*cols-1], x[3*cols-1] = math.Inf(1), math.NaN(), 96 }

func quick(j cudatest.Job) cudatest.Job {
	j.Quick = true
	return j
}
