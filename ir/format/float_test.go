// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"
	"testing"
)

// spec is a float, dfloat or log as its definition has it: a list of values.
type spec struct {
	name              string // float, dfloat, log
	e, m, bias        int
	kind, round, over string
}

func (s spec) text() string {
	t := fmt.Sprintf("%s(%d", s.name, s.e+1)
	if s.name != "log" {
		t = fmt.Sprintf("%s(%d,%d", s.name, s.e, s.m)
	}
	if s.round == "mase" {
		return fmt.Sprintf("%s,bias=%d,dialect=mase)", t, s.bias)
	}
	for _, o := range []struct{ key, val string }{{"", s.kind}, {"bias=", fmt.Sprint(s.bias)}, {"round=", s.round},
		{"over=", s.over}} {
		if o.val != "" {
			t += "," + o.key + o.val
		}
	}
	return t + ")"
}

// point is a finite value that is not negative, and its code; of several codes the least.
type point struct {
	v    *big.Rat
	code int64
}

// points are in ascending order. Behind the last one stands what would follow it, with the code that would be its.
func (s spec) points() []point {
	var out []point
	codes := int64(1) << (s.e + s.m) // from here on they are no finite values
	end := codes + map[string]int64{"ieee": -1 << s.m, "fn": -1}[s.kind]
	if s.name == "dfloat" {
		end--
	}
	for code := range end + 1 {
		field, k := code>>s.m, code&(1<<s.m-1)
		v := new(big.Rat).SetFrac64(k, 1<<s.m)
		switch {
		case s.name == "dfloat":
		case field > 0:
			v.Add(v, big.NewRat(1, 1))
		default:
			field = 1
		}
		v.Mul(v, FromInt(1, int(field)-s.bias).Rat())
		out = append(out, point{v, code})
	}
	slices.SortStableFunc(out, func(a, b point) int { return a.v.Cmp(b.v) })
	out = slices.CompactFunc(out, func(a, b point) bool { return a.v.Cmp(b.v) == 0 })
	if n := len(out); s.name == "dfloat" {
		next := new(big.Rat).Sub(out[n-1].v, out[n-2].v)
		return append(out, point{next.Add(next, out[n-1].v), codes}) // of an even significand
	}
	return out
}

// up says which of two neighbours a value between them becomes: the greater magnitude or the other one.
func (s spec) up(v *big.Rat, neg bool, lo, hi point) bool {
	sum := new(big.Rat).Add(lo.v, hi.v)
	side := v.Cmp(sum.Quo(sum, big.NewRat(2, 1)))
	square := new(big.Rat).Mul(v, v)
	root := square.Cmp(sum.Mul(lo.v, hi.v)) // against the geometric mean, which is not rational
	some := v.Cmp(lo.v) > 0
	return map[string]bool{"": side > 0 || side == 0 && lo.code%2 == 1, "away": side >= 0,
		"up": side > 0 || side == 0 && !neg, "down": side > 0 || side == 0 && neg, "halfzero": side > 0,
		"floor": some && neg, "ceil": some && !neg,
		"zero": false, "outward": some, "log": lo.v.Sign() > 0 && root > 0 || lo.v.Sign() == 0 && side > 0}[s.round]
}

// encode is the code of a finite value by a search in points.
func (s spec) encode(points []point, x Exact) int64 {
	if s.round == "mase" {
		return s.mase(x)
	}
	neg, v := x.Signbit(), x.Abs().Rat()
	last := len(points) - 1
	i := last
	if v.Cmp(points[last].v) < 0 {
		i = sort.Search(last, func(k int) bool { return points[k+1].v.Cmp(v) > 0 })
		if s.up(v, neg, points[i], points[i+1]) {
			i++
		}
	}
	sign := int64(0)
	if neg {
		sign = 1 << (s.e + s.m)
	}
	one := s.name == "log" || s.kind == "fnuz" // zero has one code
	switch {
	case i == 0 && one:
		return 0
	case i < last:
		return sign | points[i].code
	case s.over == "inf", s.over == "" && s.kind == "ieee":
		return sign | (1<<s.e-1)<<s.m
	case s.over == "nan":
		return s.nan()
	}
	return sign | points[last-1].code
}

