// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/big"
	"slices"
	"sync"

	"lathe/internal/difftest/rows"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
	"lathe/ir/op/draw"
	"lathe/ir/op/norm"
	"lathe/ir/op/recur"
	"lathe/ir/ref"
)

// slowCodeNorm is layer_norm or rms_norm of codes, by its definition in integers of any size.
func slowCodeNorm(n *ir.Node, args []value, rms bool) []*big.Rat {
	a, shape := n.Attrs.(*norm.Attrs), n.Type.Shape
	axis := (a.Axis + len(shape)) % len(shape)
	step := stepOf(n.Args[0].Type, 0)
	count := 1
	for _, d := range shape[axis:] {
		count *= d
	}
	gain, bias := make([]*big.Int, count), make([]*big.Int, count)
	fg, fb := 0, 0
	at := 0
	each(shape[axis:], func(i []int) {
		gain[at], bias[at] = big.NewInt(1), new(big.Int)
		if len(args) > 1 {
			gain[at], fg = codeOf(n.Args[1].Type, repeat(args[1], i))
		}
		if len(args) > 2 {
			bias[at], fb = codeOf(n.Args[2].Type, repeat(args[2], i))
		}
		at++
	})
	lo, hi := spanOf(n.Args[0].Type)
	root := newSlowRoot(widthOf(lo, hi), int64(count), real32(a.Eps), step)
	var out []*big.Rat
	for from := 0; from < len(args[0].x); from += count {
		var row []*big.Int
		for _, v := range args[0].x[from : from+count] {
			row = append(row, ratio(v, step).Num())
		}
		for i, z := range root.row(row, rms) {
			y := new(big.Int).Mul(z, gain[i])
			y.Add(y, new(big.Int).Lsh(bias[i], uint(16+fg-fb)))
			out = append(out, product(new(big.Rat).SetInt(y), power(-16-fg)))
		}
	}
	return out
}

// codeOf is the integer and the fraction bits of a value of a fixed type.
func codeOf(t ir.Type, v *big.Rat) (*big.Int, int) {
	step, frac := stepOf(t, 0), 0
	for ; step.Cmp(power(-frac)) < 0; frac++ {
	}
	for ; step.Cmp(power(-frac)) > 0; frac-- {
	}
	return ratio(v, step).Num(), frac
}

// slowRoot is what rows of count codes have in common: h, and the constant of eps.
type slowRoot struct {
	count *big.Int
	h     int
	eps   *big.Int
}

// newSlowRoot is for codes of w bits, sign included.
func newSlowRoot(w int, count int64, eps, step *big.Rat) *slowRoot {
	s := &slowRoot{count: big.NewInt(count), h: 20}
	steps := ratio(eps, product(step, step))
	square := new(big.Rat).SetInt64(count * count)
	most := product(square, plus(power(2*w-2), new(big.Rat).SetInt(round(steps, format.RoundCeil))))
	for ; product(most, power(s.h)).Cmp(power(63)) >= 0; s.h -= 2 {
	}
	s.eps = round(product(product(square, steps), power(s.h)), format.RoundEven)
	return s
}

// row is z of one row, in units of 2^-16.
func (s *slowRoot) row(x []*big.Int, rms bool) []*big.Int {
	sum, q := new(big.Int), new(big.Int)
	for _, v := range x {
		q.Add(q, new(big.Int).Mul(v, v))
		if !rms {
			sum.Add(sum, v)
		}
	}
	q.Mul(q, s.count)
	q.Sub(q, new(big.Int).Mul(sum, sum))
	r, k := slowRsqrt(q.Add(q.Lsh(q, uint(s.h)), s.eps))
	var z []*big.Int
	for _, v := range x {
		d := new(big.Int).Mul(s.count, v)
		d.Mul(d.Sub(d, sum), r)
		z = append(z, round(product(new(big.Rat).SetInt(d), power(s.h/2-15-k)), format.RoundEven))
	}
	return z
}

// slowRsqrt is r and k with 1/sqrt(v) = r*2^(-31-k), of 21 bits; 0 for 0.
func slowRsqrt(v *big.Int) (r *big.Int, k int) {
	if v.Sign() == 0 {
		return new(big.Int), 0
	}
	k = int(round(big.NewRat(int64(v.BitLen()-23), 2), format.RoundFloor).Int64())
	short := round(product(new(big.Rat).SetInt(v), power(-2*k)), format.RoundFloor)
	q := round(ratio(power(62), new(big.Rat).SetInt(short)), format.RoundFloor)
	r = new(big.Int).Sqrt(q)
	if rest := new(big.Int).Sub(q, new(big.Int).Mul(r, r)); rest.Cmp(r) > 0 {
		r.Add(r, big.NewInt(1))
	}
	return r, k
}

