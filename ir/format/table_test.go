// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func mustParse(t *testing.T, text string) Format {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestWorkedTables are examples of each format of few codes.
func TestWorkedTables(t *testing.T) {
	for _, c := range []struct {
		text  string
		v     float64
		code  int64
		value float64
	}{
		{"binary", 0, 1, 1}, {"binary", math.Copysign(0, -1), 1, 1}, {"binary", -0x1p-300, 0, -1},
		{"binary*0.25", 7, 1, 0.25},
		{"binary", math.NaN(), 1, 1}, {"binary*3", math.Inf(-1), 0, -3},
		{"ternary", 0.5, 0, 0}, {"ternary", 0.5000001, 1, 1}, {"ternary", -0.75, 3, -1}, {"ternary*4", -2, 0, 0},
		{"ternary(delta=0)*4", -0x1p-99, 3, -4}, {"ternary", math.NaN(), 0, 0}, {"ternary", math.Inf(1), 1, 1},
		{"residual(3)*0.125", 0.3, 5, 0.375}, {"residual(3)*0.125", 0, 1, 0.125}, {"residual(3)*0.125", -0.9, 0, -0.875},
		{"residual(2,scales=[1:5])", 0.5, 1, -4}, {"residual(2,scales=[1:5])", -0.5, 2, 4},
		{"residual(1)", math.NaN(), 1, 1}, {"residual(2)", math.Inf(-1), 0, -3},
		{"codebook(nf4)", 0.02, 7, 0}, {"codebook(nf4)", 0.04, 8, 0.07958029955625534}, {"codebook(nf4)*2", -9, 0, -2},
		{"codebook(-1:0:1)", 0.5, 2, 1}, {"codebook(-1:0:1)", -0.5, 0, -1}, {"codebook(0:1:2:3)", 1.5, 2, 2},
		{"codebook(0:1:2:3)", 0.5, 0, 0}, {"codebook(-3:5)", math.NaN(), 0, -3}, {"codebook(-4:5)", math.NaN(), 0, -4},
	} {
		f := mustParse(t, c.text)
		if code := f.Encode(FromFloat64(c.v)); code != c.code || f.Decode(code).Float64() != c.value {
			t.Errorf("%s: %v becomes %#x (%v), not %#x (%v)", c.text, c.v, code, f.Decode(code), c.code, c.value)
		}
	}
	if v := mustParse(t, "ternary").Decode(2); !v.IsZero() {
		t.Errorf("10 of ternary is %v", v)
	}
	if v := mustParse(t, "codebook(1:2:3)").Decode(3); v.Float64() != 3 {
		t.Errorf("the code behind the last one is %v", v)
	}
}

var tableTexts = []string{"binary*0.3", "ternary", "ternary(delta=0.1)*0.7", "residual(4)*0.1",
	"residual(3,scales=[1:0.7:0.6])", "codebook(nf4)", "codebook(nf4)*0.37", "codebook(-1:-0.5:0:0.1:3)*2",
	"residual(8)*3"}

// TestTables compares with a search for the nearest value, where the format takes it, and holds the codecs to Decode
// and Encode.
func TestTables(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, text := range tableTexts {
		f := mustParse(t, text)
		nearest := !strings.Contains(text, "delta") && !strings.Contains(text, "scales")
		var values []*big.Rat
		for code := range int64(1) << f.Width() {
			v := f.Decode(code)
			values = append(values, v.Rat())
			if again := f.Encode(v); nearest && f.Decode(again).Cmp(v) != 0 {
				t.Errorf("%s: code %d becomes %d", text, code, again)
			}
		}
		lo, hi := f.Limits()
		span := hi.Sub(lo)
		for range 2000 {
			v := lo.Add(span.Mul(FromInt(r.Int64N(1<<20)-1<<18, -19)))
			if got := new(big.Rat).Sub(f.Decode(f.Encode(v)).Rat(), v.Rat()); nearest {
				for _, w := range values {
					if d := new(big.Rat).Sub(w, v.Rat()); d.Abs(d).Cmp(got.Abs(got)) < 0 {
						t.Fatalf("%s: %v becomes %v, and %v is nearer", text, v, f.Decode(f.Encode(v)), w)
					}
				}
			}
		}
		for _, in := range []Fixed{{W: 12, F: 9, Signed: true}, {W: 9, F: 4}, {W: 10, F: -3, Signed: true}} {
			from, codes := stepsOf(f, in)
			for k, x := 0, in.Min(); x <= in.Max(); x++ {
				for k+1 < len(from) && from[k+1] <= x {
					k++
				}
				if want := f.Encode(in.Decode(x)); codes[k] != want {
					t.Fatalf("%s: %v becomes %d by steps, not %d", text, in.Decode(x), codes[k], want)
				}
			}
			for code, c := range decodeTable(f, in) {
				if want := in.Encode(f.Decode(int64(code))); c != want {
					t.Errorf("%s: code %d is %d in %s, not %d", text, code, c, in, want)
				}
			}
		}
		constant, exact := Constants(f), mustExact(t, f)
		for code := range int64(1) << f.Width() {
			v := f.Decode(code)
			if constant.Decode(constant.Encode(v)).Cmp(v) != 0 || exact.Decode(exact.Encode(v)).Cmp(v) != 0 {
				t.Errorf("%s: %v is not one of %s or %s", text, v, constant, exact)
			}
		}
	}
	for text, want := range map[string]string{"binary*0.3": "int(2)*0.3", "ternary*0.5": "fixed(2,1)", "binary": "int(2)",
		"residual(3)*0.1": "int(4)*0.1", "codebook(-1:0:0.5)*0.3": "int(2)*0.15"} {
		if got := Constants(mustParse(t, text)).String(); got != want {
			t.Errorf("constants of %s are %s, not %s", text, got, want)
		}
	}
}

