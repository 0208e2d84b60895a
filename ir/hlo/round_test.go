// SPDX-License-Identifier: Apache-2.0

package hlo_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/ir/hlo"
)

// roundQuo is num/den, den > 0, rounded by the definition of each code on exact fractions.
func roundQuo(num, den *big.Int, round uint8) *big.Int {
	q, r := new(big.Int).DivMod(num, den, new(big.Int)) // floor, 0 <= r < den
	up := new(big.Int).Add(q, big.NewInt(1))
	half := new(big.Int).Lsh(r, 1).Cmp(den) // -1 below, 0 tie, 1 above
	pick := func(c bool) *big.Int {
		if c {
			return up
		}
		return q
	}
	if r.Sign() == 0 {
		return q
	}
	switch round {
	case hlo.RoundFloor:
		return q
	case hlo.RoundCeil:
		return up
	case hlo.RoundZero:
		return pick(num.Sign() < 0)
	case hlo.RoundOutward:
		return pick(num.Sign() > 0)
	}
	if half != 0 {
		return pick(half > 0)
	}
	switch round {
	case hlo.RoundHalfEven:
		return pick(q.Bit(0) == 1)
	case hlo.RoundHalfAway:
		return pick(num.Sign() > 0)
	case hlo.RoundHalfUp:
		return up
	case hlo.RoundHalfDown:
		return q
	}
	return pick(num.Sign() < 0) // RoundHalfZero
}

// requant is over(RS(v, shift)) on big integers.
func requant(v int64, shift int, q hlo.Requantize) int64 {
	x := big.NewInt(v)
	if shift > 0 {
		x = roundQuo(x, new(big.Int).Lsh(big.NewInt(1), uint(shift)), q.Round)
	} else {
		x.Lsh(x, uint(-shift))
	}
	span := new(big.Int).Lsh(big.NewInt(1), uint(q.Width))
	lo, hi := big.NewInt(0), new(big.Int).Sub(span, big.NewInt(1))
	if q.Signed {
		hi.Rsh(hi, 1)
		lo.Not(hi)
	}
	if q.Over > hlo.OverWrap {
		hi.SetInt64(int64(q.Over-hlo.OverWrap-1) >> 1)
		if lo.SetInt64(0); (q.Over-hlo.OverWrap-1)&1 != 0 {
			lo.Neg(hi)
		}
	} else if q.Signed {
		if q.Over == hlo.OverSym {
			lo.Neg(hi)
		}
	} else if q.Over == hlo.OverSym {
		hi.Sub(hi, big.NewInt(1))
	}
	if q.Over == hlo.OverWrap {
		x.Mod(x, span)
		if x.Cmp(hi) > 0 {
			x.Sub(x, span)
		}
	} else if x.Cmp(lo) < 0 {
		x = lo
	} else if x.Cmp(hi) > 0 {
		x = hi
	}
	return x.Int64()
}

// nearTies are values of up to bits+1 signed bits, most of them close to multiples of half an output step.
func nearTies(bits, n int, seed uint64) []int64 {
	r := rand.New(rand.NewPCG(seed, 11))
	lo := int64(-1) << bits
	out := []int64{0, 1, -1, 2, -2, 3, -3, lo, lo + 1, -lo - 1, -lo - 2, lo / 2, -(lo / 2)}
	for len(out) < n {
		v := int64(r.Uint64()) >> (63 - bits) >> r.IntN(bits+1)
		k := r.IntN(bits + 1)
		if out = append(out, v); r.IntN(3) > 0 && bits > 4 {
			near := v>>k<<k + int64(r.IntN(3)-1)
			out[len(out)-1] = max(lo, min(near, -(lo+1)))
		}
	}
	return out[:n]
}

// allShifts runs every shift from lo to hi as a row of one program.
func allShifts(lo, hi int) []int {
	var s []int
	for n := lo; n <= hi; n++ {
		s = append(s, n)
	}
	return s
}

