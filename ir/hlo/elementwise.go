// SPDX-License-Identifier: Apache-2.0

package hlo

import "slices"

// Binary operations take two values of one type; a scalar beside a tensor is repeated over it. Integers wrap.

// Add is x + y.
func (b *Builder) Add(x, y Value) Value { return b.binary(KindAdd, x, y) }

// Sub is x - y.
func (b *Builder) Sub(x, y Value) Value { return b.binary(KindSubtract, x, y) }

// Mul is x * y.
func (b *Builder) Mul(x, y Value) Value { return b.binary(KindMultiply, x, y) }

// Div is x / y; integers truncate toward zero. A float divisor that is a constant in the text would become a
// multiplication by its reciprocal: pass it as a Weight.
func (b *Builder) Div(x, y Value) Value { return b.binary(KindDivide, x, y) }

// Rem is the remainder of Div, with the sign of x.
func (b *Builder) Rem(x, y Value) Value { return b.binary(KindRemainder, x, y) }

// Max is the larger of x and y.
func (b *Builder) Max(x, y Value) Value { return b.binary(KindMaximum, x, y) }

// Min is the smaller of x and y.
func (b *Builder) Min(x, y Value) Value { return b.binary(KindMinimum, x, y) }

// Pow is x raised to y.
func (b *Builder) Pow(x, y Value) Value { return b.binary(KindPower, x, y) }

// And is the bitwise (I1: logical) conjunction.
func (b *Builder) And(x, y Value) Value { return b.bitwise(KindAnd, x, y) }

// Or is the bitwise (I1: logical) disjunction.
func (b *Builder) Or(x, y Value) Value { return b.bitwise(KindOr, x, y) }

// Xor is the bitwise (I1: logical) exclusive or.
func (b *Builder) Xor(x, y Value) Value { return b.bitwise(KindXor, x, y) }

// ShiftLeft is x << y; all bits are lost where y is the width or more.
func (b *Builder) ShiftLeft(x, y Value) Value { return b.bitwise(KindShiftLeft, x, y) }

// ShiftRightArith is floor(x / 2^y); the sign fills where y is the width or more.
func (b *Builder) ShiftRightArith(x, y Value) Value { return b.bitwise(KindShiftRightArithmetic, x, y) }

// ShiftRightLogical is x >> y with zeros shifted in.
func (b *Builder) ShiftRightLogical(x, y Value) Value { return b.bitwise(KindShiftRightLogical, x, y) }

// Not is the bitwise (I1: logical) complement.
func (b *Builder) Not(x Value) Value { return b.bits(KindNot, x) }

// PopCount is the number of one bits of each integer.
func (b *Builder) PopCount(x Value) Value { return b.bits(KindPopCount, x) }

// CountLeadingZeros is the number of zero bits above the highest one of each integer, the width for 0.
func (b *Builder) CountLeadingZeros(x Value) Value { return b.bits(KindCountLeadingZeros, x) }

// Neg is -x; the smallest integer stays itself.
func (b *Builder) Neg(x Value) Value { return b.unary(KindNegate, x) }

// Abs is |x|; the smallest integer stays itself.
func (b *Builder) Abs(x Value) Value { return b.unary(KindAbs, x) }

// Sign is -1, 0 or 1 in the type of x (a float NaN stays).
func (b *Builder) Sign(x Value) Value { return b.unary(KindSign, x) }

// Exp is e^x for floats. Float functions are the plugin's approximations, not correctly rounded.
func (b *Builder) Exp(x Value) Value { return b.float(KindExponential, x) }

// Log is the natural logarithm.
func (b *Builder) Log(x Value) Value { return b.float(KindLog, x) }

// Expm1 is e^x - 1.
func (b *Builder) Expm1(x Value) Value { return b.float(KindExpm1, x) }

// Log1p is log(1 + x).
func (b *Builder) Log1p(x Value) Value { return b.float(KindLog1p, x) }

