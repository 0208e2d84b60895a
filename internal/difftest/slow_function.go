// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
)

// slowFunction is an element-wise operation on one real number that is no table; known is false for all others.
func slowFunction(n *ir.Node, x *big.Rat) (y *big.Rat, known bool) {
	switch a := n.Attrs.(type) {
	case *pointwise.LeakyAttrs:
		if x.Sign() < 0 {
			return product(x, real32(a.Alpha)), true
		}
		return x, true
	case *pointwise.ClipAttrs:
		if !math.IsInf(float64(a.Min), 0) {
			x = largest(x, real32(a.Min))
		}
		if hi := real32(a.Max); hi != nil && x.Cmp(hi) > 0 {
			return hi, true
		}
		return x, true
	}
	switch n.Op {
	case pointwise.Relu:
		return largest(x, new(big.Rat)), true
	case curve.Sigmoid:
		return sigmoidOf(x), true
	case curve.Tanh: // sign(x)*(1-e^-2|x|)/(1+e^-2|x|)
		e := expOfNegative(new(big.Rat).Mul(integer(2), new(big.Rat).Abs(x)))
		y := ratio(minus(integer(1), e), plus(integer(1), e))
		if x.Sign() < 0 {
			y.Neg(y)
		}
		return y, true
	}
	return nil, false
}

// slowUnary applies a function of one number to all elements; known is false for other operations.
func slowUnary(n *ir.Node, x value) (y []*big.Rat, known bool) {
	f := slowFunction
	if IsTable(n) {
		f = func(n *ir.Node, v *big.Rat) (*big.Rat, bool) {
			y, known := slowTable(n, v)
			return beyond(n.Type, y), known
		}
	}
	if _, known := f(n, new(big.Rat)); !known {
		return nil, false
	}
	return once(x, func(v *big.Rat) *big.Rat {
		y, _ := f(n, v)
		return y
	}), true
}

func largest(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

// precision is the number of fraction bits of real functions. Results are compared after rounding to 64 bits at most,
// and the functions are irrational but at 0, where they are exact here: no rounding can tell the difference.
const precision = 400

// expOfNegative is e^-a for a >= 0 on numbers with a fixed point: a = k*ln 2 + r, the series of e^-r, shifted by k.
// Below 2^-380 it stands still, since only its sign matters there.
func expOfNegative(a *big.Rat) *big.Rat {
	if a.Cmp(integer(260)) > 0 {
		return power(-380)
	}
	one := new(big.Int).Lsh(big.NewInt(1), precision)
	fixed := new(big.Int).Mul(a.Num(), one)
	fixed.Quo(fixed, a.Denom())
	ln2, half := new(big.Int), new(big.Int).Set(one) // ln 2 = sum of 1/(i*2^i)
	for i := int64(1); half.Sign() > 0; i++ {
		half.Rsh(half, 1)
		ln2.Add(ln2, new(big.Int).Quo(half, big.NewInt(i)))
	}
	k, r := new(big.Int).QuoRem(fixed, ln2, new(big.Int))
	sum, term := new(big.Int).Set(one), new(big.Int).Set(one)
	for i := int64(1); term.Sign() > 0; i++ {
		term.Mul(term, r)
		term.Quo(term.Rsh(term, precision), big.NewInt(i))
		if i%2 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	return new(big.Rat).SetFrac(sum, new(big.Int).Lsh(one, uint(k.Uint64())))
}

// slowSoftmax is exp(x)/sum(exp(x)) along an axis, in float64.
func slowSoftmax(axis int, x value) []*big.Rat {
	axis = (axis + len(x.shape)) % len(x.shape)
	return fill(x.shape, func(i []int) *big.Rat {
		own, _ := x.at(i...).Float64()
		from := append([]int(nil), i...)
		total := 0.0
		for k := range x.shape[axis] {
			from[axis] = k
			other, _ := x.at(from...).Float64()
			total += math.Exp(other - own)
		}
		return new(big.Rat).SetFloat64(1 / total)
	})
}

// slowBatchNorm is (x - mean)/sqrt(var + eps)*gamma + beta, in float64.
func slowBatchNorm(a *sum.BatchNormAttrs, args []value) []*big.Rat {
	return fill(args[0].shape, func(i []int) *big.Rat {
		p := [5]float64{}
		p[0], _ = args[0].at(i...).Float64()
		for k := 1; k < 5; k++ {
			p[k], _ = args[k].at(i[a.Axis]).Float64()
		}
		return new(big.Rat).SetFloat64((p[0]-p[3])/math.Sqrt(p[4]+float64(a.Epsilon))*p[1] + p[2])
	})
}

// slowFloats are the operations that have no integer meaning.
func slowFloats(n *ir.Node, args []value) ([]*big.Rat, error) {
	switch n.Op {
	case sum.MatMul:
		return slowMatMul(n, args[0], args[1]), nil
	case norm.GroupNorm:
		return slowGroupNorm(n, args), nil
	case sequence.Rotary:
		return slowRotary(n.Attrs.(*sequence.RotaryAttrs), args), nil
	case sequence.Attention:
		return slowAttention(n, args), nil
	case sequence.Append:
		return slowAppend(args), nil
	case sum.BatchNorm:
		return slowBatchNorm(n.Attrs.(*sum.BatchNormAttrs), args), nil
	}
	return nil, fmt.Errorf("the slow evaluator does not know %s: docs/extending.md says where it is defined", n.Op.Name)
}

// slowMatMul is the sum of products, exactly.
func slowMatMul(n *ir.Node, a, b value) []*big.Rat {
	last := len(n.Type.Shape) - 1
	inner := a.shape[len(a.shape)-1]
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		left, right := append([]int(nil), i...), append([]int(nil), i...)
		y := new(big.Rat)
		for k := range inner {
			left[last], right[last-1] = k, k
			y.Add(y, product(lined(a, left), lined(b, right)))
		}
		return y
	})
}

