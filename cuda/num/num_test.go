// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/map"
	"lathe/internal/tools"
	"lathe/ir/format"
)

// texts are formats of every family with every rounding and overflow, at widths on both sides of each word.
var texts = []string{
	"fixed(8,4)", "fixed(8,4,round=away,over=sym)", "ufixed(8,8,round=floor,over=wrap)", "fixed(16,-3,round=up)",
	"fixed(5,2,round=ceil,over=wrap)", "fixed(12,6,round=down,over=sym)", "int(1)", "uint(1,round=away)",
	"uint(7,over=sym)",
	"fixed(32,40,round=halfzero)", "ufixed(17,9,round=outward)", "fixed(33,10,round=zero,over=wrap)",
	"fixed(64,70,round=even,over=wrap)", "int(64,round=down)", "ufixed(63,-40)", "fixed(9,3,round=stochastic)",
	"int(8,z=-3)*0.05", "uint(8,z=131)*0.0235", "uint(4,z=7,div=f32)*0.3", "int(8,round=stochastic)*0.1",
	"int(32,z=4294967295,over=wrap)*1e-30", "int(16,z=5,round=zero,over=wrap)*3e38", "uint(32,z=-9,round=up,over=sym)*1",
	"int(8,round=away,div=f32)*1e-40", "int(3,round=halfzero)*0.75", "int(8,over=wrap,div=f32)*3",
	"fp32", "e4m3", "e5m2", "float(4,3,fnuz,bias=-3,round=up,over=nan)", "float(3,2,fn,round=stochastic)", "fp16",
	"dfloat(4,3,bias=9,round=ceil)", "log(5)", "log(6,bias=40,round=log)",
}

