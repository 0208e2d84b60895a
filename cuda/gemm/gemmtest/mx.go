// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"fmt"
	"math"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
	"lathe/ir/format"
)

// Scales says how far the scales of a case lie apart.
type Scales int

// Narrow scales differ by eight at most, apart from those of blocks of zeros, which are 0; of any ones all are drawn;
// far ones are 1 to 254, and there are no blocks of zeros. Tiny and huge ones are narrow, with results about the least
// and the largest number of fp32. Void ones are narrow, but every fourth row has many of 255.
const (
	NarrowScales Scales = iota
	AnyScales
	FarScales
	TinyScales
	HugeScales
	VoidScales
)

// least is the smallest of narrow scales.
func (s Scales) least() int {
	switch s {
	case TinyScales:
		return 54
	case HugeScales:
		return 184
	}
	return 123
}

// MXBlocks draws rows of k elements and their scales.
func MXBlocks(seed uint64, operand string, rows, k int, s Scales) (q, x []byte) {
	r := Dice(seed, operand)
	q, x = make([]byte, rows*k), make([]byte, rows*ceil(k, 32))
	for i := range q {
		if q[i] = byte(r.Uint32()); r.IntN(16) == 0 {
			q[i] = [...]byte{0x80, 0x81, 0xFF, 0, 1, 127}[r.IntN(6)]
		}
	}
	for i := range x {
		x[i] = byte(s.least() + r.IntN(9))
		if s == AnyScales {
			x[i] = byte(r.IntN(255))
			if r.IntN(4) == 0 {
				x[i] = [...]byte{0, 1, 6, 7, 8, 127, 133, 253, 254, 231, 232, 236, 237}[r.IntN(13)]
			}
			if r.IntN(200) == 0 {
				x[i] = 255
			}
		}
		row, b := i/ceil(k, 32), i%ceil(k, 32)
		if s == VoidScales && row%4 == 1 && r.IntN(3) == 0 {
			x[i] = 255
		}
		if s == FarScales {
			x[i] = byte(1 + r.IntN(254))
			continue
		}
		if r.IntN(8) == 0 || x[i] == 255 {
			clear(q[row*k+b*32 : row*k+min(b*32+32, k)])
			if x[i] != 255 {
				x[i] = 0
			}
		}
	}
	return q, x
}

// transposed are scales as [blocks][pitch].
func transposed(x []byte, rows, blocks int) []byte {
	out := make([]byte, int64(blocks)*gemm.ScalePitch(rows))
	for i, v := range x {
		out[int64(i%blocks)*gemm.ScalePitch(rows)+int64(i/blocks)] = v
	}
	return out
}

// MX is the problem on random data; plan comes from p.Plan.
func MX(p gemm.MX, plan gemm.Plan, seed uint64, s Scales) cuda.Case {
	var b operandsOf
	blocks := ceil(p.K, 32)
	acts := func() ([]byte, []byte) { return MXBlocks(seed, "x", p.M, p.K, s) }
	weights := func() ([]byte, []byte) { return MXBlocks(seed, "w", p.N, p.K, s) }
	var o gemm.Operands
	o.X = b.in("x", int64(p.M)*int64(p.K), func() []byte { q, _ := acts(); return q })
	o.XScales = b.in("x scales", int64(blocks)*gemm.ScalePitch(p.M), func() []byte {
		_, x := acts()
		return transposed(x, p.M, blocks)
	})
	b.weights(&o, gemm.LayoutInt8, p.N, p.K, weights)
	b.epilogue(seed, p.Epilogue, p.M, p.N, &o)
	o.Exceeded = cuda.Null()
	if p.Wide {
		o.Exceeded = b.out("exceeded", 4)
		b.buffers[len(b.buffers)-1].Fill = func(into []byte) { clear(into) }
	}
	c := cuda.CaseOf(p, plan, o)
	c.Name = fmt.Sprintf("%s/m=%d n=%d k=%d %s", plan.Instances[0].Kernel, p.M, p.N, p.K, Text(p.Epilogue))
	c.Shape, c.Formats = fmt.Sprintf("M=%d N=%d K=%d", p.M, p.N, p.K), "mxint8 x mxint8 -> "+elementText(p.Out)
	c.Buffers, c.Int8 = b.buffers, true
	c.Check = func(outputs [][]byte) cuda.Verdict {
		xq, xs := acts()
		wq, ws := weights()
		return checkSums(p, seed, mxSum(p, xq, xs, wq, ws), outputs)
	}
	return c
}

// mxSum is the defined sum of row m of x and row n of w.
func mxSum(p gemm.MX, xq, xs, wq, ws []byte) func(m, n int) float64 {
	blocks := ceil(p.K, 32)
	return func(m, n int) float64 {
		dots := blockDots(xq[m*p.K:(m+1)*p.K], wq[n*p.K:(n+1)*p.K])
		a, b := xs[m*blocks:(m+1)*blocks], ws[n*blocks:(n+1)*blocks]
		switch {
		case !p.Wide:
			return sumBlocks(dots, a, b)
		case p.Plain() && p.Out == word.BF16:
			return sumWide(dots, a, b, 8, -133)
		}
		return sumWide(dots, a, b, 24, -149)
	}
}

// checkSums compares bits where the sums are the result, and else what the epilogue makes of them.
func checkSums(p gemm.MX, seed uint64, sum func(m, n int) float64, outputs [][]byte) cuda.Verdict {
	if !p.Plain() {
		s := func(m, n int) sums {
			v := sum(m, n)
			return sums{v, math.Abs(v)}
		}
		return check(p.Epilogue, seed, p.M, p.N, p.N*p.K, 1.0/(1<<23), s, outputs)
	}
	v := verdict{Verdict: cuda.Verdict{BitEqual: true}}
	for _, m := range sample(p.M, p.N*p.K) {
		row := make([]float64, p.N)
		for n := range row {
			row[n] = sum(m, n)
		}
		checkBits(p.Epilogue, &v, m, p.M, row, outputs)
	}
	return v.done()
}

// checkBits compares row `row` of m rows, the results being fp32 values, with what their one rounding gives.
func checkBits(e gemm.Epilogue, v *verdict, row, m int, y []float64, outputs [][]byte) {
	for col, want := range y {
		i := row*len(y) + col
		switch e.Out {
		case word.F32:
			v.value(i, F32At(outputs[0], i), want)
		case word.BF16:
			got := cuda.BF16At(outputs[0], int64(i))
			v.value(i, got, cuda.BF16(cuda.BF16Word(want)))
		case gemm.MXINT8:
			if col%32 == 0 {
				scale := outputs[1][int64(col/32)*gemm.ScalePitch(m)+int64(row)]
				checkEncoded(v, i, outputs[0][i:], scale, y[col:min(col+32, len(y))])
			}
		}
	}
}

// value demands the same value to the sign of zero; all NaN are one.
func (v *verdict) value(i int, got, want float64) {
	if math.IsNaN(got) && math.IsNaN(want) {
		v.all++
		return
	}
	v.same(i, math.Float64bits(got), math.Float64bits(want))
}

// checkEncoded demands a block of MXINT8 as the format encodes it.
func checkEncoded(v *verdict, at int, q []byte, scale byte, y []float64) {
	exact := make([]format.Exact, len(y))
	for i, f := range y {
		exact[i] = format.FromFloat32(float32(f))
	}
	codes := make([]int64, len(y))
	want := format.NewMXInt(8, 32).EncodeBlock(exact, codes)
	v.same(at, uint64(scale), uint64(want))
	for i, c := range codes {
		v.same(at+i, uint64(q[i]), uint64(byte(c)))
	}
}
