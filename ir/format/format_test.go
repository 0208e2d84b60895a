// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// minifloat is a format that only the tests know: float(e,m), with fn the top code of each sign NaN. It proves that
// a family with its own decode needs nothing but the interface.
type minifloat struct {
	e, m int
	fn   bool
}

func (f minifloat) String() string  { return fmt.Sprintf("float(%d,%d,%v)", f.e, f.m, f.fn) }
func (f minifloat) Width() int      { return 1 + f.e + f.m }
func (f minifloat) CodeSet() Format { return f }
func (f minifloat) bias() int       { return 1<<(f.e-1) - 1 }
func (f minifloat) top() int64 {
	if f.fn {
		return 1<<(f.e+f.m) - 2
	}
	return 1<<(f.e+f.m) - 1
}

func (f minifloat) Decode(code int64) Exact {
	mag := code & (1<<(f.e+f.m) - 1)
	if mag > f.top() {
		return NaN()
	}
	field, sig := int(mag>>f.m), mag&(1<<f.m-1)
	if field > 0 {
		sig |= 1 << f.m
	}
	v := FromInt(sig, max(field, 1)-f.bias()-f.m)
	if code>>(f.e+f.m)&1 != 0 {
		return v.Neg()
	}
	return v
}

func (f minifloat) Encode(v Exact) int64 {
	if v.IsNaN() {
		return 1<<(f.e+f.m) - 1
	}
	sign := int64(0)
	if v.Signbit() {
		sign = 1 << (f.e + f.m)
	}
	r := v.Abs().RoundTo(max(v.Log2()-f.m, 1-f.bias()-f.m), RoundEven)
	if r.Cmp(f.Decode(f.top())) > 0 {
		return sign | f.top()
	}
	field := max(r.Log2()+f.bias(), 0)
	sig, _ := r.Int64(max(field, 1) - f.bias() - f.m)
	if r.IsZero() {
		return sign
	}
	if sig>>f.m == 0 {
		return sign | sig
	}
	return sign | int64(field)<<f.m | sig&(1<<f.m-1)
}

func (f minifloat) Limits() (lo, hi Exact) { return f.Decode(f.top()).Neg(), f.Decode(f.top()) }

func (f minifloat) Lattice() (exp int, bits int, ok bool) {
	exp = 1 - f.bias() - f.m
	_, hi := f.Limits()
	bits = hi.Log2() - exp + 2
	return exp, bits, bits <= 63
}

// logarithm is log(W) for the tests: powers of two and zero.
type logarithm struct{ w int }

func (f logarithm) String() string  { return fmt.Sprintf("log(%d)", f.w) }
func (f logarithm) Width() int      { return f.w }
func (f logarithm) CodeSet() Format { return f }
func (f logarithm) bias() int       { return 1<<(f.w-2) - 1 }

func (f logarithm) Decode(code int64) Exact {
	field := code & (1<<(f.w-1) - 1)
	if field == 0 {
		return Exact{}
	}
	return FromInt(1-2*(code>>(f.w-1)&1), int(field)-f.bias())
}

func (f logarithm) Encode(v Exact) int64 {
	if v.IsNaN() || v.IsZero() {
		return 0
	}
	top := 1<<(f.w-1) - 1
	field := top
	if v.IsFinite() {
		a := v.Log2()
		switch d := v.Abs().Cmp(FromInt(3, a-1)); {
		case d > 0 || d == 0 && (a+f.bias())&1 != 0:
			a++
		}
		field = min(a+f.bias(), top)
		if field < 1 {
			field = 0
			if v.Abs().Cmp(FromInt(1, -f.bias())) > 0 { // above half of the smallest power
				field = 1
			}
		}
	}
	if field > 0 && v.Signbit() {
		return int64(field) | 1<<(f.w-1)
	}
	return int64(field)
}

func (f logarithm) Limits() (lo, hi Exact) {
	hi = f.Decode(1<<(f.w-1) - 1)
	return hi.Neg(), hi
}

func (f logarithm) Lattice() (exp int, bits int, ok bool) {
	_, hi := f.Limits()
	exp = 1 - f.bias()
	return exp, hi.Log2() - exp + 2, hi.Log2()-exp+2 <= 63
}

