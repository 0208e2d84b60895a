// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
)

// TestLinearRows compares the bounds of a linear node row by row with those of the node evaluated, bit for bit.
func TestLinearRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for trial := range 50 {
		out, in := 1+r.IntN(9), 1+r.IntN(40)
		draw := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			return x
		}
		b := lowertest.New(t, 1)
		args := []*ir.Node{b.Input("x", 2, in), b.Const([]int{out, in}, draw(out*in)...)}
		if trial%2 == 0 {
			args = append(args, b.Const([]int{out}, draw(out)...))
		}
		n := b.Add(sum.Linear, "y", nil, args...)
		x := bounds{ir.NewTensor(args[0].Type), ir.NewTensor(args[0].Type)}
		copy(x.lo.Floats, draw(2*in))
		for i, v := range x.lo.Floats {
			x.hi.Floats[i] = v + r.Float32()
		}
		got, err := linear(n, x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := weighted(n, x)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.lo.Floats, want.lo.Floats) || !slices.Equal(got.hi.Floats, want.hi.Floats) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
