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
	"lathe/cuda/num"
	"lathe/ir/format"
)

// casting is a cast with images of scales on one side or both.
type casting struct {
	from, to     string
	outer        int64
	length, axis int64 // elements along the axis, and behind it
}

// scaleImage is the image of a side: bytes of a block format, float32 words of an affine one, and their values.
func scaleImage(r *rand.Rand, s pointwise.Side, c casting) (image []byte, at func(outer, k, inner int64) float64) {
	groups := int64(0)
	if s.Group > 0 {
		groups = (c.length + s.Group - 1) / s.Group
	}
	switch {
	case groups == 0:
		return nil, func(_, _, _ int64) float64 { return float64(s.Scale) }
	case s.Codec.Block:
		for range c.outer * groups * c.axis {
			x := byte(100 + r.IntN(60))
			if r.IntN(4) == 0 {
				x = cudatest.CornerScales[r.IntN(len(cudatest.CornerScales))]
			}
			image = append(image, x)
		}
		return image, func(o, k, i int64) float64 { return float64(image[(o*groups+k/s.Group)*c.axis+i]) }
	}
	var scales []float64
	for range groups {
		scales = append(scales, float64(float32(math.Exp(r.NormFloat64()))))
		if r.IntN(6) == 0 { // no format has these, but an image may
			scales[len(scales)-1] = []float64{0, math.Inf(1), math.NaN(), 0x1p-149}[r.IntN(4)]
		}
	}
	return cudatest.F32Bytes(scales), func(_, k, _ int64) float64 { return scales[k/s.Group] }
}

// decode and encode are ir/format's, with the scale of the element.
func decode(f format.Format, c int64, scale float64) format.Exact {
	switch f := f.(type) {
	case format.MXInt:
		return f.Decode(c).Mul(f.ScaleValue(int64(scale)))
	case format.Affine:
		return f.DecodeScaled(c, float32(scale), f.Zero)
	}
	return f.Decode(c)
}

func encode(f format.Format, v format.Exact, scale float64, word uint32) int64 {
	if a, ok := f.(format.Affine); ok {
		if a.Round == format.RoundStochastic {
			return a.EncodeStochastic(v, float32(scale), a.Zero, word)
		}
		return a.EncodeScaled(v, float32(scale), a.Zero)
	}
	return f.Encode(v)
}

func TestCastAxis(t *testing.T) {
	for i, c := range []casting{
		{"mxint8", "fp32", 3, 70, 5}, {"mxint(5,16)", "fixed(8,4)", 2, 40, 1}, {"int(8,z=3)*[1]", "fp32", 2, 5, 33},
		{"fp32", "uint(8,z=131)*[1:4]", 3, 10, 7}, {"int(8)*[0:3]", "int(6,z=-1,round=stochastic)*[0]", 1, 11, 9},
		{"mxint(12,4,axis=1)", "int(9,div=f32)*[1:2]", 2, 9, 3}, {"fixed(16,8)", "int(4,round=away)*[2]", 6, 13, 1},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			t.Parallel()
			c.run(t, uint64(i))
		})
	}
}

func (c casting) run(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 8))
	from, to := mustParse(t, c.from), mustParse(t, c.to)
	n := c.outer * c.length * c.axis
	p := pointwise.Cast{N: n, Axis: pointwise.Axis{Length: c.length, Inner: c.axis}, From: side(t, c.from), To: side(t,
		c.to), Seed: 3}
	xs, scaleIn := scaleImage(r, p.From, c)
	ys, scaleOut := scaleImage(r, p.To, c)
	var in, want []byte
	for i := range n {
		o, k, j := i/(c.length*c.axis), i/c.axis%c.length, i%c.axis
		code := int64(r.Uint64())
		if from == format.FP32 {
			code = int64(math.Float32bits(float32(100 * r.NormFloat64())))
			if r.IntN(8) == 0 {
				code = int64(math.Float32bits(math.MaxFloat32))
			}
		}
		code = code << (64 - from.Width()) >> (64 - from.Width())
		in = append(in, binary.LittleEndian.AppendUint64(nil, uint64(code))[:p.From.Codec.Bytes]...)
		v := decode(from, code, scaleIn(o, k, j))
		out := encode(to, v, scaleOut(o, k, j), format.StochasticWord(3, uint32(i)))
		want = append(want, binary.LittleEndian.AppendUint64(nil, uint64(out))[:p.To.Codec.Bytes]...)
	}
	image := func(index int, b []byte) cuda.Arg {
		if b == nil {
			return cuda.Null()
		}
		return cuda.Buffer(index)
	}
	job := cudatest.Job{Buffers: []cudatest.Buffer{{Name: "x", Data: in}, {Name: "y", Bytes: int64(len(want)), Out: true},
		{Name: "xs", Data: xs}, {Name: "ys", Data: ys}}}
	cudatest.Add(t, &job, p,
		pointwise.Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), XScales: image(2, xs), YScales: image(3, ys)})
	got := cudatest.Run(t, job)[0]
	cudatest.Equal(t, c.from+" to "+c.to, got, want, p.To.Codec.Bytes)
}

