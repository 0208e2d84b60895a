// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestFixedWorked(t *testing.T) {
	f := Fixed{W: 8, F: 4, Signed: true}
	with := func(r Round, o Over) Fixed { return Fixed{W: 8, F: 4, Signed: true, Round: r, Over: o} }
	for _, c := range []struct {
		f    Fixed
		v    Exact
		code uint8
		back float64
	}{
		{f, FromFloat64(0.03125), 0x00, 0},
		{f, FromFloat64(0.09375), 0x02, 0.125},
		{f, NaN(), 0x00, 0},
		{f, Inf(false), 0x7f, 7.9375},
		{f, Inf(true), 0x80, -8},
		{with(RoundEven, Wrap), FromFloat64(8.5), 0x88, -7.5},
		{with(RoundEven, Wrap), Inf(true), 0x80, -8},
		{with(RoundEven, Sym), Inf(true), 0x81, -7.9375},
		{with(RoundEven, Sym), FromInt(-8, 0), 0x81, -7.9375},
		{with(RoundEven, Around0(96)), FromFloat64(7), 0x60, 6},
		{with(RoundEven, Around0(96)), Inf(true), 0xa0, -6},
		{with(RoundEven, From0(127)), FromFloat64(-7), 0x00, 0},
		{f, FromFloat64(-0.03125), 0x00, 0},
		{with(RoundUp, Sat), FromFloat64(-0.03125), 0x00, 0},
		{with(RoundAway, Sat), FromFloat64(-0.03125), 0xff, -0.0625},
		{f, FromFloat64(0).Neg(), 0x00, 0},
	} {
		got := c.f.Encode(c.v)
		if uint8(got) != c.code || got != int64(int8(c.code)) {
			t.Errorf("%v of %v = %x, want %x", c.f, c.v, got, c.code)
		}
		if back := c.f.Decode(int64(c.code)).Float64(); back != c.back {
			t.Errorf("%v code %x = %v, want %v", c.f, c.code, back, c.back)
		}
	}
}

func genFixed() *rapid.Generator[Fixed] {
	return rapid.Custom(func(t *rapid.T) Fixed {
		f := Fixed{Signed: rapid.Bool().Draw(t, "signed"), F: rapid.IntRange(-70, 70).Draw(t, "F"),
			Round: rapid.SampledFrom(integerModes).Draw(t, "round"), Over: Over(rapid.IntRange(0, 3).Draw(t, "over"))}
		f.W = rapid.IntRange(1, 64).Draw(t, "W")
		if !f.Signed {
			f.W = min(f.W, 63)
		}
		if f.Over == Sym {
			f.W = max(f.W, 2)
		}
		if f.Over > Wrap {
			f.W = max(f.W, 3)
			top := min(f.CodeSet().(Fixed).Max()-1, MaxLimit)
			f.Over = From0(rapid.Int64Range(1, top).Draw(t, "limit"))
			if f.Signed && rapid.Bool().Draw(t, "around") {
				f.Over++
			}
		}
		return f
	})
}

// fixedRef encodes with rational numbers and the shift formulas.
func fixedRef(f Fixed, v *big.Int, exp int) int64 {
	n := -f.F - exp
	q := new(big.Int)
	if n <= 0 {
		q.Lsh(v, uint(-n))
	} else {
		q = formula(v, n, f.Round)
	}
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(f.W))
	if f.Signed {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	span := new(big.Int).Sub(hi, lo)
	hi.Sub(hi, big.NewInt(1))
	if f.Over == Wrap {
		q.Mod(q.Sub(q, lo), span) // Euclidean: 0 .. span-1
		return q.Add(q, lo).Int64()
	}
	if least, most, limited := f.Over.Limits(); limited {
		lo.SetInt64(least)
		hi.SetInt64(most)
	} else if f.Over == Sym && f.Signed {
		lo.Add(lo, big.NewInt(1))
	} else if f.Over == Sym {
		hi.Sub(hi, big.NewInt(1))
	}
	if q.Cmp(lo) < 0 {
		q = lo
	}
	if q.Cmp(hi) > 0 {
		q = hi
	}
	return q.Int64()
}

