// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Round is the rule by which a value between two codes becomes one of them. The numbers are those of the RTL.
type Round uint8

// The rounding modes; Even to HalfZero are nearest with different ties.
const (
	RoundEven       Round = iota // ties to the even code
	RoundAway                    // ties away from zero
	RoundUp                      // ties to +Inf
	RoundDown                    // ties to -Inf
	RoundHalfZero                // ties to zero
	RoundFloor                   // to -Inf
	RoundCeil                    // to +Inf
	RoundZero                    // to zero
	RoundOutward                 // away from zero
	RoundStochastic              // up with a probability equal to the fraction
	RoundLog                     // of powers of two: the nearest logarithm
	RoundMASE                    // of floats, by dialect=mase: to even, but never to another exponent
)

var roundNames = [...]string{"even", "away", "up", "down", "halfzero", "floor", "ceil", "zero", "outward", "stochastic",
	"log", "mase"}

// String is the name in format texts.
func (r Round) String() string {
	if int(r) < len(roundNames) {
		return roundNames[r]
	}
	return "unknown"
}

// kernel is the name in exact.cuh of the kernel library.
func (r Round) kernel() string {
	if r == RoundLog {
		return "GEOMETRIC"
	}
	return strings.ToUpper(r.String())
}

// Over says what becomes of a rounded value outside the range of codes. The numbers are those of the RTL. Those
// beyond Wrap are limits: see From0.
type Over int32

// The overflow rules of integer formats.
const (
	Sat  Over = iota // clamp to the nearest code
	Sym              // as Sat, and the most negative code is not used (unsigned: the largest one)
	Wrap             // keep the low bits
)

var overNames = [...]string{"sat", "sym", "wrap"}

// MaxLimit is the largest code that From0 and Around0 take.
const MaxLimit = 1<<30 - 3

// From0 is saturation at 0 and at a code hi of 1..MaxLimit: what a relu or a clip inside the range of a format does.
func From0(hi int64) Over { return Wrap + 1 + 2*Over(hi) }

// Around0 is saturation at -hi and hi.
func Around0(hi int64) Over { return From0(hi) + 1 }

// Limits are the codes that o saturates at, false for the rules with names.
func (o Over) Limits() (lo, hi int64, ok bool) {
	if o <= Wrap {
		return 0, 0, false
	}
	hi = int64(o-Wrap-1) >> 1
	return -hi * int64((o-Wrap-1)&1), hi, true
}

// String is the name in format texts, or LO..HI.
func (o Over) String() string {
	switch lo, hi, limited := o.Limits(); {
	case limited:
		return fmt.Sprintf("%d..%d", lo, hi)
	case o < 0:
		return "unknown"
	}
	return overNames[o]
}

// kernel is the template argument of the kernel library, whose names are in exact.cuh.
func (o Over) kernel() string {
	if o > Wrap {
		return strconv.Itoa(int(o))
	}
	return strings.ToUpper(o.String())
}

// increment says whether the floor q of a value becomes q+1, given the sign of the value and its fraction: half is
// the comparison of the fraction with one half (-1, 0, 1), zero says that there is no fraction at all.
func (r Round) increment(odd, neg bool, half int, zero bool) bool {
	switch r {
	case RoundEven:
		return half > 0 || half == 0 && odd
	case RoundAway:
		return half > 0 || half == 0 && !neg
	case RoundUp:
		return half >= 0
	case RoundDown:
		return half > 0
	case RoundHalfZero:
		return half > 0 || half == 0 && neg
	case RoundCeil:
		return !zero
	case RoundZero:
		return !zero && neg
	case RoundOutward:
		return !zero && !neg
	}
	return false
}

// RS is v*2^-n rounded to an integer by mode r, for any v and n >= 1; for n <= 0 it is the exact left shift,
// saturated to int64. RoundStochastic takes R = 0, that is floor.
func RS(v int64, n int, r Round) int64 {
	switch {
	case n <= 0:
		return shiftLeft(v, -n)
	case n > 64:
		n = 65
	}
	if r == RoundEven && n < 62 && v < 1<<61 && v > -1<<61 {
		return (v + 1<<(n-1) - 1 + v>>n&1) >> n
	}
	neg := v < 0
	q := v >> min(n, 63)
	var half int
	switch {
	case n == 65 && neg:
		half = 1
	case n == 65:
		half = -1
	case n == 64:
		q = v >> 63
		half = cmpUint(uint64(v), 1<<63)
	default:
		half = cmpUint(uint64(v)&(1<<n-1), 1<<(n-1))
	}
	if r.increment(q&1 != 0, neg, half, q<<min(n, 63) == v && (n < 64 || v == 0)) {
		q++
	}
	return q
}

func cmpUint(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// shiftLeft is v*2^n, saturated to int64.
func shiftLeft(v int64, n int) int64 {
	if n < 64 {
		if w := v << n; w>>n == v {
			return w
		}
	}
	switch {
	case v > 0:
		return 1<<63 - 1
	case v < 0:
		return -1 << 63
	}
	return 0
}

// RSBig is RS for integers of any size. The result is a new integer.
func RSBig(v *big.Int, n int, r Round) *big.Int {
	q := new(big.Int)
	if n <= 0 {
		return q.Lsh(v, uint(-n))
	}
	if v.Sign() == 0 {
		return q
	}
	n = min(n, v.BitLen()+2) // beyond this only the sign matters
	q.Rsh(v, uint(n))
	frac := new(big.Int).Lsh(q, uint(n))
	frac.Sub(v, frac)
	half := new(big.Int).Lsh(big.NewInt(1), uint(n-1))
	if r.increment(q.Bit(0) != 0, v.Sign() < 0, frac.Cmp(half), frac.Sign() == 0) {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// RoundQuo is num/den rounded to an integer by mode r; den is not zero. The result is a new integer.
func RoundQuo(num, den *big.Int, r Round) *big.Int {
	if den.Sign() < 0 {
		num, den = new(big.Int).Neg(num), new(big.Int).Neg(den)
	}
	q, frac := new(big.Int).DivMod(num, den, new(big.Int)) // Euclidean division: floor, as den > 0
	zero := frac.Sign() == 0
	half := frac.Lsh(frac, 1).Cmp(den)
	if r.increment(q.Bit(0) != 0, num.Sign() < 0, half, zero) {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// Mix is the 32-bit mixing function of stochastic rounding.
func Mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// StochasticWord is the random word of element i (row-major, mod 2^32) of a tensor with the given seed.
func StochasticWord(seed, i uint32) uint32 { return Mix(Mix(seed) ^ i) }

// RSStochastic is floor((v + R) / 2^n) with R the top n bits of word (n > 32: word << (n-32)), for any v and n >= 1;
// for n <= 0 it is the left shift of RS.
func RSStochastic(v int64, n int, word uint32) int64 {
	if n <= 0 {
		return shiftLeft(v, -n)
	}
	return stochasticBig(big.NewInt(v), n, word).Int64()
}

// stochasticBig is RSStochastic for n >= 1 and integers of any size.
func stochasticBig(v *big.Int, n int, word uint32) *big.Int {
	add := big.NewInt(int64(word))
	if n >= 32 {
		add.Lsh(add, uint(n-32))
	} else {
		add.Rsh(add, uint(32-n))
	}
	return add.Rsh(add.Add(add, v), uint(n))
}
