// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/rand/v2"
	"testing"
)

// TestDFloat compares encoding with a search of all codes: the nearest value, the even significand of two, and of
// several codes of one value that with the least field.
func TestDFloat(t *testing.T) {
	for _, text := range []string{"dfloat(4,3)", "dfloat(1,2)", "dfloat(2,4)"} {
		f, err := Parse(text)
		if err != nil || f.String() != text {
			t.Fatalf("%s: %v, %v", text, f, err)
		}
		half := int64(1) << (f.Width() - 1)
		least := func(v Exact) int64 {
			best := nearestCode(f, half, v)
			for code := best & half; ; code++ {
				if f.Decode(code).Cmp(f.Decode(best)) == 0 {
					return code
				}
			}
		}
		for code := range 2 * half {
			if v := f.Decode(code); f.Encode(v) != least(v) {
				t.Errorf("%s: code %#x is %v, which becomes %#x, not %#x", text, code, v, f.Encode(v), least(v))
			}
		}
		r := rand.New(rand.NewPCG(1, 2))
		_, top := f.Limits()
		for range 2000 {
			v := FromInt(r.Int64N(1<<12)-1<<11, top.Log2()+3-r.IntN(24))
			if got, want := f.Encode(v), least(v); got != want {
				t.Fatalf("%s: %v becomes %#x, nearest is %#x", text, v, got, want)
			}
		}
	}
}

func TestWorkedDFloats(t *testing.T) {
	f := DFloat{4, 3}
	for _, c := range []struct {
		v     float64
		code  int64
		value float64
	}{{1, 0x44, 1}, {0.9375, 0x44, 1}, {0.875, 0x3f, 0.875}, {300, 0x7f, 224}, {-300, 0xff, -224}} {
		if code := f.Encode(FromFloat64(c.v)); code != c.code || f.Decode(code).Float64() != c.value {
			t.Errorf("%v becomes %#x (%v), not %#x", c.v, code, f.Decode(code), c.code)
		}
	}
}
