// SPDX-License-Identifier: Apache-2.0

package array

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir/format"
)

// TestFast holds the ways of large arrays to Encode and Decode: at all values, at and beside what lies between
// neighbours, at random numbers of all sizes, and at zeros, infinities and NaN.
func TestFast(t *testing.T) {
	for _, text := range []string{"fixed(8,4)", "ufixed(5,-600)", "fixed(8,4,over=wrap)", "e4m3", "float(4,3,fn,over=nan)",
		"float(5,2,ieee)", "float(4,3,fnuz,bias=-3)", "e2m1", "fp16", "float(8,7,ieee)", "float(8,3,fnuz,bias=300,over=nan)",
		"float(5,3,round=floor)", "float(3,9,round=away)", "dfloat(4,3)", "log(5)", "log(8,round=log)", "binary*0.3",
		"ternary(delta=0.1)*0.7", "residual(3,scales=[1:0.7:0.6])", "codebook(nf4)*0.3", "float(4,3,round=stochastic)",
		"fixed(8,4,round=away)", "fixed(9,3,round=down,over=sym)", "ufixed(7,2,round=ceil)", "fixed(8,-500,round=outward)",
		"int(8)*0.05", "uint(8,z=131)*0.0235", "int(5,z=-3,round=up,over=sym)*0.7", "int(6,round=floor)*0.3",
		"int(7,round=halfzero)*3", "int(8,div=f32)*0.05", "int(4,round=outward)*1e-20",
		"log(12)", "log(14,round=log)", "log(16,bias=20)", "float(6,3,round=ceil)", "float(5,8,round=halfzero)",
		"float(4,8,fn,round=up)", "dfloat(5,6)", "dfloat(3,8,round=floor)"} {
		f, err := format.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		x := tries(f)
		e, err := Encode(f, []int{len(x)}, x, 5)
		if err != nil {
			t.Fatal(err)
		}
		values := e.Values()
		for i, v := range x {
			want := format.EncodeSeeded(f, format.FromFloat64(v), format.StochasticWord(5, uint32(i)))
			if e.Codes[i] != want {
				t.Fatalf("%s: %v becomes %#x, not %#x", text, v, e.Codes[i], want)
			}
			if d := f.Decode(want).Float64(); math.Float64bits(values[i]) != math.Float64bits(d) {
				t.Fatalf("%s: code %#x is %v, not %v", text, want, values[i], d)
			}
		}
	}
}

// TestFastWide is TestFast for formats of so many codes that only some are tried.
func TestFastWide(t *testing.T) {
	for _, text := range []string{"fixed(40,20)", "ufixed(33,5,round=up)", "fixed(62,30)", "float(4,27)", "float(8,23)",
		"float(8,14,fn,round=down)", "float(7,12,fnuz,round=away)", "float(8,30,ieee)", "fp32", "dfloat(8,23)",
		"dfloat(5,20,round=ceil)", "int(20)*0.3", "uint(24,z=-9)*0.7", "int(32)*1e-10"} {
		f, err := format.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(11, 12))
		x := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64,
			math.SmallestNonzeroFloat64}
		codes := make([]int64, 1<<16)
		for i := range codes {
			codes[i] = r.Int64() >> (63 - f.Width()) & (1<<f.Width() - 1)
			if i%7 == 0 {
				codes[i] |= (1<<f.Width() - 1) &^ r.Int64N(64) // infinities and NaN
			}
			v, next := f.Decode(codes[i]).Float64(), f.Decode(codes[i]^1).Float64()
			x = append(x, v, (v+next)/2, math.Nextafter((v+next)/2, 0), -v, math.Ldexp(r.NormFloat64(), r.IntN(80)-40))
		}
		e, err := FromCodes(f, []int{len(codes)}, codes, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range e.Values() {
			if d := f.Decode(codes[i]).Float64(); math.Float64bits(got) != math.Float64bits(d) && (d == d || got == got) {
				t.Fatalf("%s: code %#x is %v, not %v", text, codes[i], got, d)
			}
		}
		if e, err = Encode(f, []int{len(x)}, x, 0); err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			if want := f.Encode(format.FromFloat64(v)); e.Codes[i] != want {
				t.Fatalf("%s: %v becomes %#x, not %#x", text, v, e.Codes[i], want)
			}
		}
	}
}

