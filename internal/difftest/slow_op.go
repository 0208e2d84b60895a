// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/big"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/custom"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/ir/op/reduce"
	"lathe/ir/op/ring"
	"lathe/ir/op/sequence"
	"lathe/ir/op/stream"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
)

// slowOp is the real-valued meaning of every operation.
func slowOp(n *ir.Node, args []value) ([]*big.Rat, error) {
	x, out := args[0], n.Type.Shape
	switch n.Op {
	case sum.Linear:
		return slowLinear(x, args[1:]), nil
	case sum.LinearEach, sum.ConvEach:
		return slowSumEach(n, args)
	case sum.Scale:
		return slowScale(n.Attrs.(*column.ScaleAttrs).Axis, args), nil
	case pointwise.PRelu, pointwise.QuantEach, curve.Threshold:
		return slowChannel(n, args), nil
	case pointwise.Quant:
		return slowQuant(n, x)
	case sum.Conv, window.MaxPool, window.AvgPool, window.GlobalAvgPool:
		return slowWindow(n, args)
	case pointwise.Add, pointwise.Sub, pointwise.Mul, pointwise.Min, pointwise.Max:
		f := slowPairs()[n.Op]
		return fill(out, func(i []int) *big.Rat { return f(new(big.Rat), repeat(x, i), repeat(args[1], i)) }), nil
	case move.Reshape, move.Identity, pointwise.Cast, stream.Widen, stream.Narrow, stream.Fifo, stream.Fork, stream.Mark,
		ring.Enter, ring.Again, ring.Leave, ring.Replay:
		return x.x, nil
	case move.Transpose, move.Concat, move.Slice, move.Pad, move.Repeat, move.Stretch, move.Reverse:
		return slowMove(n, args), nil
	case reduce.Sum, reduce.Mean, reduce.Max, reduce.Min, reduce.Prod, reduce.Any, reduce.All:
		return slowReduce(n, x), nil
	case reduce.ArgMax:
		return slowArgMax(n.Attrs.(*reduce.ArgMaxAttrs), x), nil
	case norm.LayerNorm, norm.RMSNorm:
		return slowLayerNorm(n, args), nil
	case sequence.AttendScores, sequence.AttendWeights, sequence.AttendSum, sequence.Rotate,
		sequence.Embedding, recur.LSTM, recur.GRU, recur.RNN:
		return slowSequence(n, args), nil
	case norm.Softmax:
		axis := n.Attrs.(*column.AxisAttrs).Axis
		if n.Type.IsFloat() {
			return slowSoftmax(axis, x), nil
		}
		return slowRows(n, x, axis, integer(1), func([]int) bool { return true }), nil
	case norm.LogSoftmax:
		axis := n.Attrs.(*column.AxisAttrs).Axis
		if n.Type.IsFloat() {
			return slowLogSoftmax(axis, x), nil
		}
		return slowLogRows(n, x, axis), nil
	}
	if a, ok := n.Attrs.(*custom.ModuleAttrs); ok {
		return slowModule(n, a, args)
	}
	if n.Op.Traits.FloatOnly {
		return slowFloats(n, args)
	}
	if y, known := slowUnary(n, x); known {
		return y, nil
	}
	return nil, fmt.Errorf("the slow evaluator does not know %s: docs/extending.md says where it is defined", n.Op.Name)
}

// slowScale multiplies each channel and adds to it.
func slowScale(axis int, args []value) []*big.Rat {
	return fill(args[0].shape, func(i []int) *big.Rat {
		y := new(big.Rat).Mul(args[0].at(i...), args[1].at(i[axis]))
		return y.Add(y, args[2].at(i[axis]))
	})
}

// slowChannel is an operation with constants for each channel.
func slowChannel(n *ir.Node, args []value) []*big.Rat {
	switch n.Op {
	case curve.Threshold:
		return slowThreshold(n, args[0], args[1])
	case pointwise.QuantEach:
		return slowQuantEach(n.Attrs.(*pointwise.QuantEachAttrs), args[0])
	}
	return slowPRelu(n, args)
}

// slowThreshold counts the thresholds that are not above an element; the step of the result is that of its code 1.
func slowThreshold(n *ir.Node, x, t value) []*big.Rat {
	step := integer(1)
	if !n.Type.IsFloat() {
		step = decodeOne(n.Type, 0, 1)
	}
	return fill(x.shape, func(i []int) *big.Rat {
		count := n.Attrs.(*curve.ThresholdAttrs).Low
		for k := range t.shape[1] {
			if x.at(i...).Cmp(t.at(i[len(i)-1], k)) >= 0 {
				count++
			}
		}
		return product(integer(int64(count)), step)
	})
}