// mase is the encoding of MASE from its formulas: an exponent of the magnitude, cut to the range, then a fraction, cut
// to its range.
func (s spec) mase(x Exact) int64 {
	sign := int64(0)
	if x.Signbit() {
		sign = 1 << (s.e + s.m)
	}
	if x.IsZero() {
		return sign
	}
	e := x.Log2()
	if s.name == "dfloat" && x.Abs().Cmp(FromInt(1, e)) != 0 {
		e++ // the ceiling
	}
	e = min(max(e, -s.bias), 1<<s.e-1-s.bias)
	step, hidden := e-s.m, int64(0)
	if s.name == "float" && e == -s.bias {
		step++
	} else if s.name == "float" {
		hidden = 1 << s.m
	}
	steps := x.Abs().Shift(-step).Rat()
	k := RoundQuo(steps.Num(), steps.Denom(), RoundEven)
	if k.Sub(k, big.NewInt(hidden)).Cmp(big.NewInt(1<<s.m-1)) > 0 {
		k.SetInt64(1<<s.m - 1)
	}
	return sign | int64(e+s.bias)<<s.m | k.Int64()
}

// nan is the canonical code of NaN.
func (s spec) nan() int64 {
	return map[string]int64{"ieee": (1<<s.e-1)<<s.m | 1<<max(s.m-1, 0), "fn": 1<<(s.e+s.m) - 1,
		"fnuz": 1 << (s.e + s.m)}[s.kind]
}

var roundTexts = []string{"", "away", "up", "down", "halfzero", "floor", "ceil", "zero", "outward"}

// specs are floats of up to 16 bits with all kinds, roundings and overflows.
func specs() []spec {
	var out []spec
	for i, r := range roundTexts {
		out = append(out, spec{"float", 4, 3, 7, "", r, ""}, spec{"float", 4, 3, 7, "fn", r, "nan"},
			spec{"float", 5, 2, 15, "ieee", r, ""}, spec{"float", 2, 3, i - 5, "", r, ""},
			spec{"float", 4, 3, 8, "fnuz", r, "nan"}, spec{"dfloat", 3, 3, 3, "", r, ""},
			spec{"dfloat", 2, 4, 9 - i, "", r, ""}, spec{"log", 3, 0, i, "", r, ""})
	}
	return append(out, spec{"float", 4, 3, 7, "fn", "", ""}, spec{"float", 5, 2, 15, "ieee", "", "sat"},
		spec{"float", 5, 2, 16, "fnuz", "", ""}, spec{"float", 3, 2, 3, "", "", ""}, spec{"float", 2, 1, 1, "", "", ""},
		spec{"float", 1, 4, 0, "", "", ""}, spec{"float", 1, 1, 0, "ieee", "", ""}, spec{"float", 3, 0, 3, "fn", "", ""},
		spec{"float", 3, 0, 3, "", "", ""}, spec{"log", 4, 0, 7, "", "log", ""}, spec{"log", 1, 0, 0, "", "", ""},
		spec{"log", 5, 0, 40, "", "log", ""}, spec{"dfloat", 1, 2, 0, "", "", ""},
		spec{"float", 5, 10, 15, "ieee", "", ""}, spec{"float", 8, 7, 127, "ieee", "", ""},
		spec{"dfloat", 5, 7, 15, "", "", ""}, spec{"log", 11, 0, 1023, "", "", ""},
		spec{"float", 4, 3, 7, "", "mase", ""}, spec{"float", 3, 2, 9, "", "mase", ""},
		spec{"float", 3, 0, 3, "", "mase", ""},
		spec{"dfloat", 4, 3, 7, "", "mase", ""}, spec{"dfloat", 2, 4, -3, "", "mase", ""})
}

