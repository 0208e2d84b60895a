// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"fmt"
	"math"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/reduce"
	"lathe/cuda/word"
)

// softmax is the definition in float64.
func softmax(x []float64, keep []byte) []float64 {
	y := make([]float64, len(x))
	top, sum := math.Inf(-1), 0.0
	for i, v := range x {
		if keep[i] != 0 && !(v <= top) {
			top = v // NaN stays
		}
	}
	if math.IsInf(top, -1) {
		return y
	}
	for i, v := range x {
		if keep[i] != 0 {
			y[i] = math.Exp(v - top)
			sum += y[i]
		}
	}
	for i := range y {
		y[i] /= sum
		if keep[i] == 0 && !math.IsNaN(sum) {
			y[i] = 0
		}
	}
	return y
}

// softmaxCase is a problem with its data: the mask keeps two of three columns, and nothing in row 1 of it; it ends with
// the last row that is read. What it leaves out is NaN or infinite in the rows without such a value elsewhere.
type softmaxCase struct {
	p    reduce.Softmax
	x    []float64
	mask []byte
}

// rowOf is the row of a mask that belongs to row r.
func rowOf(m *reduce.MaskRows, r int) int { return int(uint64(r)/m.Div*m.Mul + uint64(r)%m.Mod) }

func newSoftmax(p reduce.Softmax) softmaxCase {
	c := softmaxCase{p: p, x: matrix(uint64(p.Cols), p.In, int(p.Rows), int(p.Cols))}
	if p.Mask == nil {
		return c
	}
	n := int(p.Cols)
	for r := range int(p.Rows) {
		from := rowOf(p.Mask, r) * n
		for i := len(c.mask); i < from+n; i++ {
			keep := byte(0)
			if i%3 > 0 && i/n != 1 {
				keep = byte(i%255 + 1)
			}
			c.mask = append(c.mask, keep)
		}
		for i := range n {
			if r > 1 && c.mask[from+i] == 0 {
				c.x[r*n+i] = []float64{math.NaN(), math.Inf(1)}[i%2]
			}
		}
	}
	return c
}

func (c softmaxCase) job(t testing.TB) cudatest.Job {
	t.Helper()
	mask := cuda.Null()
	if c.mask != nil {
		mask = cuda.Buffer(2)
	}
	j := cudatest.Job{Buffers: []cudatest.Buffer{
		{Name: "x", Data: encode(c.p.In, c.x)},
		{Name: "y", Bytes: c.p.Rows * c.p.Cols * int64(c.p.Out.Type().Bytes()), Out: true},
		{Name: "mask", Data: c.mask},
	}}
	cudatest.Add(t, &j, c.p, reduce.SoftmaxArgs{X: cuda.Buffer(0), Mask: mask, Y: cuda.Buffer(1)})
	return j
}

// check compares every row with the definition: 4e-7, for small values 2^-18 of them, and a rounding to the format;
// exponentials below 2^-126 count as 0. Rows of fp32 must sum to 1.
func (c softmaxCase) check(t testing.TB, out []byte) {
	t.Helper()
	got, n := decode(c.p.Out, out), int(c.p.Cols)
	relative, absolute := unit(c.p.Out)
	for r := range int(c.p.Rows) {
		keep := make([]byte, n)
		for i := range keep {
			keep[i] = 1
		}
		if m := c.p.Mask; m != nil {
			at := rowOf(m, r) * n
			keep = c.mask[at : at+n]
		}
		want := softmax(c.x[r*n:r*n+n], keep)
		cudatest.Near(t, fmt.Sprintf("row %d", r), got[r*n:r*n+n], want, func(i int) float64 {
			return min(4e-7, 0x1p-18*want[i]) + relative*want[i] + absolute + 0x1p-125
		})
		sum := 0.0
		for _, y := range got[r*n : r*n+n] {
			sum += y
		}
		if c.p.Out == word.Float32 && sum != 0 && math.Abs(sum-1) > min(float64(n)*0x1p-25, 0x1p-18)+0x1p-22 {
			t.Errorf("row %d sums to 1%+g", r, sum-1)
		}
	}
}

// TestSoftmax takes lengths at which threads, warps and tiles end, every team, and all formats.
func TestSoftmax(t *testing.T) {
	for i, n := range []int64{1, 31, 33, 256, 264, 1000, 1024, 1040, 3001, 4104, 8200, 16400, 4099, 12345} {
		for _, masked := range []bool{false, true} {
			m := reduce.Matrix{Rows: 7, Cols: n}
			p := reduce.Softmax{Matrix: m, In: word.Float((i + 1) % 3), Out: word.Float(i * 2 % 3)}
			if masked {
				p.Mask = &reduce.MaskRows{Div: 4, Mul: 2, Mod: 2}
			}
			t.Run(fmt.Sprintf("%d/%v/%v/masked=%v", n, p.In, p.Out, masked), func(t *testing.T) {
				t.Parallel()
				c := newSoftmax(p)
				j := c.job(t)
				j.Quick = n > 300
				c.check(t, cudatest.Run(t, j)[0])
			})
		}
	}
}
