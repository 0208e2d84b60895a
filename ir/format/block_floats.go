// SPDX-License-Identifier: Apache-2.0

package format

import "math"

// Blocks of numbers that are float64 already need no exact arithmetic: significands of 53 bits are integers, and powers
// of two scale them exactly.

// fastBlock is a block format that takes such blocks.
type fastBlock interface {
	Block
	// sharedOf is the exponent and the field of a block whose greatest magnitude is amax, a normal number.
	sharedOf(amax float64) (exp int, scale int64)
	// encodeFloats rounds each x*2^-exp.
	encodeFloats(x []float64, exp int, codes []int64)
	// decodeFloats gives the values of codes in blocks of a step.
	decodeFloats(codes []int64, step float64, out []float64)
}

// EncodeFloatBlock is b.EncodeBlock.
func EncodeFloatBlock(b Block, x []float64, codes []int64) (scale int64) {
	f, fast := b.(fastBlock)
	top := uint64(0)
	for _, v := range x {
		top = max(top, math.Float64bits(v)&^(1<<63)) // magnitudes in their order, NaN above all
	}
	amax := math.Float64frombits(top)
	if !fast || !(amax >= 0x1p-900 && amax <= 0x1p900) || Rounding(b) == RoundStochastic {
		exact := make([]Exact, len(x))
		for i, v := range x {
			exact[i] = FromFloat64(v)
		}
		return b.EncodeBlock(exact, codes)
	}
	exp, scale := f.sharedOf(amax)
	f.encodeFloats(x, exp, codes)
	return scale
}

// DecodeFloatBlock is b.DecodeBlock, with values rounded to even where they have more than 53 bits.
func DecodeFloatBlock(b Block, codes []int64, scale int64, out []float64) {
	f, fast := b.(fastBlock)
	_, bits, ok := b.Element().Lattice()
	if fast = fast && ok && bits <= 54 && !b.ScaleValue(scale).IsNaN(); fast {
		f.decodeFloats(codes, math.Ldexp(1, b.ElementExp(scale)), out)
		return
	}
	exact := make([]Exact, len(codes))
	b.DecodeBlock(codes, scale, exact)
	for i, v := range exact {
		out[i] = v.Float64()
	}
}

// BlockValues decodes blocks by tables of the values of elements at scale 1 and of scales.
type BlockValues struct {
	elements []float64
	scales   []float64
}

// NewBlockValues is nil for elements of more than 16 bits, and where products of values and scales may round.
func NewBlockValues(b Block) *BlockValues {
	const widest, normal = 16, 900
	elem := b.Element()
	step, _, ok := elem.Lattice()
	_, most := b.Limits()
	lo, hi := b.ScaleLimits()
	if b.Width() > widest || b.ScaleWidth() > widest || !ok || step+lo < -normal || most.Log2()+hi > normal {
		return nil
	}
	t := &BlockValues{make([]float64, 1<<b.Width()), make([]float64, 1<<b.ScaleWidth())}
	for c := range t.elements {
		t.elements[c] = elem.Decode(int64(c)).Float64()
	}
	for s := range t.scales {
		t.scales[s] = b.ScaleValue(int64(s)).Float64()
	}
	return t
}

// Decode is DecodeFloatBlock.
func (t *BlockValues) Decode(codes []int64, scale int64, out []float64) {
	by, elements := t.scales[int(scale)&(len(t.scales)-1)], t.elements
	for i, c := range codes {
		out[i] = elements[int(c)&(len(elements)-1)] * by
	}
}

// log2Of is floor(log2 a) of a normal number, and whether it is a power of two.
func log2Of(a float64) (floor int, power bool) {
	b := math.Float64bits(a)
	return int(b>>52&0x7ff) - 1023, b&(1<<52-1) == 0
}

func (f IntBlock) sharedOf(amax float64) (exp int, scale int64) {
	top, _ := log2Of(amax)
	exp = f.shared(top)
	return exp, int64(exp + f.Bias)
}

func (f IntBlock) encodeFloats(x []float64, exp int, codes []int64) {
	shifted(f.element(), x, exp, codes)
}

func (f IntBlock) decodeFloats(codes []int64, step float64, out []float64) {
	by := 64 - f.W
	for i, c := range codes {
		out[i] = float64(c<<by>>by) * step
	}
}

func (f sharedBlock) sharedOf(amax float64) (exp int, scale int64) {
	top, power := log2Of(amax)
	if f.ceil && !power {
		top++
	}
	return f.shared(top)
}

func (f sharedBlock) encodeFloats(x []float64, exp int, codes []int64) {
	fx, integer := f.elem.fixed()
	if integer {
		shifted(fx, x, exp, codes)
		return
	}
	if f.elem.round == RoundEven {
		f.elem.encodeEven(x, exp, codes)
		return
	}
	for i, v := range x {
		b := math.Float64bits(v)
		mag, e := b&(1<<52-1), int(b>>52&0x7ff)
		if e == 0 {
			e = 1
		} else {
			mag |= 1 << 52
		}
		codes[i] = f.elem.encode(mag, e-1075-exp, b>>63 != 0, 0)
	}
}

// encodeEven rounds each x*2^-exp to the nearest, in the bits of float64: behind the greatest subnormal a code is the
// exponent and the first bits of the fraction, less those of the value whose code would be 0.
func (f fields) encodeEven(x []float64, exp int, codes []int64) {
	const minus, units = 1 << 63, 0x1p52 // a number plus units ends at the point
	by, small, places := math.Ldexp(1, -exp-f.step), math.Float64bits(math.Ldexp(1, f.m+1)), 52-f.m
	half, zero := uint64(1)<<(places-1)-1, int64(1022+f.m)<<f.m
	if f.e == 0 {
		small = math.Float64bits(math.Inf(1))
	}
	far, place, zeros := math.Float64bits(0x1p50), f.e+f.m, int64(1)
	if f.oneZero {
		zeros = 0
	}
	for i, v := range x { // without branches, which would depend on chance
		b := math.Float64bits(v)
		y := min(math.Float64bits(math.Float64frombits(b&^minus)*by), far)
		code := int64((y+half+y>>places&1)>>places) - zero
		low := int64(math.Float64bits(math.Float64frombits(y)+units) & (1<<52 - 1))
		if y < small {
			code = low
		}
		code = min(code, f.most)
		some := int64(uint64(-code)>>63) | zeros
		codes[i] = code | int64(b>>63)&some<<place
	}
}

// shifted encodes each x*2^-exp in f.
func shifted(f Fixed, x []float64, exp int, codes []int64) {
	at := f
	if at.F -= exp; at.EncodeFloat64s(codes, x) {
		return
	}
	for i, v := range x {
		codes[i] = f.Encode(FromFloat64(v).Shift(-exp))
	}
}

func (f sharedBlock) decodeFloats(codes []int64, step float64, out []float64) {
	e := f.elem
	if e.e < 0 {
		for i, c := range codes {
			out[i] = float64(e.integer(c)) * step
		}
		return
	}
	all := int64(1)<<(e.e+e.m) - 1
	for i, c := range codes {
		if c&all > e.most {
			out[i] = e.Decode(c).Float64() // infinity or NaN, whatever the scale
			continue
		}
		minus, sig, by := e.parts(c)
		v := float64(sig<<by) * step
		if minus && (sig != 0 || !e.oneZero) {
			v = -v
		}
		out[i] = v
	}
}
