// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// genExact draws values of all sizes, special ones included.
func genExact() *rapid.Generator[Exact] {
	return rapid.Custom(func(t *rapid.T) Exact {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return FromFloat64(rapid.Float64().Draw(t, "f"))
		case 1:
			return FromInt(rapid.Int64().Draw(t, "v"), rapid.IntRange(-90, 90).Draw(t, "exp"))
		case 2:
			hi := big.NewInt(rapid.Int64().Draw(t, "hi"))
			hi.Lsh(hi, uint(rapid.IntRange(0, 150).Draw(t, "sh")))
			hi.Add(hi, big.NewInt(rapid.Int64().Draw(t, "lo")))
			return FromBig(hi, rapid.IntRange(-1100, 900).Draw(t, "exp"))
		case 3:
			return Inf(rapid.Bool().Draw(t, "neg"))
		case 4:
			return NaN()
		}
		return FromInt(int64(rapid.Int16().Draw(t, "v")), rapid.IntRange(-20, 4).Draw(t, "exp"))
	})
}

func TestExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := genExact().Draw(t, "x"), genExact().Draw(t, "y")
		if x.IsFinite() && y.IsFinite() {
			rx, ry := x.Rat(), y.Rat()
			if got := x.Add(y).Rat(); got.Cmp(new(big.Rat).Add(rx, ry)) != 0 {
				t.Fatalf("%v + %v = %v", x, y, got)
			}
			if got := x.Sub(y).Rat(); got.Cmp(new(big.Rat).Sub(rx, ry)) != 0 {
				t.Fatalf("%v - %v = %v", x, y, got)
			}
			if got := x.Mul(y).Rat(); got.Cmp(new(big.Rat).Mul(rx, ry)) != 0 {
				t.Fatalf("%v * %v = %v", x, y, got)
			}
			if x.Cmp(y) != rx.Cmp(ry) {
				t.Fatalf("cmp(%v, %v) = %d", x, y, x.Cmp(y))
			}
			return
		}
		x, y = unit(x), unit(y) // special operands follow IEEE 754, where size does not matter
		fx, fy := x.Float64(), y.Float64()
		for _, c := range []struct {
			got  Exact
			want float64
		}{{x.Add(y), fx + fy}, {x.Mul(y), fx * fy}, {x.Sub(y), fx - fy}, {x.Quo(y), fx / fy}} {
			if c.got.Cmp(FromFloat64(c.want)) != 0 {
				t.Fatalf("%v and %v give %v, float64 says %v", x, y, c.got, c.want)
			}
		}
	})
}

// unit keeps sign, zero, infinity and NaN, and makes any other value +-1.
func unit(x Exact) Exact {
	if !x.IsFinite() || x.IsZero() {
		return x
	}
	return FromInt(int64(x.Sign()), 0)
}

// TestExactForms: equal values of small significands are equal Go values, whatever way they were made.
func TestExactForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, k := rapid.Int64().Draw(t, "v"), rapid.IntRange(0, 100).Draw(t, "k")
		a := FromInt(v, 7)
		big1 := new(big.Int).Lsh(big.NewInt(v), uint(k))
		if b := FromBig(big1, 7-k); a != b {
			t.Fatalf("%v differs from %v", a, b)
		}
		if w, ok := a.Int64(7); !ok || w != v {
			t.Fatalf("Int64 of %v: %d %v", a, w, ok)
		}
		if _, ok := FromBig(big1, 0).Int64(0); ok != big1.IsInt64() {
			t.Fatalf("Int64 of %v: ok = %v", big1, ok)
		}
		if v&1 == 1 {
			if _, ok := a.Int64(8); ok {
				t.Fatalf("%v is not a multiple of 2^8", a)
			}
		}
	})
	for _, c := range []struct {
		x    Exact
		text string
	}{{Exact{}, "0"}, {Exact{}.Neg(), "-0"}, {NaN(), "NaN"}, {Inf(true), "-Inf"}, {Inf(false), "Inf"},
		{FromFloat64(-0.375), "-3*2^-3"}, {FromInt(12, 0), "3*2^2"}, {FromInt(-5, 0), "-5"}} {
		if c.x.String() != c.text {
			t.Errorf("%v prints %s", c.text, c.x)
		}
	}
}

func TestExactToFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		if g := FromFloat64(f).Float64(); math.Float64bits(g) != math.Float64bits(f) && f == f {
			t.Fatalf("%x became %x", f, g)
		}
		if g := FromFloat64(f).Float32(); math.Float32bits(g) != math.Float32bits(float32(f)) && f == f {
			t.Fatalf("float32(%x) = %x, got %x", f, float32(f), g)
		}
		x := genExact().Draw(t, "x")
		if !x.IsFinite() || x.IsZero() {
			return
		}
		if want, _ := x.Rat().Float64(); want != x.Float64() {
			t.Fatalf("%v as float64: %x, want %x", x, x.Float64(), want)
		}
		if want, _ := x.Rat().Float32(); want != x.Float32() {
			t.Fatalf("%v as float32: %x, want %x", x, x.Float32(), want)
		}
	})
	for _, f := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 5e-324, math.MaxFloat64, 0x1p-1022} {
		if g := FromFloat64(f).Float64(); math.Float64bits(g) != math.Float64bits(f) {
			t.Errorf("%x became %x", f, g)
		}
	}
	if !math.IsNaN(NaN().Float64()) || !FromFloat64(math.NaN()).IsNaN() {
		t.Error("NaN is lost")
	}
}

// TestRatSide: the 256-bit quotient lies on the same side of any short boundary as the quotient itself.
func TestRatSide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num, den := rapid.Int64().Draw(t, "num"), rapid.Int64Range(1, 1<<40).Draw(t, "den")
		r := big.NewRat(num, den)
		bound := FromInt(rapid.Int64().Draw(t, "bound"), rapid.IntRange(-70, 10).Draw(t, "exp"))
		near := FromBig(RoundQuo(new(big.Int).Lsh(big.NewInt(num), 40), big.NewInt(den), RoundEven), -40)
		for _, b := range []Exact{bound, near} {
			want := r.Cmp(b.Rat())
			if got := FromRat(r).Cmp(b); got != want {
				t.Fatalf("%v against %v: %d, want %d", r, b, got, want)
			}
			if got := FromInt(num, 5).Quo(FromInt(-den, 5)).Cmp(b.Neg()); got != -want {
				t.Fatalf("quotient %v against %v: %d, want %d", r, b, got, -want)
			}
		}
	})
	one, zero, inf := FromInt(1, 0), Exact{}, Inf(false)
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 300))
	if FromRat(tiny.Add(tiny, big.NewRat(1, 1))).Cmp(one) != 1 {
		t.Error("what lies beyond 256 bits is lost")
	}
	if one.Quo(zero.Neg()) != Inf(true) || !zero.Quo(zero).IsNaN() || !inf.Quo(inf).IsNaN() ||
		one.Quo(inf) != zero || inf.Quo(one.Neg()) != Inf(true) || !NaN().Quo(one).IsNaN() {
		t.Error("quotients of special values")
	}
}

// TestRoundToZero: a result of zero keeps the sign, as formats with a negative zero need.
func TestRoundToZero(t *testing.T) {
	if got := FromFloat64(-0.25).RoundTo(0, RoundEven); got != (Exact{}).Neg() {
		t.Errorf("-1/4 became %v", got)
	}
	if got := FromFloat64(-0.75).RoundTo(0, RoundEven); got != FromInt(-1, 0) {
		t.Errorf("-3/4 became %v", got)
	}
}

func TestMinMax(t *testing.T) {
	a, b := FromInt(-3, 0), FromInt(5, -1)
	if Max(a, b) != b || Max(b, a) != b || Min(a, b) != a || Min(b, a) != a ||
		!Max(a, NaN()).IsNaN() || !Max(NaN(), a).IsNaN() || !Min(a, NaN()).IsNaN() || !Min(NaN(), a).IsNaN() {
		t.Error("min or max")
	}
}