// lined is the element of v at the end of an index, where axes before the matrices may have size 1.
func lined(v value, i []int) *big.Rat {
	at := append([]int(nil), i[len(i)-len(v.shape):]...)
	for k := range len(at) - 2 {
		at[k] = min(at[k], v.shape[k]-1)
	}
	return v.at(at...)
}

// slowNorm is (x - mean)/sqrt(variance + eps), or x/sqrt(mean of squares + eps), over the elements of all (of the shape
// of x) whose index agrees with that of the result as the caller says; in float64.
func slowNorm(x value, all []float64, i []int, eps float32, rms bool, together func(i, j []int) bool) float64 {
	var row []float64
	at := 0
	each(x.shape, func(j []int) {
		if together(i, j) {
			row = append(row, all[at])
		}
		at++
	})
	mean, square := 0.0, 0.0
	for _, v := range row {
		mean += v / float64(len(row))
	}
	if rms {
		mean = 0
	}
	for _, v := range row {
		square += (v - mean) * (v - mean) / float64(len(row))
	}
	own, _ := x.at(i...).Float64()
	return (own - mean) / math.Sqrt(square+float64(eps))
}

// float64s are the elements of x, in order.
func float64s(x value) []float64 {
	var all []float64
	each(x.shape, func(i []int) {
		v, _ := x.at(i...).Float64()
		all = append(all, v)
	})
	return all
}

// slowLayerNorm is layer_norm, and rms_norm.
func slowLayerNorm(n *ir.Node, args []value) []*big.Rat {
	if !n.Type.IsFloat() {
		return slowCodeNorm(n, args, n.Op == norm.RMSNorm)
	}
	a, rank := n.Attrs.(*norm.Attrs), len(n.Type.Shape)
	axis, all := (a.Axis+rank)%rank, float64s(args[0])
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		y := slowNorm(args[0], all, i, a.Eps, n.Op == norm.RMSNorm, func(i, j []int) bool {
			for k := range axis {
				if i[k] != j[k] {
					return false
				}
			}
			return true
		})
		return scaledBy(y, args[1:], func(v value) *big.Rat { return repeat(v, i) })
	})
}

// slowGroupNorm is group_norm.
func slowGroupNorm(n *ir.Node, args []value) []*big.Rat {
	a := n.Attrs.(*norm.GroupNormAttrs)
	each, all := n.Type.Shape[1]/a.Groups, float64s(args[0])
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		y := slowNorm(args[0], all, i, a.Eps, false, func(i, j []int) bool { return i[0] == j[0] && i[1]/each == j[1]/each })
		return scaledBy(y, args[1:], func(v value) *big.Rat { return v.at(i[1]) })
	})
}

// scaledBy is y*scale + bias, as far as they are there.
func scaledBy(y float64, with []value, at func(v value) *big.Rat) *big.Rat {
	r := new(big.Rat).SetFloat64(y)
	if len(with) > 0 {
		r = product(r, at(with[0]))
	}
	if len(with) > 1 {
		r = plus(r, at(with[1]))
	}
	return r
}

// slowLogSoftmax is the logarithm of softmax, in float64.
func slowLogSoftmax(axis int, x value) []*big.Rat {
	axis = (axis + len(x.shape)) % len(x.shape)
	return fill(x.shape, func(i []int) *big.Rat {
		own, _ := x.at(i...).Float64()
		from, top, total := append([]int(nil), i...), math.Inf(-1), 0.0
		for k := range x.shape[axis] {
			from[axis] = k
			v, _ := x.at(from...).Float64()
			top = max(top, v)
		}
		for k := range x.shape[axis] {
			from[axis] = k
			v, _ := x.at(from...).Float64()
			total += math.Exp(v - top)
		}
		return new(big.Rat).SetFloat64(own - top - math.Log(total))
	})
}

