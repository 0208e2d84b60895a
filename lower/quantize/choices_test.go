// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math"
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/whole"
	"lathe/lower/lowertest"
)

// bits adds a constant of truth values, which it returns too.
func bits(b *lowertest.Builder, r *rand.Rand, shape ...int) (c *ir.Node, codes []int64) {
	c = b.Const(shape, make([]float32, ir.Float(shape...).Elems())...)
	codes = make([]int64, c.Type.Elems())
	for i := range codes {
		codes[i] = int64(r.IntN(2))
	}
	c.Op, c.Type.Format, c.Attrs = leaf.Const, ir.Bool, &ir.Const{Data: ir.CodeBlob(codes)}
	return c, codes
}

// TestChoices: a choice by a constant, between values and constants of all shapes that broadcast, is the same in
// integers; a constant that is not chosen may be infinite.
func TestChoices(t *testing.T) {
	inf := float32(math.Inf(-1))
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 12))
		b := lowertest.New(t, seed)
		x := b.Input("x", 1, 4, 6)
		cond, codes := bits(b, r, [][]int{{1, 4, 6}, {6}, {4, 1}, {1}}[r.IntN(4)]...)
		other := b.Input("z", 1, 4, 6)
		switch r.IntN(4) {
		case 0:
			other = b.Random(2, 4, 6)
		case 1:
			other = b.Const(nil, 0)
		case 2:
			values := make([]float32, cond.Type.Elems())
			for i, c := range codes {
				if values[i] = 1.5; c == 1 {
					values[i] = inf
				}
			}
			other = b.Const(cond.Type.Shape, values...)
		}
		args := []*ir.Node{cond, x, other}
		if other.IsConst() && seed%5 == 4 && other.Type.Elems() != cond.Type.Elems() {
			args[1], args[2] = other, x
		}
		g := b.Done(b.Add(whole.Where, "y", nil, args...))
		c := samples(g, -3, 3, 20)
		q, _ := mustQuantize(t, g, "", c)
		inputs, err := c.arrange(g)
		if err != nil {
			t.Fatal(err)
		}
		want, got := outputs(t, g, inputs), outputs(t, q, inputs)
		for i, sample := range got {
			numbers, err := sample[0].Decode()
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range numbers {
				if w := float64(want[i][0].Floats[k]); math.Abs(v-w) > 0.06 {
					t.Fatalf("case %d, sample %d, element %d: %g, want %g", seed, i, k, v, w)
				}
			}
		}
	}
}
