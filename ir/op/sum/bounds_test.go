// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/draw"
	"lathe/ir/op/leaf"
)

func constant(x []float32, shape ...int) *ir.Node {
	return &ir.Node{Name: "c", Op: leaf.Const, Attrs: &ir.Const{Data: ir.FloatBlob(x)}, Type: ir.Float(shape...)}
}

// TestLinearRows compares the bounds of a linear node row by row with those of the node evaluated, bit for bit.
func TestLinearRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for trial := range 50 {
		out, in := 1+r.IntN(9), 1+r.IntN(40)
		values := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			return x
		}
		args := []*ir.Node{draw.Input("x", ir.Float(2, in)), constant(values(out*in), out, in)}
		if trial%2 == 0 {
			args = append(args, constant(values(out), out))
		}
		n := draw.Graph(Linear, nil, ir.Float(), args...).Out[0].Node
		x := ir.Bounds{Lo: ir.NewTensor(args[0].Type), Hi: ir.NewTensor(args[0].Type)}
		copy(x.Lo.Floats, values(2*in))
		for i, v := range x.Lo.Floats {
			x.Hi.Floats[i] = v + r.Float32()
		}
		got, err := linearBounds(n, []ir.Bounds{x})
		if err != nil {
			t.Fatal(err)
		}
		want, err := weightedBounds(n, []ir.Bounds{x})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Lo.Floats, want.Lo.Floats) || !slices.Equal(got.Hi.Floats, want.Hi.Floats) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
