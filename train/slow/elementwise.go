// SPDX-License-Identifier: Apache-2.0

package slow

import (
	"cmp"
	"math"
	"math/bits"

	"lathe/internal/workers"
	"lathe/ir/hlo"
)

// grain is how many elements are worth another processor.
const grain = 1 << 14

// floatDyads are kinds of two floats. Sums, products, quotients and roots in f64 that are rounded to f32 are those of
// f32: f64 has more than twice its digits.
var floatDyads = map[hlo.Kind]func(x, y float64) float64{
	hlo.KindAdd:       func(x, y float64) float64 { return x + y },
	hlo.KindSubtract:  func(x, y float64) float64 { return x - y },
	hlo.KindMultiply:  func(x, y float64) float64 { return x * y },
	hlo.KindDivide:    func(x, y float64) float64 { return x / y },
	hlo.KindRemainder: math.Mod,
	hlo.KindMaximum:   func(x, y float64) float64 { return max(x, y) },
	hlo.KindMinimum:   func(x, y float64) float64 { return min(x, y) },
	hlo.KindPower:     math.Pow,
}

// floatSingles are kinds of one float.
var floatSingles = map[hlo.Kind]func(x float64) float64{
	hlo.KindNegate:      func(x float64) float64 { return -x },
	hlo.KindAbs:         math.Abs,
	hlo.KindSign:        sign,
	hlo.KindExponential: math.Exp,
	hlo.KindLog:         math.Log,
	hlo.KindExpm1:       math.Expm1,
	hlo.KindLog1p:       math.Log1p,
	hlo.KindTanh:        math.Tanh,
	hlo.KindLogistic:    func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	hlo.KindErf:         math.Erf,
	hlo.KindSine:        math.Sin,
	hlo.KindCosine:      math.Cos,
	hlo.KindTan:         math.Tan,
	hlo.KindAsin:        math.Asin,
	hlo.KindAcos:        math.Acos,
	hlo.KindAtan:        math.Atan,
	hlo.KindSinh:        math.Sinh,
	hlo.KindCosh:        math.Cosh,
	hlo.KindAsinh:       math.Asinh,
	hlo.KindAcosh:       math.Acosh,
	hlo.KindAtanh:       math.Atanh,
	hlo.KindSqrt:        math.Sqrt,
	hlo.KindRsqrt:       func(x float64) float64 { return 1 / math.Sqrt(x) },
	hlo.KindFloor:       math.Floor,
	hlo.KindCeil:        math.Ceil,
	hlo.KindRoundEven:   math.RoundToEven,
	hlo.KindRoundAway:   math.Round,
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// wholeDyad is a kind of two integers, before it is wrapped; nil where there is none.
func wholeDyad(k hlo.Kind, d hlo.DType) func(x, y int64) int64 {
	w := wordOf(d)
	width := uint64(d.Bits())
	switch k {
	case hlo.KindAdd:
		return func(x, y int64) int64 { return x + y }
	case hlo.KindSubtract:
		return func(x, y int64) int64 { return x - y }
	case hlo.KindMultiply:
		return func(x, y int64) int64 { return x * y }
	case hlo.KindDivide, hlo.KindRemainder:
		return quotient(k, d)
	case hlo.KindMaximum:
		return func(x, y int64) int64 { return pick(order(d, uint64(x), uint64(y)) >= 0, x, y) }
	case hlo.KindMinimum:
		return func(x, y int64) int64 { return pick(order(d, uint64(x), uint64(y)) <= 0, x, y) }
	case hlo.KindPower:
		return power
	case hlo.KindAnd:
		return func(x, y int64) int64 { return x & y }
	case hlo.KindOr:
		return func(x, y int64) int64 { return x | y }
	case hlo.KindXor:
		return func(x, y int64) int64 { return x ^ y }
	case hlo.KindShiftLeft:
		return func(x, y int64) int64 { return pick(uint64(y) < width, x<<(uint64(y)&63), 0) }
	case hlo.KindShiftRightArithmetic:
		return func(x, y int64) int64 { return x << w.spare >> w.spare >> min(uint64(y), 63) }
	case hlo.KindShiftRightLogical:
		return func(x, y int64) int64 {
			return pick(uint64(y) < width, int64(uint64(x)<<w.spare>>w.spare>>(uint64(y)&63)), 0)
		}
	}
	return nil
}

func pick(first bool, x, y int64) int64 {
	if first {
		return x
	}
	return y
}

// quotient is a division: by zero it gives all ones, and the dividend remains.
func quotient(k hlo.Kind, d hlo.DType) func(x, y int64) int64 {
	return func(x, y int64) int64 {
		q, r := int64(-1), x
		switch {
		case y == 0:
		case d == hlo.UI64:
			q, r = int64(uint64(x)/uint64(y)), int64(uint64(x)%uint64(y))
		default:
			q, r = x/y, x%y
		}
		return pick(k == hlo.KindDivide, q, r)
	}
}

// power multiplies; a negative power is 0, but of 1 and -1.
func power(x, y int64) int64 {
	if y < 0 {
		switch x {
		case 1:
			return 1
		case -1:
			return 1 - 2*(y&1)
		}
		return 0
	}
	out := int64(1)
	for ; y > 0; y >>= 1 {
		if y&1 == 1 {
			out *= x
		}
		x *= x
	}
	return out
}

// wholeSingle is a kind of one integer.
func wholeSingle(k hlo.Kind, d hlo.DType) func(x int64) int64 {
	w := wordOf(d)
	raw := func(x int64) uint64 { return uint64(x) << w.spare >> w.spare }
	switch k {
	case hlo.KindNegate:
		return func(x int64) int64 { return -x }
	case hlo.KindAbs:
		return func(x int64) int64 { return pick(d.IsSigned() && x < 0, -x, x) }
	case hlo.KindSign:
		return func(x int64) int64 { return int64(order(d, uint64(x), 0)) }
	case hlo.KindNot:
		if d == hlo.I1 {
			return func(x int64) int64 { return 1 - x }
		}
		return func(x int64) int64 { return ^x }
	case hlo.KindPopCount:
		return func(x int64) int64 { return int64(bits.OnesCount64(raw(x))) }
	case hlo.KindCountLeadingZeros:
		return func(x int64) int64 { return int64(bits.LeadingZeros64(raw(x))) - int64(w.spare) }
	}
	return nil
}

// order compares two integers.
func order(d hlo.DType, x, y uint64) int {
	if d == hlo.UI64 {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(int64(x), int64(y))
}

// each fills a tensor element by element.
func each(t hlo.Type, f func(i int) uint64) value {
	v := blank(t)
	workers.Ranges(len(v.x), grain, func(from, to int) {
		for i := from; i < to; i++ {
			v.x[i] = f(i)
		}
	})
	return v
}

// elementwise computes kinds that look at one element of each operand.
func elementwise(o *hlo.Operation, args []value) (value, bool) {
	switch o.Kind {
	case hlo.KindCompare:
		return compare(o, args[0], args[1]), true
	case hlo.KindSelect:
		return each(o.Type, func(i int) uint64 {
			if args[0].x[i] != 0 {
				return args[1].x[i]
			}
			return args[2].x[i]
		}), true
	case hlo.KindConvert:
		return convert(o.Type, args[0]), true
	case hlo.KindBitcast:
		w, from, to := wordOf(o.Type.DType), args[0].t.DType, o.Type.DType
		return each(o.Type, func(i int) uint64 { return widen(to, w, narrow(from, args[0].x[i])) }), true
	}
	d := o.Type.DType
	w := wordOf(d)
	switch len(args) {
	case 1:
		if f, x := floatSingles[o.Kind], args[0]; f != nil && d.IsFloat() {
			return each(o.Type, func(i int) uint64 { return rounded(d, f(x.float(i))) }), true
		} else if f := wholeSingle(o.Kind, d); f != nil && !d.IsFloat() {
			return each(o.Type, func(i int) uint64 { return uint64(w.wrap(f(int64(x.x[i])))) }), true
		}
	case 2:
		x, y := args[0], args[1]
		if f := floatDyads[o.Kind]; f != nil && d.IsFloat() {
			return each(o.Type, func(i int) uint64 { return rounded(d, f(x.float(i), y.float(i))) }), true
		} else if f := wholeDyad(o.Kind, d); f != nil && !d.IsFloat() {
			return each(o.Type, func(i int) uint64 { return uint64(w.wrap(f(int64(x.x[i]), int64(y.x[i])))) }), true
		}
	}
	return value{}, false
}

// compare is false with NaN, but for NE.
func compare(o *hlo.Operation, x, y value) value {
	holds := map[hlo.Dir]func(c int) bool{
		hlo.EQ: func(c int) bool { return c == 0 }, hlo.NE: func(c int) bool { return c != 0 },
		hlo.LT: func(c int) bool { return c == -1 }, hlo.LE: func(c int) bool { return c == -1 || c == 0 },
		hlo.GT: func(c int) bool { return c == 1 }, hlo.GE: func(c int) bool { return c == 1 || c == 0 },
	}[o.Attrs.Dir]
	d := x.t.DType
	return each(o.Type, func(i int) uint64 {
		var c int
		if d.IsFloat() {
			c = orderFloats(x.float(i), y.float(i))
		} else {
			c = order(d, x.x[i], y.x[i])
		}
		if holds(c) {
			return 1
		}
		return 0
	})
}

// orderFloats is 2 with NaN.
func orderFloats(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return 2
}

// convert changes the element type.
func convert(t hlo.Type, x value) value {
	from, w := x.t.DType, wordOf(t.DType)
	return each(t, func(i int) uint64 {
		switch e := x.x[i]; {
		case from.IsFloat() && t.DType.IsFloat():
			return rounded(t.DType, x.float(i))
		case from.IsFloat():
			return uint64(truncated(t.DType, x.float(i)))
		case t.DType.IsFloat():
			return fromWhole(t.DType, from, e)
		default:
			return uint64(w.wrap(int64(e)))
		}
	})
}

// fromWhole rounds an integer to a float once.
func fromWhole(to, from hlo.DType, e uint64) uint64 {
	switch {
	case to == hlo.F32 && from == hlo.UI64:
		return math.Float64bits(float64(float32(e)))
	case to == hlo.F32:
		return math.Float64bits(float64(float32(int64(e))))
	case from == hlo.UI64:
		return math.Float64bits(float64(e))
	}
	return math.Float64bits(float64(int64(e)))
}

// truncated is a float as an integer: the nearest one of the type, NaN as 0.
func truncated(d hlo.DType, v float64) int64 {
	if d == hlo.I1 {
		return pick(v != 0, 1, 0)
	}
	v = math.Trunc(v)
	most := math.Ldexp(1, d.Bits()) // behind the largest one
	least := 0.0
	if d.IsSigned() {
		most, least = most/2, -most/2
	}
	switch {
	case v != v:
		return 0
	case v < least:
		v = least
	case v >= most && d.IsSigned():
		return 1<<(d.Bits()-1) - 1
	case v >= most:
		return wordOf(d).wrap(-1)
	case d == hlo.UI64 && v >= 1<<63:
		return int64(uint64(v))
	}
	return int64(v)
}