// slowPRelu multiplies negative elements by the slope of their channel.
func slowPRelu(n *ir.Node, args []value) []*big.Rat {
	axis := n.Attrs.(*column.ScaleAttrs).Axis
	return fill(args[0].shape, func(i []int) *big.Rat {
		if v := args[0].at(i...); v.Sign() >= 0 {
			return v
		}
		return product(args[0].at(i...), args[1].at(i[axis]))
	})
}

// once applies f to all elements, to equal ones a single time.
func once(x value, f func(v *big.Rat) *big.Rat) []*big.Rat {
	known := map[string]*big.Rat{}
	return fill(x.shape, func(i []int) *big.Rat {
		key := x.at(i...).RatString()
		if _, have := known[key]; !have {
			known[key] = f(x.at(i...))
		}
		return known[key]
	})
}

// fill computes every element of a shape.
func fill(shape []int, f func(i []int) *big.Rat) []*big.Rat {
	var out []*big.Rat
	each(shape, func(i []int) { out = append(out, f(i)) })
	return out
}

// repeat is the element of v at index i of a shape that v broadcasts to.
func repeat(v value, i []int) *big.Rat {
	at := append([]int(nil), i[len(i)-len(v.shape):]...)
	for k, d := range v.shape {
		if d == 1 {
			at[k] = 0
		}
	}
	return v.at(at...)
}

// slowLinear is y[..., o] = b[o] + sum_j w[o][j]*x[..., j].
func slowLinear(x value, rest []value) []*big.Rat {
	w := rest[0]
	last := len(x.shape) - 1
	out := append(append([]int(nil), x.shape[:last]...), w.shape[0])
	return fill(out, func(i []int) *big.Rat {
		y, o := new(big.Rat), i[last]
		if len(rest) > 1 {
			y.Set(rest[1].at(o))
		}
		from := append([]int(nil), i...)
		for j := range w.shape[1] {
			from[last] = j
			y.Add(y, new(big.Rat).Mul(w.at(o, j), x.at(from...)))
		}
		return y
	})
}

// slowArgMax is the first, or the last, index of the largest element.
func slowArgMax(a *reduce.ArgMaxAttrs, x value) []*big.Rat {
	axis := (a.Axis + len(x.shape)) % len(x.shape)
	rows := append([]int(nil), x.shape...)
	rows[axis] = 1
	return fill(rows, func(i []int) *big.Rat {
		from := append([]int(nil), i...)
		best, top := 0, x.at(i...)
		for k := range x.shape[axis] {
			from[axis] = k
			c := x.at(from...).Cmp(top)
			if a.Least {
				c = -c
			}
			if c > 0 || c == 0 && a.Last {
				best, top = k, x.at(from...)
			}
		}
		return integer(int64(best))
	})
}

// slowPairs are the operations of two operands, element by element.
func slowPairs() map[*ir.Op]func(z, a, b *big.Rat) *big.Rat {
	return map[*ir.Op]func(z, a, b *big.Rat) *big.Rat{pointwise.Add: (*big.Rat).Add, pointwise.Sub: (*big.Rat).Sub,
		pointwise.Mul: (*big.Rat).Mul, pointwise.Min: slowMin, pointwise.Max: slowMax}
}

// slowMin and slowMax have the signature of the operations of big.Rat.
func slowMin(z, a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return z.Set(a)
	}
	return z.Set(b)
}

func slowMax(z, a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return z.Set(b)
	}
	return z.Set(a)
}

// slowReduce folds all elements whose index agrees with that of the result outside of the axes.
func slowReduce(n *ir.Node, x value) []*big.Rat {
	axes := n.Attrs.(*reduce.Attrs).Axes
	return fill(n.Type.Shape, func(at []int) *big.Rat {
		var elements []*big.Rat
		each(x.shape, func(i []int) {
			for k := range i {
				if i[k] != at[k] && !slices.Contains(axes, k) {
					return
				}
			}
			elements = append(elements, x.at(i...))
		})
		y := new(big.Rat).Set(elements[0])
		for _, v := range elements[1:] {
			switch {
			case n.Op == reduce.Sum || n.Op == reduce.Mean:
				y.Add(y, v)
			case n.Op == reduce.Prod:
				y.Mul(y, v)
			case (v.Cmp(y) > 0) == (n.Op == reduce.Max || n.Op == reduce.Any):
				y.Set(v)
			}
		}
		if n.Op == reduce.Mean {
			y.Quo(y, integer(int64(len(elements))))
		}
		return y
	})
}

// factoredPair says that an operation of two operands becomes codes by factors: where a ratio between the steps of
// operands and result is no power of two, and all of them are integers with one step.
func factoredPair(n *ir.Node) bool {
	if n.Type.IsFloat() || slowPairs()[n.Op] == nil {
		return false
	}
	affine := false
	for _, t := range []ir.Type{n.Args[0].Type, n.Args[1].Type, n.Type} {
		switch f := t.Format.(type) {
		case format.Affine:
			affine = affine || f.Axis < 0
		case format.Fixed:
		default:
			return false
		}
	}
	if !affine {
		return false
	}
	for _, r := range pairRatios(n) {
		if !isPower(r) {
			return true
		}
	}
	return false
}