func mustParse(t testing.TB, text string) format.Format {
	t.Helper()
	f, err := format.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every scale with every element: exact in fp32 and bfloat16, but for NaN and one -Inf; saturated by name in binary16.
func TestAllCodes(t *testing.T) {
	q, x := cudatest.AllCodes()
	mx := format.NewMXInt(8, 32)
	for _, out := range []struct {
		side  pointwise.Side
		codec num.Codec
		most  float64 // where the format ends; beyond it Inf or, saturated, most
		over  float64
	}{
		{side(t, "fp32"), num.FP32, math.MaxFloat32, math.Inf(1)},
		{side(t, "bf16"), num.BF16, math.MaxFloat32, math.Inf(1)},
		{side(t, "fp16sat"), num.FP16, 65504, 65504},
	} {
		t.Run(out.side.Codec.Type, func(t *testing.T) {
			p := pointwise.Cast{N: 65536, Axis: pointwise.Axis{Length: 65536, Inner: 1}, From: side(t, "mxint8"), To: out.side}
			job := cudatest.Job{Quick: true, Buffers: []cudatest.Buffer{{Name: "q", Data: q},
				{Name: "y", Bytes: 65536 * int64(out.side.Codec.Bytes), Out: true}, {Name: "X", Data: x}}}
			cudatest.Add(t, &job, p,
				pointwise.Operands{X: cuda.Buffer(0), Y: cuda.Buffer(1), XScales: cuda.Buffer(2), YScales: cuda.Null()})
			got := numbers(out.codec, cudatest.Run(t, job)[0])
			equal, nan, beyond := 0, 0, 0
			for i, g := range got {
				want := mx.Decode(int64(int8(q[i]))).Mul(mx.ScaleValue(int64(x[i/32]))).Float64()
				switch {
				case math.IsNaN(g) && math.IsNaN(want):
					nan++
				case math.Abs(want) > out.most && g == math.Copysign(out.over, want):
					beyond++
				case g == floatOf(out.codec, floatWord(out.codec, want)):
					equal++
				default:
					t.Fatalf("%s: scale %d, element %d: %v, want %v", out.side.Codec.Type, x[i/32], int8(q[i]), g, want)
				}
			}
			t.Logf("%s: %d equal, %d NaN, %d beyond", out.side.Codec.Type, equal, nan, beyond)
			if nan != 256 || out.codec != num.FP16 && (equal != 65279 || beyond != 1) {
				t.Errorf("%s: %d equal, %d NaN, %d beyond", out.side.Codec.Type, equal, nan, beyond)
			}
		})
	}
}

// Lengths around those at which a thread, or a block of threads, ends, with words of every size, aligned or not.
func TestCastTails(t *testing.T) {
	for _, pair := range [][2]string{{"int(8)", "fixed(8,2)"}, {"fp32", "int(8)"}, {"int(8)", "int(64)"},
		{"int(16)", "fp32"}, {"int(64)", "uint(8)"}} {
		t.Run(pair[0]+" to "+pair[1], func(t *testing.T) { castTails(t, pair) })
	}
}

func castTails(t *testing.T, pair [2]string) {
	t.Helper()
	from, to := mustParse(t, pair[0]), mustParse(t, pair[1])
	job := cudatest.Job{}
	var want [][]byte
	var shifts []int
	p := pointwise.Cast{From: side(t, pair[0]), To: side(t, pair[1])}
	for i, n := range []int64{1, 3, 4, 5, 15, 16, 17, 33, 1023, 1024, 1025, 4097} {
		p.N = n
		shift := i % 2
		var in, out []byte
		for k := range n {
			v := format.FromInt((k*37+11)%251-125, 0)
			in = append(in, binary.LittleEndian.AppendUint64(nil, uint64(from.Encode(v)))[:p.From.Codec.Bytes]...)
			out = append(out, binary.LittleEndian.AppendUint64(nil, uint64(to.Encode(v)))[:p.To.Codec.Bytes]...)
		}
		x := cuda.BufferAt(2*i, int64(shift*p.From.Codec.Bytes))
		y := cuda.BufferAt(2*i+1, int64(shift*p.To.Codec.Bytes))
		cudatest.Add(t, &job, p, plain(x, y))
		job.Buffers = append(job.Buffers,
			cudatest.Buffer{Name: fmt.Sprintf("x of %d", n), Data: append(make([]byte, shift*p.From.Codec.Bytes), in...)},
			cudatest.Buffer{Name: fmt.Sprintf("y of %d", n), Bytes: int64(len(out) + shift*p.To.Codec.Bytes), Out: true})
		want, shifts = append(want, out), append(shifts, shift*p.To.Codec.Bytes)
	}
	for i, out := range cudatest.Run(t, job) {
		cudatest.Equal(t, fmt.Sprint(pair, i), out[shifts[i]:], want[i], p.To.Codec.Bytes)
	}
}

// The last elements of a tensor of more than 2^31.
func TestCastWide(t *testing.T) {
	const n, first = 1<<33 + 4096 + 5, 1 << 33
	p := pointwise.Cast{N: n, From: side(t, "int(8)"), To: side(t, "fixed(8,1)")}
	x, want := make([]byte, n-first), make([]byte, n-first)
	for i := range x {
		x[i] = byte(i * 7)
		want[i] = byte(min(max(2*int(int8(x[i])), -128), 127))
	}
	job := cudatest.Job{Quick: true, First: first / 4096,
		Buffers: []cudatest.Buffer{{Name: "x", Bytes: n, Sparse: true, Pieces: []cudatest.Piece{{At: first, Data: x}}},
			{Name: "y", Bytes: n, Sparse: true, Out: true, Pieces: []cudatest.Piece{{At: first, Bytes: n - first}}}}}
	cudatest.Add(t, &job, p, plain(cuda.Buffer(0), cuda.Buffer(1)))
	got := cudatest.Run(t, job)[0]
	cudatest.Equal(t, "cast", got, want, 1)
}
