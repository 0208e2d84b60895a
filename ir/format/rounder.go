// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"math"
	"slices"

	"lathe/ir/hlo"
)

// Rounder prints floats rounded to the values of a format: what decoding gives of the codes that encoding makes of
// them, bit for bit, as training needs it. NaN becomes 0, what becomes infinite the greatest value; a zero has no sign
// that matters.
type Rounder struct {
	format Format
	scales []float32   // of channels
	scale  hlo.Value   // of an affine format that is no power of two, or one a channel
	limits hlo.Value   // for search: limit i is the least number that value i+1 stands for
	values hlo.Value   // for search, ascending
	lo, hi float64     // of all values, at scale 1 where scales travel beside the codes
	elem   *Rounder    // of blocks
	fit    fitter      // of few codes
	ceil   bool        // of blocks: scales grow between powers of two
	wide   bool        // the rounding is done in f64
	codes  Fixed       // of integers
	zero   int64       // of integers
	shift  int         // of integers: value = code * 2^-shift
	lead   int         // values are those of the format times 2^lead: of elements of blocks whose greatest value is 1
	kind   roundedKind // which of these count
}

type roundedKind uint8

const (
	byStep   roundedKind = iota // integers times a power of two
	byScale                     // integers times a scale, or one a channel
	bySearch                    // any scalar format of up to 16 bits
	byBlock
	byFit // few codes at a scale that the values of a channel choose
)

// searched is the width of the widest format whose values are looked up.
const searched = 16

// NewRounder prints what rounding to f needs outside of loops: tables and scales. scales are those that travel beside
// the codes along an axis, nil where there are none. The error says why floats cannot be rounded to f.
func NewRounder(b *hlo.Builder, f Format, scales []float32) (*Rounder, error) {
	if blocks, ok := f.(Block); ok {
		lead, ceil := leads(blocks)
		elem, err := newRounder(b, blocks.Element(), nil, lead)
		return &Rounder{format: f, elem: elem, kind: byBlock, lead: lead, ceil: ceil}, err
	}
	if c, ok := f.(ListedChannels); ok {
		r, err := newRounder(b, Listed{c.times(1)}, nil, 0)
		if fit, knows := c.Set.(fitter); err == nil && knows {
			r.kind, r.fit = byFit, fit
			return r, nil
		}
	}
	return newRounder(b, f, scales, 0)
}

func newRounder(b *hlo.Builder, f Format, scales []float32, lead int) (*Rounder, error) {
	lo, hi := f.Limits()
	r := &Rounder{format: f, scales: scales, lead: lead, lo: math.Ldexp(lo.Float64(), lead),
		hi: math.Ldexp(hi.Float64(), lead)}
	if s, ok := f.(Affine); ok {
		return r, r.affine(b, s)
	}
	if fx, ok := AsFixed(f); ok {
		r.kind, r.codes, r.shift = byStep, fx, fx.F-lead
		return r, r.integers()
	}
	if f.Width() > searched || len(scales) > 0 {
		return nil, fmt.Errorf("training has no rounding to %s", f)
	}
	r.kind = bySearch
	r.search(b)
	return r, nil
}

// integers refuses what f64 does not hold.
func (r *Rounder) integers() error {
	most := 53
	if r.codes.Over == Wrap {
		most = 28
	}
	if r.codes.W > most || r.shift > 900 || r.shift < -900 || r.codes.Round > RoundOutward {
		return fmt.Errorf("training has no rounding to %s", r.format)
	}
	const single, far = 24, 100
	r.wide = r.codes.W > single || r.shift > far || r.shift < -far || r.codes.Round >= RoundFloor ||
		r.codes.Over == Wrap
	return nil
}