// signDefinitions say in rational numbers what becomes of a value in formats that do not take the nearest.
var signDefinitions = []struct {
	text   string
	encode func(v *big.Rat) int64
}{
	{"binary*0.375", func(v *big.Rat) int64 { return greedy(v, "3/8") }},
	{"residual(4,scales=[0.5:0.75:0.125:2])", func(v *big.Rat) int64 { return greedy(v, "1/2", "3/4", "1/8", "2") }},
	{"residual(3)*0.75", func(v *big.Rat) int64 { return greedy(v, "3", "3/2", "3/4") }},
	{"ternary*0.75", func(v *big.Rat) int64 { return ternaryCode(v, "3/8") }},
	{"ternary(delta=0.625)*0.5", func(v *big.Rat) int64 { return ternaryCode(v, "5/8") }},
}

func rational(text string) *big.Rat {
	v, _ := new(big.Rat).SetString(text)
	return v
}

func greedy(v *big.Rat, levels ...string) (code int64) {
	rest := new(big.Rat).Set(v)
	for l, text := range levels {
		if rest.Sign() >= 0 {
			code |= 1 << l
			rest.Sub(rest, rational(text))
		} else {
			rest.Add(rest, rational(text))
		}
	}
	return code
}

func ternaryCode(v *big.Rat, delta string) int64 {
	switch {
	case v.Cmp(rational(delta)) > 0:
		return 1
	case new(big.Rat).Neg(v).Cmp(rational(delta)) > 0:
		return 3
	}
	return 0
}

// TestSigns compares with signDefinitions, on and beside every border.
func TestSigns(t *testing.T) {
	for _, d := range signDefinitions {
		f := mustParse(t, d.text)
		for k := int64(-80); k <= 80; k++ { // sixteenths, of which all borders are whole numbers
			for off := int64(-1); off <= 1; off++ {
				v := FromInt(k, -4).Add(FromInt(off, -99))
				if got, want := f.Encode(v), d.encode(v.Rat()); got != want {
					t.Errorf("%s: %v becomes %b, not %b", d.text, v, got, want)
				}
			}
		}
	}
}

func mustExact(t *testing.T, f Format) Fixed {
	t.Helper()
	fx, ok := ExactFixed(f)
	if !ok {
		t.Fatalf("%s has no lattice", f)
	}
	return fx
}

// TestChannels holds the scales that formats find for themselves to their formulas, and codes to those scales.
func TestChannels(t *testing.T) {
	x := []float32{0.5, -1, 0.25, 2, -0.125, 0}
	for text, want := range map[string]struct {
		scale  float32
		values []float64
	}{
		"binary*[0]":               {3.875 / 6, []float64{1, -1, 1, 1, -1, 1}},
		"ternary*[0]":              {3.5 / 3, []float64{1, -1, 0, 1, 0, 0}}, // beyond 0.484
		"ternary(delta=0.6)*[0]":   {1.5, []float64{0, -1, 0, 1, 0, 0}},
		"residual(1)*[0]":          {3.875 / 6, []float64{1, -1, 1, 1, -1, 1}},
		"codebook(-1:0:0.5:1)*[0]": {2 * 0.5, []float64{1, -2, 0, 2, 0, 0}}, // in steps of a half; ties to even
		"residual(2)*[0]":          {7.875 / 14, []float64{1, -1, 1, 3, -1, 1}},
	} {
		f := mustParse(t, text).(Fitted)
		if f.String() != text || f.ChannelFormat().(Affine).Axis != 0 {
			t.Errorf("%s prints %s, and is %s", text, f, f.ChannelFormat())
		}
		codes := make([]int64, len(x))
		scale := f.FitChannel(x, codes)
		if math.Abs(float64(scale/want.scale)-1) > 1e-6 {
			t.Errorf("%s: scale %v, not %v", text, scale, want.scale)
		}
		for i, c := range codes {
			if float64(c) != want.values[i] {
				t.Errorf("%s: %v is %v", text, x, codes)
			}
		}
		if scale = f.FitChannel(make([]float32, 3), codes[:3]); !(scale > 0) {
			t.Errorf("%s: zeros have scale %v", text, scale)
		}
	}
	for _, text := range []string{"binary*[1]", "ternary*[0:4]"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "one scale for each output channel") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