// Tanh is the hyperbolic tangent.
func (b *Builder) Tanh(x Value) Value { return b.float(KindTanh, x) }

// Logistic is 1 / (1 + e^-x).
func (b *Builder) Logistic(x Value) Value { return b.float(KindLogistic, x) }

// Erf is the error function.
func (b *Builder) Erf(x Value) Value { return b.float(KindErf, x) }

// Sin is the sine.
func (b *Builder) Sin(x Value) Value { return b.float(KindSine, x) }

// Cos is the cosine.
func (b *Builder) Cos(x Value) Value { return b.float(KindCosine, x) }

// Tan is the tangent.
func (b *Builder) Tan(x Value) Value { return b.float(KindTan, x) }

// Asin is the inverse sine.
func (b *Builder) Asin(x Value) Value { return b.float(KindAsin, x) }

// Acos is the inverse cosine.
func (b *Builder) Acos(x Value) Value { return b.float(KindAcos, x) }

// Atan is the inverse tangent.
func (b *Builder) Atan(x Value) Value { return b.float(KindAtan, x) }

// Sinh is the hyperbolic sine.
func (b *Builder) Sinh(x Value) Value { return b.float(KindSinh, x) }

// Cosh is the hyperbolic cosine.
func (b *Builder) Cosh(x Value) Value { return b.float(KindCosh, x) }

// Asinh is the inverse hyperbolic sine.
func (b *Builder) Asinh(x Value) Value { return b.float(KindAsinh, x) }

// Acosh is the inverse hyperbolic cosine.
func (b *Builder) Acosh(x Value) Value { return b.float(KindAcosh, x) }

// Atanh is the inverse hyperbolic tangent.
func (b *Builder) Atanh(x Value) Value { return b.float(KindAtanh, x) }

// Sqrt is the square root.
func (b *Builder) Sqrt(x Value) Value { return b.float(KindSqrt, x) }

// Rsqrt is 1 / sqrt(x).
func (b *Builder) Rsqrt(x Value) Value { return b.float(KindRsqrt, x) }

// Floor rounds floats toward -Inf.
func (b *Builder) Floor(x Value) Value { return b.float(KindFloor, x) }

// Ceil rounds floats toward +Inf.
func (b *Builder) Ceil(x Value) Value { return b.float(KindCeil, x) }

// RoundEven rounds floats to the nearest integer, ties to even.
func (b *Builder) RoundEven(x Value) Value { return b.float(KindRoundEven, x) }

// RoundAway rounds floats to the nearest integer, ties away from zero.
func (b *Builder) RoundAway(x Value) Value { return b.float(KindRoundAway, x) }

// Dir is the relation that Compare tests.
type Dir string

// The relations, for floats false with NaN except NE.
const (
	EQ Dir = "EQ"
	NE Dir = "NE"
	LT Dir = "LT"
	LE Dir = "LE"
	GT Dir = "GT"
	GE Dir = "GE"
)

// Compare is I1, true where x dir y holds.
func (b *Builder) Compare(dir Dir, x, y Value) Value {
	x, y, ok := b.match("compare", x, y)
	if !ok {
		return Value{}
	}
	if !slices.Contains([]Dir{EQ, NE, LT, LE, GT, GE}, dir) {
		return b.failf("compare: unknown relation %q", dir)
	}
	return b.emit(KindCompare, x.typ.With(I1), Attrs{Dir: dir}, x, y)
}

// Select is onTrue where cond (I1) holds, else onFalse; each of the three may be a scalar.
func (b *Builder) Select(cond, onTrue, onFalse Value) Value {
	if !b.sound("select", cond, onTrue, onFalse) {
		return Value{}
	}
	if cond.typ.DType != I1 {
		return b.failf("select: condition is %s, not i1", cond.typ)
	}
	if cond.typ.Rank() > 0 {
		onTrue, onFalse = b.spread(onTrue, cond.typ.Dims), b.spread(onFalse, cond.typ.Dims)
	}
	onTrue, onFalse, ok := b.match("select", onTrue, onFalse)
	if !ok {
		return Value{}
	}
	cond = b.spread(cond, onTrue.typ.Dims)
	if !cond.typ.Equal(onTrue.typ.With(I1)) {
		return b.failf("select: condition %s beside %s", cond.typ, onTrue.typ)
	}
	return b.emit(KindSelect, onTrue.typ, Attrs{}, cond, onTrue, onFalse)
}

