// SPDX-License-Identifier: Apache-2.0

package pointwise_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/map"
	"lathe/ir/format"
)

// Blocks of every width and length, along any axis, from any format, against ir/format.
func TestBlocks(t *testing.T) {
	job := cudatest.Job{}
	var want [][]byte
	r := rand.New(rand.NewPCG(11, 12))
	for i, c := range []struct {
		from, to             string
		outer, length, inner int64
	}{
		{"fp32", "mxint8", 3, 70, 1}, {"fp32", "mxint(5,16)", 2, 33, 3}, {"fixed(16,8)", "mxint(12,7,round=away)", 8, 20, 2},
		{"int(8,z=3)*0.05", "mxint(8,100,round=floor)", 5, 99, 1}, {"fp32", "mxint(32,3)", 7, 1, 9},
		{"uint(32)", "mxint(2,1)", 1, 40, 1}, {"fixed(64,90)", "mxint(8,32,round=stochastic)", 2, 32, 5},
		{"fixed(64,-100)", "mxint(9,64,round=up)", 1, 130, 1},
	} {
		from := mustParse(t, c.from)
		to, ok := mustParse(t, c.to).(format.MXInt)
		if !ok {
			t.Fatal(c.to)
		}
		p := pointwise.Blocks{Outer: c.outer, Axis: pointwise.Axis{Length: c.length, Inner: c.inner}, From: side(t, c.from),
			To: to, Seed: 5}
		n := c.outer * c.length * c.inner
		codes := make([]int64, n)
		for k := range codes {
			codes[k] = int64(r.Uint64()) >> (64 - from.Width()) >> r.IntN(from.Width())
			switch {
			case from == format.FP32:
				codes[k] = sourceWord(r, k/40)
			case k/40%4 == 3: // blocks of zeros
				codes[k] = 0
			case k%int(c.length*c.inner) == 32: // the largest, where lanes come round for the first time
				codes[k] = 1<<(from.Width()-1) - 1
			}
		}
		q, scales := mxCodes(p, codes, from)
		size := p.From.Codec.Bytes
		var in []byte
		for _, v := range codes {
			in = append(in, binary.LittleEndian.AppendUint64(nil, uint64(v))[:size]...)
		}
		cudatest.Add(t, &job, p,
			pointwise.Operands{X: cuda.Buffer(3 * i), Y: cuda.Buffer(3*i + 1), YScales: cuda.Buffer(3*i + 2)})
		job.Buffers = append(job.Buffers, cudatest.Buffer{Name: c.from, Data: in},
			cudatest.Buffer{Name: c.to, Bytes: int64(len(q)), Out: true},
			cudatest.Buffer{Name: "scales of " + c.to, Bytes: int64(len(scales)), Out: true})
		want = append(want, q, scales)
	}
	for i, out := range cudatest.Run(t, job) {
		cudatest.Equal(t, fmt.Sprintf("%s, output %d", job.Launches[i/2].Kernel, i%2), out, want[i], 1)
	}
	cudatest.Gates(t, job.Kernels...)
}

// sourceWord is a word of fp32: zeros, subnormals, ordinary and large values, infinities, any words, in runs.
func sourceWord(r *rand.Rand, run int) int64 {
	w := r.Uint32()
	switch run % 6 {
	case 0:
		return int64(w & 0x80000000)
	case 1:
		return int64(w & 0x807FFFFF)
	case 2:
		return int64(math.Float32bits(float32(r.NormFloat64())))
	case 3:
		return int64(w&0x80FFFFFF | 0x7E000000)
	case 4:
		if r.IntN(20) == 0 {
			return int64(w&0x80000000 | 0x7F800000)
		}
		return int64(math.Float32bits(float32(r.NormFloat64())))
	}
	return int64(w)
}

// mxCodes are words and scales by ir/format.
func mxCodes(p pointwise.Blocks, codes []int64, from format.Format) (q, scales []byte) {
	size := int64(1)
	for size*8 < int64(p.To.Width()) {
		size *= 2
	}
	q = make([]byte, int64(len(codes))*size)
	for o := range p.Outer {
		for b := range p.PerRow() {
			for i := range p.Inner {
				var x []format.Exact
				var at []int64
				for k := b * int64(p.To.BlockSize()); k < min((b+1)*int64(p.To.BlockSize()), p.Length); k++ {
					at = append(at, (o*p.Length+k)*p.Inner+i)
					x = append(x, from.Decode(codes[at[len(at)-1]]))
				}
				out := make([]int64, len(x))
				scale := p.To.EncodeBlock(x, out)
				scales = append(scales, byte(scale))
				for j, a := range at {
					if format.Rounding(p.To) == format.RoundStochastic && scale != 255 {
						v := x[j].Quo(p.To.ScaleValue(scale))
						out[j] = format.EncodeSeeded(p.To, v, format.StochasticWord(p.Seed, uint32(a)))
					}
					copy(q[a*size:(a+1)*size], binary.LittleEndian.AppendUint64(nil, uint64(out[j])))
				}
			}
		}
	}
	return q, scales
}
