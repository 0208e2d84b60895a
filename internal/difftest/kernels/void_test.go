// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"testing"

	"lathe/emit/cuda"
	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/difftest"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/leaf"
	"lathe/ir/op/reduce"
	"lathe/ir/ref"
)

// voids are rows under a square root, which makes NaN of negative numbers, and where argmax then finds the largest: the
// first place, and the last.
var voids = []struct {
	row         [4]float32
	first, last float32
}{
	{[4]float32{1, -1, 4, 9}, 1, 1},
	{[4]float32{-1, -2, -3, -4}, 0, 3},
	{[4]float32{9, 1, 9, 4}, 0, 2},
	{[4]float32{math.MaxFloat32, 0, 2, -5}, 3, 3},
	{[4]float32{0, -7, 0, -7}, 1, 3},
}

// voidGraph takes the root of a row, and behind it the functions on which engines are likely to differ.
func voidGraph() *ir.Graph {
	g := &ir.Graph{Name: "voids", Stage: ir.StageFloat}
	add := func(name string, o *ir.Op, attrs any, shape []int, args ...*ir.Node) *ir.Node {
		n := &ir.Node{Name: name, Op: o, Attrs: attrs, Args: args, Type: ir.Float(shape...)}
		g.Nodes = append(g.Nodes, n)
		return n
	}
	x := add("x", leaf.Input, &ir.Input{}, []int{4})
	root := add("root", curve.Sqrt, nil, []int{4}, x)
	g.In = []*ir.Node{x}
	for _, n := range []*ir.Node{
		add("first", reduce.ArgMax, &reduce.ArgMaxAttrs{}, []int{}, root),
		add("last", reduce.ArgMax, &reduce.ArgMaxAttrs{Last: true}, []int{}, root),
		add("sign", curve.Sign, nil, []int{4}, root),
		add("swish", curve.HardSwish, nil, []int{4}, x),
	} {
		g.Out = append(g.Out, ir.Output{Name: n.Name, Node: n})
	}
	return g
}

// TestVoids makes NaN inside of a float graph: every engine has the places of argmax and the signs that ONNX defines.
// The largest number goes through hard_swish, whose result is finite.
func TestVoids(t *testing.T) {
	g := voidGraph()
	var samples []ref.Sample
	for _, v := range voids {
		in := ir.NewTensor(g.In[0].Type)
		copy(in.Floats, v.row[:])
		samples = append(samples, ref.Sample{in})
	}
	check := func(engine string, got []ref.Sample) {
		for s, v := range voids {
			if first, last := got[s][0].Floats[0], got[s][1].Floats[0]; first != v.first || last != v.last {
				t.Errorf("%s: argmax of the roots of %v is %v and %v, want %v and %v", engine, v.row, first, last, v.first,
					v.last)
			}
			for i, x := range v.row {
				sign, swish := got[s][2].Floats[i], got[s][3].Floats[i]
				if x < 0 != (sign != sign) || x >= 0 && float64(sign) != min(1, math.Ceil(float64(x))) {
					t.Errorf("%s: the sign of the root of %v is %v", engine, x, sign)
				}
				if want := float64(x) * min(max(float64(x)/6+0.5, 0), 1); math.Abs(float64(swish)-want) > 1e-6*math.Abs(want) {
					t.Errorf("%s: hard_swish of %v is %v", engine, x, swish)
				}
			}
		}
	}
	want, err := difftest.Evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatal(err)
	}
	check("ref", want)
	t.Run("pjrt", func(t *testing.T) {
		got, err := golden.RunPJRT(t.Context(), pjrttest.Engine(t), g, samples, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		check("pjrt", got)
	})
	t.Run("cuda", func(t *testing.T) {
		tools.NeedNVRTC(t)
		d, err := cuda.Emit(g, cuda.Options{})
		if err != nil {
			t.Fatal(err)
		}
		check("cuda", emulate(t, d, samples))
	})
}
