// SPDX-License-Identifier: Apache-2.0

package simplify_test

import (
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/ref"
	"lathe/lower/float/simplify"
	"lathe/lower/lowertest"
)

// TestThresholds puts thresholds behind activations, and not into functions that are written as parts.
func TestThresholds(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Input("x", 1, 4)
	relu := b.Add(pointwise.Relu, "relu", nil, x)
	wide := b.Linear("wide", relu, 4, true)
	part := b.Add(pointwise.Mul, "silu", nil, wide, b.Add(curve.Sigmoid, "part", nil, wide))
	g := b.Done(b.Add(pointwise.Relu, "end", nil, b.Linear("last", part, 2, true)))
	n, err := simplify.Thresholds(g, 0.5)
	if err == nil {
		err = g.Check()
	}
	f := g.Find("relu.threshold")
	if err != nil || n != 1 || f == nil || wide.Args[0] != f || f.Args[0] != relu {
		t.Fatalf("%d thresholds, %v", n, err)
	}
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	var got []float32
	err = p.Each(t.Context(), []ref.Sample{{&ir.Tensor{Type: x.Type, Floats: []float32{0.5, 0.625, -3, 2}}}},
		func(_, node int, v *ir.Tensor) error {
			if g.Nodes[node].Name == "relu.threshold" {
				got = v.Floats
			}
			return nil
		})
	if want := []float32{0, 0.625, 0, 2}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, not %v; %v", got, want, err)
	}
}