// Clamp is min(max(x, lo), hi); lo and hi are scalars or of the shape of x.
func (b *Builder) Clamp(lo, x, hi Value) Value { return b.Min(b.Max(x, lo), hi) }

// Convert changes the element type: integers keep their low bits or extend by their sign, integer to float rounds
// half-even, float to integer truncates (results outside the type are not defined), I1 gives 0 or 1.
func (b *Builder) Convert(x Value, d DType) Value {
	if !b.sound("convert", x) || x.typ.DType == d {
		return x
	}
	return b.emit(KindConvert, x.typ.With(d), Attrs{}, x)
}

// Bitcast reads the bits of x as another element type of the same width.
func (b *Builder) Bitcast(x Value, d DType) Value {
	if !b.sound("bitcast", x) || x.typ.DType == d {
		return x
	}
	if x.typ.DType.Bits() != d.Bits() {
		return b.failf("bitcast: %s has %d bits, %s has %d", x.typ.DType, x.typ.DType.Bits(), d, d.Bits())
	}
	return b.emit(KindBitcast, x.typ.With(d), Attrs{}, x)
}

// Through is value, whose gradient goes to source instead: what was rounded, with the gradient of what stood before it;
// or the exact result of a table, with that of the function. Both have one type.
func (b *Builder) Through(value, source Value) Value { return b.binary(KindThrough, value, source) }

func (b *Builder) binary(k Kind, x, y Value) Value {
	x, y, ok := b.match(k.String(), x, y)
	if !ok {
		return Value{}
	}
	return b.emit(k, x.typ, Attrs{}, x, y)
}

func (b *Builder) bitwise(k Kind, x, y Value) Value {
	x, y, ok := b.match(k.String(), x, y)
	if !ok {
		return Value{}
	}
	if x.typ.DType.IsFloat() {
		return b.failf("%s: %s is not an integer type", k, x.typ.DType)
	}
	return b.emit(k, x.typ, Attrs{}, x, y)
}

func (b *Builder) unary(k Kind, x Value) Value {
	if !b.sound(k.String(), x) {
		return Value{}
	}
	return b.emit(k, x.typ, Attrs{}, x)
}

func (b *Builder) bits(k Kind, x Value) Value {
	if b.sound(k.String(), x) && x.typ.DType.IsFloat() {
		return b.failf("%s: %s is not an integer type", k, x.typ.DType)
	}
	return b.unary(k, x)
}

func (b *Builder) float(k Kind, x Value) Value {
	if b.sound(k.String(), x) && !x.typ.DType.IsFloat() {
		return b.failf("%s: %s is not a float type", k, x.typ.DType)
	}
	return b.unary(k, x)
}

// match spreads a scalar over the other operand and demands equal types.
func (b *Builder) match(op string, x, y Value) (Value, Value, bool) {
	if !b.sound(op, x, y) {
		return x, y, false
	}
	x, y = b.spread(x, y.typ.Dims), b.spread(y, x.typ.Dims)
	if b.err == nil && !x.typ.Equal(y.typ) {
		b.failf("%s: operands %s and %s differ", op, x.typ, y.typ)
	}
	return x, y, b.err == nil
}

// spread repeats a scalar over dims; any other value is returned as it is.
func (b *Builder) spread(x Value, dims []int) Value {
	if b.err != nil || x.typ.Rank() != 0 || len(dims) == 0 {
		return x
	}
	return b.BroadcastInDim(x, dims, nil)
}
