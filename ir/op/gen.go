// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
)

// The Gen columns: random legal one-operation graphs for differential tests. Sizes are small, formats are wide in kind:
// every width, sign, rounding and overflow rule, fraction bits below 0 and above the width, steps of arguments, weights
// and biases that do not fit each other. A generator gets the operation itself, which its own initializer cannot name.

// oneOp is the graph of a single operation. A node whose shape cannot be inferred keeps none, which Check reports.
func oneOp(o *ir.Op, attrs any, t ir.Type, args ...*ir.Node) *ir.Graph {
	n := &ir.Node{Name: o.Name, Op: o, Attrs: attrs, Args: args, Type: t}
	if shape, err := o.Infer(n); err == nil {
		n.Type.Shape = shape
	}
	g := &ir.Graph{Name: o.Name, Out: []ir.Output{{Name: "y", Node: n}}, Stage: ir.StageQuantized}
	for _, a := range args {
		g.Nodes = append(g.Nodes, a)
		if a.Op == Input {
			g.In = append(g.In, a)
		}
	}
	if t.IsFloat() {
		g.Stage = ir.StageFloat
	}
	g.Nodes = append(g.Nodes, n)
	return g
}

func genInput(name string, t ir.Type) *ir.Node {
	return &ir.Node{Name: name, Op: Input, Attrs: &ir.Input{}, Type: t}
}

func genConst(name string, t ir.Type, codes []int64) *ir.Node {
	return &ir.Node{Name: name, Op: Const, Attrs: &ir.Const{Data: ir.CodeBlob(codes)}, Type: t}
}

// chance is true in percent of all cases.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// between is a random number in [lo, hi].
func between(r *rand.Rand, lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// RandomFixed draws a fixed-point format of up to maxW bits, of every rounding and overflow rule.
func RandomFixed(r *rand.Rand, maxW int) format.Fixed {
	f := format.Fixed{W: between(r, 1, maxW), Signed: chance(r, 65)}
	f.F = between(r, -4, f.W+4)
	if chance(r, 60) {
		f.Round = format.Round(r.IntN(int(format.RoundOutward) + 1))
	}
	if f.Over = format.Over(r.IntN(3)); f.W == 1 && f.Over == format.Sym {
		f.Over = format.Sat
	}
	return f
}

// genFormat draws a format for an argument: mostly fixed, sometimes wide, sometimes affine.
func genFormat(r *rand.Rand) format.Format {
	switch k := r.IntN(100); {
	case k < 80:
		return RandomFixed(r, 16)
	case k < 86:
		return RandomFixed(r, 60)
	}
	a := format.Affine{W: between(r, 1, 12), Signed: chance(r, 60), Axis: format.PerTensor}
	a.Round = format.Round(r.IntN(int(format.RoundOutward) + 1))
	a.Scale = float32(math.Ldexp(1, between(r, -9, 4)))
	if chance(r, 40) { // a meaning for the reference engine only
		a.Scale *= 1 + r.Float32()
		a.Zero = int64(between(r, -20, 150))
	}
	return a
}

// genResult draws a format for results of magnitude up to 2^top, most often one that keeps some of their bits: half of
// the extreme results saturate or wrap.
func genResult(r *rand.Rand, top int) format.Fixed {
	f := RandomFixed(r, 16)
	if chance(r, 85) {
		f.F = f.W - top + between(r, -2, 5)
	}
	return f
}

// topOf is the least n such that every value of t is at most 2^n.
func topOf(t ir.Type) int {
	lo, hi := t.Format.Limits()
	return max(lo.Log2(), hi.Log2()) + 1
}

// keeps is the type of a result that keeps the format of its argument.
func keeps(t ir.Type) ir.Type { return ir.Type{Format: t.Format, Scales: t.Scales} }

// genCodes draws n codes of f: all least, all greatest, mixed extremes, all zero, or anything.
func genCodes(r *rand.Rand, f format.Format, n int) []int64 {
	bare := codesOf(f)
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
			out[i] = RandomCode(r, bare)
		}
	}
	return out
}

// codesOf is the set of codes of f as plain integers.
func codesOf(f format.Format) format.Fixed {
	switch f := f.(type) {
	case format.Fixed:
		return format.Fixed{W: f.W, Signed: f.Signed}
	case format.Affine:
		return format.Fixed{W: f.W, Signed: f.Signed}
	}
	return format.Fixed{W: f.Width()}
}

// RandomCode draws a code of as many bits as f has, whatever f does on overflow: any code, a small one, or one beside
// the greatest.
func RandomCode(r *rand.Rand, f format.Fixed) int64 {
	bare := format.Fixed{W: f.W, Signed: f.Signed, Over: format.Wrap}
	switch r.IntN(4) {
	case 0:
		return bare.Requant(int64(between(r, -3, 3)), 0)
	case 1:
		return bare.Requant(bare.Max()-int64(r.IntN(3)), 0)
	}
	return bare.Requant(int64(r.Uint64()), 0)
}

// genShape draws a shape of rank lo..hi with at most 60 elements.
func genShape(r *rand.Rand, lo, hi int) []int {
	shape := make([]int, between(r, lo, hi))
	room := 60
	for i := range shape {
		shape[i] = between(r, 1, min(room, []int{24, 24, 8, 5, 3}[min(len(shape), 4)]))
		room /= shape[i]
	}
	return shape
}