var (
	e4m3 = minifloat{4, 3, true}
	e3m2 = minifloat{3, 2, false}
	e2m3 = minifloat{2, 3, false}
	e2m1 = minifloat{2, 1, false}
	log4 = logarithm{4}
)

// small lists formats of up to 12 bits whose codes can all be tried.
func small(t *testing.T) []Format {
	out := []Format{e4m3, e3m2, e2m3, e2m1, log4}
	texts := []string{"int(1)", "uint(1)", "int(8)*0.1", "uint(8,z=131)*0.0235", "int(4,z=-20)*[0]", "int(5,z=3)*1e-20",
		"mxint(8,32)", "mxint(2,4)", "mxint(6,16,round=away)", "uint(8,z=300,over=wrap)*3.7"}
	for _, r := range integerModes {
		for _, o := range overNames {
			for _, s := range []string{"fixed(6,3%s)", "ufixed(5,9%s)", "fixed(3,-2%s)", "int(5,z=2%s)*0.3"} {
				texts = append(texts, fmt.Sprintf(s, fmt.Sprintf(",round=%v,over=%s", r, o)))
			}
		}
	}
	for _, s := range texts {
		f, err := Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// codes lists the codes of f: sign-extended where f has negative codes.
func codes(f Format) []int64 {
	lo, n := int64(0), int64(1)<<f.Width()
	switch f := f.(type) {
	case Fixed:
		if f.Signed {
			lo = -n / 2
		}
	case Affine:
		if f.Signed {
			lo = -n / 2
		}
	case Block:
		if SignedCodes(f) {
			lo = -n / 2
		}
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = lo + int64(i)
	}
	return out
}

// TestEveryCode: decode then encode is the identity on values, the lattice holds every value, and the limits are met.
func TestEveryCode(t *testing.T) {
	for _, f := range small(t) {
		lo, hi := f.Limits()
		if f.Decode(f.Encode(lo)).Cmp(lo) != 0 || f.Decode(f.Encode(hi)).Cmp(hi) != 0 {
			t.Errorf("%v: limits %v, %v are not values", f, lo, hi)
		}
		exp, bits, ok := f.Lattice()
		for _, c := range codes(f) {
			v := f.Decode(c)
			if !v.IsFinite() {
				continue
			}
			if v.Cmp(lo) >= 0 && v.Cmp(hi) <= 0 {
				if got := f.Encode(v); f.Decode(got).Cmp(v) != 0 {
					t.Errorf("%v: code %x is %v, encoded again %x", f, c, v, got)
				}
			}
			if !ok {
				continue
			}
			k, isInt := v.Int64(exp)
			if !isInt || SignedBits(big.NewInt(k), new(big.Int)) > bits && !(lo.Sign() >= 0 && k>>bits == 0) {
				t.Errorf("%v: %v is not an integer of %d bits times 2^%d", f, v, bits, exp)
			}
			if view, viewOK := IntegersOf(f); viewOK && FromInt(view.Of(c), 0).Mul(view.Step).Cmp(v) != 0 {
				t.Errorf("%v: integer view of %x is %d steps of %v, value %v", f, c, view.Of(c), view.Step, v)
			}
		}
	}
}

// TestNearestMonotone tries values on, between and beside the values of each format.
func TestNearestMonotone(t *testing.T) {
	for _, f := range small(t) {
		values := probe(f)
		var last Exact
		for i, v := range values {
			got := f.Decode(f.Encode(v))
			if i > 0 && got.Cmp(last) < 0 && !wraps(f) {
				t.Fatalf("%v: encode is not monotone at %v", f, v)
			}
			last = got
			if !nearest(f) {
				continue
			}
			for _, c := range codes(f) {
				w := f.Decode(c)
				if lo, hi := f.Limits(); w.IsNaN() || w.Cmp(lo) < 0 || w.Cmp(hi) > 0 {
					continue
				}
				if w.Sub(v).Abs().Cmp(got.Sub(v).Abs()) < 0 {
					t.Fatalf("%v: %v became %v, but %v is nearer", f, v, got, w)
				}
			}
		}
	}
}

// probe lists values in ascending order: those of f, the points midway, and others just off them.
func probe(f Format) []Exact {
	var vals, out []Exact
	for _, c := range codes(f) {
		if v := f.Decode(c); v.IsFinite() {
			vals = append(vals, v)
		}
	}
	sortExact(vals)
	tiny := FromInt(1, -90)
	for i, v := range vals {
		out = append(out, v.Sub(tiny), v, v.Add(tiny))
		if i+1 < len(vals) {
			mid := v.Add(vals[i+1]).Shift(-1)
			out = append(out, mid.Sub(tiny), mid, mid.Add(tiny))
		}
	}
	lo, hi := vals[0], vals[len(vals)-1]
	out = append(out, lo.Sub(FromInt(1, 20)), hi.Add(FromInt(1, 20)), lo.Sub(FromInt(1, 200)), hi.Add(FromInt(1, 200)))
	sortExact(out)
	return out
}

func sortExact(v []Exact) { slices.SortFunc(v, Exact.Cmp) }

func rules(f Format) (Round, Over) {
	switch f := f.(type) {
	case Fixed:
		return f.Round, f.Over
	case Affine:
		return f.Round, f.Over
	case MXInt:
		return f.Round, Sat
	}
	return RoundEven, Sat
}

func wraps(f Format) bool {
	_, o := rules(f)
	return o == Wrap
}

// nearest says that f rounds to nearest in value; log and wrapping formats are judged by their anchors.
func nearest(f Format) bool {
	r, o := rules(f)
	return r <= RoundHalfZero && o != Wrap
}

func TestWorkedMinifloats(t *testing.T) {
	plain := minifloat{4, 3, false}
	for _, c := range []struct {
		f    Format
		v    float64
		code int64
	}{
		{e4m3, 464, 0x7e}, {e4m3, 1e9, 0x7e}, {e4m3, math.Copysign(0, -1), 0x80}, {e4m3, 0x1p-10, 0}, {e4m3, 0x1.8p-9, 2},
		{e4m3, math.NaN(), 0x7f}, {plain, 464, 0x7e}, {plain, 500, 0x7f}, {e2m1, 2.5, 4}, {e2m1, 5, 6}, {e2m1, 0.25, 0},
		{e2m1, 0.75, 2}, {log4, 0.125, 0}, {log4, 0.75, 2}, {log4, 1.5, 4}, {log4, 3, 4}, {log4, 6, 6}, {log4, 100, 7},
	} {
		if got := c.f.Encode(FromFloat64(c.v)); got != c.code {
			t.Errorf("%v of %v = %x, want %x", c.f, c.v, got, c.code)
		}
	}
}

func TestSameType(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"fixed(8,4)", "fixed(8,4,round=floor,over=wrap)", true},
		{"fixed(8,0)", "int(8)", true},
		{"fixed(8,4)", "ufixed(8,4)", false},
		{"fixed(8,4)", "fixed(8,5)", false},
		{"int(8)*0.5", "int(8,round=up,div=f32)*0.5", true},
		{"int(8)*0.5", "int(8,z=1)*0.5", false},
		{"mxint8", "mxint(8,32,round=away)", true},
		{"mxint8", "mxint(8,16)", false},
		{"fp32", "fp32", true},
	} {
		a, aerr := Parse(c.a)
		b, berr := Parse(c.b)
		if aerr != nil || berr != nil || SameType(a, b) != c.same {
			t.Errorf("%s and %s: %v %v", c.a, c.b, aerr, berr)
		}
	}
}

func TestFloat32(t *testing.T) {
	if !IsFloat(FP32) || IsFloat(Fixed{W: 32, Signed: true}) || !IsFloat(Float32{}) {
		t.Error("IsFloat")
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		if got, want := FP32.Encode(FromFloat64(f)), int64(math.Float32bits(float32(f))); got != want && f == f {
			t.Fatalf("%x: %x, want %x", f, got, want)
		}
		code := int64(rapid.Uint32().Draw(t, "code"))
		if v := FP32.Decode(code); !v.IsNaN() && FP32.Encode(v) != code {
			t.Fatalf("code %x is %v, encoded %x", code, v, FP32.Encode(v))
		}
	})
	if FP32.Encode(NaN()) != 0x7fc00000 || FP32.Encode(FromFloat64(math.MaxFloat64)) != 0x7f800000 {
		t.Error("NaN or overflow")
	}
}
