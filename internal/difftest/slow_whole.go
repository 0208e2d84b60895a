// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"math"
	"math/big"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/custom"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
)

// slowElement is the meaning of an element-wise operation of float graphs on one element of each argument. Whole
// numbers are cut to W bits where they are encoded. nil is no finite number; known is false for other operations.
func slowElement(n *ir.Node, x []*big.Rat) (y *big.Rat, known bool) {
	switch n.Op {
	case whole.Compare:
		c := x[0].Cmp(x[1])
		holds := map[string]bool{"eq": c == 0, "ne": c != 0, "lt": c < 0, "le": c <= 0, "gt": c > 0, "ge": c >= 0}
		return truth(holds[n.Attrs.(*whole.CompareAttrs).Rel]), true
	case whole.Where:
		if x[0].Sign() != 0 {
			return x[1], true
		}
		return x[2], true
	case whole.And:
		return new(big.Rat).SetInt(new(big.Int).And(x[0].Num(), x[1].Num())), true
	case whole.Or:
		return new(big.Rat).SetInt(new(big.Int).Or(x[0].Num(), x[1].Num())), true
	case whole.Xor:
		return new(big.Rat).SetInt(new(big.Int).Xor(x[0].Num(), x[1].Num())), true
	case whole.Not:
		return new(big.Rat).SetInt(new(big.Int).Not(x[0].Num())), true
	case whole.ShiftLeft, whole.ShiftRight:
		return slowShift(n, x[0], x[1]), true
	case whole.Div:
		return slowDiv(n, x[0], x[1]), true
	case whole.Mod:
		return slowMod(n, x[0], x[1]), true
	case whole.Power:
		return slowPower(n, x[0], x[1]), true
	case whole.Convert:
		return slowConvert(n, x[0]), true
	case whole.IsNaN, whole.IsInf:
		return integer(0), true
	}
	return slowAngle(n.Op, x[0])
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
	case n.Op == whole.ShiftLeft && out:
		return integer(0)
	case n.Op == whole.ShiftLeft:
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
	if n.Attrs.(*whole.ModAttrs).Floor {
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
	switch to := n.Attrs.(*whole.ConvertAttrs).To; to {
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

// slowIndexed is the meaning of operations that read or write their argument 0 at positions.
func slowIndexed(n *ir.Node, args []value) ([]*big.Rat, error) {
	x, index := args[0], args[1]
	at := func(axis int, i ...int) int {
		size := x.shape[axis]
		return int((index.at(i...).Num().Int64() + int64(size)) % int64(size))
	}
	// tuple is the place that the tuple of indices at i names behind the batch axes
	tuple := func(batch int, i []int) []int {
		place := slices.Clone(i[:batch])
		for k := range index.shape[len(index.shape)-1] {
			place = append(place, at(batch+k, append(slices.Clone(i), k)...))
		}
		return place
	}
	switch a := n.Attrs.(type) {
	case *whole.GatherNDAttrs:
		lead := len(index.shape) - 1
		return fill(n.Type.Shape, func(i []int) *big.Rat {
			return x.at(append(tuple(a.BatchDims, i[:lead]), i[lead:]...)...)
		}), nil
	case *whole.ScatterAttrs:
		axis := (a.Axis + len(x.shape)) % len(x.shape)
		return slowScatter(a.Reduce, x, args[2], func(i []int) []int {
			place := slices.Clone(i)
			place[axis] = at(axis, i...)
			return place
		}), nil
	case *whole.ScatterNDAttrs:
		lead := len(index.shape) - 1
		return slowScatter(a.Reduce, x, args[2], func(i []int) []int { return append(tuple(0, i[:lead]), i[lead:]...) }), nil
	}
	axis := (n.Attrs.(*column.AxisAttrs).Axis + len(x.shape)) % len(x.shape)
	if n.Op == whole.GatherElements {
		return fill(n.Type.Shape, func(i []int) *big.Rat {
			place := slices.Clone(i)
			place[axis] = at(axis, i...)
			return x.at(place...)
		}), nil
	}
	k := len(index.shape)
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		p := at(axis, i[axis:axis+k]...)
		return x.at(append(append(slices.Clone(i[:axis]), p), i[axis+k:]...)...)
	}), nil
}

// slowScatter folds every element of updates into the element of x that place names.
func slowScatter(reduce string, x, updates value, place func(i []int) []int) []*big.Rat {
	y := slices.Clone(x.x)
	each(updates.shape, func(i []int) {
		k, v := flat(x.shape, place(i)), updates.at(i...)
		switch reduce {
		case "":
			y[k] = v
		case "add":
			y[k] = plus(y[k], v)
		case "mul":
			y[k] = product(y[k], v)
		case "max":
			y[k] = slowMax(new(big.Rat), y[k], v)
		case "min":
			y[k] = slowMin(new(big.Rat), y[k], v)
		}
	})
	return y
}

// slowLine is the meaning of operations along one axis.
func slowLine(n *ir.Node, x value) []*big.Rat {
	line := func(axis int, i []int) []*big.Rat {
		at, all := slices.Clone(i), []*big.Rat{}
		for at[axis] = range x.shape[axis] {
			all = append(all, x.at(at...))
		}
		return all
	}
	if a, ok := n.Attrs.(*whole.CumSumAttrs); ok {
		axis := (a.Axis + len(x.shape)) % len(x.shape)
		return fill(x.shape, func(i []int) *big.Rat {
			sum := new(big.Rat)
			for k, v := range line(axis, i) {
				if k == i[axis] && !a.Exclusive || k != i[axis] && (k > i[axis]) == a.Reverse {
					sum.Add(sum, v)
				}
			}
			return sum
		})
	}
	a := n.Attrs.(*whole.TopKAttrs)
	axis := (a.Axis + len(x.shape)) % len(x.shape)
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		all := line(axis, i)
		for p, v := range all { // the one that so many others stand before
			before := 0
			for q, w := range all {
				if c := w.Cmp(v); c == 0 && q < p || c > 0 && a.Largest || c < 0 && !a.Largest {
					before++
				}
			}
			if before == i[axis] && n.Op == whole.TopKIndices {
				return integer(int64(p))
			} else if before == i[axis] {
				return v
			}
		}
		return nil
	})
}

// slowPolyline is, between two points, the mean of their values, weighed by how near they are; beyond them the nearest.
func slowPolyline(a *curve.PolylineAttrs, x *big.Rat) *big.Rat {
	for i := range a.X {
		right, value := real32(a.X[i]), real32(a.Y[i])
		switch {
		case x.Cmp(right) > 0:
			continue
		case i == 0:
			return value
		}
		left := real32(a.X[i-1])
		all := minus(right, left)
		return plus(product(real32(a.Y[i-1]), ratio(minus(right, x), all)), product(value, ratio(minus(x, left), all)))
	}
	return real32(a.Y[len(a.Y)-1])
}

// slowModule is what the graph of a module computes.
func slowModule(n *ir.Node, a *custom.ModuleAttrs, args []value) ([]*big.Rat, error) {
	g := a.Exact
	if n.Type.IsFloat() {
		g = a.Float
	}
	var s ref.Sample
	for i, in := range g.In {
		s = append(s, encodeAll(in.Type, args[i].x))
	}
	out, err := Slow(g, s)
	if err != nil {
		return nil, err
	}
	return decode(n.Type, out[0]), nil
}
