// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"math"

	"lathe/cuda/word"
)

// Int is the literal x.
func Int(t word.Type, x int64) *Expr {
	switch t {
	case word.F32:
		return &Expr{Kind: Lit, Type: t, Bits: uint64(math.Float32bits(float32(x)))}
	case word.F64:
		return &Expr{Kind: Lit, Type: t, Bits: math.Float64bits(float64(x))}
	}
	return &Expr{Kind: Lit, Type: t, Bits: uint64(x)}
}

// Of is the value of a variable.
func Of(v *Var) *Expr { return &Expr{Kind: Ref, Type: v.Type, Var: v} }

// Element is element i of a buffer.
func Element(p *Param, i *Expr) *Expr {
	return &Expr{Kind: Load, Type: p.Type, Param: p, Args: []*Expr{i}}
}

// Binary is x operator y; comparisons give Bool.
func Binary(operator string, x, y *Expr) *Expr {
	e := &Expr{Kind: Infix, Type: x.Type, Name: operator, Args: []*Expr{x, y}}
	switch operator {
	case "<", "<=", ">", ">=", "==", "!=", "&&", "||":
		e.Type = word.Bool
	}
	return e
}

// Unary is operator x.
func Unary(operator string, x *Expr) *Expr {
	return &Expr{Kind: Prefix, Type: x.Type, Name: operator, Args: []*Expr{x}}
}

// Function is name(args...), a value of type t.
func Function(t word.Type, name string, args ...*Expr) *Expr {
	return &Expr{Kind: Call, Type: t, Name: name, Args: args}
}

// Convert is x as a value of type t.
func Convert(t word.Type, x *Expr) *Expr {
	if x.Type == t {
		return x
	}
	if x.Kind == Lit && !x.Type.IsFloat() && !t.IsFloat() && t != word.Bool {
		return Int(t, truncate(t, int64(x.Bits)))
	}
	if half(x.Type) { // which nothing computes with
		return Convert(t, Function(word.F32, "from_"+string(x.Type), x))
	}
	if half(t) {
		return Function(t, "to_"+string(t), Convert(word.F32, x))
	}
	if t == word.Bool {
		return Binary("!=", x, Int(x.Type, 0))
	}
	return &Expr{Kind: Cast, Type: t, Args: []*Expr{x}}
}

// half says that t is a float that only lies in memory.
func half(t word.Type) bool { return t == word.BF16 || t == word.F16 }

// Narrow brings the result of an operator back to its type, which C++ has widened to int.
func Narrow(x *Expr) *Expr {
	if x.Type.Bytes() >= 4 || x.Type == word.Bool {
		return x
	}
	return &Expr{Kind: Cast, Type: x.Type, Args: []*Expr{x}}
}

// truncate keeps the bits of x that type t has.
func truncate(t word.Type, x int64) int64 {
	n := 64 - 8*t.Bytes()
	if t.IsSigned() {
		return x << n >> n
	}
	return int64(uint64(x) << n >> n)
}

// Either gives x where cond holds, else y.
func Either(cond, x, y *Expr) *Expr {
	return &Expr{Kind: Choose, Type: x.Type, Args: []*Expr{cond, x, y}}
}
