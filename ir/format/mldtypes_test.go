// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"testing"

	"lathe/internal/tools"
)

// mlDtypes are floats that ml_dtypes knows, which overflow to infinity or NaN where they have one.
var mlDtypes = []struct{ dtype, text string }{
	{"float8_e4m3fn", "float(4,3,fn,over=nan)"}, {"float8_e5m2", "float(5,2,ieee)"}, {"float8_e4m3", "float(4,3,ieee)"},
	{"float8_e3m4", "float(3,4,ieee)"}, {"float8_e4m3fnuz", "float(4,3,fnuz,over=nan)"},
	{"float8_e5m2fnuz", "float(5,2,fnuz,over=nan)"}, {"float8_e4m3b11fnuz", "float(4,3,fnuz,bias=11,over=nan)"},
	{"float6_e3m2fn", "e3m2"}, {"float6_e2m3fn", "e2m3"}, {"float4_e2m1fn", "e2m1"}, {"float8_e8m0fnu", "e8m0"},
}

// TestE8M0 holds the scale format to its definition: the nearest power of two by a search, ties up.
func TestE8M0(t *testing.T) {
	f := mustParse(t, "e8m0")
	for code := range int64(255) {
		v := f.Decode(code)
		if v != FromInt(1, int(code)-127) || f.Encode(v) != code {
			t.Errorf("code %d is %v, which becomes %d", code, v, f.Encode(v))
		}
		for k, want := range map[int64]int64{5: code, 6: code + 1, 7: code + 1} { // quarters up to the next power
			if got := f.Encode(v.Mul(FromInt(k, -2))); got != min(want, 254) {
				t.Errorf("%d/4 of %v becomes %d, not %d", k, v, got, want)
			}
		}
	}
	for v, want := range map[float64]int64{0: 0, -1: 0, math.Inf(-1): 0, math.Inf(1): 254, 0x1p-500: 0, 0x1p500: 254} {
		if got := f.Encode(FromFloat64(v)); got != want {
			t.Errorf("%v becomes %d, not %d", v, got, want)
		}
	}
	if f.Encode(NaN()) != 255 || !f.Decode(255).IsNaN() {
		t.Error("NaN")
	}
}

// TestMLDtypes compares what every bfloat16 becomes, in formats of an independent library. NaN may have a sign there;
// what formats without NaN make of it is not compared, nor of e8m0
// what becomes NaN there and has a nearest code here, and values below 2^-126, which are rounded up there.
func TestMLDtypes(t *testing.T) {
	script := "import sys, numpy as np, ml_dtypes\n" +
		"x = np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16)\n"
	for _, c := range mlDtypes {
		script += "sys.stdout.buffer.write(x.astype(ml_dtypes." + c.dtype + ").view(np.uint8).tobytes())\n"
	}
	out, err := tools.NeedMLDtypes(t)(script).Output()
	if err != nil || len(out) != len(mlDtypes)<<16 {
		t.Fatalf("%v, %d bytes", err, len(out))
	}
	for i, c := range mlDtypes {
		f := mustParse(t, c.text)
		float, scalar := f.(Float)
		for bits, code := range out[i<<16 : (i+1)<<16] {
			v := FromFloat32(math.Float32frombits(uint32(bits) << 16))
			got := f.Encode(v)
			nan := f.Decode(got).IsNaN() && f.Decode(int64(code)).IsNaN()
			noNaN := v.IsNaN() && scalar && float.Kind == FloatFinite
			other := !scalar && (code == e8m0NaN || v.Cmp(FromInt(1, -126)) < 0)
			if got != int64(code) && !nan && !noNaN && !other {
				t.Errorf("%s: %v becomes %#x, and %#x there", c.text, v, got, code)
				break
			}
		}
	}
}
