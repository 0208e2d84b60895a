// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/reduce"
	"lathe/cuda/word"
)

// normCase is a problem with its data.
type normCase struct {
	p                    reduce.Norm
	x, other, gain, bias []float64
	noGain, noBias       bool
}

func newNorm(p reduce.Norm) normCase {
	seed, n := uint64(p.Cols), int(p.Cols)
	c := normCase{p: p, x: matrix(seed, p.In, int(p.Rows), n)}
	if p.Add {
		c.other = matrix(seed+1, p.In, min(int(p.Rows), 5), n)
		for len(c.other) < len(c.x) {
			c.other = append(c.other, 0.25)
		}
	}
	weights := matrix(seed+2, p.Gain, 9, n)
	c.gain, c.bias = weights[7*n:8*n], weights[8*n:]
	if p.Gain != word.Float16 && p.Out != word.Float16 { // blocks of the largest and the smallest scales
		for i := range min(n, 96) / 32 * 32 {
			c.gain[i] = math.Ldexp(c.gain[i]/math.Abs(c.gain[i]), []int{126, -126, -140}[i/32])
		}
		c.gain = decode(p.Gain, encode(p.Gain, c.gain))
	}
	c.noGain, c.noBias = n%11 == 0, n%13 == 0
	return c
}

// job runs the kernel. Outputs are y, then the sum, then the scales, as far as the problem has them.
func (c normCase) job(t testing.TB) cudatest.Job {
	t.Helper()
	p := c.p
	j := cudatest.Job{}
	put := func(there bool, b cudatest.Buffer) cuda.Arg {
		if !there {
			return cuda.Null()
		}
		j.Buffers = append(j.Buffers, b)
		return cuda.Buffer(len(j.Buffers) - 1)
	}
	n, each := p.Rows*p.Cols, int64(p.Out.Type().Bytes())
	blocks := p.Rows * ((p.Cols + 31) / 32)
	if p.Quant != nil {
		n, each = p.Rows*p.Quant.Stride, 1
	}
	a := reduce.NormArgs{
		X:      put(true, cudatest.Buffer{Name: "x", Data: encode(p.In, c.x)}),
		Y:      put(true, cudatest.Buffer{Name: "y", Bytes: n * each, Out: true}),
		Addend: put(p.Add, cudatest.Buffer{Name: "addend", Data: encode(p.In, c.other)}),
		Sum:    put(p.Add, cudatest.Buffer{Name: "sum", Bytes: p.Rows * p.Cols * int64(p.In.Type().Bytes()), Out: true}),
		Gain:   put(!c.noGain, cudatest.Buffer{Name: "gain", Data: encode(p.Gain, c.gain)}),
		Bias:   put(!c.noBias, cudatest.Buffer{Name: "bias", Data: encode(p.Gain, c.bias)}),
		Scales: put(p.Quant != nil, cudatest.Buffer{Name: "scales", Bytes: blocks, Out: true}),
	}
	cudatest.Add(t, &j, p, a)
	return j
}

// summed are the rows that the norm reads.
func (c normCase) summed() []float64 {
	if !c.p.Add {
		return c.x
	}
	v := make([]float64, len(c.x))
	for i := range v {
		v[i] = float64(float32(c.x[i]) + float32(c.other[i]))
	}
	return decode(c.p.In, encode(c.p.In, v))
}

// norm is the definition in float64, with what the kernel may be off by.
func (c normCase) norm(x []float64) (y, allowed []float64) {
	n := float64(len(x))
	mean, square := 0.0, 0.0
	if !c.p.RMS {
		for _, v := range x {
			mean += v / n
		}
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / n
	}
	scale := 1 / math.Sqrt(square+float64(c.p.Eps))
	relative, absolute := unit(c.p.Out)
	early, tiny := unit(c.p.In)
	if !c.p.RoundBeforeGain {
		early, tiny = 0, 0
	}
	for i, v := range x {
		g, b := 1.0, 0.0
		if !c.noGain {
			g = c.gain[i]
			if c.p.UnitOffset {
				g++
			}
		}
		if !c.noBias && !c.p.RMS {
			b = c.bias[i]
		}
		normal := (v - mean) * scale
		off := 0x1p-20 * (1 + math.Abs(mean)*scale) * math.Abs(g)
		if c.p.RMS {
			off = (0x1p-20+early)*math.Abs(normal*g) + tiny*math.Abs(g)
		}
		y = append(y, normal*g+b)
		allowed = append(allowed, relative*(math.Abs(normal*g+b)+off)+off+absolute)
	}
	return y, allowed
}

