// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"math"
	"testing"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/window"
	"lathe/lower/lowertest"
)

// TestAlways bounds what operations leave, whatever the input is.
func TestAlways(t *testing.T) {
	inf := math.Inf(1)
	b := lowertest.New(t, 1)
	x := b.Input("x", 1, 2, 4, 4)
	pool := lowertest.Window(2, 2, 2, 0)
	add := func(o *ir.Op, name string, attrs any, args ...*ir.Node) *ir.Node {
		return b.Add(o, name, attrs, args...)
	}
	relu := add(pointwise.Relu, "relu", nil, x)
	six := add(pointwise.Clip, "six", &pointwise.ClipAttrs{Max: 6}, x)
	want := map[*ir.Node]Range{
		x:    {-inf, inf},
		relu: {0, inf},
		six:  {0, 6},
		add(pointwise.Clip, "both", &pointwise.ClipAttrs{Min: -2, Max: 2}, x):   {-2, 2},
		add(pointwise.LeakyRelu, "leaky", &pointwise.LeakyAttrs{Alpha: 0.1}, x): {-inf, inf},
		add(curve.Sigmoid, "sigmoid", nil, x):                                   {0, 1},
		add(curve.Tanh, "tanh", nil, x):                                         {-1, 1},
		add(curve.Exp, "exp", nil, x):                                           {0, inf},
		add(curve.Abs, "abs", nil, x):                                           {0, inf},
		add(norm.Softmax, "softmax", &column.AxisAttrs{Axis: 1}, x):             {0, 1},
		add(pointwise.Add, "sum", nil, relu, six):                               {0, inf},
		add(pointwise.Add, "mixed", nil, relu, x):                               {-inf, inf},
		add(pointwise.Sub, "difference", nil, relu, six):                        {-6, inf},
		add(pointwise.Mul, "product", nil, six, six):                            {0, 36},
		add(window.MaxPool, "maxpool", &pool, relu):                             {0, inf},
		add(window.AvgPool, "avgpool", &window.AvgAttrs{Window: pool}, six):     {0, 6},
		add(reduce.Mean, "mean", &reduce.Attrs{Axes: []int{1}}, six):            {0, 6},
		add(move.Concat, "concat", &move.ConcatAttrs{Axis: 1}, relu, six):       {0, inf},
		add(move.Concat, "signed", &move.ConcatAttrs{Axis: 1}, relu, x):         {-inf, inf},
		b.Flatten("flat", relu):                                                 {0, inf},
		b.Conv("conv", relu, 2, 1, 1, 0, 1, false):                              {-inf, inf},
	}
	var outs []*ir.Node
	for n := range want {
		outs = append(outs, n)
	}
	got := Always(b.Done(outs...))
	for n, r := range want {
		if got[n] != r {
			t.Errorf("%s: %v, want %v", n.Name, got[n], r)
		}
	}
}
