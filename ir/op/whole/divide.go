// SPDX-License-Identifier: Apache-2.0

package whole

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/draw"
)

// Div is a / b. The quotient of whole numbers is cut toward zero, and 0 where b is 0.
var Div = binaryOp{
	name: "div", doc: "a / b; whole numbers toward zero, and 0 where b is 0",
	floats: func(*ir.Node) func(a, b float64) float64 { return func(a, b float64) float64 { return a / b } },
	whole: func(*ir.Node, format.Fixed) func(a, b int64) int64 {
		return func(a, b int64) int64 {
			if b == 0 {
				return 0
			}
			return a / b // the least integer over -1 wraps
		}
	},
	float: func(b *hlo.Builder, _ *ir.Node, x, y hlo.Value) hlo.Value { return b.Div(x, y) },
	codes: func(b *hlo.Builder, _ *ir.Node, _ format.Fixed, x, y hlo.Value) hlo.Value {
		none, safe := divisor(b, y)
		return b.Select(none, b.Splat(x, 0), divideHLO(b, x, safe, (*hlo.Builder).Div, b.Neg(x)))
	},
}.op()

// divisor says where y is 0, and returns y with 1 there.
func divisor(b *hlo.Builder, y hlo.Value) (none, safe hlo.Value) {
	none = b.Compare(hlo.EQ, y, b.Splat(y, 0))
	return none, b.Select(none, b.Splat(y, 1), y)
}

// divideHLO prints a division by y, which is not 0. By -1 the result is that given: the least integer has no quotient.
func divideHLO(b *hlo.Builder, x, y hlo.Value, print func(*hlo.Builder, hlo.Value, hlo.Value) hlo.Value,
	minusOne hlo.Value) hlo.Value {
	neg := b.Compare(hlo.EQ, y, b.Splat(y, -1))
	return b.Select(neg, minusOne, print(b, x, b.Select(neg, b.Splat(y, 1), y)))
}

// ModAttrs are the attributes of mod.
type ModAttrs struct {
	// Floor: the result has the sign of b, as in Python; else that of a, as fmod of C.
	Floor bool
}

// Mod is the remainder a - b*q, where q is a/b rounded toward zero, or down with Floor. Where the whole number b is 0,
// it is a.
var Mod = binaryOp{
	name: "mod", doc: "a - b*q, q = a/b toward zero or, with floor, down; the whole number a where b is 0",
	attrs: ModAttrs{},
	floats: func(n *ir.Node) func(a, b float64) float64 {
		floor := n.Attrs.(*ModAttrs).Floor
		return func(a, b float64) float64 {
			r := math.Mod(a, b)
			if floor && r != 0 && (r < 0) != (b < 0) {
				r += b
			}
			return r
		}
	},
	whole: func(n *ir.Node, _ format.Fixed) func(a, b int64) int64 {
		floor := n.Attrs.(*ModAttrs).Floor
		return func(a, b int64) int64 {
			if b == 0 {
				return a
			}
			r := a % b
			if floor && r != 0 && (r < 0) != (b < 0) {
				r += b
			}
			return r
		}
	},
	float: func(b *hlo.Builder, n *ir.Node, x, y hlo.Value) hlo.Value { return floorHLO(b, n, b.Rem(x, y), y) },
	codes: func(b *hlo.Builder, n *ir.Node, _ format.Fixed, x, y hlo.Value) hlo.Value {
		none, safe := divisor(b, y)
		return b.Select(none, x, floorHLO(b, n, divideHLO(b, x, safe, (*hlo.Builder).Rem, b.Splat(x, 0)), y))
	},
	draw: func(r *rand.Rand) any { return &ModAttrs{Floor: draw.Chance(r, 50)} },
}.op()

// floorHLO adds y to remainders that have not its sign.
func floorHLO(b *hlo.Builder, n *ir.Node, r, y hlo.Value) hlo.Value {
	if !n.Attrs.(*ModAttrs).Floor {
		return r
	}
	zero := b.Splat(y, 0)
	turn := b.And(b.Compare(hlo.NE, r, zero), b.Xor(b.Compare(hlo.LT, r, zero), b.Compare(hlo.LT, y, zero)))
	return b.Select(turn, b.Add(r, y), r)
}

// Power is a^b. A whole number to a negative power is 1 / a^-b toward zero, and 0 for a = 0.
var Power = binaryOp{
	name: "power", doc: "a^b; whole numbers modulo 2^W, to negative powers 1, -1 or 0",
	floats: func(*ir.Node) func(a, b float64) float64 { return math.Pow },
	whole:  func(*ir.Node, format.Fixed) func(a, b int64) int64 { return wholePower },
	float:  func(b *hlo.Builder, _ *ir.Node, x, y hlo.Value) hlo.Value { return b.Pow(x, y) },
	codes:  powerHLO,
}.op()

// wholePower is a^b modulo 2^64, toward zero.
func wholePower(a, b int64) int64 {
	switch {
	case b < 0 && a == -1:
		return 1 - 2*(b&1)
	case b < 0 && a != 1:
		return 0
	case b < 0:
		return 1
	}
	y := int64(1)
	for ; b > 0; b >>= 1 {
		if b&1 != 0 {
			y *= a
		}
		a *= a
	}
	return y
}

// powerHLO squares and multiplies, a step for each bit of the exponent: powers of integers need not be what all plugins
// compute alike.
func powerHLO(b *hlo.Builder, _ *ir.Node, f format.Fixed, x, e hlo.Value) hlo.Value {
	one, zero := b.Splat(x, 1), b.Splat(x, 0)
	minus, negative := b.Splat(x, -1), b.Compare(hlo.LT, e, zero)
	odd := func(v hlo.Value) hlo.Value { return b.Compare(hlo.NE, b.And(v, one), zero) }
	y, square := one, x
	for i := range f.W {
		if i > 0 {
			square = b.Mul(square, square)
		}
		y = b.Mul(y, b.Select(odd(b.ShiftRightLogical(e, b.Splat(e, int64(i)))), square, one))
	}
	below := b.Select(b.Compare(hlo.EQ, x, minus), b.Select(odd(e), minus, one), zero)
	return b.Select(negative, b.Select(b.Compare(hlo.EQ, x, one), one, below), y)
}
