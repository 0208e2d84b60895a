// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
	"sync"

	"lathe/ir"
	"lathe/ir/format"
)

// enumerated is a format that exists in tests only. Its definition is its list of codes: encoding is a search for the
// nearest.
type enumerated interface {
	format.Format
	// list holds every code with a finite value, ascending by value, then by code.
	list() []coded
	// finite replaces a code without a finite value by one that has one.
	finite(code int64) int64
}

// coded is a code and its value.
type coded struct {
	code int64
	x    *big.Rat
}

// known says that the definition of f stands here.
func known(f format.Format) error {
	switch f.(type) {
	case format.Fixed, format.Affine, format.MXInt, format.Float, format.DFloat, format.Log, enumerated:
		return nil
	}
	if format.IsFloat(f) {
		return nil
	}
	return fmt.Errorf("the slow evaluator does not know %s", f)
}

func power(exp int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(exp, -exp)))
	if exp < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

func integer(v int64) *big.Rat { return new(big.Rat).SetInt64(v) }

func real32(v float32) *big.Rat { return new(big.Rat).SetFloat64(float64(v)) }

// decode gives the real values of a tensor of type t.
func decode(t ir.Type, s *ir.Tensor) []*big.Rat {
	if m, blocks := t.Format.(format.MXInt); blocks {
		return decodeBlocks(t, m, s)
	}
	out := make([]*big.Rat, t.Elems())
	for i := range out {
		if t.IsFloat() {
			out[i] = slowHalf(t, real32(s.Floats[i]))
			continue
		}
		out[i] = decodeOne(t, i, s.Codes[i])
	}
	return out
}

// decodeOne is the value of the code at flat position i.
func decodeOne(t ir.Type, i int, code int64) *big.Rat {
	switch f := t.Format.(type) {
	case format.Fixed:
		return new(big.Rat).Mul(integer(code), power(-f.F))
	case format.Affine:
		scale := f.Scale
		if f.Axis >= 0 {
			inner := 1
			for _, d := range t.Shape[f.Axis+1:] {
				inner *= d
			}
			scale = t.Scales[i/inner%t.Shape[f.Axis]]
		}
		return new(big.Rat).Mul(integer(code-f.Zero), real32(scale))
	case enumerated:
		list := f.list()
		return list[slices.IndexFunc(list, func(c coded) bool { return c.code == code })].x
	}
	return rawValue(t.Format, code)
}

// encode rounds v once into the codes of f and applies its overflow rule.
func encode(f format.Format, v *big.Rat) int64 {
	switch f := f.(type) {
	case format.Fixed:
		return enter(f.W, f.Signed, f.Over, round(new(big.Rat).Mul(v, power(f.F)), f.Round))
	case format.Affine:
		q := round(new(big.Rat).Quo(v, real32(f.Scale)), f.Round)
		return enter(f.W, f.Signed, f.Over, q.Add(q, big.NewInt(f.Zero)))
	case enumerated:
		return nearest(f.list(), v)
	}
	code := nearest(rawList(f), v)
	if _, one := f.(format.Log); !one && v.Sign() < 0 && code == 0 {
		code = 1 << (f.Width() - 1) // what is negative and becomes zero keeps its sign
	}
	return code
}

// rawValue is the value of a code of float(e,m), dfloat(e,m) or log(W), from their definitions.
func rawValue(f format.Format, code int64) *big.Rat {
	e, m, hidden := 0, 0, true
	switch f := f.(type) {
	case format.Float:
		e, m = f.E, f.M
	case format.DFloat:
		e, m, hidden = f.E, f.M, false
	case format.Log:
		e = f.W - 1
	}
	steps, fields := int64(1)<<m, int64(1)<<e
	sign, field, k := code/steps/fields%2, code/steps%fields, code%steps
	v := new(big.Rat).SetFrac64(k, steps)
	switch {
	case hidden && field > 0:
		v.Add(v, integer(1))
	case hidden:
		field = 1
	}
	if v.Mul(v, power(int(field-fields/2+1))); sign == 1 {
		v.Neg(v)
	}
	return v
}

// rawLists are the lists of rawList, by format.
var rawLists sync.Map

