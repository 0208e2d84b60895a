// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCodesOfFloats holds all codes of small floats and logarithms to the rules of every scalar format: encoding
// returns the decoded code, values ascend with codes, encoding takes the nearest value and the even code of two.
func TestCodesOfFloats(t *testing.T) {
	for _, text := range []string{"float(4,3)", "float(2,1)", "float(3,2)", "float(1,4)", "float(3,0)", "log(2)", "log(4)",
		"log(5)"} {
		f, err := Parse(text)
		if err != nil || f.String() != text {
			t.Fatalf("%s: %v, %v", text, f, err)
		}
		half := int64(1) << (f.Width() - 1)
		for code := range 2 * half {
			v := f.Decode(code)
			if back := f.Encode(v); back != code && !(v.IsZero() && code == half) {
				t.Errorf("%s: code %#x is %v, which becomes %#x", text, code, v, back)
			}
			if next := f.Decode(code + 1); code != half-1 && code != 2*half-1 && next.Abs().Cmp(v.Abs()) <= 0 {
				t.Errorf("%s: %v and then %v", text, v, next)
			}
		}
		r := rand.New(rand.NewPCG(1, 2))
		_, top := f.Limits()
		for range 2000 {
			v := FromInt(r.Int64N(1<<12)-1<<11, top.Log2()+3-r.IntN(24))
			if got, want := f.Encode(v), nearestCode(f, half, v); f.Decode(got).Cmp(f.Decode(want)) != 0 {
				t.Fatalf("%s: %v becomes %#x, nearest is %#x", text, v, got, want)
			}
		}
	}
}

// nearestCode tries every code of the sign of v.
func nearestCode(f Format, half int64, v Exact) int64 {
	from := int64(0)
	if v.Signbit() {
		from = half
	}
	best := from
	for code := from; code < from+half; code++ {
		d := f.Decode(code).Sub(v).Abs().Cmp(f.Decode(best).Sub(v).Abs())
		if d < 0 || d == 0 && code&1 == 0 {
			best = code
		}
	}
	return best
}

func TestWorkedFloats(t *testing.T) {
	for _, c := range []struct {
		text  string
		v     float64
		code  int64
		value float64
	}{
		{"float(4,3)", 464, 0x7e, 448}, {"float(4,3)", 500, 0x7f, 480}, {"float(4,3)", 1e9, 0x7f, 480},
		{"float(4,3)", 0x1p-10, 0, 0}, {"float(4,3)", -0x1p-10, 0x80, 0}, {"float(4,3)", 1.5 * 0x1p-9, 2, 0x1p-8},
		{"float(2,1)", 2.5, 4, 2}, {"float(2,1)", 5, 6, 4}, {"float(2,1)", 0.25, 0, 0}, {"float(2,1)", 0.75, 2, 1},
		{"log(4)", 0.125, 0, 0}, {"log(4)", 0.75, 2, 0.5}, {"log(4)", 1.5, 4, 2}, {"log(4)", 3, 4, 2},
		{"log(4)", 6, 6, 8}, {"log(4)", 100, 7, 16}, {"log(4)", -100, 15, -16}, {"log(4)", -0.01, 0, 0},
	} {
		f, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if code := f.Encode(FromFloat64(c.v)); code != c.code || f.Decode(code).Float64() != c.value {
			t.Errorf("%s: %v becomes %#x (%v), not %#x", c.text, c.v, code, f.Decode(code), c.code)
		}
	}
}

func TestLaterOptions(t *testing.T) {
	for _, text := range []string{"float(4,3,fn)", "float(5,2,ieee)", "float(4,3,bias=7)", "log(5,round=log)",
		"log(8,bias=3)", "float(4,3,over=inf)"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "not supported yet") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
