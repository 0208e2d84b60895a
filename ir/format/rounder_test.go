// SPDX-License-Identifier: Apache-2.0

package format_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

// rounderFormats has each kind of format, and each way of rounding and of overflow.
var rounderFormats = []string{
	"fixed(8,4)", "fixed(4,2)", "ufixed(8,5)", "fixed(16,8)", "fixed(8,-3)", "fixed(24,12)", "fixed(2,0)", "fixed(32,20)",
	"fixed(8,4,round=away)", "fixed(8,4,round=up)", "fixed(8,4,round=down)", "fixed(8,4,round=halfzero)",
	"fixed(8,4,round=floor)", "fixed(8,4,round=ceil)", "fixed(8,4,round=zero)", "fixed(8,4,round=outward)",
	"fixed(8,4,over=sym)", "fixed(6,3,over=wrap)", "ufixed(6,3,over=wrap)", "int(8,z=3)*0.25", "uint(8,z=131)*0.0371",
	"int(8,z=-5,round=away)*0.3", "int(8,div=f32)*0.0371", "float(4,3)", "float(4,3,fn)", "float(5,2,ieee)", "float(2,1)",
	"float(3,2)", "float(2,3)", "fp16", "float(8,7)", "dfloat(4,3)", "log(4)", "log(5)", "log(8)", "binary*0.5",
	"ternary*0.7", "residual(2)", "mxint(8,32)", "mxint(4,16)", "mxint(6,32)", "mxfp4", "mxfp8", "mxint(8,4x8)",
	"mxfp(e5m2,8)", "bfp(8,32,8)", "bminifloat(4,3,16,8)", "blog(5,16,8)", "mxint(8,32,dialect=mase)",
}

// floats are random bits, numbers over 14 octaves, and numbers around the middle between values of f.
func floats(r *rand.Rand, f format.Format, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		switch i % 3 {
		case 0:
			v := math.Float32frombits(r.Uint32())
			if v != v || v != 0 && math.Abs(float64(v)) < 0x1p-126 || math.IsInf(float64(v), 0) {
				v = 0
			}
			out[i] = v
		case 1:
			out[i] = float32(r.NormFloat64() * math.Ldexp(1, r.IntN(14)-7))
		default:
			scale := f
			if b, ok := f.(format.Block); ok {
				scale = b.Element()
			}
			code := func() float64 { return scale.Decode(int64(r.Uint64())).Float64() }
			v := float32((code() + code()) / 2)
			if v != v || math.IsInf(float64(v), 0) {
				v = 1
			}
			for range r.IntN(3) {
				v = math.Nextafter32(v, float32(r.IntN(2)*200-100))
			}
			if math.Abs(float64(v)) < 0x1p-126 {
				v = 0
			}
			out[i] = v
		}
	}
	return out
}

func TestRounder(t *testing.T) { roundAll(t, 3*1<<12) }

// roundAll compares Rounder with encoding and decoding, value by value.
func roundAll(t *testing.T, n int) {
	for _, text := range rounderFormats {
		t.Run(text, func(t *testing.T) {
			f, err := format.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			x := floats(r, f, n)
			const row = 48
			b := hlo.New("main")
			in := b.Arg("x", hlo.TypeOf(hlo.F32, n/row, row))
			rounder, err := format.NewRounder(b, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			b.Return(rounder.Round(b, in, 0))
			got := pjrttest.Run(t, b, hlo.FromFloat32s([]int{n / row, row}, x))[0].Float64s()
			codes := ir.EncodeFloats(ir.Type{Shape: []int{n / row, row}, Format: f}, x)
			want, err := codes.Decode()
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i, w := range want {
				if math.IsInf(w, 0) {
					_, most := rounder.Limits()
					w = math.Copysign(most, w)
				}
				if float64(float32(w)) != got[i] {
					if wrong++; wrong < 5 {
						t.Errorf("%g becomes %g, not %g", x[i], got[i], float32(w))
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d differ", wrong, n)
			}
		})
	}
}