// tries are more than 1<<short numbers.
func tries(f format.Format) []float64 {
	x := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64}
	for code := range int64(1) << f.Width() {
		v, next := f.Decode(code).Float64(), f.Decode(code+1).Float64()
		for _, v := range []float64{v, (v + next) / 2} {
			x = append(x, v, -v, math.Nextafter(v, 1e300), math.Nextafter(v, -1e300))
		}
	}
	r := rand.New(rand.NewPCG(7, 7))
	for len(x) < 1<<short+many {
		x = append(x, r.NormFloat64()*math.Ldexp(1, r.IntN(24)-12), math.Float64frombits(r.Uint64()))
	}
	return x
}

// TestFastBlocks holds large arrays in blocks to EncodeBlock and DecodeBlock: numbers of all sizes, blocks of zeros,
// with infinities and NaN, and all codes under all scales.
func TestFastBlocks(t *testing.T) {
	const size = 1 << 16
	for _, text := range []string{"mxint8", "mxint(5,16,round=down)", "mxint(6,8,dialect=mase)", "mxfp8", "mxfp(e5m2,32)",
		"mxfp4", "mxfp(float(3,2),8)", "bfp(8,16,8)", "bfp(6,8,3,round=outward)", "bminifloat(4,3,16,8)",
		"bminifloat(2,1,8,4)", "blog(5,16,8)", "blog(4,8,8,round=log)", "mxfp(e2m1,32,round=away)"} {
		f, err := format.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		b := f.(format.Block)
		r := rand.New(rand.NewPCG(3, 4))
		x, codes, scales := make([]float64, size), make([]int64, size), []int64(nil)
		for i := range x {
			if i%b.BlockSize() == 0 {
				scales = append(scales, r.Int64N(1<<b.ScaleWidth()))
			}
			x[i], codes[i] = r.NormFloat64()*math.Ldexp(1, r.IntN(8)+i>>12*16-128), r.Int64N(1<<b.Width())
			switch {
			case i>>5%64 == 1:
				x[i] = 0
			case i%4099 == 7:
				x[i] = []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), math.MaxFloat64}[r.IntN(5)]
			}
		}
		e, err := Encode(f, []int{size}, x, 0)
		if err != nil {
			t.Fatal(err)
		}
		any, err := FromCodes(f, []int{size}, codes, scales)
		if err != nil {
			t.Fatal(err)
		}
		matchBlocks(t, text, b, x, e)
		matchBlocks(t, text, b, nil, any)
	}
}

// matchBlocks compares codes with those of x, unless it is nil, and the values of all codes.
func matchBlocks(t *testing.T, text string, b format.Block, x []float64, e *Encoded) {
	t.Helper()
	k := b.BlockSize()
	values, exact, codes := e.Values(), make([]format.Exact, k), make([]int64, k)
	for block, scale := range e.Scales {
		if x != nil {
			for i, v := range x[block*k : (block+1)*k] {
				exact[i] = format.FromFloat64(v)
			}
			if want := b.EncodeBlock(exact, codes); want != scale || !slices.Equal(codes, e.Codes[block*k:(block+1)*k]) {
				t.Fatalf("%s: block %d: %v, scale %d: want %v, scale %d", text, block, e.Codes[block*k:(block+1)*k], scale, codes,
					want)
			}
		}
		b.DecodeBlock(e.Codes[block*k:(block+1)*k], scale, exact)
		for i, v := range exact {
			got, want := values[block*k+i], v.Float64()
			if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
				t.Fatalf("%s: code %#x under scale %d is %v, not %v", text, e.Codes[block*k+i], scale, got, want)
			}
		}
	}
}
