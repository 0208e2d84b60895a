// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
)

// The Gen columns of operations on floats alone.

// genOperand is an input, or a constant in some percent of the cases.
func genOperand(r *rand.Rand, constant int, name string, shape ...int) *ir.Node {
	if chance(r, constant) {
		return genValues(r, name, ir.Float(shape...))
	}
	return genInput(name, ir.Float(shape...))
}

// genMatMul draws matrices, batches of them that broadcast, and constants on either side.
func genMatMul(r *rand.Rand, o *ir.Op) *ir.Graph {
	batch := genShape(r, 0, 2)
	for i := range batch {
		batch[i] = min(batch[i], 3)
	}
	m, k, n := between(r, 1, 5), between(r, 1, 9), between(r, 1, 5)
	side := func(rows, cols int) []int {
		shape := append([]int(nil), batch...)
		for i := range shape {
			if chance(r, 30) {
				shape[i] = 1
			}
		}
		return append(shape[r.IntN(len(shape)+1):], rows, cols)
	}
	a, b := side(m, k), side(k, n)
	f := genEither(r)
	x, y := genInput("a", ir.Type{Shape: a, Format: f}), genInput("b", ir.Type{Shape: b, Format: f})
	switch r.IntN(6) {
	case 0:
		x = genValues(r, "a", x.Type)
	case 1, 2:
		y = genValues(r, "b", y.Type)
	}
	return floatOp(o, nil, x, y)
}

// genNorm draws rows, mostly of several elements, with a scale and a bias that may be computed.
func genNorm(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := genInput("x", ir.Float(genShape(r, 1, 3)...))
	rank := len(x.Type.Shape)
	x.Type.Shape[rank-1] += 3
	a := &NormAttrs{Axis: between(r, -rank, rank-1), Eps: []float32{1e-2, 1e-3, 0.5}[r.IntN(3)]}
	axis, _ := normAxis(a.Axis, rank)
	args := []*ir.Node{x}
	for i := 1; i < o.Arity[1] && chance(r, 75); i++ {
		shape := append([]int(nil), x.Type.Shape[axis:]...)
		if len(shape) > 1 && chance(r, 20) {
			shape = shape[1:]
		}
		args = append(args, genOperand(r, 75, []string{"", "scale", "bias"}[i], shape...))
	}
	return floatOp(o, a, args...)
}

// genGroupNorm draws images, or rows, of several channels a group.
func genGroupNorm(r *rand.Rand, o *ir.Op) *ir.Graph {
	groups, each := between(r, 1, 3), between(r, 1, 3)
	shape := append([]int{between(r, 1, 2), groups * each}, genShape(r, 0, 2)...)
	shape = append(shape, 4)
	args := []*ir.Node{genInput("x", ir.Float(shape...))}
	for i := 0; i < 2 && chance(r, 75); i++ {
		args = append(args, genOperand(r, 75, []string{"scale", "bias"}[i], shape[1]))
	}
	a := &GroupNormAttrs{Groups: groups, Eps: []float32{1e-2, 1e-3, 0.5}[r.IntN(3)]}
	return floatOp(o, a, args...)
}

// genRotary draws both ways of pairing, angles for all batches or each, and rows that are turned in part.
func genRotary(r *rand.Rand, o *ir.Op) *ir.Graph {
	a := &RotaryAttrs{Interleaved: chance(r, 50)}
	shape := []int{between(r, 1, 2), between(r, 1, 3), between(r, 1, 4), 2 * between(r, 1, 4)}
	dim := shape[3]
	if chance(r, 40) {
		a.Dim = 2 * between(r, 1, dim/2)
		dim = a.Dim
	}
	args := []*ir.Node{genInput("x", ir.Float(shape...))}
	for _, name := range []string{"cos", "sin"} {
		s := []int{shape[2], dim / 2}
		if chance(r, 40) {
			s = []int{shape[0], shape[2], dim / 2}
		}
		args = append(args, genOperand(r, 70, name, s...))
	}
	return floatOp(o, a, args...)
}

// genAttention draws heads that share keys, every mask, and scales so small that inputs of 100 do not decide all.
func genAttention(r *rand.Rand, o *ir.Op) *ir.Graph {
	batch, heads, each := between(r, 1, 2), between(r, 1, 2), between(r, 1, 2)
	t, s, d := between(r, 1, 4), between(r, 1, 5), between(r, 1, 4)
	a := &AttentionAttrs{Scale: []float32{1e-3, 5e-4}[r.IntN(2)], Causal: chance(r, 40)}
	if chance(r, 30) {
		a.Softcap = 4
	}
	args := []*ir.Node{
		genInput("q", ir.Float(batch, heads*each, t, d)),
		genOperand(r, 10, "k", batch, heads, s, d), genOperand(r, 10, "v", batch, heads, s, between(r, 1, 4)),
	}
	if chance(r, 50) {
		shape := []int{batch, heads * each, t, s}
		for i := range shape {
			if chance(r, 40) {
				shape[i] = 1
			}
		}
		t := ir.Type{Shape: shape[r.IntN(4):], Format: format.FP32}
		if chance(r, 50) {
			t.Format = ir.Bool
		}
		if args = append(args, genInput("mask", t)); chance(r, 40) {
			args[3] = genValues(r, "mask", t)
		}
	}
	return floatOp(o, a, args...)
}