// place is a position, from first to last.
func place(v value, first, last int) int {
	return int(min(max(v.x[0].Num().Int64(), int64(first)), int64(last)))
}

// slowAppend is each row of the cache, or the one that is written there.
func slowAppend(args []value) []*big.Rat {
	cache, rows := args[0], args[1]
	from := place(args[2], 0, cache.shape[2]-rows.shape[2])
	return fill(cache.shape, func(i []int) *big.Rat {
		if row := i[2] - from; row >= 0 && row < rows.shape[2] {
			return rows.at(i[0], i[1], row, i[3])
		}
		return cache.at(i...)
	})
}

// slowRotary turns the pairs, exactly.
func slowRotary(a *sequence.RotaryAttrs, args []value) []*big.Rat {
	x, from := args[0], 0
	if len(args) > 3 {
		from = place(args[3], 0, args[1].shape[0]-x.shape[2])
	}
	dim := a.Dim
	if dim == 0 {
		dim = x.shape[3]
	}
	return fill(x.shape, func(i []int) *big.Rat {
		if i[3] >= dim {
			return x.at(i...)
		}
		pair, second := i[3]%(dim/2), i[3] >= dim/2
		one, two := pair, pair+dim/2
		if a.Interleaved {
			pair, second = i[3]/2, i[3]%2 == 1
			one, two = 2*pair, 2*pair+1
		}
		angle := func(v value) *big.Rat { return v.at([]int{i[0], from + i[2], pair}[3-len(v.shape):]...) }
		u, v := x.at(i[0], i[1], i[2], one), x.at(i[0], i[1], i[2], two)
		if second {
			return plus(product(u, angle(args[2])), product(v, angle(args[1])))
		}
		return plus(product(u, angle(args[1])), new(big.Rat).Neg(product(v, angle(args[2]))))
	})
}

// slowAttention is the softmax of scores, times values, in float64; a key that a mask forbids is not there.
func slowAttention(n *ir.Node, args []value) []*big.Rat {
	a, q, k, v := n.Attrs.(*sequence.AttentionAttrs), args[0], args[1], args[2]
	mask, last := args[3:], k.shape[2]
	switch {
	case a.Placed:
		last = place(mask[len(mask)-1], -q.shape[2], k.shape[2])
		mask = mask[:len(mask)-1]
	case a.Causal:
		last = k.shape[2] - q.shape[2]
	}
	return fill(n.Type.Shape, func(i []int) *big.Rat {
		head := i[1] * k.shape[1] / q.shape[1]
		var scores, values []float64
		for j := range k.shape[2] {
			dot := new(big.Rat)
			for d := range q.shape[3] {
				dot.Add(dot, product(q.at(i[0], i[1], i[2], d), k.at(i[0], head, j, d)))
			}
			s, _ := dot.Float64()
			s *= float64(a.Scale)
			if a.Softcap != 0 {
				s = float64(a.Softcap) * math.Tanh(s/float64(a.Softcap))
			}
			sees := j <= i[2]+last
			if len(mask) > 0 {
				m, _ := repeat(mask[0], []int{i[0], i[1], i[2], j}).Float64()
				if n.Args[3].Type.Format == ir.Bool {
					sees = sees && m != 0
				} else {
					s += m
				}
			}
			if sees {
				e, _ := v.at(i[0], head, j, i[3]).Float64()
				scores, values = append(scores, s), append(values, e)
			}
		}
		y := 0.0
		for j, s := range scores {
			total := 0.0
			for _, other := range scores {
				total += math.Exp(other - s)
			}
			y += values[j] / total
		}
		return new(big.Rat).SetFloat64(y)
	})
}

// series is t1/w1 - t3/w3 + t5/w5 - ... with t1 = x and each following term x^2/next times the one before, in steps of
// 2^-cutPlaces; |x| is small enough for the terms to shrink.
func series(x *big.Rat, step func(i int64) (next, weight int64)) *big.Rat {
	term := round(product(new(big.Rat).Abs(x), power(cutPlaces)), format.RoundEven)
	square := new(big.Int).Mul(term, term)
	square.Rsh(square, cutPlaces)
	sum := new(big.Int)
	for i := int64(1); term.Sign() != 0; i += 2 {
		next, weight := step(i)
		part := new(big.Int).Quo(term, big.NewInt(weight))
		if i%4 == 3 {
			part.Neg(part)
		}
		sum.Add(sum, part)
		term.Rsh(term.Mul(term, square), cutPlaces)
		term.Quo(term, big.NewInt(next))
	}
	if x.Sign() < 0 {
		sum.Neg(sum)
	}
	return new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), cutPlaces))
}