// pairRatios are the steps of both operands, or of their product, in steps of the result.
func pairRatios(n *ir.Node) []*big.Rat {
	a, b, y := stepOf(n.Args[0].Type, 0), stepOf(n.Args[1].Type, 0), stepOf(n.Type, 0)
	if n.Op == pointwise.Mul {
		return []*big.Rat{new(big.Rat).Quo(new(big.Rat).Mul(a, b), y)}
	}
	return []*big.Rat{new(big.Rat).Quo(a, y), new(big.Rat).Quo(b, y)}
}

// slowPair evaluates zero + round(t/2^sh), t of operands times their factors, as real values of the codes. The factors
// are the ratios times 2^sh, rounded to even, with sh such that the greatest has as many bits as fit.
func slowPair(n *ir.Node, args []value) []*big.Rat {
	ratios := pairRatios(n)
	bits := make([]int, 2)
	for i, a := range n.Args {
		for _, code := range []int64{codeRange(a.Type.Format).Min(), codeRange(a.Type.Format).Max()} {
			q := new(big.Rat).Quo(decodeOne(a.Type, 0, code), stepOf(a.Type, 0)).Num()
			if q.Sign() < 0 {
				q.Not(q)
			}
			bits[i] = max(bits[i], q.BitLen()+1)
		}
	}
	width := min(31, 62-max(bits[0], bits[1]))
	greatest := ratios[0]
	if n.Op == pointwise.Mul {
		width = min(31, 63-bits[0]-bits[1])
	} else {
		greatest = largest(ratios[0], ratios[1])
	}
	sh := 0
	for new(big.Rat).Mul(greatest, power(sh)).Cmp(power(width-1)) < 0 {
		sh++
	}
	for new(big.Rat).Mul(greatest, power(sh)).Cmp(power(width)) >= 0 {
		sh--
	}
	if round(new(big.Rat).Mul(greatest, power(sh)), format.RoundEven).BitLen() > width {
		sh--
	}
	var factors []*big.Rat
	for _, r := range ratios {
		m := round(new(big.Rat).Mul(r, power(sh)), format.RoundEven)
		factors = append(factors, new(big.Rat).Mul(new(big.Rat).SetInt(m), power(-sh)))
	}
	f, out, mode := slowPairs()[n.Op], stepOf(n.Type, 0), format.Rounding(n.Type.Format)
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		var v [2]*big.Rat
		for k, a := range n.Args {
			v[k] = new(big.Rat).Quo(repeat(args[k], i), stepOf(a.Type, 0))
			if len(factors) == 2 {
				v[k].Mul(v[k], factors[k])
			}
		}
		t := f(new(big.Rat), v[0], v[1])
		if len(factors) == 1 {
			t.Mul(t, factors[0])
		}
		return t.Mul(new(big.Rat).SetInt(round(t, mode)), out)
	})
}

// slowMove is the meaning of operations that move elements, index by index of the result.
func slowMove(n *ir.Node, args []value) []*big.Rat {
	x := args[0]
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		from := append([]int(nil), i...)
		switch a := n.Attrs.(type) {
		case *move.TransposeAttrs:
			for k, p := range a.Perm {
				from[p] = i[k]
			}
		case *move.ConcatAttrs:
			for _, part := range args {
				if size := part.shape[a.Axis]; from[a.Axis] >= size {
					from[a.Axis] -= size
					continue
				}
				return part.at(from...)
			}
		case *move.SliceAttrs:
			from[a.Axis] = a.Start + i[a.Axis]*a.Step
		case *move.PadAttrs:
			if a.Each {
				turn := a.Before + 1 + a.After
				if i[a.Axis]%turn != a.Before {
					return new(big.Rat).SetFloat64(float64(a.Value))
				}
				from[a.Axis] /= turn
				return x.at(from...)
			}
			from[a.Axis] -= a.Before
			if k := from[a.Axis]; k < 0 || k >= x.shape[a.Axis] {
				return new(big.Rat).SetFloat64(float64(a.Value))
			}
		case *move.RepeatAttrs:
			return repeat(x, i)
		case *move.ReverseAttrs:
			from[a.Axis] = x.shape[a.Axis] - 1 - i[a.Axis]
		case *move.StretchAttrs:
			place := round(big.NewRat(int64(i[a.Axis]*a.Step+a.Start), int64(a.Of)), format.RoundFloor).Int64()
			from[a.Axis] = int(min(max(place, 0), int64(x.shape[a.Axis]-1)))
		}
		return x.at(from...)
	})
}
