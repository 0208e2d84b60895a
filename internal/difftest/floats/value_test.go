// SPDX-License-Identifier: Apache-2.0

package floats

import (
	"fmt"
	"testing"

	"lathe/golden"
	"lathe/internal/difftest"
	"lathe/internal/difftest/programs"
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/norm"
	"lathe/ir/op/sum"
	"lathe/ir/ref"
)

// parametric are the operations that read weights, biases or gains.
var parametric = []*ir.Op{sum.Linear, sum.Conv, sum.Scale, sum.BatchNorm, norm.LayerNorm, norm.RMSNorm, norm.GroupNorm}

// TestWeightsAsValues draws float nodes whose weights, biases or gains are inputs, each of them or only some: Eval with
// the same node over constants, code by code, and StableHLO with samples of their own for every argument, with weights
// that all samples share, and without an axis of samples.
func TestWeightsAsValues(t *testing.T) {
	const samples = 3
	for _, o := range parametric {
		for i := range 6 {
			t.Run(fmt.Sprint(o.Name, "/", i), func(t *testing.T) {
				t.Parallel()
				g, r := difftest.Case(o, i)
				fixed, err := difftest.Float(r, g)
				if err != nil {
					t.Fatal(err)
				}
				free, weights := freed(fixed, i)
				values := difftest.Samples(r, free, samples)
				for s := range values { // a positive variance, and the constants of the model in the first sample
					for k, n := range free.In {
						c := weights[n]
						if c == nil {
							continue
						}
						values[s][k], err = c.Value()
						if err != nil {
							t.Fatal(err)
						}
						if s > 0 {
							values[s][k] = scaled(values[s][k], 1+float32(s)/4)
						}
					}
				}
				sameAsFixed(t, fixed, free, weights, values[0])
				programs.CompareForm(t, free, values, golden.Form{Samples: samples}, 1e-5)
				programs.CompareForm(t, free, values[:1], golden.Form{}, 1e-5)
				shared := golden.Form{Samples: samples, Shared: map[*ir.Node]bool{}}
				for k, n := range free.In {
					if shared.Shared[n] = weights[n] != nil; shared.Shared[n] {
						for s := range values {
							values[s][k] = values[0][k]
						}
					}
				}
				programs.CompareForm(t, free, values, shared, 1e-5)
			})
		}
	}
}

// freed is g with constants as inputs, and the constant that each of them was: all of them, or in every third case
// every second one.
func freed(g *ir.Graph, i int) (*ir.Graph, map[*ir.Node]*ir.Node) {
	c, weights := g.Clone(), map[*ir.Node]*ir.Node{}
	for k, n := range c.Nodes {
		if !n.IsConst() || i%3 == 2 && k%2 == 0 {
			continue
		}
		weights[n] = g.Nodes[k]
		n.Op, n.Attrs = leaf.Input, &ir.Input{}
		c.In = append(c.In, n)
	}
	return c, weights
}

// scaled is a tensor times a number.
func scaled(t *ir.Tensor, by float32) *ir.Tensor {
	c := ir.NewTensor(t.Type)
	for i, v := range t.Floats {
		c.Floats[i] = v * by
	}
	return c
}

// sameAsFixed compares the Eval column of a node whose weights are inputs with that of the node over constants.
func sameAsFixed(t *testing.T, fixed, free *ir.Graph, weights map[*ir.Node]*ir.Node, sample ref.Sample) {
	t.Helper()
	var inputs ref.Sample
	for k, n := range free.In {
		if weights[n] == nil {
			inputs = append(inputs, sample[k])
		}
	}
	want, err := difftest.Evaluate(t.Context(), fixed, []ref.Sample{inputs})
	if err != nil {
		t.Fatal(err)
	}
	got, err := difftest.Evaluate(t.Context(), free, []ref.Sample{sample})
	if err != nil {
		t.Fatal(err)
	}
	if d := difftest.Differ(free, want[0], got[0], 0); d != "" {
		t.Errorf("as constants and as inputs: %s\n%s", d, difftest.Describe(free))
	}
}