// TestFloats holds floats, dfloats and logarithms to their definitions: the values of all codes, and what becomes of
// values at, between and beyond them.
func TestFloats(t *testing.T) {
	for _, s := range specs() {
		f, err := Parse(s.text())
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(f.String()); again != f || err != nil {
			t.Errorf("%s prints %s, which is %v, %v", s.text(), f, again, err)
		}
		points := s.points()
		eighths, stride := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1
		if len(points) > 400 {
			eighths, stride = []int64{0, 3, 4, 5}, len(points)/400
		}
		for i, p := range points[:len(points)-1] {
			if got := f.Decode(p.code); got.Rat().Cmp(p.v) != 0 {
				t.Errorf("%s: code %#x is %v, not %v", s.text(), p.code, got, p.v)
			}
			if i%stride != 0 && i < len(points)-20 {
				continue
			}
			for _, part := range eighths {
				v := FromRat(p.v).Add(FromRat(points[i+1].v).Sub(FromRat(p.v)).Mul(FromInt(part, -3)))
				s.compare(t, f, points, v)
			}
		}
		for _, edge := range []float64{0, 0x1p-600, 0x1p600, 1.41421356237309504, 1.41421356237309515, 3, 0x1.6a09e8p3} {
			s.compare(t, f, points, FromFloat64(edge))
		}
	}
}

