// SPDX-License-Identifier: Apache-2.0

package gemmtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/cuda/word"
)

// Dice are the random numbers of one operand of a case.
func Dice(seed uint64, operand string) *rand.Rand {
	h := uint64(14695981039346656037)
	for _, c := range []byte(operand) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}

// largeBlock says that a block of k is one in which weights may have the largest scales: activations are tiny there, so
// that sums stay finite. It is every second one.
func largeBlock(b int) bool { return b%2 == 1 }

// every says which rows of weights are corners: all, or the first 24 of so many.
type every int

// The places of corners: none; in all eight rows; so that some blocks of an MXINT8 result are free of NaN.
const (
	never  every = 0
	always every = 24
	rarely every = 128
)

// cornersFor is the place of corners for an epilogue.
func cornersFor(e gemm.Epilogue, corners bool) every {
	switch {
	case !corners:
		return never
	case e.Out == gemm.MXINT8:
		return rarely
	}
	return always
}

// weightBlocks draws MXINT8 weights: n rows of k elements and their scales. In eight rows with corners there are some
// whose scales are all among the smallest, one with the largest, one with NaN over zeros; others have scales about 1.
func weightBlocks(seed uint64, n, k int, corners every) (q, x []byte) {
	r := Dice(seed, "w")
	q, x = make([]byte, n*k), make([]byte, n*ceil(k, 32))
	for i := range q {
		q[i] = byte(r.Uint32())
	}
	for i := range x {
		x[i] = byte(124 + r.IntN(10))
	}
	for row := range n {
		if corners != never && row%int(corners) < 24 {
			cornerRow(r, row, q[row*k:(row+1)*k], x[row*ceil(k, 32):(row+1)*ceil(k, 32)])
		}
	}
	return q, x
}

var smallest = [3][2]byte{{0, 1}, {1, 6}, {7, 8}}

func cornerRow(r *rand.Rand, row int, q, x []byte) {
	for b := range x {
		block := q[b*32 : min(b*32+32, len(q))]
		switch kind := row % 8; {
		case kind < 3:
			x[b] = smallest[kind][r.IntN(2)]
		case kind == 3 && largeBlock(b):
			x[b] = byte(253 + r.IntN(2))
			for i := range block {
				if block[i] == 0x80 && row%16 != 3 {
					block[i] = 0x81 // -128 with 254 is -Inf: in some rows only
				}
			}
		case kind == 4 && b == row/8%len(x):
			x[b] = 255
			clear(block)
		case r.IntN(8) == 0:
			clear(block)
			if r.IntN(2) == 0 {
				block[r.IntN(len(block))] = byte(r.Uint32())
			}
		case r.IntN(8) == 0:
			for i := range block {
				block[i] = [...]byte{0x80, 0x81, 0xFF, 0, 1, 127}[r.IntN(6)]
			}
		}
	}
}

// activations draws bf16 rows; with corners row 1 is -0, row 2 has an infinity and row 3 a NaN. The rows beside rows of
// numbers begin or end with an infinity: where a kernel reads beyond a row, 0 times that is NaN.
func activations(seed uint64, m, k int, corners bool) []byte {
	r := Dice(seed, "x")
	out := make([]byte, 0, 2*m*k)
	for row := range m {
		for col := range k {
			v := float32(r.NormFloat64())
			if corners && largeBlock(col/32) {
				v *= 1.0 / (1 << 30)
			}
			switch {
			case corners && row == 1:
				v = float32(math.Copysign(0, -1))
			case corners && row == 2 && col == k/2, corners && (row == 3 || row == 5) && col == 0,
				corners && row == 7 && col == k-1:
				v = float32(math.Inf(1))
			case corners && row == 3 && col == k-1:
				v = float32(math.NaN())
			}
			out = binary.LittleEndian.AppendUint16(out, cuda.BF16Word(float64(v)))
		}
	}
	return out
}

// Floats draws fp32 numbers; as bf16 where size is 2.
func Floats(r *rand.Rand, n, size int) []byte {
	var out []byte
	for range n {
		v := float32(r.NormFloat64())
		if size == 4 {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		} else {
			out = binary.LittleEndian.AppendUint16(out, cuda.BF16Word(float64(v)))
		}
	}
	return out
}

// operandsOf makes the buffers of a case.
type operandsOf struct{ buffers []cuda.CaseBuffer }

// in adds a buffer that fill writes; none where it has no bytes.
func (b *operandsOf) in(name string, bytes int64, fill func() []byte) cuda.Arg {
	if bytes == 0 {
		return cuda.Null()
	}
	write := func(into []byte) { copy(into, fill()) }
	b.buffers = append(b.buffers, cuda.CaseBuffer{Name: name, Bytes: bytes, Fill: write})
	return cuda.Buffer(len(b.buffers) - 1)
}

// out adds a buffer of results, or of what lies between two kernels.
func (b *operandsOf) out(name string, bytes int64) cuda.Arg {
	if bytes == 0 {
		return cuda.Null()
	}
	b.buffers = append(b.buffers, cuda.CaseBuffer{Name: name, Bytes: bytes, Output: true})
	return cuda.Buffer(len(b.buffers) - 1)
}

