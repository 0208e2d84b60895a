// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestAffineWorked(t *testing.T) {
	a := Affine{W: 8, Zero: 131, Scale: 0.0235, Axis: PerTensor}
	if a.Encode(FromInt(0, 0)) != 0x83 || a.Encode(FromInt(1, 0)) != 0xae || a.Encode(NaN()) != 0x83 {
		t.Errorf("%v: 0 is %x, 1 is %x", a, a.Encode(FromInt(0, 0)), a.Encode(FromInt(1, 0)))
	}
	if a.Encode(Inf(true)) != 0 || a.Encode(Inf(false)) != 255 {
		t.Error("infinities")
	}
	if got := a.Decode(0xae).Float64(); got != 43*float64(float32(0.0235)) {
		t.Errorf("code ae is %v", got)
	}
	neg := Affine{W: 8, Signed: true, Axis: PerTensor}
	if neg.EncodeScaled(FromInt(3, 0), -0.5, 0) != -6 || neg.EncodeScaled(Inf(false), -0.5, 0) != -128 {
		t.Error("negative scale")
	}
	if neg.EncodeScaled(FromInt(3, 0), 0, 7) != 7 || neg.EncodeScaled(FromInt(3, 0), float32(math.NaN()), 7) != 7 {
		t.Error("a scale that is not a number")
	}
}

func genAffine() *rapid.Generator[Affine] {
	return rapid.Custom(func(t *rapid.T) Affine {
		mant := rapid.Uint32Range(1<<22, 1<<24-1).Draw(t, "mant")
		return Affine{W: rapid.IntRange(2, maxAffW).Draw(t, "W"), Signed: rapid.Bool().Draw(t, "signed"), Axis: PerTensor,
			Scale: float32(math.Ldexp(float64(mant), rapid.IntRange(-60, 10).Draw(t, "exp"))),
			Zero:  rapid.Int64Range(-300, 300).Draw(t, "zero"),
			Round: rapid.SampledFrom(integerModes).Draw(t, "round"), Over: Over(rapid.IntRange(0, 2).Draw(t, "over"))}
	})
}

// affineRef follows the definition in rational numbers.
func affineRef(a Affine, quo *big.Rat) int64 {
	q := RoundQuo(quo.Num(), quo.Denom(), a.Round)
	return fixedRef(a.Integers(), q.Add(q, big.NewInt(a.Zero)), 0)
}

func TestAffineEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genAffine().Draw(t, "a")
		s := FromFloat32(a.Scale)
		k := FromInt(rapid.Int64Range(-1<<12, 1<<12).Draw(t, "k"), -1) // half steps are ties
		near := k.Mul(s).Add(FromInt(rapid.Int64Range(-1, 1).Draw(t, "off"), -150))
		far := FromBig(big.NewInt(rapid.Int64().Draw(t, "v")), rapid.IntRange(-130, 130).Draw(t, "exp"))
		for _, v := range []Exact{k.Mul(s), near, far, far.Mul(FromInt(1<<60+1, 0))} {
			if got, want := a.Encode(v), affineRef(a, new(big.Rat).Quo(v.Rat(), s.Rat())); got != want {
				t.Fatalf("%v of %v = %d, want %d", a, v, got, want)
			}
		}
	})
}

// TestAffineDivF32 follows ONNX QuantizeLinear in float32 arithmetic.
func TestAffineDivF32(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genAffine().Draw(t, "a")
		a.Div, a.Round, a.Over, a.W = DivF32, RoundEven, Sat, 8
		x := float32(rapid.Int64Range(-4096, 4096).Draw(t, "k")) * 0.5 * a.Scale
		q := math.RoundToEven(float64(x/a.Scale)) + float64(a.Zero)
		want := int64(min(max(q, float64(a.Integers().Min())), float64(a.Integers().Max())))
		if got := a.Encode(FromFloat32(x)); got != want {
			t.Fatalf("%v of %v = %d, want %d", a, x, got, want)
		}
		// A quotient beyond 2^24 shows all bits of its float32 value in the code.
		wide := a
		wide.W, wide.Signed, wide.Zero = 32, true, 0
		big53 := FromFloat64(float64(a.Scale) * float64(rapid.Int64Range(1<<25, 1<<30).Draw(t, "q")) * (1 + 0x1p-40))
		wideQuo, _ := new(big.Rat).Quo(big53.Rat(), FromFloat32(a.Scale).Rat()).Float32()
		if got := wide.Encode(big53); got != int64(wideQuo) {
			t.Fatalf("%v of %v = %d, quotient %v", wide, big53, got, wideQuo)
		}
		v := FromFloat32(x).Add(FromInt(rapid.Int64Range(-3, 3).Draw(t, "off"), -120)) // no float32: the long way
		quo, _ := new(big.Rat).Quo(v.Rat(), FromFloat32(a.Scale).Rat()).Float32()
		if got := a.Encode(v); got != affineRef(a, FromFloat32(quo).Rat()) {
			t.Fatalf("%v of %v = %d, quotient %v", a, v, got, quo)
		}
	})
}

func TestAffineStochastic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genAffine().Draw(t, "a")
		v := FromInt(rapid.Int64Range(-1<<20, 1<<20).Draw(t, "k"), -7).Mul(FromFloat32(a.Scale)).Add(FromInt(1, -80))
		word := rapid.Uint32().Draw(t, "word")
		quo := new(big.Rat).Quo(v.Rat(), FromFloat32(a.Scale).Rat())
		quo.Add(quo, big.NewRat(int64(word), 1<<32))
		b := a
		b.Round = RoundFloor
		if got, want := a.EncodeStochastic(v, a.Scale, a.Zero, word), affineRef(b, quo); got != want {
			t.Fatalf("%v of %v with %x = %d, want %d", a, v, word, got, want)
		}
	})
	a := Affine{W: 8, Signed: true, Axis: PerTensor, Scale: 0x1p-100, Div: DivF32}
	if a.EncodeStochastic(FromInt(1, 100), a.Scale, 0, 1) != 127 || a.EncodeStochastic(NaN(), a.Scale, 5, 1) != 5 {
		t.Error("overflow of the quotient, or NaN")
	}
}

// TestAsFixed: an affine format with a power of two as scale encodes as the fixed format it stands for.
func TestAsFixed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genAffine().Draw(t, "a")
		a.Zero, a.Scale = 0, float32(math.Ldexp(1, rapid.IntRange(-20, 20).Draw(t, "e")))
		f, ok := AsFixed(a)
		v := FromInt(rapid.Int64().Draw(t, "v"), rapid.IntRange(-80, 20).Draw(t, "exp"))
		if !ok || f.Encode(v) != a.Encode(v) || f.Decode(3).Cmp(a.Decode(3)) != 0 {
			t.Fatalf("%v is not %v (%v)", a, f, ok)
		}
	})
	if f, ok := AsFixed(Fixed{W: 3, F: 1}); !ok || f.W != 3 {
		t.Error("fixed as fixed")
	}
	for _, text := range []string{"int(8,z=1)*0.5", "int(8)*0.3", "int(8)*[0]", "int(8,div=f32)*0.5", "mxint8", "fp32"} {
		f, err := Parse(text)
		if _, ok := AsFixed(f); ok || err != nil {
			t.Errorf("%s is taken as fixed (%v)", text, err)
		}
	}
}