// requantPlans are, for the first rounding, all overflow rules with a third of the widths each, and for the others,
// which differ in the right shift only, one of these.
func requantPlans(round uint8, bits int, shifts []int) []hlo.Requantize {
	var plans []hlo.Requantize
	const from0, around0 = hlo.OverWrap + 1 + 2*11, hlo.OverWrap + 2 + 2*11
	for _, over := range []int32{hlo.OverSat, hlo.OverSym, hlo.OverWrap, from0, around0} {
		for i, width := range []int{1, 5, 8, 31, 32, 33, 62, 63, 64} {
			if (int(round)+int(over)+i)%3 != 0 || over >= from0 && width < 5 {
				continue
			}
			for _, signed := range []bool{true, false} {
				if (signed || width < 64) && (signed || over != around0) {
					plans = append(plans, hlo.Requantize{Bits: bits, Shift: hlo.Shift{By: shifts}, Round: round,
						Over: over, Width: width, Signed: signed, Out: hlo.I64})
				}
			}
		}
	}
	if round > 0 {
		return plans[round : round+1]
	}
	return plans
}

func TestRequant(t *testing.T) {
	inputs := []struct {
		d    hlo.DType
		bits int // as given to Requantize
		real int // as used for the data
	}{{hlo.I32, 31, 31}, {hlo.I64, 0, 63}, {hlo.I8, 0, 7}}
	for round := range hlo.RoundOutward + 1 {
		shifts := allShifts(-70, 70)
		b := hlo.New("requant")
		var outs []hlo.Value
		var args []hlo.Array
		for i, in := range inputs {
			values := nearTies(in.real, 40, uint64(in.real))
			args = append(args, hlo.FromInt64s(in.d, []int{len(shifts), len(values)},
				gather([]int{len(shifts), len(values)}, func(a []int) int64 { return values[a[1]] })))
			x := b.Arg("x", args[i].Type)
			for _, q := range requantPlans(round, in.bits, shifts) {
				outs = append(outs, b.Requant(x, q))
			}
		}
		b.Return(outs...)
		got := pjrttest.Run(t, b, args...)
		for i, in := range inputs {
			x := args[i].Int64s()
			for _, q := range requantPlans(round, in.bits, shifts) {
				for j, v := range got[0].Int64s() {
					if want := requant(x[j], shifts[j/40], q); v != want {
						t.Fatalf("%+v: v %d shift %d round %d over %d width %d signed %v: %d, want %d",
							in, x[j], shifts[j/40], q.Round, q.Over, q.Width, q.Signed, v, want)
					}
				}
				got = got[1:]
			}
		}
	}
}

// TestRequantUniform takes the path of one shift for all, and the narrow result types.
func TestRequantUniform(t *testing.T) {
	values := nearTies(31, 300, 5)
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 13))
		b := hlo.New("uniform")
		x := b.Arg("x", hlo.TypeOf(hlo.I32, len(values)))
		var outs []hlo.Value
		var plans []hlo.Requantize
		for range 40 {
			out := []hlo.DType{hlo.I8, hlo.UI8, hlo.I32, hlo.UI32, hlo.I64}[r.IntN(5)]
			signed := out.IsSigned() && r.IntN(3) > 0
			room := out.Bits()
			if out.IsSigned() && !signed {
				room--
			}
			q := hlo.Requantize{Bits: 31, Shift: hlo.Places(r.IntN(80) - 40), Round: uint8(r.IntN(9)),
				Over: int32(r.IntN(6)), Width: 1 + r.IntN(room), Signed: signed, Out: out}
			if q.Over > hlo.OverWrap && q.Width > 3 { // limits from 1 on
				if around := q.Over == 5 && q.Signed; around {
					q.Over = hlo.OverWrap + 4 + 2*int32(r.IntN(1<<min(q.Width-2, 20)))
				} else {
					q.Over = hlo.OverWrap + 3 + 2*int32(r.IntN(1<<min(q.Width-2, 20)))
				}
			} else if q.Over > hlo.OverWrap {
				q.Over = hlo.OverSat
			}
			plans, outs = append(plans, q), append(outs, b.Requant(x, q))
		}
		b.Return(outs...)
		got := pjrttest.Run(t, b, hlo.FromInt64s(hlo.I32, []int{len(values)}, values))
		for k, q := range plans {
			if got[k].Type.DType != q.Out {
				t.Errorf("%+v gives %s", q, got[k].Type)
			}
			for i, v := range got[k].Int64s() {
				if want := requant(values[i], q.Shift.By[0], q); v != want {
					t.Fatalf("%d by %+v: %d, want %d", values[i], q, v, want)
				}
			}
		}
	}
}

