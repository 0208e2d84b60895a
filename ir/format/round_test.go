// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

var integerModes = []Round{RoundEven, RoundAway, RoundUp, RoundDown, RoundHalfZero, RoundFloor, RoundCeil, RoundZero,
	RoundOutward}

// formula rounds v*2^-n, n >= 1, by adding a constant and shifting, as the hardware does.
func formula(v *big.Int, n int, r Round) *big.Int {
	pow := func(k int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(k)) }
	truth := func(b bool) *big.Int {
		if b {
			return big.NewInt(1)
		}
		return big.NewInt(0)
	}
	half, all := pow(n-1), new(big.Int).Sub(pow(n), big.NewInt(1))
	add := new(big.Int)
	switch r {
	case RoundEven:
		low := new(big.Int).Rsh(v, uint(n))
		add.Add(half, big.NewInt(int64(low.Bit(0))-1))
	case RoundAway:
		add.Sub(half, truth(v.Sign() < 0))
	case RoundUp:
		add = half
	case RoundDown:
		add.Sub(half, big.NewInt(1))
	case RoundHalfZero:
		add.Sub(half, truth(v.Sign() >= 0))
	case RoundCeil:
		add = all
	case RoundZero:
		add.Mul(all, truth(v.Sign() < 0))
	case RoundOutward:
		add.Mul(all, truth(v.Sign() > 0))
	}
	return new(big.Int).Rsh(add.Add(add, v), uint(n))
}

func checkRS(t interface{ Fatalf(string, ...any) }, v int64, n int) {
	for _, r := range integerModes {
		want := formula(big.NewInt(v), n, r)
		if got := RS(v, n, r); got != want.Int64() {
			t.Fatalf("RS(%d, %d, %v) = %d, want %v", v, n, r, got, want)
		}
		if got := RSBig(big.NewInt(v), n, r); got.Cmp(want) != 0 {
			t.Fatalf("RSBig(%d, %d, %v) = %v, want %v", v, n, r, got, want)
		}
	}
}

func TestRS(t *testing.T) {
	for v := int64(-600); v <= 600; v++ {
		for n := 1; n <= 12; n++ {
			checkRS(t, v, n)
		}
	}
	edges := []int64{0, 1, 2, 3, 1<<60 - 1, 1 << 60, 1 << 61, 1<<61 - 1, 1<<62 - 1, 1 << 62,
		math.MaxInt64, math.MaxInt64 - 1}
	for _, v := range edges {
		for n := 1; n <= 70; n++ {
			checkRS(t, v, n)
			checkRS(t, -v, n)
			checkRS(t, -v-1, n)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		checkRS(t, rapid.Int64().Draw(t, "v"), rapid.IntRange(1, 80).Draw(t, "n"))
	})
	rapid.Check(t, func(t *rapid.T) {
		v := new(big.Int).Lsh(big.NewInt(rapid.Int64().Draw(t, "v")), uint(rapid.IntRange(0, 90).Draw(t, "sh")))
		v.Add(v, big.NewInt(rapid.Int64().Draw(t, "low")))
		n := rapid.IntRange(1, 400).Draw(t, "n")
		for _, r := range integerModes {
			if got, want := RSBig(v, n, r), formula(v, n, r); got.Cmp(want) != 0 {
				t.Fatalf("RSBig(%v, %d, %v) = %v, want %v", v, n, r, got, want)
			}
		}
	})
}

func TestRSLeft(t *testing.T) {
	for _, c := range []struct {
		v    int64
		n    int
		want int64
	}{{5, 0, 5}, {5, -3, 40}, {-5, -3, -40}, {1, -62, 1 << 62}, {1, -63, math.MaxInt64}, {-1, -63, math.MinInt64},
		{-1, -64, math.MinInt64}, {1, -1000, math.MaxInt64}, {0, -1000, 0}} {
		if got := RS(c.v, c.n, RoundEven); got != c.want {
			t.Errorf("RS(%d, %d) = %d, want %d", c.v, c.n, got, c.want)
		}
	}
	if got := RSBig(big.NewInt(-3), -70, RoundEven); got.Cmp(new(big.Int).Lsh(big.NewInt(-3), 70)) != 0 {
		t.Errorf("RSBig left = %v", got)
	}
}

// TestRoundQuo compares with the shift formulas where the divisor is a power of two and with fractions elsewhere.
func TestRoundQuo(t *testing.T) {
	for num := int64(-90); num <= 90; num++ {
		for den := int64(-13); den <= 13; den++ {
			if den == 0 {
				continue
			}
			for _, r := range integerModes {
				got := RoundQuo(big.NewInt(num), big.NewInt(den), r)
				if want := roundRat(big.NewRat(num, den), r); got.Int64() != want {
					t.Fatalf("%d/%d %v = %v, want %d", num, den, r, got, want)
				}
				if den == 8 && got.Cmp(formula(big.NewInt(num), 3, r)) != 0 {
					t.Fatalf("%d/8 %v = %v", num, r, got)
				}
			}
		}
	}
}

// roundRat rounds by the words of the definition: the candidates are floor and ceiling.
func roundRat(x *big.Rat, r Round) int64 {
	floor := new(big.Int).Div(x.Num(), x.Denom()).Int64()
	if x.IsInt() {
		return floor
	}
	up := floor + 1
	pick := func(ceil bool) int64 {
		if ceil {
			return up
		}
		return floor
	}
	tie := new(big.Rat).Sub(x, new(big.Rat).SetInt64(floor)).Cmp(big.NewRat(1, 2))
	switch r {
	case RoundFloor:
		return floor
	case RoundCeil:
		return up
	case RoundZero:
		return pick(x.Sign() < 0)
	case RoundOutward:
		return pick(x.Sign() > 0)
	}
	if tie != 0 {
		return pick(tie > 0)
	}
	switch r {
	case RoundAway:
		return pick(x.Sign() > 0)
	case RoundUp:
		return up
	case RoundDown:
		return floor
	case RoundHalfZero:
		return pick(x.Sign() < 0)
	}
	return pick(floor&1 != 0)
}

func TestStochastic(t *testing.T) {
	if Mix(1) != 0x688990c0 || Mix(2) != 0xd1132181 || StochasticWord(1, 1) != 0xd25b73e6 {
		t.Fatalf("mix: %x %x %x", Mix(1), Mix(2), StochasticWord(1, 1))
	}
	rapid.Check(t, func(t *rapid.T) {
		v, n := rapid.Int64().Draw(t, "v"), rapid.IntRange(1, 90).Draw(t, "n")
		word := rapid.Uint32().Draw(t, "word")
		// floor(v*2^-n + word*2^-32)
		x := new(big.Rat).SetFrac(big.NewInt(v), new(big.Int).Lsh(big.NewInt(1), uint(n)))
		x.Add(x, big.NewRat(int64(word), 1<<32))
		if got, want := RSStochastic(v, n, word), roundRat(x, RoundFloor); got != want {
			t.Fatalf("%d >> %d with %x: %d, want %d", v, n, word, got, want)
		}
	})
	if RSStochastic(5, -2, 99) != 20 {
		t.Error("left shift")
	}
	// The mean over many words approaches the fraction: 5/8 of the results are 1.
	ones := 0
	for i := range uint32(4096) {
		ones += int(RSStochastic(5, 3, StochasticWord(7, i)))
	}
	if ones < 2480 || ones > 2640 {
		t.Errorf("5/8 rounds up %d times of 4096", ones)
	}
}
