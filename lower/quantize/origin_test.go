// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// TestWeightsRememberConstants: behind simplification, layout and quantization every constant of hardware names those
// of the model that it was computed from.
func TestWeightsRememberConstants(t *testing.T) {
	b := lowertest.New(t, 1)
	named := func(name string, shape ...int) *ir.Node {
		n := b.Random(1, shape...)
		n.Name = name
		return n
	}
	x := b.Add(sum.Conv, "conv", &sum.ConvAttrs{Window: geometry.Window{Kernel: []int{1, 1}, Strides: []int{1, 1},
		Dilations: []int{1, 1}, Pads: make([]int, 4)}, Groups: 1}, b.Input("x", 1, 2, 3, 3), named("kernel", 4, 2, 1, 1))
	x = b.Add(sum.Scale, "norm", &column.ScaleAttrs{Axis: 1}, x, named("gain", 4), named("shift", 4))
	x = b.Add(move.Reshape, "flat", &move.ReshapeAttrs{Shape: []int{1, 36}}, x)
	turned := b.Add(move.Transpose, "turned", &move.TransposeAttrs{Perm: []int{1, 0}}, named("matrix", 36, 5))
	g := b.Done(b.Add(sum.Linear, "fc", nil, x, turned, named("bias", 5)))
	q, _, err := Run(t.Context(), g, plan.Default(), Calibration{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, n := range q.Nodes {
		for i, a := range n.Args {
			if c, ok := a.Attrs.(*ir.Const); ok {
				for _, s := range g.Behind(c) {
					key := fmt.Sprint(n.Name, " ", i)
					got[key] = append(got[key], s.Name)
				}
			}
		}
	}
	want := map[string][]string{"conv 1": {"kernel", "gain"}, "conv 2": {"shift"}, "fc 1": {"matrix"}, "fc 2": {"bias"}}
	for key, names := range want {
		if !slices.Equal(got[key], names) {
			t.Errorf("argument %s comes from %v, not %v", key, got[key], names)
		}
	}
}
