// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/gemm"
	"lathe/cuda/map"
	"lathe/cuda/num"
	"lathe/ir/format"
)

// word is x as a word of a float codec, to nearest even; NaN keeps a payload.
func floatWord(c num.Codec, x float64) uint64 {
	switch c {
	case num.FP32:
		return uint64(math.Float32bits(float32(x)))
	case num.BF16:
		return uint64(cuda.BF16Word(x))
	}
	return uint64(cudatest.F16Word(x))
}

// floatOf is the value of a word of a float codec.
func floatOf(c num.Codec, w uint64) float64 {
	switch c {
	case num.FP32:
		return float64(math.Float32frombits(uint32(w)))
	case num.BF16:
		return float64(math.Float32frombits(uint32(w) << 16))
	}
	return cudatest.F16Value(uint16(w))
}

// words packs values as words of a codec.
func words(c num.Codec, x []float64) []byte {
	var out []byte
	for _, v := range x {
		out = append(out, binary.LittleEndian.AppendUint64(nil, floatWord(c, v))[:c.Bytes]...)
	}
	return out
}

// numbers reads words of a codec.
func numbers(c num.Codec, b []byte) []float64 {
	var out []float64
	for i := 0; i < len(b); i += c.Bytes {
		var w [8]byte
		copy(w[:], b[i:i+c.Bytes])
		out = append(out, floatOf(c, binary.LittleEndian.Uint64(w[:])))
	}
	return out
}

// block is n values of one kind: what a quantizer meets and what it must not trip over.
func block(r *rand.Rand, kind, n int) []float64 {
	out := make([]float64, n)
	at := r.IntN(n)
	e := r.IntN(280) - 150
	for i := range out {
		switch kind {
		case 0: // zeros of both signs
			out[i] = math.Copysign(0, float64(r.IntN(2))-0.5)
		case 1: // nothing but subnormals
			out[i] = math.Ldexp(float64(r.IntN(1<<20)-1<<19), -149)
		case 2: // ties, and values beside them
			out[i] = math.Ldexp((float64(r.IntN(255)-127)+0.5)/64*(1+float64(r.IntN(3)-1)*0x1p-20), e)
		case 3: // up to the next power of two, where the largest code saturates
			out[i] = math.Ldexp(2-float64(r.IntN(4))/256, e)
		case 4: // one value in a block of zeros
			if i == at {
				out[i] = math.Ldexp(1+r.Float64(), e)
			}
		default:
			out[i] = math.Ldexp(r.NormFloat64(), e-r.IntN(12))
		}
	}
	switch kind {
	case 5:
		out[at] = math.NaN()
	case 6:
		out[at] = math.Inf(1 - 2*r.IntN(2))
	case 7:
		out[at] = -math.MaxFloat32
	case 8:
		out[0] = math.Ldexp(-2+0x1p-9, e)
	}
	return out
}

// rows makes blocks of all kinds, in rows of cols.
func rows(seed uint64, n, cols int) []float64 {
	r := rand.New(rand.NewPCG(seed, 5))
	var out []float64
	for range n {
		for at := 0; at < cols; at += 32 {
			out = append(out, block(r, r.IntN(12), min(32, cols-at))...)
		}
	}
	return out
}

// blockCodes are bytes and scales by ir/format.
func blockCodes(p pointwise.Quantize, x []float64) (q, scales []byte) {
	mx := format.NewMXInt(8, 32)
	q, scales = make([]byte, len(x)), bytes.Repeat([]byte{0xFF}, int(p.Scales()))
	codes := make([]int64, 32)
	for r := range p.Rows {
		for b := range p.Blocks() {
			from := r*p.Cols + 32*b
			to := min(from+32, (r+1)*p.Cols)
			var vals []format.Exact
			for _, v := range x[from:to] {
				vals = append(vals, format.FromFloat64(v))
			}
			at := r*p.Blocks() + b
			if p.Transposed {
				at = b*max(p.Rows, p.Pitch) + r
			}
			scales[at] = byte(mx.EncodeBlock(vals, codes[:to-from]))
			for i, c := range codes[:to-from] {
				q[from+int64(i)] = byte(c)
			}
		}
	}
	return q, scales
}

// quantizing is one launch of the kernel: the problem, the values, and how many words and bytes the addresses of input
// and output lie beyond a multiple of 16.
type quantizing struct {
	pointwise.Quantize
	x     []float64
	shift int64
}

