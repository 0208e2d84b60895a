// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
)

// NearTies is a product of a row and 32 columns over three blocks, whose sums are ties of the result but for a last
// term
// far below: p0 + 1 + 2^-far in some unit, with p0 = 2^8 for bf16 and 2^24 for fp32; `far` ones lie beyond sums of
// 64 bits. Bias and residual are 0, and gated sums are multiplied by 1, so that all depends on one rounding.
func NearTies(p gemm.MX, plan gemm.Plan, far bool) cuda.Case {
	e := p.Epilogue
	x, xs := make([]byte, 96), []byte{127, 127, 127}
	x[0], x[32], x[64] = 64, 1, 1
	w, ws := make([]byte, 32*96), make([]byte, 32*3)
	for n := range 32 {
		down := byte(n%8 + 22) // beyond fp32 where the first two terms are a tie of bf16
		if far {
			down += 50 // beyond 64 bits, in the last of the words
			xs[2] = 1
		}
		row := w[n*96 : n*96+96]
		row[0], row[32], row[64] = 64, 1, 1 // 2^12
		shift := byte(12)                   // 2^24
		if e.Out == word.BF16 {
			row[0], shift = 4, 0 // 2^8
		}
		if n%2 == 1 {
			row[0], row[32], row[64] = -row[0], 0xFF, 0xFF
		}
		if n%3 == 2 {
			row[64] = 0 // a tie
		}
		ws[n*3], ws[n*3+1], ws[n*3+2] = 100+shift, 100, 100-down
		if e.Gate && n%2 == 1 {
			row[0], row[32], row[64], ws[n*3] = 64, 0, 0, 127 // 1
		}
	}
	c := MX(p, plan, 1, NarrowScales)
	for i, data := range [][]byte{x, transposed(xs, 1, 3), gemm.LayoutInt8.Pack(w, 32, 96),
		gemm.LayoutInt8.PackScales(ws, 32, 96)} {
		c.Buffers[i].Fill = func(into []byte) { copy(into, data) }
	}
	for i := range c.Buffers[4:] {
		if b := &c.Buffers[4+i]; b.Fill != nil {
			b.Fill = func(into []byte) { clear(into) }
		}
	}
	c.Check = func(outputs [][]byte) cuda.Verdict {
		sum, row := mxSum(p, x, xs, w, ws), make([]float64, e.Columns(32))
		for i := range row {
			if row[i] = sum(0, i); e.Gate {
				row[i] = sum(0, 2*i)
			}
			row[i] = activate(e.Act, row[i])
		}
		v := verdict{Verdict: cuda.Verdict{BitEqual: true}}
		checkBits(p.Epilogue, &v, 0, 1, row, outputs)
		return v.done()
	}
	return c
}