// Roots are norms, each with its sample, whose roots are decided by one unit: floor(2^62/V) is r*(r+1), where r is the
// nearest root and r+1 that of one unit more; those of the ends of the range of V; and rows of one element whose z lies
// in the middle of two. All bits of z show.
func Roots() (graphs []*ir.Graph, samples ref.Sample) {
	least, most := int64(1)<<22, int64(1)<<24
	all := []int64{least, least + 1, most - 2, most - 1}
	for r := int64(1) << 19; r < 1<<20; r++ {
		if v := int64(1<<62) / (r * (r + 1)); v < most && int64(1<<62)/v == r*(r+1) {
			all = append(all, v)
		}
	}
	add := func(eps float32, codes []int64, shape ...int) {
		x := draw.Input("x", ir.Type{Shape: shape, Format: format.Fixed{W: 4, Signed: true}})
		y := ir.Type{Format: format.Fixed{W: 24, F: 16, Signed: true}}
		graphs = append(graphs, draw.Graph(norm.RMSNorm, &norm.Attrs{Axis: -1, Eps: eps}, y, x))
		sample := ir.NewTensor(x.Type)
		copy(sample.Codes, codes)
		samples = append(samples, sample)
	}
	for _, v := range all { // a 1 and zeros: (n*1)<<20 is 2^30, and the term of eps is the rest of v*2^8
		add(float32(v-least)/(1<<32), []int64{1}, 1024)
	}
	add(1<<34, []int64{-7, -5, -3, -1, 1, 3, 5, 7}, 8, 1) // V is 2^54 and a little, z = x*2^20/2^21
	return graphs, samples
}

// interpolated is a function of many bits: a parabola through samples in [-2^d, 2^d), and beyond low, below, and 1, or
// where that is nil x, above.
type interpolated struct {
	d         int
	low, high *big.Rat
}

// interpolates are the functions with such a domain.
func interpolates(n *ir.Node) (interpolated, bool) {
	zero, one := new(big.Rat), integer(1)
	if n.Op == curve.Silu && n.Attrs.(*curve.AlphaAttrs).Alpha != 1 {
		return interpolated{}, false
	}
	f, known := map[*ir.Op]interpolated{curve.Gelu: {3, zero, nil}, curve.GeluTanh: {3, zero, nil},
		curve.Tanh: {3, integer(-1), one}, curve.Silu: {4, zero, nil}, curve.Sigmoid: {4, zero, one},
		curve.Softplus: {4, zero, nil}, curve.Erf: {2, integer(-1), one}}[n.Op]
	return f, known
}

// slowInterpolation is the meaning of such a function of fixed arguments of more than 12 bits; false where it is a
// table: up to 16 bits, where results have more than 16 fraction bits, or integers of 63 bits do not do.
func slowInterpolation(n *ir.Node, x value) ([]*big.Rat, bool) {
	f, known := interpolates(n)
	in, fixedIn := fixedOf(n.Args[0].Type)
	out, fixedOut := fixedOf(n.Type)
	if !known || !fixedIn || !fixedOut || in.W <= 12 {
		return nil, false
	}
	frac := max(in.F, 5)
	if in.W <= 16 && (out.F > 16 || max(0, out.F+6+f.d)+frac > 62 || frac+f.d >= 62 || in.W+frac-in.F > 62) {
		return nil, false
	}
	return once(x, func(v *big.Rat) *big.Rat { return f.at(n, v, frac, out.F) }), true
}

// fixedOf is a fixed-point type: integers, or some with a scale that is a power of two and no zero point.
func fixedOf(t ir.Type) (format.Fixed, bool) {
	switch f := t.Format.(type) {
	case format.Fixed:
		return f, true
	case format.Affine:
		if scale := real32(f.Scale); f.Axis < 0 && f.Zero == 0 && scale.Sign() > 0 && isPower(scale) {
			_, frac := codeOf(t, new(big.Rat))
			return format.Fixed{W: f.W, F: frac, Signed: f.Signed}, true
		}
	}
	return format.Fixed{}, false
}

// at is the function at v, of frac fraction bits, before it is rounded to places.
func (f interpolated) at(n *ir.Node, v *big.Rat, frac, places int) *big.Rat {
	end := power(f.d)
	switch {
	case v.Cmp(new(big.Rat).Neg(end)) < 0:
		return f.low
	case v.Cmp(end) >= 0 && f.high == nil:
		return v
	case v.Cmp(end) >= 0:
		return f.high
	}
	floor := func(q *big.Rat) *big.Rat { return new(big.Rat).SetInt(round(q, format.RoundFloor)) }
	u := product(plus(v, end), power(frac))
	turn := power(frac - 4)
	i := floor(ratio(u, turn))
	r := minus(u, product(i, turn))
	var s [3]*big.Rat
	for k := range s {
		j := 2*i.Num().Int64() + int64(k)
		sample := slowSample(n, minus(big.NewRat(j, 32), end))
		s[k] = new(big.Rat).SetInt(round(product(sample, power(places+6)), format.RoundEven))
	}
	bend := product(integer(2), minus(plus(s[0], s[2]), product(integer(2), s[1])))
	slope := minus(minus(product(integer(4), s[1]), product(integer(3), s[0])), s[2])
	slope = plus(slope, floor(ratio(product(bend, r), turn)))
	return product(plus(s[0], floor(ratio(product(slope, r), turn))), power(-places-6))
}

