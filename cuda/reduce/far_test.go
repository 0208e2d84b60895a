// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"fmt"
	"testing"

	"lathe/cuda/cudatest"
	"lathe/cuda/reduce"
	"lathe/cuda/word"
)

// behind is a number of rows that fills blocks of threads and, times the columns of the tests, exceeds 2^32 elements.
const behind = 1 << 24

// TestNormFar takes the last rows of norms of more than 2^32 elements, those that add before and make blocks after
// among them: rows in registers of every team, and rows that are read twice.
func TestNormFar(t *testing.T) {
	for _, rms := range []bool{false, true} {
		for i, cols := range []int64{264, 1000, 4104, 9000} {
			p := reduce.Norm{Matrix: reduce.Matrix{Rows: 5, Cols: cols}, RMS: rms, Eps: 1e-5, Add: true,
				In: word.BFloat16, Out: word.Float32, Gain: word.BFloat16}
			blocks := (cols + 31) / 32
			if i%2 == 0 {
				p.Quant = &reduce.Blocks{Stride: (cols + 15) / 16 * 16, Row: blocks, Block: 1}
			}
			t.Run(fmt.Sprintf("rms=%v/%d", rms, cols), func(t *testing.T) {
				t.Parallel()
				near, far := newNorm(p), normCase{p: p}
				far.p.Rows += behind
				far.noGain, far.noBias = near.noGain, near.noBias
				a, b := near.job(t), far.job(t)
				b.Buffers = sized(a.Buffers, far.p.Rows, p.Rows)
				a.Quick = true
				places := map[string]cudatest.Place{"x": {At: 2 * behind * cols}, "addend": {At: 2 * behind * cols},
					"sum": {At: 2 * behind * cols}, "y": {At: 4 * behind * cols}, "scales": {At: behind * blocks}}
				if p.Quant != nil {
					places["y"] = cudatest.Place{At: behind * p.Quant.Stride}
				}
				cudatest.Far(t, a, b, places)
			})
		}
	}
}

// sized are buffers of a matrix of more rows; gain and bias are the same.
func sized(buffers []cudatest.Buffer, rows, few int64) (out []cudatest.Buffer) {
	for _, b := range buffers {
		size := max(b.Bytes, int64(len(b.Data)))
		if b.Name != "gain" && b.Name != "bias" {
			size = size / few * rows
		}
		out = append(out, cudatest.Buffer{Name: b.Name, Bytes: size, Out: b.Out})
	}
	return out
}

// TestSoftmaxFar does so with a mask of a row for each.
func TestSoftmaxFar(t *testing.T) {
	for _, cols := range []int64{264, 4104, 9000} {
		p := reduce.Softmax{Matrix: reduce.Matrix{Rows: 5, Cols: cols}, In: word.Float32, Out: word.BFloat16,
			Mask: &reduce.MaskRows{Div: 1, Mul: 1, Mod: 1}}
		t.Run(fmt.Sprint(cols), func(t *testing.T) {
			t.Parallel()
			near, far := newSoftmax(p), softmaxCase{p: p}
			far.p.Rows += behind
			a, b := near.job(t), softmaxCase{p: far.p, mask: []byte{0}}.job(t)
			b.Buffers = sized(a.Buffers, far.p.Rows, p.Rows)
			a.Quick = true
			near.check(t, cudatest.Far(t, a, b, map[string]cudatest.Place{"x": {At: 4 * behind * cols},
				"mask": {At: behind * cols}, "y": {At: 2 * behind * cols}})[0])
		})
	}
}
