// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var mxint8 = NewMXInt(8, 32)

// rounded is m with another rounding of the elements.
func rounded(m MXInt, r Round) MXInt {
	m.Round = r
	return m
}

func floats(x ...float64) []Exact {
	out := make([]Exact, len(x))
	for i, v := range x {
		out[i] = FromFloat64(v)
	}
	return out
}

func TestMXIntWorked(t *testing.T) {
	for _, c := range []struct {
		m     MXInt
		x     []Exact
		scale int64
		codes []int64
	}{
		{mxint8, floats(1, 0.4, -0x1p-7, 1.999), 127, []int64{0x40, 0x1a, 0, 0x7f}},
		{mxint8, floats(0, math.Copysign(0, -1)), 0, []int64{0, 0}},
		{mxint8, floats(1, math.NaN()), 255, []int64{0, 0}},
		{mxint8, floats(1, math.Inf(-1)), 255, []int64{0, 0}},
		{mxint8, floats(-1.999), 127, []int64{-127}},
		{mxint8, floats(0x1p-140, -0x1p-133), 0, []int64{0, -1}},
		{mxint8, []Exact{FromInt(1, 130), FromInt(-5, 0)}, 254, []int64{127, 0}},
		{rounded(mxint8, RoundAway), floats(1, 0x1p-7), 127, []int64{64, 1}},
		{NewMXInt(4, 4), floats(-3, 0.5, 1), 128, []int64{-6, 1, 2}},
	} {
		codes := []int64{9, 9, 9, 9}[:len(c.x)]
		scale := c.m.EncodeBlock(c.x, codes)
		if scale != c.scale || !slices.Equal(codes, c.codes) {
			t.Errorf("%v of %v = X %d, %v, want %d, %v", c.m, c.x, scale, codes, c.scale, c.codes)
		}
	}
}

// TestMXInt8Combinations decodes all pairs of a code and a scale byte.
func TestMXInt8Combinations(t *testing.T) {
	out := make([]Exact, 1)
	for x := range int64(256) {
		for q := int64(-128); q < 128; q++ {
			mxint8.DecodeBlock([]int64{q}, x, out)
			if x == 255 {
				if !out[0].IsNaN() {
					t.Fatalf("q %d X 255 is %v", q, out[0])
				}
				continue
			}
			want := math.Ldexp(float64(q), int(x)-127-6)
			if out[0].Float64() != want || out[0].Cmp(FromFloat64(want)) != 0 {
				t.Fatalf("q %d X %d is %v, want %v", q, x, out[0], want)
			}
			// bf16 is float32 without the low 16 bits.
			f := math.Float32bits(out[0].Float32())
			if inBF16 := f&0xffff == 0 && f&0x7f800000 != 0x7f800000; inBF16 != (q != -128 || x != 254) {
				t.Fatalf("q %d X %d is bfloat16: %v", q, x, inBF16)
			}
		}
	}
}

// TestMXIntBlocks compares random blocks with the definition in float64, which holds it exactly here.
func TestMXIntBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewMXInt(rapid.IntRange(2, 16).Draw(t, "W"), 16)
		x := rapid.SliceOfN(rapid.Float32Range(-1e30, 1e30), 1, 16).Draw(t, "x")
		vals, codes := make([]Exact, len(x)), make([]int64, len(x))
		amax := 0.0
		for i, v := range x {
			vals[i] = FromFloat32(v)
			amax = max(amax, math.Abs(float64(v)))
		}
		scale := m.EncodeBlock(vals, codes)
		if amax == 0 {
			return
		}
		_, e := math.Frexp(amax)
		e = max(e-1, -127)
		if scale != int64(e+127) {
			t.Fatalf("X %d, want %d", scale, e+127)
		}
		top := math.Ldexp(1, m.W-1) - 1
		out := make([]Exact, len(x))
		m.DecodeBlock(codes, scale, out)
		for i, v := range x {
			want := min(max(math.RoundToEven(math.Ldexp(float64(v), m.W-2-e)), -top), top)
			if float64(codes[i]) != want || out[i].Float64() != math.Ldexp(want, e-m.W+2) {
				t.Fatalf("%v of %v at e %d: %d, want %v", m, v, e, codes[i], want)
			}
		}
	})
}

func TestMXIntDescription(t *testing.T) {
	m, err := Parse("mxint(6,16,round=floor,axis=2)")
	if err != nil {
		t.Fatal(err)
	}
	b, ok := m.(Block)
	if !ok || b.BlockSize() != 16 || b.Axis() != 2 || b.ScaleWidth() != 8 || b.Element().Width() != 6 || b.Width() != 6 {
		t.Errorf("%v: %v", m, b)
	}
	if mxint8.Axis() != -1 || !mxint8.ScaleValue(255).IsNaN() || mxint8.ScaleValue(0) != FromInt(1, -127) {
		t.Error("axis or scale of mxint8")
	}
}

// TestDotExact compares dot products of encoded vectors of any two formats with rational numbers.
func TestDotExact(t *testing.T) {
	texts := []string{"fixed(8,4)", "fixed(64,60)", "ufixed(63,0)", "int(8,z=3)*0.1", "uint(32,z=-7)*1e-5",
		"mxint8", "mxint(30,5)", "fp32", "fixed(50,44)", "uint(2,z=-4000000000)*1e-8"}
	formats := []Format{e4m3, log4}
	for _, s := range texts {
		f, err := Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		formats = append(formats, f)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 70).Draw(t, "n")
		var vals [2][]Exact
		var codes, scales [2][]int64
		var f [2]Format
		for k := range f {
			f[k] = rapid.SampledFrom(formats).Draw(t, "format")
			x := rapid.SliceOfN(rapid.Float32Range(-20, 20), n, n).Draw(t, "x")
			vals[k], codes[k], scales[k] = encodeAll(f[k], x)
		}
		want := new(big.Rat)
		for i := range n {
			want.Add(want, new(big.Rat).Mul(vals[0][i].Rat(), vals[1][i].Rat()))
		}
		got, err := DotExact(f[0], codes[0], scales[0], f[1], codes[1], scales[1])
		if err != nil || got.Rat().Cmp(want) != 0 {
			t.Fatalf("%v times %v: %v (%v), want %v", f[0], f[1], got, err, want)
		}
	})
}

// encodeAll encodes a vector and gives the values that its codes stand for.
func encodeAll(f Format, x []float32) (vals []Exact, codes, scales []int64) {
	vals, codes = make([]Exact, len(x)), make([]int64, len(x))
	for i, v := range x {
		vals[i] = FromFloat32(v)
		codes[i] = f.Encode(vals[i])
		if _, ok := f.(Block); !ok {
			vals[i] = f.Decode(codes[i])
		}
	}
	if b, ok := f.(Block); ok {
		for i := 0; i < len(x); i += b.BlockSize() {
			end := min(i+b.BlockSize(), len(x))
			scales = append(scales, b.EncodeBlock(vals[i:end], codes[i:end]))
			b.DecodeBlock(codes[i:end], scales[len(scales)-1], vals[i:end])
		}
	}
	return vals, codes, scales
}

func TestDotNaN(t *testing.T) {
	nan, err := DotExact(mxint8, []int64{1, 2}, []int64{255}, mxint8, []int64{0, 0}, []int64{127})
	if err != nil || !nan.IsNaN() {
		t.Errorf("scale 255: %v %v", nan, err)
	}
	nan, err = DotExact(e4m3, []int64{0x7f}, nil, e4m3, []int64{0}, nil)
	if err != nil || !nan.IsNaN() {
		t.Errorf("NaN code: %v %v", nan, err)
	}
}