// slowSamples are the functions at the places of samples, by name and place.
var slowSamples sync.Map

// slowSample is a function that interpolates at x.
func slowSample(n *ir.Node, x *big.Rat) *big.Rat {
	key := fmt.Sprint(n.Op.Name, " ", x)
	if y, known := slowSamples.Load(key); known {
		return y.(*big.Rat)
	}
	y, known := slowTable(n, x)
	if !known {
		y, known = slowFunction(n, x)
	}
	if !known {
		panic("the slow evaluator does not know " + n.Op.Name) // interpolates lists what has a definition
	}
	slowSamples.Store(key, y)
	return y
}

// slowRecur is a recurrent layer, by its equations; in float graphs numbers are those of float64.
func slowRecur(n *ir.Node, a *recur.Attrs, args []value) []*big.Rat {
	l := rows.Layer{Kind: n.Op.Name, Relu: a.Relu, Before: a.Before, X: slowMatrix(args[0]), R: slowMatrix(args[1])}
	if n.Op == recur.GRU && len(args) > 2 {
		l.B = args[2].x
	}
	near := func(v *big.Rat) *big.Rat {
		f, _ := v.Float64()
		return new(big.Rat).SetFloat64(f)
	}
	l.Gate, l.Cell, l.Out = near, near, near
	l.Sigmoid = func(v *big.Rat) *big.Rat { return near(sigmoidOf(v)) }
	l.Tanh = func(v *big.Rat) *big.Rat { return near(minus(product(integer(2), sigmoidOf(plus(v, v))), integer(1))) }
	l.Last = l.Tanh
	if !n.Type.IsFloat() {
		l.Gate, l.Cell, l.Out = slowRounding(a.Gate), slowRounding(a.Cell), slowRounding(n.Type.Format.String())
		if a.Cells {
			l.Out = slowRounding(a.Hidden)
		}
		gate, _ := format.Parse(a.Gate)
		l.Sigmoid = slowCurve(curve.Sigmoid, gate, func(w int) format.Format { return format.Fixed{W: w, F: w} })
		l.Tanh = slowCurve(curve.Tanh, gate, func(w int) format.Format { return format.Fixed{W: w, F: w - 1, Signed: true} })
		l.Last = slowCurve(curve.Tanh, gate, func(int) format.Format { return n.Type.Format })
	}
	each := func(f func(*big.Rat) *big.Rat, v []*big.Rat) (out []*big.Rat) {
		for _, x := range v {
			out = append(out, f(x))
		}
		return out
	}
	switch n.Op {
	case recur.LSTM:
		if len(args) > 2 {
			l.H, l.C = each(l.Out, args[2].x), each(l.Cell, args[3].x)
		}
	case recur.GRU:
		if len(args) > 3 {
			l.C = each(l.Cell, args[3].x)
			l.H = each(l.Out, l.C)
		}
	case recur.RNN:
		if len(args) > 2 {
			l.H = each(l.Out, args[2].x)
		}
	}
	h, c := l.Rows()
	if !a.Cells {
		return slices.Concat(h...)
	}
	var both []*big.Rat
	for t := range h {
		for j := range h[t] {
			both = append(both, h[t][j], c[t][j])
		}
	}
	return both
}

// slowMatrix cuts a matrix into rows.
func slowMatrix(v value) [][]*big.Rat { return slices.Collect(slices.Chunk(v.x, v.shape[1])) }

// slowRounding is the rounding into a format; of no format it is none.
func slowRounding(text string) func(*big.Rat) *big.Rat {
	f, err := format.Parse(text)
	return func(v *big.Rat) *big.Rat {
		if err != nil {
			return v
		}
		return f.Decode(encode(f, v)).Rat()
	}
}

// slowCurve is a function of values of a format, rounded to the format of its results.
func slowCurve(o *ir.Op, in format.Format, of func(w int) format.Format) func(*big.Rat) *big.Rat {
	if in == nil {
		return nil
	}
	one, known := []int{1}, map[string]*big.Rat{}
	n := &ir.Node{Name: o.Name, Op: o, Type: ir.Type{Shape: one, Format: of(in.Width())},
		Args: []*ir.Node{{Name: "x", Type: ir.Type{Shape: one, Format: in}}}}
	return func(v *big.Rat) *big.Rat {
		key := v.RatString()
		if known[key] == nil {
			y, wide := slowInterpolation(n, value{one, []*big.Rat{v}})
			if !wide {
				y = []*big.Rat{slowSample(n, v)}
			}
			known[key] = slowRounding(n.Type.Format.String())(y[0])
		}
		return known[key]
	}
}