// affine is integers whose scale is any number, or one a channel.
func (r *Rounder) affine(b *hlo.Builder, f Affine) error {
	r.codes, r.zero, r.kind = f.Integers(), f.Zero, byScale
	scales := r.scales
	if f.Axis < 0 {
		scales = []float32{f.Scale}
		if e, ok := Log2(f.Scale); ok && f.Div == DivExact {
			r.kind, r.shift = byStep, -e
		}
	}
	if len(scales) == 0 {
		return fmt.Errorf("%s has no scales here", f)
	}
	if err := r.integers(); err != nil {
		return err
	}
	if r.kind == byStep {
		return nil
	}
	r.wide = r.wide || f.Div == DivExact && slices.ContainsFunc(scales, func(s float32) bool {
		_, two := Log2(s)
		return !two
	})
	d := hlo.F32
	if r.wide {
		d = hlo.F64
	}
	wide := make([]float64, len(scales))
	for i, s := range scales {
		wide[i] = float64(s)
	}
	r.scale = b.Weight(hlo.FromFloat64s(d, []int{len(wide)}, wide)) // no constant: that would become its reciprocal
	return nil
}

// search finds, between each two neighbours among the values of codes, the least float32 that the greater one stands
// for. Encoding rises with what it encodes, so that bisection over the bits of floats finds it.
func (r *Rounder) search(b *hlo.Builder) {
	const normal = 0x1p-126 // engines count less as 0
	var values []float64
	for code := range int64(1) << r.format.Width() {
		v := math.Ldexp(r.format.Decode(code).Float64(), r.lead)
		if v >= r.lo && v <= r.hi && v == r.rounded(v) && (v == 0 || math.Abs(v) >= normal) {
			values = append(values, v+0) // -0 is 0
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	limits := []float32{float32(math.Inf(-1))}
	for i := range len(values) - 1 {
		lo, hi := ordered(float32(values[i])), ordered(float32(values[i+1]))
		for lo+1 < hi {
			if mid := lo + (hi-lo)/2; r.rounded(float64(unordered(mid))) >= values[i+1] {
				hi = mid
			} else {
				lo = mid
			}
		}
		limit := unordered(hi)
		if limit > 0 {
			limit = max(limit, normal)
		}
		limits = append(limits, limit)
	}
	n := 1
	for n < len(limits) {
		n *= 2
	}
	single := make([]float32, n)
	for i := range single {
		single[i] = float32(values[min(i, len(values)-1)])
	}
	for len(limits) < n {
		limits = append(limits, float32(math.Inf(1)))
	}
	r.limits = b.Weight(hlo.FromFloat32s([]int{n}, limits))
	r.values = b.Weight(hlo.FromFloat32s([]int{n}, single))
}

func (r *Rounder) rounded(v float64) float64 {
	code := r.format.Encode(FromFloat64(math.Ldexp(v, -r.lead)))
	return math.Ldexp(r.format.Decode(code).Float64(), r.lead)
}

// ordered numbers floats in their order.
func ordered(v float32) int64 {
	i := int64(int32(math.Float32bits(v)))
	if i < 0 {
		return math.MinInt32 - i
	}
	return i
}

func unordered(i int64) float32 {
	if i < 0 {
		i = math.MinInt32 - i
	}
	return math.Float32frombits(uint32(int32(i)))
}

// Limits are the least and the greatest value, those at scale 1 where a scale belongs to a channel or a block.
func (r *Rounder) Limits() (lo, hi float64) { return r.lo, r.hi }

// Bounds are Limits for x, f32, whose axis has the scales of channels: scalars, or values of the shape of x.
func (r *Rounder) Bounds(b *hlo.Builder, x hlo.Value, axis int) (lo, hi hlo.Value) {
	lo, hi = b.Float(hlo.F32, r.lo), b.Float(hlo.F32, r.hi)
	if r.kind == byScale && len(r.scales) > 0 {
		scale := r.spread(b, x, axis)
		return b.Mul(lo, scale), b.Mul(hi, scale)
	}
	return lo, hi
}

// Follows says that scales follow the values: no value lies beyond the format.
func (r *Rounder) Follows() bool { return r.kind == byBlock || r.kind == byFit }

// Round prints x, f32 or f64, rounded to the format, as f32: the value of a code may have more bits, and is rounded to
// that of f32. Blocks lie along the last axis of x, or are tiles of its last two; where scales travel along an axis,
// axis is its place in x.
func (r *Rounder) Round(b *hlo.Builder, x hlo.Value, axis int) hlo.Value {
	x = b.Select(b.Compare(hlo.NE, x, x), b.Float(x.Type().DType, 0), x)
	var y hlo.Value
	switch r.kind {
	case bySearch:
		y = r.lookUp(b, b.Convert(x, hlo.F32))
	case byFit:
		y = r.fitted(b, x)
	case byBlock:
		y = r.inBlocks(b, b.Convert(x, hlo.F32))
	default:
		if r.wide {
			x = b.Convert(x, hlo.F64)
		}
		y = r.inSteps(b, x, axis)
	}
	return b.Convert(y, hlo.F32)
}

// inSteps rounds quotients of x by the scale to integers.
func (r *Rounder) inSteps(b *hlo.Builder, x hlo.Value, axis int) hlo.Value {
	num := func(v float64) hlo.Value { return b.Float(x.Type().DType, v) }
	var q, scale hlo.Value
	if r.kind == byStep {
		q, scale = b.Mul(x, num(math.Ldexp(1, r.shift))), num(math.Ldexp(1, -r.shift))
	} else {
		scale = r.spread(b, x, axis)
		q = b.Div(x, scale)
	}
	q = b.Add(r.codes.Round.HLO(b, q), num(float64(r.zero)))
	if r.codes.Over == Wrap {
		least, size := num(float64(r.codes.Min())), math.Ldexp(1, r.codes.W)
		low := b.Sub(q, b.Mul(num(size), b.Floor(b.Mul(b.Sub(q, least), num(1/size)))))
		q = b.Select(b.Compare(hlo.LT, b.Abs(q), num(1<<53)), low, num(0)) // low bits of a float as large are 0
	} else {
		q = b.Clamp(num(float64(r.codes.Min())), q, num(float64(r.codes.Max())))
	}
	return b.Mul(b.Sub(q, num(float64(r.zero))), scale)
}

// spread repeats the scales of an affine format over x.
func (r *Rounder) spread(b *hlo.Builder, x hlo.Value, axis int) hlo.Value {
	scale := b.Convert(r.scale, x.Type().DType)
	dims := x.Type().Dims
	if n := scale.Type().Dims[0]; n == 1 {
		return b.BroadcastInDim(b.Reshape(scale), dims, nil)
	} else if each := dims[axis] / n; each > 1 { // groups of an axis share a scale
		scale = b.Reshape(b.BroadcastInDim(scale, []int{n, each}, []int{0}), n*each)
	}
	return b.Along(scale, dims, axis)
}

// HLO prints a float rounded to an integer.
func (r Round) HLO(b *hlo.Builder, q hlo.Value) hlo.Value {
	num := func(v float64) hlo.Value { return b.Float(q.Type().DType, v) }
	negative := b.Compare(hlo.LT, q, num(0))
	switch r {
	case RoundAway:
		return b.RoundAway(q)
	case RoundUp, RoundDown, RoundHalfZero:
		even := b.RoundEven(q)
		rest := b.Sub(q, even) // exact
		up, down := b.Add(even, num(1)), b.Sub(even, num(1))
		raise, lower := b.Compare(hlo.EQ, rest, num(0.5)), b.Compare(hlo.EQ, rest, num(-0.5))
		switch r {
		case RoundUp:
			return b.Select(raise, up, even)
		case RoundDown:
			return b.Select(lower, down, even)
		}
		return b.Select(b.And(raise, negative), up, b.Select(b.And(lower, b.Not(negative)), down, even))
	case RoundFloor:
		return b.Floor(q)
	case RoundCeil:
		return b.Ceil(q)
	case RoundZero:
		return b.Select(negative, b.Ceil(q), b.Floor(q))
	case RoundOutward:
		return b.Select(negative, b.Floor(q), b.Ceil(q))
	}
	return b.RoundEven(q)
}

// lookUp finds the value whose range holds x, by halves.
func (r *Rounder) lookUp(b *hlo.Builder, x hlo.Value) hlo.Value {
	at := b.BroadcastInDim(b.Int(hlo.I32, 0), x.Type().Dims, nil)
	for step := r.limits.Type().Dims[0] / 2; step > 0; step /= 2 {
		next := b.Add(at, b.Int(hlo.I32, int64(step)))
		at = b.Select(b.Compare(hlo.GE, x, b.TakeI(r.limits, next)), next, at)
	}
	return b.TakeI(r.values, at)
}

// inBlocks scales each block by what its greatest magnitude asks for, rounds, and scales back.
func (r *Rounder) inBlocks(b *hlo.Builder, x hlo.Value) hlo.Value {
	f := r.format.(Block)
	dims := x.Type().Dims
	if len(dims) == 0 {
		return b.Reshape(r.inBlocks(b, b.Reshape(x, 1)))
	}
	cut, back := tiled(b, x, f.BlockRows(), f.BlockSize())
	last := cut.Type().Rank() - 1
	top := b.Bitcast(b.Reduce(hlo.ReduceMax, b.Abs(cut), last), hlo.I32)
	e := b.Sub(b.ShiftRightLogical(top, b.Int(hlo.I32, 23)), b.Int(hlo.I32, 127))
	if r.ceil {
		part := b.Compare(hlo.NE, b.And(top, b.Int(hlo.I32, 1<<23-1)), b.Int(hlo.I32, 0))
		e = b.Add(e, b.Convert(part, hlo.I32))
	}
	lo, hi := f.ScaleLimits()
	e = b.Clamp(b.Int(hlo.I32, int64(lo-r.lead)), e, b.Int(hlo.I32, int64(hi-r.lead)))
	first := b.ShiftRightArith(e, b.Int(hlo.I32, 1)) // in two halves, whose powers are numbers of f32
	second := b.Sub(e, first)
	power := func(e hlo.Value) hlo.Value {
		bits := b.ShiftLeft(b.Add(e, b.Int(hlo.I32, 127)), b.Int(hlo.I32, 23))
		axes := make([]int, last)
		for i := range axes {
			axes[i] = i
		}
		return b.BroadcastInDim(b.Bitcast(bits, hlo.F32), cut.Type().Dims, axes)
	}
	q := b.Mul(b.Mul(cut, power(b.Neg(first))), power(b.Neg(second)))
	q = r.elem.Round(b, q, 0)
	return back(b.Mul(b.Mul(q, power(first)), power(second)))
}

// leads are the exponent of the scale of a block whose greatest magnitude is 1, and whether it grows between powers of
// two.
func leads(f Block) (lead int, ceil bool) {
	at := func(v float64) int {
		codes := make([]int64, 1)
		return f.ScaleExp(f.EncodeBlock([]Exact{FromFloat64(v)}, codes))
	}
	return at(1), at(1.5) > at(1)
}

// tiled brings the elements of each block of x to the last axis, filled up with zeros; back is the inverse.
func tiled(b *hlo.Builder, x hlo.Value, rows, cols int) (cut hlo.Value, back func(hlo.Value) hlo.Value) {
	dims := x.Type().Dims
	last := len(dims) - 1
	if rows == 1 {
		n := dims[last]
		return b.Blocks(x, min(cols, max(n, 1))), func(v hlo.Value) hlo.Value { return b.Unblocks(v, n) }
	}
	down, across := (dims[last-1]+rows-1)/rows, (dims[last]+cols-1)/cols
	high, none := make([]int, len(dims)), make([]int, len(dims))
	high[last-1], high[last] = down*rows-dims[last-1], across*cols-dims[last]
	lead := slices.Clone(dims[:last-1])
	n := len(lead)
	swap := append(order(n), n, n+2, n+1, n+3)
	v := b.Pad(x, b.Float(x.Type().DType, 0), none, high, nil)
	v = b.Transpose(b.Reshape(v, append(slices.Clone(lead), down, rows, across, cols)...), swap...)
	cut = b.Reshape(v, append(slices.Clone(lead), down, across, rows*cols)...)
	return cut, func(v hlo.Value) hlo.Value {
		v = b.Transpose(b.Reshape(v, append(slices.Clone(lead), down, across, rows, cols)...), swap...)
		v = b.Reshape(v, append(slices.Clone(lead), down*rows, across*cols)...)
		return b.Slice(v, none, dims, nil)
	}
}

// order is the first n axes.
func order(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