func parse(t *testing.T, text string) format.Format {
	t.Helper()
	f, err := format.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// codes are all codes of a format of up to 16 bits, otherwise corners and random ones.
func codes(f format.Format, r *rand.Rand) []int64 {
	var out []int64
	w := f.Width()
	if w <= 16 {
		for c := range int64(1) << w {
			out = append(out, c)
		}
		return out
	}
	for k := range w {
		out = append(out, 1<<k, 1<<k-1, 1<<k+1, -1<<k, ^(1 << k))
	}
	for range 1000 {
		out = append(out, int64(r.Uint64())>>r.IntN(w))
	}
	return out
}

// near are codes of `from` whose values lie at and beside the borders between codes of `to`, where rounding decides.
func near(from, to format.Format, r *rand.Rand) []int64 {
	nudge := []int64{-1, 0, 1}
	var out []int64
	all := codes(to, r)
	for range 400 {
		c := all[r.IntN(len(all))]
		a, b := to.Decode(c), to.Decode(c+1)
		mid := a.Add(b).Shift(-1)
		for _, d := range nudge {
			out = append(out, from.Encode(mid)+d, from.Encode(a)+d)
		}
	}
	return out
}

// stored is a code as it lies in memory.
func stored(f format.Format, c int64) uint64 {
	w := f.Width()
	if format.SignedCodes(f) {
		return uint64(c << (64 - w) >> (64 - w))
	}
	return uint64(c) << (64 - w) >> (64 - w)
}

// pack writes codes as words of a size.
func pack(codes []uint64, size int) []byte {
	out := make([]byte, 0, len(codes)*size)
	for _, c := range codes {
		out = append(out, binary.LittleEndian.AppendUint64(nil, c)[:size]...)
	}
	return out
}

// conversion is one cast and the inputs that it is tried on.
type conversion struct {
	from, to format.Format
	in       []uint64
}

func newConversion(from, to format.Format, r *rand.Rand) conversion {
	p := conversion{from: from, to: to}
	for _, c := range append(codes(from, r), near(from, to, r)...) {
		p.in = append(p.in, stored(from, c))
	}
	return p
}

// cast is the problem of the conversion.
func (p conversion) cast(t *testing.T) pointwise.Cast {
	t.Helper()
	from, err := pointwise.SideOf(p.from)
	if err != nil {
		t.Fatal(err)
	}
	to, err := pointwise.SideOf(p.to)
	if err != nil {
		t.Fatal(err)
	}
	return pointwise.Cast{N: int64(len(p.in)), From: from, To: to, Seed: 7}
}

// want is what ir/format makes of the inputs.
func (p conversion) want() []uint64 {
	var out []uint64
	for i, c := range p.in {
		word := format.StochasticWord(7, uint32(i))
		out = append(out, stored(p.to, format.EncodeSeeded(p.to, p.from.Decode(int64(c)), word)))
	}
	return out
}

// compare runs conversions as one unit and compares every code.
func compare(t *testing.T, conversions []conversion) {
	t.Helper()
	job := cudatest.Job{Quick: true}
	for i, p := range conversions {
		c := p.cast(t)
		cudatest.Add(t, &job, c, pointwise.Operands{
			X: cuda.Buffer(2 * i), Y: cuda.Buffer(2*i + 1), XScales: cuda.Null(), YScales: cuda.Null()})
		job.Buffers = append(job.Buffers,
			cudatest.Buffer{Name: p.from.String(), Data: pack(p.in, c.From.Codec.Bytes)},
			cudatest.Buffer{Name: p.to.String(), Bytes: int64(len(p.in) * c.To.Codec.Bytes), Out: true})
	}
	for i, out := range cudatest.Run(t, job) {
		p := conversions[i]
		size := len(out) / len(p.in)
		cudatest.Equal(t, fmt.Sprintf("%s -> %s", p.from, p.to), out, pack(p.want(), size), size)
	}
}

// Every format from and to fp32, and some to their neighbour in the list: all codes, and values beside borders.
func TestCodecs(t *testing.T) {
	var all []format.Format
	for _, text := range texts {
		all = append(all, parse(t, text))
	}
	r := rand.New(rand.NewPCG(1, 2))
	var conversions []conversion
	for i, f := range all {
		conversions = append(conversions, newConversion(f, format.FP32, r), newConversion(format.FP32, f, r))
		if tools.Long || i%6 == 0 {
			conversions = append(conversions, newConversion(f, all[(i+1)%len(all)], r))
		}
	}
	groups(t, conversions)
}

// groups compares a few conversions at a time.
func groups(t *testing.T, conversions []conversion) {
	t.Helper()
	for part := range slices.Chunk(conversions, 7) {
		t.Run(fmt.Sprintf("%s to %s and on", part[0].from, part[0].to), func(t *testing.T) {
			t.Parallel()
			compare(t, part)
		})
	}
}

// Codes of 64 bits hold ties that no float does.
func TestWideTies(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	wide := parse(t, "fixed(64,33)")
	var conversions []conversion
	for _, text := range []string{"fixed(16,1)", "int(24,round=away)", "fixed(40,32,round=down)",
		"fixed(8,-20,round=stochastic)",
		"fixed(32,-30,round=ceil)", "fixed(63,30,round=up,over=wrap)", "int(32,z=3)*1", "fp32"} {
		to := parse(t, text)
		p := newConversion(wide, to, r)
		for range 500 { // k and a half, and one beside it
			n := 1 + r.IntN(62)
			v := int64(r.Uint64()) >> n << n
			p.in = append(p.in, uint64(v|1<<(n-1)), uint64(v|1<<(n-1)+1), uint64(v|1<<(n-1)-1))
		}
		conversions = append(conversions, p)
	}
	groups(t, conversions)
}

// Inputs that a float has and an integer has not.
func TestSpecials(t *testing.T) {
	var conversions []conversion
	for _, text := range texts {
		p := conversion{from: format.FP32, to: parse(t, text)}
		for _, v := range []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32,
			-math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 0x1p-126, 0x1p-127, 1e38, -1e38} {
			p.in = append(p.in, uint64(math.Float32bits(float32(v))))
		}
		p.in = append(p.in, 0xFFFFFFFF, 0x7F800001, 0xFFC00000)
		scale := float32(1)
		if f, ok := p.to.(format.Affine); ok {
			scale = f.Scale
		}
		for e := 60; e < 70; e++ { // quotients about 2^64, which leave the word
			for _, v := range []float32{1, 1 + 1.0/(1<<20), -1.125, 1.75} {
				p.in = append(p.in, uint64(math.Float32bits(v*scale*float32(math.Ldexp(1, e)))))
			}
		}
		conversions = append(conversions, p)
	}
	edge := conversion{from: parse(t, "int(64)"), to: parse(t, "uint(32,z=4294967295)*1")} // no room for the zero point
	for k := range 40 {
		edge.in = append(edge.in, 1<<63-1<<k, 1<<63+1<<k)
	}
	conversions = append(conversions, edge)
	groups(t, conversions)
}