// epilogue adds the operands of an epilogue.
func (b *operandsOf) epilogue(seed uint64, e gemm.Epilogue, m, n int, o *gemm.Operands) {
	cols := e.Columns(n)
	o.Bias, o.Residual, o.YScales = cuda.Null(), cuda.Null(), cuda.Null()
	if e.Bias {
		o.Bias = b.in("bias", int64(n)*4, func() []byte { return Floats(Dice(seed, "bias"), n, 4) })
	}
	if e.Residual {
		fill := func() []byte { return residuals(e, seed, m*cols) }
		o.Residual = b.in("residual", int64(m)*int64(cols)*int64(e.ResidualBytes()), fill)
	}
	o.Y = b.out("y", int64(m)*int64(cols)*int64(e.Out.Bytes()))
	if e.Out == gemm.MXINT8 {
		o.YScales = b.out("scales", int64(ceil(cols, 32))*gemm.ScalePitch(m))
	}
}

// residuals draws n elements of the residual.
func residuals(e gemm.Epilogue, seed uint64, n int) []byte {
	if e.Out == word.F16 {
		return halves(word.Float16, seed, "r", 1, n, never)
	}
	return Floats(Dice(seed, "r"), n, e.ResidualBytes())
}

// weights adds packed weights and their scales.
func (b *operandsOf) weights(o *gemm.Operands, l gemm.Layout, n, k int, draw func() (q, x []byte)) {
	o.W = b.in("w", l.Bytes(n, k), func() []byte {
		q, _ := draw()
		return l.Pack(q, n, k)
	})
	o.WScales = b.in("w scales", l.ScaleBytes(n, k), func() []byte {
		_, x := draw()
		return l.PackScales(x, n, k)
	})
}

// W8A16 is the problem on random data with corner values, or without them for times. c is the constant of the bound on
// the error of sums: 1 on a CPU, 4 on a GPU. plan comes from p.Plan.
func W8A16(p gemm.W8A16, plan gemm.Plan, seed uint64, corners bool, c float64) cuda.Case {
	var b operandsOf
	l := gemm.LayoutBF16
	weights := func() ([]byte, []byte) { return weightBlocks(seed, p.N, p.K, cornersFor(p.Epilogue, corners)) }
	var o gemm.Operands
	o.XScales = cuda.Null()
	o.X = b.in("x", int64(p.M)*int64(p.K)*2, func() []byte { return activations(seed, p.M, p.K, corners) })
	b.weights(&o, l, p.N, p.K, weights)
	b.epilogue(seed, p.Epilogue, p.M, p.N, &o)
	o.Workspace = b.out("workspace", plan.Workspace)
	one := cuda.CaseOf(p, plan, o)
	one.Name = fmt.Sprintf("%s/m=%d n=%d k=%d %s", plan.Instances[0].Kernel, p.M, p.N, p.K, Text(p.Epilogue))
	one.Shape, one.Formats = fmt.Sprintf("M=%d N=%d K=%d", p.M, p.N, p.K), "bf16 x mxint8 -> "+elementText(p.Out)
	one.Buffers = b.buffers
	one.Check = func(outputs [][]byte) cuda.Verdict {
		q, x := weights()
		s := linearSums(p, activations(seed, p.M, p.K, corners), q, x)
		return check(p.Epilogue, seed, p.M, p.N, p.N*p.K, linearBound(c, p.K), s, outputs)
	}
	return one
}

// linearSums are those of the product, by row of x and row of w.
func linearSums(p gemm.W8A16, acts, q, x []byte) func(m, n int) sums {
	blocks, row, at := ceil(p.K, 32), make([]float64, p.K), -1
	return func(m, n int) sums {
		if at != m {
			for i := range row {
				row[i] = cuda.BF16At(acts, int64(m*p.K+i))
			}
			at = m
		}
		var s sums
		for i, v := range row {
			v *= weight(q[n*p.K+i], x[n*blocks+i/32])
			s.value += v
			s.size += math.Abs(v)
		}
		return s
	}
}

// check compares the outputs of a case with the sums, of which each may be wrong by bound of its size.
// A sum has so many products, which says how many rows are looked at.
func check(e gemm.Epilogue, seed uint64, m, n, products int, bound float64, s func(m, n int) sums,
	outputs [][]byte) cuda.Verdict {
	v := verdict{Verdict: cuda.Verdict{BitEqual: true}}
	cols := e.Columns(n)
	if m*cols == 0 {
		return v.done()
	}
	var bias []float32
	if e.Bias {
		raw := Floats(Dice(seed, "bias"), n, 4)
		for i := range n {
			bias = append(bias, float32(F32At(raw, i)))
		}
	}
	var residual []byte
	if e.Residual {
		residual = residuals(e, seed, m*cols)
	}
	y, tol := make([]float64, cols), make([]float64, cols)
	for _, row := range sample(m, products) {
		for col := range cols {
			r := 0.0
			if e.Residual {
				r = wordAt(residual, row*cols+col, e.Out)
			}
			y[col], tol[col] = end(e, func(j int) sums { return s(row, j) }, bias, r, col, bound)
		}
		checkRow(e, &v, row, m, y, tol, outputs)
	}
	return v.done()
}

// Text names an epilogue in the name of a case.
func Text(e gemm.Epilogue) string {
	s := elementText(e.Out)
	for _, part := range []struct {
		is   bool
		name string
	}{{e.Bias, "bias"}, {e.Act != gemm.None, e.Act.String()}, {e.Gate, "gate"}, {e.Residual, "residual"}} {
		if part.is {
			s += "+" + part.name
		}
	}
	return s
}

func elementText(e word.Type) string {
	if e == gemm.MXINT8 {
		return "mxint8"
	}
	return string(e)
}