func (s spec) compare(t *testing.T, f Format, points []point, v Exact) {
	t.Helper()
	for _, x := range []Exact{v, v.Neg()} {
		if got, want := f.Encode(x), s.encode(points, x); got != want {
			t.Errorf("%s: %v (%v) becomes %#x, not %#x", s.text(), x, x.Float64(), got, want)
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

// TestFloatSpecials is about codes and values that are not finite, and zeros.
func TestFloatSpecials(t *testing.T) {
	for text, want := range map[string][5]int64{ // NaN, Inf, -Inf, -0, 2^-600 below zero
		"e4m3": {0x7f, 0x7e, 0xfe, 0x80, 0x80}, "float(4,3,fn,over=nan)": {0x7f, 0x7f, 0x7f, 0x80, 0x80},
		"e5m2": {0x7e, 0x7b, 0xfb, 0x80, 0x80}, "float(5,2,ieee)": {0x7e, 0x7c, 0xfc, 0x80, 0x80},
		"float(4,3,fnuz)": {0x80, 0x7f, 0xff, 0, 0}, "float(5,2,fnuz,over=nan)": {0x80, 0x80, 0x80, 0, 0},
		"fp16": {0x7e00, 0x7c00, 0xfc00, 0x8000, 0x8000}, "float(8,7,ieee)": {0x7fc0, 0x7f80, 0xff80, 0x8000, 0x8000},
		"float(4,3)": {0, 0x7f, 0xff, 0x80, 0x80}, "dfloat(4,3)": {0, 0x7f, 0xff, 0x80, 0x80},
		"log(5)": {0, 0xf, 0x1f, 0, 0},
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		zero := Exact{}.Neg()
		for i, v := range []Exact{NaN(), Inf(false), Inf(true), zero, FromInt(-1, -600)} {
			if got := f.Encode(v); got != want[i] {
				t.Errorf("%s: %v becomes %#x, not %#x", text, v, got, want[i])
			}
		}
		finite, half := 0, int64(1)<<(f.Width()-1)
		for code := range 2 * half {
			v := f.Decode(code)
			if v.IsFinite() {
				finite++
				continue
			}
			if back := f.Decode(f.Encode(v)); v.IsNaN() && !back.IsNaN() {
				t.Errorf("%s: NaN of code %#x becomes %v", text, code, back)
			}
		}
		lost := map[string]int{"e4m3": 2, "float(4,3,fn,over=nan)": 2, "e5m2": 8, "float(5,2,ieee)": 8, "float(4,3,fnuz)": 1,
			"float(5,2,fnuz,over=nan)": 1, "fp16": 2048, "float(8,7,ieee)": 256}[text]
		if int64(finite) != 2*half-int64(lost) {
			t.Errorf("%s: %d finite codes", text, finite)
		}
	}
}

func TestWorkedFloats(t *testing.T) {
	for _, c := range []struct {
		text  string
		v     float64
		code  int64
		value float64
	}{
		{"e4m3", 464, 0x7e, 448}, {"e4m3", 1e9, 0x7e, 448}, {"e4m3", 0x1p-10, 0, 0}, {"e4m3", 1.5 * 0x1p-9, 2, 0x1p-8},
		{"float(4,3,fn,over=nan)", 464, 0x7e, 448}, {"e5m2", 61440, 0x7b, 57344}, {"e5m2", math.Inf(1), 0x7b, 57344},
		{"float(5,2,ieee)", 61440, 0x7c, math.Inf(1)}, {"e2m1", 5, 6, 4},
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

// TestMASE are the examples of the dialect, and its logarithms from their definition, in big numbers.
func TestMASE(t *testing.T) {
	for _, c := range []struct {
		text     string
		v, value float64
	}{{"float(4,3,dialect=mase)", 1.97, 1.875}, {"float(4,3,dialect=mase)", 1e9, 480},
		{"dfloat(4,3,dialect=mase)", 1, 0.875},
		{"log(4,dialect=mase)", 0, 0.125}, {"log(4,dialect=mase)", -0.01, 0.125}, {"log(4,dialect=mase)", -0.02, -0.125},
		{"log(4,dialect=mase)", math.Inf(-1), -16}, {"log(4,dialect=mase)", math.NaN(), 0.125}} {
		f, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Decode(f.Encode(FromFloat64(c.v))).Float64(); got != c.value || f.String() != c.text {
			t.Errorf("%s: %v becomes %v, not %v", f, c.v, got, c.value)
		}
	}
	f, err := Parse("log(5,bias=9,dialect=mase)")
	if err != nil {
		t.Fatal(err)
	}
	root := new(big.Float).SetPrec(200).Sqrt(big.NewFloat(2).SetPrec(200))
	for i := range 4000 {
		v := math.Ldexp(float64(i-2000), -9) / 3
		tenth := new(big.Float).SetPrec(200).Quo(big.NewFloat(math.Ldexp(1, -9)), big.NewFloat(10).SetPrec(200))
		x := new(big.Float).SetPrec(200).Add(big.NewFloat(math.Abs(v)), tenth)
		want := int64(0)
		for want < 15 && x.Cmp(new(big.Float).Mul(root, big.NewFloat(math.Ldexp(1, int(want)-9)))) > 0 {
			want++
		}
		if tenth.Add(tenth, big.NewFloat(v)).Sign() < 0 {
			want |= 16
		}
		if got := f.Encode(FromFloat64(v)); got != want {
			t.Fatalf("%s: %v becomes %d, not %d", f, v, got, want)
		}
	}
	for text, part := range map[string]string{"float(4,3,fn,dialect=mase)": "all finite",
		"log(9,dialect=mase)":              "up to 8 bits",
		"float(4,3,round=up,dialect=mase)": "its own way", "float(4,3,dialect=other)": "no value"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestStochasticFloats: each code is made as often as the place of the value between two of them asks for.
func TestStochasticFloats(t *testing.T) {
	for _, text := range []string{"float(4,3", "dfloat(4,3", "log(5"} {
		f, err := Parse(text + ",round=stochastic)")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []Exact{FromFloat64(1.3125), FromFloat64(-1.3125), FromFloat64(0.0008), FromInt(-5, -14)} {
			lo, hi := f.Encode(v), EncodeSeeded(f, v, math.MaxUint32)
			down, up := f.Decode(lo), f.Decode(hi)
			if down.Cmp(v) > 0 || up.Cmp(v) <= 0 {
				t.Errorf("%s: %v goes to %v and %v", text, v, down, up)
			}
			ups, part := 0, v.Sub(down).Quo(up.Sub(down)).Float64()
			for i := range uint32(256) {
				word := i << 24
				code := EncodeSeeded(f, v, word)
				if code != lo && code != hi {
					t.Fatalf("%s: %v becomes %#x", text, v, code)
				}
				if code == hi {
					ups++
				}
			}
			if math.Abs(float64(ups)-256*part) > 1 {
				t.Errorf("%s: %v goes up %d times of 256, not %v", text, v, ups, 256*part)
			}
		}
	}
}
