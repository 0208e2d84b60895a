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
	case format.Fixed, format.Affine, format.MXInt, format.Float, format.DFloat, format.Log,
		format.Listed, enumerated:
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
	if v == nil { // NaN, which the formats that are drawn here do not take over
		v = new(big.Rat)
	}
	switch f := f.(type) {
	case format.Fixed:
		over := f.Over
		if over == format.Wrap && new(big.Rat).Abs(v).Cmp(infinite) >= 0 {
			over = format.Sat
		}
		return enter(f.W, f.Signed, over, round(new(big.Rat).Mul(v, power(f.F)), f.Round))
	case format.Affine:
		q := round(new(big.Rat).Quo(v, real32(f.Scale)), f.Round)
		return enter(f.W, f.Signed, f.Over, q.Add(q, big.NewInt(f.Zero)))
	case format.Listed: // tables, whose ties go to the even code
		return nearest(rawList(f), v)
	case enumerated:
		return nearest(f.list(), v)
	}
	return rawCode(f, v)
}

// raw is a float, a dfloat or a logarithm by its fields.
type raw struct {
	e, m, bias int
	hidden     bool // codes with a field above 0 have one more bit in front of the fraction
	one        bool // zero has one code
	kind       format.FloatKind
	round      format.Round
	over       format.Beyond
}

func rawOf(f format.Format) raw {
	switch f := f.(type) {
	case format.Float:
		return raw{f.E, f.M, f.Bias(), true, f.Kind == format.FloatFNUZ, f.Kind, f.Round, f.Over}
	case format.DFloat:
		return raw{e: f.E, m: f.M, bias: f.Bias(), round: f.Round}
	case format.Log:
		return raw{e: f.W - 1, bias: f.Bias(), hidden: true, one: true, round: f.Round}
	}
	return raw{}
}

// infinite stands for an infinity: it is beyond all values.
var infinite = power(100000)

// value is that of a code, from its definition; nil for NaN.
func (f raw) value(code int64) *big.Rat {
	steps, fields := int64(1)<<f.m, int64(1)<<f.e
	sign, field, k := code/steps/fields%2, code/steps%fields, code%steps
	last := field == fields-1
	switch {
	case f.kind == format.FloatIEEE && last && k > 0, f.kind == format.FloatFN && last && k == steps-1,
		f.kind == format.FloatFNUZ && sign == 1 && field == 0 && k == 0:
		return nil
	}
	v := f.magnitude(field, k)
	if f.kind == format.FloatIEEE && last {
		v.Set(infinite)
	}
	if sign == 1 {
		v.Neg(v)
	}
	return v
}

// magnitude is that of any field, also one that no code has, and fraction.
func (f raw) magnitude(field, k int64) *big.Rat {
	v := new(big.Rat).SetFrac64(k, 1<<f.m)
	switch {
	case f.hidden && field > 0:
		v.Add(v, integer(1))
	case f.hidden:
		field = 1
	}
	return v.Mul(v, power(int(field)-f.bias))
}

// rawValue is the value of a code of such a format, nil for NaN.
func rawValue(f format.Format, code int64) *big.Rat {
	if l, ok := f.(format.Listed); ok { // values are its definition
		return l.Decode(code).Rat()
	}
	return rawOf(f).value(code)
}

// rawCode rounds v to a code by a search, and applies the overflow rule.
func rawCode(of format.Format, v *big.Rat) int64 {
	f := rawOf(of)
	list := rawList(of)
	sign := int64(1) << (f.e + f.m)
	if v.Sign() >= 0 {
		sign = 0
	}
	size, last := new(big.Rat).Abs(v), len(list)-1
	i := last
	if size.Cmp(list[last].x) < 0 {
		i = sort.Search(last, func(k int) bool { return list[k+1].x.Cmp(size) > 0 })
		if f.up(v, size, list[i], list[i+1]) {
			i++
		}
	}
	switch {
	case i == 0 && f.one:
		return 0
	case i < last:
		return sign | list[i].code
	case f.over == format.BeyondSat:
		return sign | list[last-1].code
	case f.kind == format.FloatIEEE:
		return sign | list[last].code
	case f.kind == format.FloatFN:
		return list[last].code
	}
	return 1 << (f.e + f.m)
}

// up says whether v, of magnitude size between two neighbours, becomes the greater one.
func (f raw) up(v, size *big.Rat, lo, hi coded) bool {
	away, middle := v.Sign() > 0, new(big.Rat).Add(lo.x, hi.x)
	if size.Cmp(lo.x) == 0 {
		return false
	}
	switch f.round {
	case format.RoundFloor:
		return !away
	case format.RoundCeil:
		return away
	case format.RoundZero:
		return false
	case format.RoundOutward:
		return true
	case format.RoundLog:
		if lo.x.Sign() > 0 {
			return new(big.Rat).Mul(size, size).Cmp(new(big.Rat).Mul(lo.x, hi.x)) > 0
		}
	}
	if c := size.Cmp(middle.Quo(middle, integer(2))); c != 0 {
		return c > 0
	}
	return map[format.Round]bool{format.RoundEven: lo.code%2 == 1, format.RoundAway: true, format.RoundUp: away,
		format.RoundDown: !away}[f.round]
}

// rawLists are the lists of rawList, by format.
var rawLists sync.Map

// rawList is the list of all finite magnitudes of such a format, ascending, of several codes of one the first; behind
// them stands the one that would follow.
func rawList(f format.Format) []coded {
	if list, ok := rawLists.Load(f); ok {
		return list.([]coded)
	}
	r := rawOf(f)
	var list []coded
	if _, ok := f.(format.Listed); ok {
		for code := range int64(1) << f.Width() {
			list = append(list, coded{code, rawValue(f, code)})
		}
		rawLists.Store(f, list)
		return list
	}
	for code := range int64(1) << (r.e + r.m) {
		if x := r.value(code); x != nil && x.Cmp(infinite) < 0 {
			list = append(list, coded{code, x})
		}
	}
	next := list[len(list)-1].code + 1
	follows := r.magnitude(next>>r.m, next%(1<<r.m))
	if !r.hidden { // there is no code with a fraction of 0 that would
		follows = r.magnitude(next>>r.m, 1<<(r.m-1))
	}
	list = append(list, coded{next, follows})
	sort.SliceStable(list, func(i, k int) bool { return list[i].x.Cmp(list[k].x) < 0 })
	list = slices.CompactFunc(list, func(a, b coded) bool { return a.x.Cmp(b.x) == 0 })
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
