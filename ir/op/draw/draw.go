// SPDX-License-Identifier: Apache-2.0

// Package draw makes random legal graphs of one operation, for differential tests.
package draw

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/leaf"
)

// One draws one of the values, or a random one of either sign.
func One(r *rand.Rand, values ...float32) float32 {
	if i := r.IntN(len(values) + 1); i < len(values) {
		return values[i]
	}
	return float32(math.Ldexp(2*r.Float64()-1, Between(r, -3, 2)))
}

// The Gen columns: random legal one-operation graphs for differential tests. Sizes are small, formats are wide in kind:
// every width, sign, rounding and overflow rule, fraction bits below 0 and above the width, steps of arguments, weights
// and biases that do not fit each other. A generator gets the operation itself, which its own initializer cannot name.

// Graph is the graph of a single operation. A node whose shape cannot be inferred keeps none, which Check reports.
func Graph(o *ir.Op, attrs any, t ir.Type, args ...*ir.Node) *ir.Graph {
	n := &ir.Node{Name: o.Name, Op: o, Attrs: attrs, Args: args, Type: t}
	if shape, err := o.Infer(n); err == nil {
		n.Type.Shape = shape
	}
	g := &ir.Graph{Name: o.Name, Out: []ir.Output{{Name: "y", Node: n}}, Stage: ir.StageQuantized}
	for _, a := range args {
		g.Nodes = append(g.Nodes, a)
		if a.Op == leaf.Input {
			g.In = append(g.In, a)
		}
	}
	if t.IsFloat() {
		g.Stage = ir.StageFloat
	}
	g.Nodes = append(g.Nodes, n)
	return g
}

// Input is an input called name.
func Input(name string, t ir.Type) *ir.Node {
	return &ir.Node{Name: name, Op: leaf.Input, Attrs: &ir.Input{}, Type: t}
}

// Const is a constant of these codes.
func Const(name string, t ir.Type, codes []int64) *ir.Node {
	return &ir.Node{Name: name, Op: leaf.Const, Attrs: &ir.Const{Data: ir.CodeBlob(codes)}, Type: t}
}