// rawList is the list of all codes of such a format, as that of an enumerated one.
func rawList(f format.Format) []coded {
	if list, ok := rawLists.Load(f); ok {
		return list.([]coded)
	}
	list := make([]coded, 1<<f.Width())
	for c := range list {
		list[c] = coded{int64(c), rawValue(f, int64(c))}
	}
	sort.SliceStable(list, func(i, k int) bool { return list[i].x.Cmp(list[k].x) < 0 })
	rawLists.Store(f, list)
	return list
}

// round takes v to an integer.
func round(v *big.Rat, mode format.Round) *big.Int {
	low := new(big.Int).Div(v.Num(), v.Denom()) // Euclidean, with a positive divisor: floor
	if v.IsInt() {
		return low
	}
	high := new(big.Int).Add(low, big.NewInt(1))
	toZero, fromZero := low, high
	if v.Sign() < 0 {
		toZero, fromZero = high, low
	}
	even := low
	if low.Bit(0) == 1 {
		even = high
	}
	middle := new(big.Rat).SetFrac(new(big.Int).Add(low, high), big.NewInt(2))
	side := v.Cmp(middle)
	tie := map[format.Round]*big.Int{format.RoundEven: even, format.RoundAway: fromZero, format.RoundUp: high,
		format.RoundDown: low, format.RoundHalfZero: toZero}
	if t, nearest := tie[mode]; nearest {
		return [...]*big.Int{low, t, high}[side+1]
	}
	return map[format.Round]*big.Int{format.RoundFloor: low, format.RoundCeil: high, format.RoundZero: toZero,
		format.RoundOutward: fromZero}[mode]
}

// enter brings an integer into w bits.
func enter(w int, signed bool, over format.Over, q *big.Int) int64 {
	size := new(big.Int).Lsh(big.NewInt(1), uint(w))
	lo, hi := big.NewInt(0), new(big.Int).Sub(size, big.NewInt(1))
	if signed {
		half := new(big.Int).Rsh(size, 1)
		lo, hi = new(big.Int).Neg(half), new(big.Int).Sub(half, big.NewInt(1))
	}
	least, most, limited := over.Limits()
	switch {
	case limited:
		lo, hi = big.NewInt(least), big.NewInt(most)
	case over == format.Wrap:
		q = new(big.Int).Mod(q, size)
		if q.Cmp(hi) > 0 {
			q.Sub(q, size)
		}
		return q.Int64()
	case over == format.Sym && signed:
		lo = new(big.Int).Neg(hi)
	case over == format.Sym:
		hi = new(big.Int).Sub(hi, big.NewInt(1))
	}
	switch {
	case q.Cmp(lo) < 0:
		q = lo
	case q.Cmp(hi) > 0:
		q = hi
	}
	return q.Int64()
}

// nearest is the code whose value is nearest to v; of two, the even one. Beyond the ends it is the last one. Of several
// codes with one value it takes the first.
func nearest(list []coded, v *big.Rat) int64 {
	above := sort.Search(len(list), func(i int) bool { return list[i].x.Cmp(v) >= 0 })
	below := max(above-1, 0)
	above = min(above, len(list)-1)
	for below > 0 && list[below-1].x.Cmp(list[below].x) == 0 {
		below--
	}
	down, up := new(big.Rat).Sub(v, list[below].x), new(big.Rat).Sub(list[above].x, v)
	switch c := down.Abs(down).Cmp(up.Abs(up)); {
	case c < 0, c == 0 && list[below].code&1 == 0:
		return list[below].code
	}
	return list[above].code
}

// slowHalf rounds to the values of t where it is a float of 16 bits: to 8 or 11 significant bits, but to no less than
// multiples of the least value. What is beyond the largest becomes nil, which stands for all that is not finite.
func slowHalf(t ir.Type, v *big.Rat) *big.Rat {
	bits, least, top := 8, -133, 128
	switch t.Format {
	case format.F16:
		bits, least, top = 11, -24, 16
	case format.BF16:
	default:
		return v
	}
	if v == nil || v.Sign() == 0 {
		return v
	}
	size := new(big.Rat).Abs(v)
	exp := size.Num().BitLen() - size.Denom().BitLen() // of the leading bit, or one more
	if size.Cmp(power(exp)) < 0 {
		exp--
	}
	step := power(max(exp+1-bits, least))
	q := new(big.Rat).SetInt(round(new(big.Rat).Quo(v, step), format.RoundEven))
	if q.Mul(q, step); new(big.Rat).Abs(q).Cmp(power(top)) >= 0 {
		return nil
	}
	return q
}
