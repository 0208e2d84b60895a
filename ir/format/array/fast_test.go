// SPDX-License-Identifier: Apache-2.0

package array

import (
	"math"
	"math/rand/v2"
	"testing"

	"lathe/ir/format"
)

// TestFast holds the ways of large arrays to Encode and Decode: at all values, at and beside what lies between
// neighbours, at random numbers of all sizes, and at zeros, infinities and NaN.
func TestFast(t *testing.T) {
	for _, text := range []string{"fixed(8,4)", "ufixed(5,-600)", "fixed(8,4,over=wrap)", "e4m3", "float(4,3,fn,over=nan)",
		"float(5,2,ieee)", "float(4,3,fnuz,bias=-3)", "e2m1", "fp16", "float(8,7,ieee)", "float(8,3,fnuz,bias=300,over=nan)",
		"float(5,3,round=floor)", "float(3,9,round=away)", "dfloat(4,3)", "log(5)", "log(8,round=log)", "binary*0.3",
		"ternary(delta=0.1)*0.7", "residual(3,scales=[1:0.7:0.6])", "codebook(nf4)*0.3", "float(4,3,round=stochastic)"} {
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
