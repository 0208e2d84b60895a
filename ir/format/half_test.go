// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestHalf reads and writes every code, and rounds numbers around every two neighbours.
func TestHalf(t *testing.T) {
	for _, f := range []Format{BF16, F16} {
		h := f.(Half)
		if back, err := Parse(h.String()); err != nil || back != f || !IsFloat(f) {
			t.Errorf("%s: read as %v, %v", h, back, err)
		}
		if got, want := h.Bits(float32(math.NaN())), map[Format]uint16{BF16: 0x7fc0, F16: 0x7e00}[f]; got != want {
			t.Errorf("%s: NaN is written %#x, others write %#x", h, got, want)
		}
		for code := range int64(1 << 16) {
			v := h.Value(uint16(code))
			if v != v {
				if got := h.Bits(v); h.Value(got) == h.Value(got) || !h.Decode(code).IsNaN() {
					t.Fatalf("%s: NaN %#x is written %#x", h, code, got)
				}
				continue
			}
			if got := int64(h.Bits(v)); got != code || h.Encode(h.Decode(code)) != code {
				t.Fatalf("%s: %#x is %g, written %#x and %#x", h, code, v, got, h.Encode(h.Decode(code)))
			}
			if next := h.Value(uint16(code + 1)); code&0x7fff < 0x7bff && (next > v) != (code < 1<<15) {
				t.Fatalf("%s: %g comes before %g", h, v, next)
			}
		}
		lo, hi := h.Limits()
		if h.Encode(hi) != h.Encode(Inf(false))-1 || lo.Cmp(hi.Neg()) != 0 {
			t.Errorf("%s: limits %v and %v", h, lo, hi)
		}
	}
}

// TestHalfNearest compares rounding with big.Float, whose precision is that of the format at normal numbers.
func TestHalfNearest(t *testing.T) {
	for _, c := range []struct {
		f        Format
		bits     uint
		lo, over float64 // the least normal number; from where on all is infinite
	}{{BF16, 8, 0x1p-126, 0x1.ffp127}, {F16, 11, 0x1p-14, 65520}} {
		h := c.f.(Half)
		rapid.Check(t, func(t *rapid.T) {
			x := float64(math.Float32frombits(rapid.Uint32().Draw(t, "bits")))
			if a := math.Abs(x); a != a || a < c.lo || a >= c.over {
				return
			}
			want, _ := new(big.Float).SetPrec(c.bits).SetFloat64(x).Float64()
			if got := float64(h.Round(float32(x))); got != want {
				t.Fatalf("%s: %g is rounded to %g, want %g", h, x, got, want)
			}
			if got := h.Encode(FromFloat64(x)); h.Value(uint16(got)) != float32(want) {
				t.Fatalf("%s: %g is encoded as %g, want %g", h, x, h.Value(uint16(got)), want)
			}
		})
		inf := float32(math.Inf(1))
		least := float32(c.over)
		if h.Round(least) != inf || h.Round(-inf) != -inf || h.Round(math.Nextafter32(least, 0)) == inf {
			t.Errorf("%s: overflow", h)
		}
	}
}
