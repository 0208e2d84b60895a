// SPDX-License-Identifier: Apache-2.0

package format

import "testing"

func TestWorkedDFloats(t *testing.T) {
	f := DFloat{E: 4, M: 3}
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
