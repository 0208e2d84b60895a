// SPDX-License-Identifier: Apache-2.0

package array

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/diag"
	"lathe/ir/format"
)

func parse(t testing.TB, text string) format.Format {
	t.Helper()
	f, err := format.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEncodeWorked(t *testing.T) {
	for _, c := range []struct {
		format string
		shape  []int
		x      []float64
		codes  []int64
		scales []int64
		sshape []int
		values []float64
	}{
		{"fixed(8,4)", []int{2, 2}, []float64{0.03125, 0.09375, -1, 100}, []int64{0, 2, -16, 127}, nil, nil,
			[]float64{0, 0.125, -1, 7.9375}},
		{"uint(8,z=131)*0.5", []int{}, []float64{1}, []int64{133}, nil, nil, []float64{1}},
		{"mxint8", []int{4}, []float64{1, float64(float32(0.4)), -0x1p-7, 1.999}, []int64{0x40, 0x1a, 0, 0x7f}, []int64{127},
			[]int{1}, []float64{1, 26. / 64, 0, 127. / 64}},
		{"mxint(8,2)", []int{2, 3}, []float64{1, 2, 3, 4, 5, 0}, []int64{32, 64, 96, 64, 80, 0}, []int64{128, 128, 129, 0},
			[]int{2, 2}, []float64{1, 2, 3, 4, 5, 0}},
		{"mxint(8,2x2)", []int{3, 3}, []float64{1, 0.5, 4, 0.25, 2, 0, 0, -1, 0}, []int64{32, 16, 64, 8, 64, 0, 0, -64, 0},
			[]int64{128, 129, 127, 0}, []int{2, 2}, []float64{1, 0.5, 4, 0.25, 2, 0, 0, -1, 0}},
		{"mxint8", []int{}, []float64{-8}, []int64{-64}, []int64{130}, []int{1}, []float64{-8}},
		{"mxint8", []int{0, 5}, []float64{}, []int64{}, []int64{}, []int{0, 1}, []float64{}},
		{"mxint8", []int{3, 0}, []float64{}, []int64{}, []int64{}, []int{3, 0}, []float64{}},
		{"fp32", []int{1}, []float64{1.5}, []int64{0x3fc00000}, nil, nil, []float64{1.5}},
	} {
		f := parse(t, c.format)
		e, err := Encode(f, c.shape, c.x, 0)
		if err != nil || !slices.Equal(e.Codes, c.codes) || !slices.Equal(e.Scales, c.scales) ||
			!slices.Equal(e.Values(), c.values) || !slices.Equal(e.ScaleShape(), c.sshape) {
			t.Errorf("%s of %v: %+v, values %v, scale shape %v (%v)", c.format, c.x, e, e.Values(), e.ScaleShape(), err)
			continue
		}
		back, err := FromCodes(f, c.shape, e.Codes, e.Scales)
		if err != nil || !slices.Equal(back.Values(), c.values) {
			t.Errorf("%s: codes of %v decode to %v (%v)", c.format, c.x, back, err)
		}
	}
}

// TestRawCodes: the low bits of a code count, whether sign-extended or not.
func TestRawCodes(t *testing.T) {
	e, err := FromCodes(parse(t, "fixed(8,4)"), []int{2}, []int64{0xff, -1}, nil)
	if err != nil || !slices.Equal(e.Values(), []float64{-0.0625, -0.0625}) {
		t.Errorf("%v %v", e, err)
	}
}

func TestNaN(t *testing.T) {
	e, err := Encode(parse(t, "mxint(8,2)"), []int{3}, []float64{1, math.Inf(1), 4}, 0)
	if err != nil || !slices.Equal(e.Scales, []int64{255, 129}) || !math.IsNaN(e.Values()[0]) || e.Values()[2] != 4 {
		t.Errorf("%+v %v", e, err)
	}
	e, err = Encode(parse(t, "fixed(8,4)"), []int{2}, []float64{math.NaN(), math.Inf(-1)}, 0)
	if err != nil || !slices.Equal(e.Codes, []int64{0, -128}) {
		t.Errorf("%+v %v", e, err)
	}
}

func TestErrors(t *testing.T) {
	mx, fx := parse(t, "mxint(8,2)"), parse(t, "fixed(8,4)")
	one := []float64{1, 2}
	for name, run := range map[string]func() error{
		"shape":     func() error { _, err := Encode(fx, []int{3}, one, 0); return err },
		"negative":  func() error { _, err := Encode(fx, []int{-1, -2}, one, 0); return err },
		"no scale":  func() error { _, err := Encode(parse(t, "int(8)*[0]"), []int{2}, one, 0); return err },
		"axis":      func() error { _, err := Encode(parse(t, "mxint(8,2,axis=0)"), []int{2, 1}, one, 0); return err },
		"wide code": func() error { _, err := FromCodes(fx, []int{1}, []int64{256}, nil); return err },
		"low code":  func() error { _, err := FromCodes(fx, []int{1}, []int64{-129}, nil); return err },
		"scales":    func() error { _, err := FromCodes(mx, []int{3}, []int64{1, 2, 3}, []int64{1}); return err },
		"scale":     func() error { _, err := FromCodes(mx, []int{1}, []int64{1}, []int64{256}); return err },
		"minus":     func() error { _, err := FromCodes(mx, []int{1}, []int64{1}, []int64{-1}); return err },
		"too many":  func() error { _, err := FromCodes(fx, []int{1}, []int64{1}, []int64{1}); return err },
		"rows":      func() error { _, err := Dot(fx, []int{1, 2}, one, fx, []float64{1, 2, 3}, 0); return err },
		"dot a":     func() error { _, err := Dot(fx, []int{1}, one, fx, one, 0); return err },
		"tiles":     func() error { _, err := Dot(parse(t, "mxint(8,2x2)"), []int{1, 2}, one, fx, one, 0); return err },
		"dot b":     func() error { _, err := Dot(fx, []int{2}, one, parse(t, "int(8)*[0]"), one, 0); return err },
	} {
		if err := run(); diag.CodeOf(err) != diag.FormatData {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Encode(parse(t, "mxint(8,2,axis=1)"), []int{1, 2}, one, 0); err != nil {
		t.Errorf("the last axis by its number: %v", err)
	}
}

// TestDot compares with sums in float64, which are exact for such small values.
func TestDot(t *testing.T) {
	texts := []string{"fixed(8,4)", "mxint8", "mxint(6,5)", "uint(8,z=100)*0.25", "fp32"}
	rapid.Check(t, func(rt *rapid.T) {
		rows, n := rapid.IntRange(0, 3).Draw(rt, "rows"), rapid.IntRange(0, 40).Draw(rt, "n")
		fa := parse(t, rapid.SampledFrom(texts).Draw(rt, "fa"))
		fb := parse(t, rapid.SampledFrom(texts).Draw(rt, "fb"))
		draw := func(n int) []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = float64(rapid.IntRange(-1<<10, 1<<10).Draw(rt, "x")) / 128
			}
			return out
		}
		a, b := draw(rows*n), draw(n)
		got, err := Dot(fa, []int{rows, n}, a, fb, b, 0)
		x, xerr := Encode(fa, []int{rows, n}, a, 0)
		y, yerr := Encode(fb, []int{n}, b, 0)
		if err != nil || xerr != nil || yerr != nil || len(got) != rows {
			rt.Fatal(got, err, xerr, yerr)
		}
		av, bv := x.Values(), y.Values()
		for r := range rows {
			sum := 0.0
			for i := range n {
				sum += av[r*n+i] * bv[i]
			}
			if got[r] != sum {
				rt.Fatalf("row %d: %v, want %v", r, got[r], sum)
			}
		}
	})
}

func TestSeeded(t *testing.T) {
	x := slices.Repeat([]float64{0.3, -1.7, 0.01}, 200)
	texts := []string{"fixed(8,2,round=stochastic)", "int(8,round=stochastic)*0.3", "mxint(4,32,round=stochastic)"}
	for _, text := range texts {
		f := parse(t, text)
		e, err := Encode(f, []int{len(x)}, x, 1)
		again, _ := Encode(f, []int{len(x)}, x, 1)
		other, _ := Encode(f, []int{len(x)}, x, 2)
		if err != nil || !slices.Equal(e.Codes, again.Codes) || slices.Equal(e.Codes, other.Codes) {
			t.Errorf("%s: the seed does not decide the codes (%v)", text, err)
		}
		sum := 0.0
		for _, v := range e.Values() {
			sum += v
		}
		if mean := sum / float64(len(x)); math.Abs(mean-(0.3-1.7+0.01)/3) > 0.05 {
			t.Errorf("%s: mean %v", text, mean)
		}
	}
}

func benchmark(b *testing.B, text string) {
	f, err := format.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	x := make([]float64, 1<<16)
	for i := range x {
		x[i] = float64(float32(math.Sin(float64(i))))
	}
	b.SetBytes(int64(len(x)))
	for b.Loop() {
		e, err := Encode(f, []int{len(x)}, x, 0)
		if err != nil {
			b.Fatal(err)
		}
		e.Values()
	}
}

func BenchmarkFixed(b *testing.B)  { benchmark(b, "fixed(8,4)") }
func BenchmarkAffine(b *testing.B) { benchmark(b, "int(8,z=3)*0.05") }
func BenchmarkMXInt8(b *testing.B) { benchmark(b, "mxint8") }