// TestRequant: Requant, RequantBig and Encode agree with the reference for any integer at any exponent.
func TestRequant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := genFixed().Draw(t, "f")
		v := rapid.Int64().Draw(t, "v")
		exp := -f.F + rapid.IntRange(-90, 90).Draw(t, "exp")
		want := fixedRef(f, big.NewInt(v), exp)
		if got := f.Requant(v, exp); got != want {
			t.Fatalf("%v: Requant(%d, %d) = %d, want %d", f, v, exp, got, want)
		}
		if got := f.RequantBig(big.NewInt(v), exp); got != want {
			t.Fatalf("%v: RequantBig(%d, %d) = %d, want %d", f, v, exp, got, want)
		}
		if got := f.Encode(FromInt(v, exp)); got != want {
			t.Fatalf("%v: Encode(%d*2^%d) = %d, want %d", f, v, exp, got, want)
		}
		wide := new(big.Int).Lsh(big.NewInt(v), uint(rapid.IntRange(0, 80).Draw(t, "sh")))
		wide.Add(wide, big.NewInt(rapid.Int64().Draw(t, "low")))
		want = fixedRef(f, wide, exp)
		if got := f.RequantBig(wide, exp); got != want {
			t.Fatalf("%v: RequantBig(%v, %d) = %d, want %d", f, wide, exp, got, want)
		}
		if got := f.Encode(FromBig(wide, exp)); got != want {
			t.Fatalf("%v: Encode(%v*2^%d) = %d, want %d", f, wide, exp, got, want)
		}
	})
}

func TestRequantFar(t *testing.T) {
	f := Fixed{W: 8, F: 4, Signed: true}
	for _, exp := range []int{1000, 100000, -1000, -100000} {
		for _, v := range []int64{math.MaxInt64, 1, 0, -1, math.MinInt64} {
			want := int64(0)
			if exp > 0 && v != 0 {
				want = f.extreme(v < 0)
			}
			if got := f.Requant(v, exp); got != want {
				t.Errorf("Requant(%d, %d) = %d", v, exp, got)
			}
			if got := f.RequantBig(big.NewInt(v), exp); got != want {
				t.Errorf("RequantBig(%d, %d) = %d", v, exp, got)
			}
		}
	}
}

// TestWrapWide: the low bits of a wide format survive a left shift of nearly 64.
func TestWrapWide(t *testing.T) {
	f := Fixed{W: 64, Signed: true, Over: Wrap}
	for n := range 66 {
		want := int64(5) << n // 0 from 64 on
		if a, b := f.Requant(5, n), f.RequantBig(big.NewInt(5), n); a != want || b != want {
			t.Errorf("5 << %d = %x, %x", n, a, b)
		}
	}
}

func TestRequantQuo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Fixed{W: 16, F: 3, Signed: true, Round: rapid.SampledFrom(integerModes).Draw(t, "round")}
		num, den := rapid.Int64Range(-1<<15, 1<<15).Draw(t, "num"), rapid.Int64Range(1, 100).Draw(t, "den")
		want := min(max(roundRat(big.NewRat(num, 2*den), f.Round), f.Min()), f.Max())
		if got := f.RequantQuo(num, den, -4); got != want {
			t.Fatalf("%v: %d/16/%d = %d, want %d", f, num, den, got, want)
		}
	})
}

func TestFixedStochastic(t *testing.T) {
	f := Fixed{W: 4, F: 1, Signed: true, Round: RoundStochastic}
	for _, c := range []struct {
		v    float64
		word uint32
		want int64
	}{{0.75, 0, 1}, {0.75, 1 << 31, 2}, {0.75, 1<<31 - 1, 1}, {-0.75, 0, -2}, {-0.75, 1 << 31, -1}, {100, 5, 7},
		{-2, 1<<32 - 1, -4}} {
		if got := f.EncodeStochastic(FromFloat64(c.v), c.word); got != c.want {
			t.Errorf("%v with %x = %d, want %d", c.v, c.word, got, c.want)
		}
	}
	if f.Encode(FromFloat64(0.99)) != 1 || f.EncodeStochastic(Inf(true), 3) != -8 || f.EncodeStochastic(NaN(), 3) != 0 {
		t.Error("floor without a word, or special values")
	}
}

// TestFixedFloats compares with the exact values, widths beyond 53 bits and the ends of float64 included.
func TestFixedFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Fixed{W: rapid.IntRange(1, 63).Draw(t, "W"), F: rapid.IntRange(-1100, 1100).Draw(t, "F"),
			Signed: rapid.Bool().Draw(t, "signed")}
		codes, out := rapid.SliceOfN(rapid.Int64(), 1, 4).Draw(t, "codes"), make([]float64, 4)
		if f.Floats(codes, out) != (f.F >= -900 && f.F <= 900) {
			t.Fatalf("%v is or is not beyond float64", f)
		}
		for i, c := range codes {
			if want := f.Decode(c).Float64(); out[i] != want && f.F >= -900 && f.F <= 900 {
				t.Fatalf("%v: code %d = %v, want %v", f, c, out[i], want)
			}
		}
	})
}
