// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
)

// slowElement is the meaning of an element-wise operation of float graphs on one element of each argument. Whole
// numbers are cut to W bits where they are encoded. nil is no finite number.
func slowElement(n *ir.Node, x []*big.Rat) *big.Rat {
	switch n.Op {
	case op.Compare:
		c := x[0].Cmp(x[1])
		holds := map[string]bool{"eq": c == 0, "ne": c != 0, "lt": c < 0, "le": c <= 0, "gt": c > 0, "ge": c >= 0}
		return truth(holds[n.Attrs.(*op.CompareAttrs).Rel])
	case op.Where:
		if x[0].Sign() != 0 {
			return x[1]
		}
		return x[2]
	case op.And:
		return new(big.Rat).SetInt(new(big.Int).And(x[0].Num(), x[1].Num()))
	case op.Or:
		return new(big.Rat).SetInt(new(big.Int).Or(x[0].Num(), x[1].Num()))
	case op.Xor:
		return new(big.Rat).SetInt(new(big.Int).Xor(x[0].Num(), x[1].Num()))
	case op.Not:
		return new(big.Rat).SetInt(new(big.Int).Not(x[0].Num()))
	case op.ShiftLeft, op.ShiftRight:
		return slowShift(n, x[0], x[1])
	case op.Div:
		return slowDiv(n, x[0], x[1])
	case op.Mod:
		return slowMod(n, x[0], x[1])
	case op.Power:
		return slowPower(n, x[0], x[1])
	case op.Convert:
		return slowConvert(n, x[0])
	}
	return integer(0) // is_nan and is_inf of a number
}

func truth(v bool) *big.Rat {
	if v {
		return integer(1)
	}
	return integer(0)
}

// slowShift multiplies by a power of two; amounts outside of 0..W-1 leave the sign.
func slowShift(n *ir.Node, a, by *big.Rat) *big.Rat {
	w := int64(n.Type.Format.Width())
	amount := by.Num().Int64()
	out := amount < 0 || amount >= w
	switch {
	case n.Op == op.ShiftLeft && out:
		return integer(0)
	case n.Op == op.ShiftLeft:
		return product(a, power(int(amount)))
	case out:
		amount = w
	}
	return new(big.Rat).SetInt(round(product(a, power(-int(amount))), format.RoundFloor))
}

func slowDiv(n *ir.Node, a, b *big.Rat) *big.Rat {
	switch {
	case b.Sign() == 0 && n.Type.IsFloat():
		return nil
	case b.Sign() == 0:
		return integer(0)
	case n.Type.IsFloat():
		return beyond(n.Type, ratio(a, b))
	}
	return new(big.Rat).SetInt(round(ratio(a, b), format.RoundZero))
}

func slowMod(n *ir.Node, a, b *big.Rat) *big.Rat {
	if b.Sign() == 0 {
		if n.Type.IsFloat() {
			return nil
		}
		return a
	}
	to := format.RoundZero
	if n.Attrs.(*op.ModAttrs).Floor {
		to = format.RoundFloor
	}
	return minus(a, product(b, new(big.Rat).SetInt(round(ratio(a, b), to))))
}

// slowPower is a^b = exp(b*log a), by repeated products where b is whole.
func slowPower(n *ir.Node, a, b *big.Rat) *big.Rat {
	switch {
	case !n.Type.IsFloat() && b.Sign() < 0:
		if a.Sign() == 0 {
			return integer(0)
		}
		y := new(big.Int).Exp(new(big.Int).Abs(a.Num()), big.NewInt(0), nil)
		if new(big.Int).Abs(a.Num()).Cmp(big.NewInt(1)) != 0 {
			return integer(0)
		}
		if a.Sign() < 0 && b.Num().Bit(0) == 1 {
			y.Neg(y)
		}
		return new(big.Rat).SetInt(y)
	case !n.Type.IsFloat():
		return new(big.Rat).SetInt(new(big.Int).Exp(a.Num(), b.Num(), new(big.Int).Lsh(big.NewInt(1), 64)))
	case b.Sign() == 0:
		return integer(1)
	case a.Sign() == 0 && b.Sign() < 0, a.Sign() < 0 && !b.IsInt():
		return nil
	case a.Sign() == 0:
		return integer(0)
	}
	y := expOf(product(b, logOf(new(big.Rat).Abs(a))))
	if a.Sign() < 0 && b.Num().Bit(0) == 1 {
		y = new(big.Rat).Neg(y)
	}
	return beyond(n.Type, y)
}

// slowConvert rounds to the grid of the type.
func slowConvert(n *ir.Node, x *big.Rat) *big.Rat {
	switch to := n.Attrs.(*op.ConvertAttrs).To; to {
	case ir.B1:
		return truth(x.Sign() != 0)
	case ir.F16:
		return onGrid(x, 11, -24, 16)
	case ir.BF:
		return onGrid(x, 8, -133, 128)
	case ir.F32, ir.F64:
		return x
	}
	return new(big.Rat).SetInt(round(x, format.RoundZero))
}

// onGrid rounds to a float of so many significant bits, a least step of 2^least, and values below 2^top. Whole numbers
// are rounded to float32 first, as sources do.
func onGrid(x *big.Rat, bits, least, top int) *big.Rat {
	if f, _ := x.Float32(); !math.IsInf(float64(f), 0) {
		x = real32(f)
	}
	exp := least
	for new(big.Rat).Abs(x).Cmp(power(exp+bits)) >= 0 {
		exp++
	}
	y := product(new(big.Rat).SetInt(round(product(x, power(-exp)), format.RoundEven)), power(exp))
	if new(big.Rat).Abs(y).Cmp(power(top)) >= 0 {
		return nil
	}
	return y
}

// slowIndexed is the meaning of operations that read their argument 0 at positions.
func slowIndexed(n *ir.Node, args []value) ([]*big.Rat, error) {
	x, index := args[0], args[1]
	at := func(v *big.Rat, size int) int { return int((v.Num().Int64() + int64(size)) % int64(size)) }
	if n.Op != op.Gather {
		return nil, fmt.Errorf("the slow evaluator does not know %s", n.Op.Name)
	}
	axis := (n.Attrs.(*op.AxisAttrs).Axis + len(x.shape)) % len(x.shape)
	k := len(index.shape)
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		p := at(index.at(i[axis:axis+k]...), x.shape[axis])
		return x.at(append(append(append([]int{}, i[:axis]...), p), i[axis+k:]...)...)
	}), nil
}
