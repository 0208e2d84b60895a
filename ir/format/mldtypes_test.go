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
	{"float6_e3m2fn", "e3m2"}, {"float6_e2m3fn", "e2m3"}, {"float4_e2m1fn", "e2m1"},
}

// TestMLDtypes compares what every bfloat16 becomes, in formats of an independent library. NaN may have a sign there;
// what formats without NaN make of it is not compared.
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
		f := mustParse(t, c.text).(Float)
		for bits, code := range out[i<<16 : (i+1)<<16] {
			v := FromFloat32(math.Float32frombits(uint32(bits) << 16))
			got := f.Encode(v)
			nan := f.Decode(got).IsNaN() && f.Decode(int64(code)).IsNaN()
			if got != int64(code) && !nan && !(v.IsNaN() && f.Kind == FloatFinite) {
				t.Errorf("%s: %v becomes %#x, and %#x there", c.text, v, got, code)
				break
			}
		}
	}
}