// quantized runs the kernel on values that are rounded to its input words first.
func quantized(t *testing.T, quick bool, all ...quantizing) {
	t.Helper()
	job := cudatest.Job{Quick: quick}
	for i, p := range all {
		away := int64(p.In.Bytes) * p.shift
		cudatest.Add(t, &job, p.Quantize, pointwise.Operands{
			X: cuda.BufferAt(3*i, away), Y: cuda.BufferAt(3*i+1, p.shift), YScales: cuda.Buffer(3*i + 2)})
		job.Buffers = append(job.Buffers,
			cudatest.Buffer{Name: "x", Data: append(make([]byte, away), words(p.In, p.x)...)},
			cudatest.Buffer{Name: "q", Bytes: int64(len(p.x)) + p.shift, Out: true},
			cudatest.Buffer{Name: "X", Bytes: p.Scales(), Out: true})
	}
	out := cudatest.Run(t, job)
	for i, p := range all {
		q, scales := blockCodes(p.Quantize, numbers(p.In, words(p.In, p.x)))
		what := fmt.Sprintf("%s, %d x %d", p.In.Type, p.Rows, p.Cols)
		cudatest.Equal(t, what+", elements", out[2*i][p.shift:], q, 1)
		cudatest.Equal(t, what+", scales", out[2*i+1], scales, 1)
	}
}

func TestQuantize(t *testing.T) {
	for _, in := range []num.Codec{num.FP32, num.BF16, num.FP16} {
		t.Run(in.Type, func(t *testing.T) {
			t.Parallel()
			var all []quantizing
			for i, shape := range [][2]int64{{1, 1}, {3, 31}, {2, 32}, {5, 33}, {2, 16}, {3, 17}, {7, 48}, {37, 100}, {4, 512},
				{2, 2049}} {
				for shift := range int64(2) {
					p := pointwise.Quantize{Rows: shape[0], Cols: shape[1], In: in, Transposed: i%2 == 1}
					if i%4 == 3 {
						p.Pitch = gemm.ScalePitch(int(p.Rows))
					}
					all = append(all, quantizing{p, rows(uint64(i), int(shape[0]), int(shape[1])), shift})
				}
			}
			quantized(t, in != num.BF16, all...)
		})
	}
}

// Quantizing what was decoded gives the same bytes again.
func TestQuantizeTwice(t *testing.T) {
	p := pointwise.Quantize{Rows: 40, Cols: 512, In: num.FP32}
	q, scales := blockCodes(p, rows(9, 40, 512))
	mx := format.NewMXInt(8, 32)
	var x []float64
	for i, c := range q {
		v := mx.Decode(int64(int8(c))).Mul(mx.ScaleValue(int64(scales[i/32])))
		x = append(x, v.Float64())
	}
	again, scales2 := blockCodes(p, x)
	cudatest.Equal(t, "reference, elements", again, q, 1)
	cudatest.Equal(t, "reference, scales", scales2, scales, 1)
	quantized(t, true, quantizing{p, x, 0})
}

// The last rows of a tensor of more than 2^31 elements.
func TestQuantizeWide(t *testing.T) {
	p := pointwise.Quantize{Rows: 1<<20 + 3, Cols: 2048, In: num.BF16}
	const first = 1 << 20 // row
	x := rows(4, 3, 2048)
	in := words(p.In, x)
	job := cudatest.Job{Quick: true, First: first,
		Buffers: []cudatest.Buffer{
			{Name: "x", Bytes: p.Rows * 4096, Sparse: true, Pieces: []cudatest.Piece{{At: first * 4096, Data: in}}},
			{Name: "q", Bytes: p.Rows * 2048, Sparse: true, Out: true,
				Pieces: []cudatest.Piece{{At: first * 2048, Bytes: 3 * 2048}}},
			{Name: "X", Bytes: p.Rows * 64, Sparse: true, Out: true, Pieces: []cudatest.Piece{{At: first * 64, Bytes: 3 * 64}}},
		}}
	cudatest.Add(t, &job, p, pointwise.Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), YScales: cuda.Buffer(2)})
	out := cudatest.Run(t, job)
	part := pointwise.Quantize{Rows: 3, Cols: 2048}
	q, scales := blockCodes(part, numbers(p.In, in))
	cudatest.Equal(t, "elements", out[0], q, 1)
	cudatest.Equal(t, "scales", out[1], scales, 1)
}
