// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"lathe/ir/hlo"
	"lathe/rtl"
)

// Formats of few codes are lists of values, and their codecs are tables: a decoder lists the values of all codes, an
// encoder the arguments from which on the code is another one. Both are made of Decode and Encode, so that nothing is
// rounded twice.

// tableBits bounds the width of such formats.
const tableBits = 8

// bends are the values at which encoding may go to any other code; nil where codes ascend with values.
func (f Listed) bends() []Exact {
	if b, ok := f.Set.(interface{ bends() []Exact }); ok {
		return b.bends()
	}
	return nil
}

// Steps lists where the encoding of f changes among the ascending arguments at(lo..hi): from[i] is the least one of
// codes[i], and from[0] is lo. f encodes monotonously, but for the values at which it bends.
func Steps(f Format, lo, hi int64, at func(int64) Exact) (from, codes []int64) {
	cuts := []int64{lo}
	if l, ok := f.(Listed); ok {
		for _, v := range l.bends() {
			cuts = append(cuts, First(lo, hi, func(i int64) bool { return at(i).Cmp(v) >= 0 }),
				First(lo, hi, func(i int64) bool { return at(i).Cmp(v) > 0 }))
		}
		slices.Sort(cuts)
	}
	code := func(i int64) int64 { return f.Encode(at(i)) }
	for k, start := range cuts {
		end := hi
		if k+1 < len(cuts) {
			end = cuts[k+1] - 1
		}
		for start <= end {
			c := code(start)
			if n := len(codes); n == 0 || codes[n-1] != c {
				from, codes = append(from, start), append(codes, c)
			}
			start = First(start, end, func(i int64) bool { return code(i) != c })
		}
	}
	return from, codes
}

// First is the least of lo..hi for which is holds, hi+1 if none. It holds for all behind one for which it does.
func First(lo, hi int64, is func(int64) bool) int64 {
	for lo <= hi {
		if mid := lo + int64(uint64(hi-lo)/2); is(mid) { // of any two numbers
			hi = mid - 1
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// stepsOf are the Steps of f among the codes of in.
func stepsOf(f Format, in Fixed) (from, codes []int64) {
	all := Fixed{W: in.W, F: in.F, Signed: in.Signed}
	return Steps(f, all.Min(), all.Max(), all.Decode)
}

// decodeTable is all codes of f in the format out.
func decodeTable(f Format, out Fixed) []int64 {
	table := make([]int64, 1<<f.Width())
	for code := range table {
		table[code] = out.Encode(f.Decode(int64(code)))
	}
	return table
}

// Set is what a format of few codes says of itself: its codes and their values, and how values become codes.
type Set interface {
	String() string
	Width() int
	Decode(code int64) Exact
	Encode(v Exact) int64
	codes() Set          // with the default way of encoding
	scale() float32      // a factor of all values
	times(s float32) Set // with another one
	fit(x []float32) Set // with one for the given values
}

// Listed is a format of up to 2^tableBits codes.
type Listed struct{ Set }

// CodeSet is the codes with the default way of encoding.
func (f Listed) CodeSet() Format { return Listed{f.codes()} }

// values are those of all codes.
func (f Listed) values() []Exact {
	out := make([]Exact, 1<<f.Width())
	for code := range out {
		out[code] = f.Decode(int64(code))
	}
	return out
}

// Lattice counts in the lowest bit of all values.
func (f Listed) Lattice() (exp int, bits int, ok bool) {
	exp, bits = lattice(f.values())
	return exp, bits, bits <= 63
}

// lattice is the exponent of the lowest bit of values, and the bits of the largest in that step.
func lattice(values []Exact) (exp, bits int) {
	exp = math.MaxInt
	for _, v := range values {
		if !v.IsZero() {
			exp = min(exp, v.exp)
		}
	}
	for _, v := range values {
		i, e := v.Int()
		if v.IsZero() {
			continue
		}
		i.Lsh(i, uint(e-exp))
		bits = max(bits, SignedBits(i, i))
	}
	return exp, bits
}

// Limits are the least and the greatest value.
func (f Listed) Limits() (lo, hi Exact) {
	values := f.values()
	return slices.MinFunc(values, Exact.Cmp), slices.MaxFunc(values, Exact.Cmp)
}

// asConstant is the format of constants of f in sums: integers, times the scale where that is no power of two and they
// are narrow enough for an affine format.
func (f Listed) asConstant() Format {
	values := f.values()
	s := FromFloat32(f.scale())
	if s.mag > 1 {
		for i, v := range values {
			values[i] = v.Quo(s)
		}
		exp, bits := lattice(values)
		if unit := s.Shift(exp); bits <= maxAffW && FromFloat32(unit.Float32()) == unit {
			return Affine{W: bits, Signed: true, Scale: unit.Float32(), Axis: PerTensor}
		}
	}
	fx, _ := ExactFixed(f)
	return fx
}

// DecodeHLO prints a look-up in decodeTable.
func (f Listed) DecodeHLO(b *hlo.Builder, x hlo.Value, out Fixed) hlo.Value {
	table := decodeTable(f, out)
	values := b.Weight(hlo.FromInt64s(Carrier(out), []int{len(table)}, table))
	return b.TakeI(values, b.And(x, b.Splat(x, int64(len(table)-1))))
}

// EncodeHLO prints a binary search in stepsOf, and a look-up of the code.
func (f Listed) EncodeHLO(b *hlo.Builder, x hlo.Value, in Fixed) hlo.Value {
	from, codes := stepsOf(f, in)
	x = b.Convert(x, hlo.I64)
	size := 1
	for size < len(from) {
		size *= 2
	}
	for len(from) < size { // which nothing reaches
		from = append(from, 1<<62)
	}
	steps := b.Weight(hlo.FromInt64s(hlo.I64, []int{size}, from))
	at := b.Splat(b.Convert(x, hlo.I32), 0)
	for half := size / 2; half > 0; half /= 2 {
		next := b.Add(at, b.Splat(at, int64(half)))
		at = b.Select(b.Compare(hlo.GE, x, b.TakeI(steps, next)), next, at)
	}
	return b.TakeI(b.Weight(hlo.FromInt64s(Carrier(f), []int{len(codes)}, codes)), at)
}

// DecodeRTL is num_table_dec.
func (f Listed) DecodeRTL(out Fixed, s Stream) *rtl.Unit {
	u := rtl.NewUnit("num_table_dec", "LANES", s.Lanes, "IN_W", f.Width(), "OUT_W", out.W)
	u.Params = append(u.Params, packed("VALUES", decodeTable(f, out), out.W))
	return u.With("BEATS", s.Beats)
}

// EncodeRTL is num_table_enc.
func (f Listed) EncodeRTL(in Fixed, s Stream) *rtl.Unit {
	from, codes := stepsOf(f, in)
	u := rtl.NewUnit("num_table_enc", "LANES", s.Lanes, "IN_W", in.W, "IN_SIGNED", rtl.Flag(in.Signed), "OUT_W", f.Width(),
		"STEPS", len(codes))
	u.Params = append(u.Params, packed("FROM", from, in.W), packed("CODES", codes, f.Width()))
	return u.With("BEATS", s.Beats)
}

// packed is a parameter of words of w bits side by side, the first one lowest.
func packed(name string, words []int64, w int) rtl.Param {
	all, mask := new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(w)), big.NewInt(1))
	for i, v := range words {
		word := new(big.Int).And(big.NewInt(v), mask)
		all.Or(all, word.Lsh(word, uint(i*w)))
	}
	return rtl.Param{Name: name, Value: fmt.Sprintf("%d'h%x", len(words)*w, all)}
}