// Chance is true in percent of all cases.
func Chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// Between is a random number in [lo, hi].
func Between(r *rand.Rand, lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// Fixed draws a fixed-point format of up to maxW bits, of every rounding and overflow rule.
func Fixed(r *rand.Rand, maxW int) format.Fixed {
	f := format.Fixed{W: Between(r, 1, maxW), Signed: Chance(r, 65)}
	f.F = Between(r, -4, f.W+4)
	if Chance(r, 60) {
		f.Round = format.Round(r.IntN(int(format.RoundOutward) + 1))
	}
	if f.Over = format.Over(r.IntN(4)); f.Over > format.Wrap {
		f.Over = Limits(r, f)
	}
	if f.W == 1 && f.Over == format.Sym {
		f.Over = format.Sat
	}
	return f
}

// Limits draws limits for f as a relu or a clip would have them, half of them at three quarters of the codes. Formats
// of few codes have none.
func Limits(r *rand.Rand, f format.Fixed) format.Over {
	f.Over = format.Sat
	top := min(f.Max(), format.MaxLimit)
	if f.Signed && top > 0 && Chance(r, 30) {
		return format.From0(top)
	}
	if top--; top < 1 {
		return format.Sat
	}
	hi := max(1, top/4*3)
	if Chance(r, 50) {
		hi = 1 + r.Int64N(top)
	}
	if f.Signed && Chance(r, 50) {
		return format.Around0(hi)
	}
	return format.From0(hi)
}

// Format draws a format for an argument: mostly fixed, sometimes wide, sometimes affine.
func Format(r *rand.Rand) format.Format {
	switch k := r.IntN(100); {
	case k < 80:
		return Fixed(r, 16)
	case k < 86:
		return Fixed(r, 60)
	}
	a := format.Affine{W: Between(r, 1, 12), Signed: Chance(r, 60), Axis: format.PerTensor}
	a.Round = format.Round(r.IntN(int(format.RoundOutward) + 1))
	a.Scale = float32(math.Ldexp(1, Between(r, -9, 4)))
	if Chance(r, 40) { // a meaning for the reference engine only
		a.Scale *= 1 + r.Float32()
		a.Zero = int64(Between(r, -20, 150))
	}
	return a
}

// Coded draws a format whose codes are no integers: float, dfloat, log or codebook, of up to 9 bits.
func Coded(r *rand.Rand) format.Format {
	round, offset := format.RoundEven, 0
	if Chance(r, 50) {
		round, offset = format.Round(r.IntN(int(format.RoundOutward)+1)), Between(r, -9, 9)
	}
	switch r.IntN(5) {
	case 4:
		return Codebook(r)
	case 0:
		return format.DFloat{E: Between(r, 1, 3), M: Between(r, 2, 5), Offset: offset, Round: round}
	case 1:
		if Chance(r, 30) {
			round = format.RoundLog
		}
		return format.Log{W: Between(r, 2, 6), Offset: offset, Round: round}
	case 2:
		return format.Float{E: Between(r, 1, 4), M: Between(r, 0, 4), Offset: offset, Round: round}
	}
	kind := format.FloatKind(Between(r, 1, 3))
	return format.Float{E: Between(r, 2, 4), M: Between(r, 1, 4), Kind: kind, Offset: offset, Round: round,
		Over: format.Beyond(r.IntN(2))}
}

// Codebook draws a table of ascending eighths.
func Codebook(r *rand.Rand) format.Format {
	values := make([]float32, 1<<Between(r, 1, 4))
	at := -float32(len(values)) / 2
	for i := range values {
		values[i] = at
		at += float32(Between(r, 1, 12)) / 8
	}
	return format.Listed{Set: format.NewCodebook(values, 0.5+r.Float32())}
}

// Moved draws a format of codes that are moved and not computed on, one in eight that are no integers.
func Moved(r *rand.Rand) format.Format {
	if Chance(r, 12) {
		return Coded(r)
	}
	return Format(r)
}

// Result draws a format for results of magnitude up to 2^top, most often one that keeps some of their bits: half of
// the extreme results saturate or wrap.
func Result(r *rand.Rand, top int) format.Fixed {
	f := Fixed(r, 16)
	if Chance(r, 85) {
		f.F = f.W - top + Between(r, -2, 5)
	}
	return f
}

// Top is the least n such that every value of t is at most 2^n.
func Top(t ir.Type) int {
	lo, hi := t.Format.Limits()
	return max(lo.Log2(), hi.Log2()) + 1
}

// Keeps is the type of a result that keeps the format of its argument.
func Keeps(t ir.Type) ir.Type { return ir.Type{Format: t.Format, Scales: t.Scales} }

// Codes draws n codes of f: all least, all greatest, mixed extremes, all zero, or anything.
func Codes(r *rand.Rand, f format.Format, n int) []int64 {
	bare := format.Raw(f)
	kind := r.IntN(8)
	out := make([]int64, n)
	for i := range out {
		switch k := r.IntN(2); {
		case kind == 0, kind == 2 && k == 0:
			out[i] = bare.Min()
		case kind == 1, kind == 2:
			out[i] = bare.Max()
		case kind == 3:
			out[i] = 0
		default:
			out[i] = Code(r, bare)
		}
	}
	return out
}

// Code draws a code of as many bits as f has, whatever f does on overflow: any code, a small one, or one beside
// the greatest.
func Code(r *rand.Rand, f format.Fixed) int64 {
	bare := format.Fixed{W: f.W, Signed: f.Signed, Over: format.Wrap}
	switch r.IntN(4) {
	case 0:
		return bare.Requant(int64(Between(r, -3, 3)), 0)
	case 1:
		return bare.Requant(bare.Max()-int64(r.IntN(3)), 0)
	}
	return bare.Requant(int64(r.Uint64()), 0)
}

// Shape draws a shape of rank lo..hi with at most 60 elements.
func Shape(r *rand.Rand, lo, hi int) []int {
	shape := make([]int, Between(r, lo, hi))
	room := 60
	for i := range shape {
		shape[i] = Between(r, 1, min(room, []int{24, 24, 8, 5, 3}[min(len(shape), 4)]))
		room /= shape[i]
	}
	return shape
}

// Unary is an element-wise operation with a result format of its own.
func Unary(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := Input("x", ir.Type{Shape: Shape(r, 0, 4), Format: Format(r)})
	return Graph(o, nil, ir.Type{Format: Result(r, Top(x.Type))}, x)
}

// Same is an operation that leaves codes as they are.
func Same(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := Input("x", ir.Type{Shape: Shape(r, 0, 4), Format: Moved(r)})
	return Graph(o, nil, Keeps(x.Type), x)
}

// The Gen columns of operations on floats alone.

// Operand is an input, or a constant in some percent of the cases.
func Operand(r *rand.Rand, constant int, name string, shape ...int) *ir.Node {
	if Chance(r, constant) {
		return Values(r, name, ir.Float(shape...))
	}
	return Input(name, ir.Float(shape...))
}

// Affine draws integers of up to maxW bits with a real scale and, mostly, a zero point among the codes.
func Affine(r *rand.Rand, maxW int) format.Affine {
	f := Fixed(r, maxW)
	a := format.Affine{W: f.W, Signed: f.Signed, Axis: format.PerTensor, Round: f.Round, Over: f.Over}
	a.Scale = float32(math.Ldexp(1+r.Float64(), Between(r, -9, 2)))
	if Chance(r, 15) {
		a.Scale = float32(math.Ldexp(1, Between(r, -9, 2)))
	}
	bare := format.Fixed{W: f.W, Signed: f.Signed}
	switch {
	case Chance(r, 70):
		a.Zero = Code(r, bare)
	case Chance(r, 10):
		a.Zero = int64(Between(r, -20, 300))
	}
	return a
}

// AffineResult draws an affine format for results of magnitude up to 2^top.
func AffineResult(r *rand.Rand, top int) format.Affine {
	out := Affine(r, 12)
	out.Scale *= float32(math.Ldexp(1, top-out.W-Between(r, -2, 4)-int(math.Log2(float64(out.Scale)))))
	return out
}