func TestRoundShift(t *testing.T) {
	values := nearTies(30, 200, 9)
	b := hlo.New("roundshift")
	x := b.Arg("x", hlo.TypeOf(hlo.I64, 3, len(values)))
	shifts := []int{5, 0, -20}
	var outs []hlo.Value
	for round := range hlo.RoundOutward + 1 {
		outs = append(outs, b.RoundShift(x, 30, hlo.Shift{By: shifts}, round),
			b.RoundShift(x, 30, hlo.Places(7), round))
	}
	outs = append(outs, b.Saturate(x, hlo.OverSat, 8, true, hlo.I8))
	b.Return(outs...)
	data := gather([]int{3, len(values)}, func(a []int) int64 { return values[a[1]] })
	got := pjrttest.Run(t, b, hlo.FromInt64s(hlo.I64, []int{3, len(values)}, data))
	for k, a := range got[:len(got)-1] {
		q := hlo.Requantize{Round: uint8(k / 2), Width: 64, Signed: true}
		for i, v := range a.Int64s() {
			n := shifts[i/len(values)]
			if k%2 == 1 {
				n = 7
			}
			if want := requant(data[i], n, q); v != want {
				t.Fatalf("round %d: %d by %d gives %d, want %d", q.Round, data[i], n, v, want)
			}
		}
	}
	if a := outs[1].Type().DType; a != hlo.I32 {
		t.Errorf("30 bits to the right run in %s", a)
	}
	for i, v := range got[len(got)-1].Int64s() {
		if want := max(-128, min(data[i], 127)); v != want {
			t.Fatalf("saturate %d gives %d", data[i], v)
		}
	}
}

func TestDivRound(t *testing.T) {
	for _, d := range []hlo.DType{hlo.I32, hlo.I64} {
		r := rand.New(rand.NewPCG(4, 4))
		var xs, ns []int64
		for i := range 600 {
			n := 1 + r.Int64N(12)
			x := r.Int64N(200) - 100
			if i%3 == 0 { // ties and extremes
				n, x = 2*n, n*(2*r.Int64N(40)-39)
			}
			if i%7 == 0 {
				n, x = int64(1)<<(d.Bits()-2)+int64(i), (int64(1)<<(d.Bits()-1)-1-int64(i))*(1-2*int64(i%2))
			}
			xs, ns = append(xs, x), append(ns, n)
		}
		b := hlo.New("divround")
		x, n := b.Arg("x", hlo.TypeOf(d, len(xs))), b.Arg("n", hlo.TypeOf(d, len(xs)))
		var outs []hlo.Value
		for round := range hlo.RoundOutward + 1 {
			outs = append(outs, b.DivRound(x, n, round), b.DivRound(x, b.Int(d, 9), round))
		}
		b.Return(outs...)
		got := pjrttest.Run(t, b, hlo.FromInt64s(d, []int{len(xs)}, xs), hlo.FromInt64s(d, []int{len(xs)}, ns))
		for k, a := range got {
			for i, v := range a.Int64s() {
				den := ns[i]
				if k%2 == 1 {
					den = 9
				}
				want := roundQuo(big.NewInt(xs[i]), big.NewInt(den), uint8(k/2)).Int64()
				if v != want {
					t.Fatalf("%s round %d: %d/%d = %d, want %d", d, k/2, xs[i], den, v, want)
				}
			}
		}
	}
}