func (c normCase) check(t testing.TB, out [][]byte) {
	t.Helper()
	n, x := int(c.p.Cols), c.summed()
	if c.p.Add {
		stored := decode(c.p.In, out[1]) // NaN of any word
		if d := cudatest.FirstDifference(encode(c.p.In, stored), encode(c.p.In, x), c.p.In.Type().Bytes()); d != "" {
			t.Errorf("sum: %s", d)
		}
	}
	got := decode(c.p.Out, out[0])
	for r := range int(c.p.Rows) {
		want, allowed := c.norm(x[r*n : r*n+n])
		cudatest.Near(t, fmt.Sprintf("row %d", r), got[r*n:r*n+n], want, func(i int) float64 { return allowed[i] })
	}
}

// lengths are those at which threads, warps and tiles end, for every team.
var lengths = []int64{1, 31, 33, 256, 264, 1000, 1040, 3000, 4104, 8200, 10240, 16400, 4099, 12345}

// norms are problems of all lengths with all options somewhere.
func norms(rms bool) []reduce.Norm {
	var all []reduce.Norm
	for i, n := range lengths {
		all = append(all, reduce.Norm{
			Matrix: reduce.Matrix{Rows: 7, Cols: n}, RMS: rms, Eps: 1e-5, Add: i%2 == 0,
			In: word.Float(i % 3), Out: word.Float((i + i/3) % 3), Gain: word.Float(i / 2 % 3),
			UnitOffset: rms && i%4 < 2, RoundBeforeGain: rms && i%3 > 0,
		})
	}
	return all
}

func (c normCase) name() string {
	p := c.p
	return fmt.Sprintf("rms=%v/%d/%v/%v/%v/add=%v", p.RMS, p.Cols, p.In, p.Out, p.Gain, p.Add)
}

func TestNorm(t *testing.T) {
	for _, rms := range []bool{false, true} {
		for _, p := range norms(rms) {
			c := newNorm(p)
			t.Run(c.name(), func(t *testing.T) {
				t.Parallel()
				j := c.job(t)
				j.Quick = p.Cols > 300
				c.check(t, cudatest.Run(t, j))
			})
		}
	}
}

// TestNormFused demands of a kernel with a sum before and blocks after it the bits of separate kernels: the sum that
// the norm alone is given is the one that was stored, and the blocks are those of the words that the norm alone writes.
func TestNormFused(t *testing.T) {
	for _, rms := range []bool{false, true} {
		for i, p := range norms(rms) {
			fused := newNorm(p)
			fused.p.Add = true
			if fused.other == nil {
				fused.other = matrix(99, p.In, 7, int(p.Cols))
			}
			if p.Gain != word.Float16 && p.Cols >= 64 { // blocks with Inf beside finite values
				for i := range 32 {
					fused.gain[32+i] = 0x1p127
				}
			}
			blocks := (p.Cols + 31) / 32
			fused.p.Quant = &reduce.Blocks{Stride: (p.Cols + 15) / 16 * 16, Row: blocks, Block: 1}
			if i%2 == 0 {
				fused.p.Quant.Row, fused.p.Quant.Block = 1, p.Rows
			}
			t.Run(fused.name(), func(t *testing.T) {
				t.Parallel()
				alone := fused
				alone.p.Add, alone.p.Quant = false, nil
				alone.x = fused.summed()
				a, b := alone.job(t), fused.job(t)
				a.Quick, b.Quick = true, p.Cols > 300
				y := decode(p.Out, cudatest.Run(t, a)[0])
				got := cudatest.Run(t, b)
				bytesWant, scalesWant := fused.blocks(y)
				if d := cudatest.FirstDifference(got[0], bytesWant, 1); d != "" {
					t.Errorf("bytes: %s", d)
				}
				if !bytes.Equal(got[2], scalesWant) {
					t.Errorf("scales: %s", cudatest.FirstDifference(got[2], scalesWant, 1))
				}
			})
		}
	}
}

// blocks is MXINT8 by its definition (OCP MX v1.0, section 6.3), 0xFF where no byte of a row is written.
func (c normCase) blocks(y []float64) (q, scales []byte) {
	n, to := int(c.p.Cols), c.p.Quant
	q = bytes.Repeat([]byte{0xFF}, int(c.p.Rows*to.Stride))
	scales = make([]byte, int(c.p.Rows)*((n+31)/32))
	for r := range int(c.p.Rows) {
		for from := 0; from < n; from += 32 {
			block := y[r*n+from : r*n+min(from+32, n)]
			top := 0.0
			for _, v := range block {
				top = max(top, math.Abs(v)) // NaN stays
			}
			x := 255
			if top < math.Inf(1) {
				_, e := math.Frexp(top)
				x = max(e-1+127, 0)
				if top == 0 {
					x = 0
				}
			}
			scales[int64(r)*to.Row+int64(from/32)*to.Block] = byte(x)
			for i, v := range block {
				k := 0.0
				if x != 255 {
					k = min(max(math.RoundToEven(math.Ldexp(v, 133-x)), -127), 127)
				}
				q[int64(r)*to.Stride+int64(from+i)] = byte(int8(k))
			}
		}
	}
	return q, scales
}
