// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/emit/cuda"
	"lathe/internal/difftest"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/group"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

// TestOneKernel: a group of element-wise nodes and reshapes is one kernel, which reads the inputs and writes the result
// and the one value in between that is a result too.
func TestOneKernel(t *testing.T) {
	tools.NeedNVRTC(t)
	fx := func(w, f int, shape ...int) ir.Type {
		return ir.Type{Shape: shape, Format: format.Fixed{W: w, F: f, Signed: true}}
	}
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: fx(8, 4, 3, 70)}
	y := &ir.Node{Name: "y", Op: leaf.Input, Attrs: &ir.Input{}, Type: fx(9, 6, 3, 70)}
	sum := &ir.Node{Name: "sum", Op: pointwise.Add, Args: []*ir.Node{x, y}, Type: fx(10, 5, 3, 70)}
	positive := &ir.Node{Name: "positive", Op: pointwise.Relu, Args: []*ir.Node{sum}, Type: sum.Type}
	flat := &ir.Node{Name: "flat", Op: move.Reshape, Args: []*ir.Node{positive}, Type: fx(10, 5, 210),
		Attrs: &move.ReshapeAttrs{Shape: []int{210}}}
	cast := &ir.Node{Name: "cast", Op: pointwise.Cast, Args: []*ir.Node{flat}, Type: fx(5, 2, 210)}
	g := &ir.Graph{Name: "one", Stage: ir.StageQuantized, In: []*ir.Node{x, y},
		Nodes: []*ir.Node{x, y, sum, positive, flat, cast}, Out: []ir.Output{{Name: "out", Node: cast}}}
	groups := map[*ir.Node]*ir.Node{sum: cast, positive: cast, flat: cast}
	d := emitGroups(t, g, groups)
	if u := d.Units; len(u) != 1 || len(u[0].Args) != 3 || len(d.Buffers) != 4 || len(u[0].Members) != 4 {
		t.Fatalf("%d kernels, %d buffers\n%s", len(u), len(d.Buffers), d.Source)
	}
	if u := d.Units[0]; u.Node != "cast" || u.Format != "fixed(5,2)" || u.Bytes != 210*(1+2+1) || u.Flops != 2*210 {
		t.Errorf("%+v", u)
	}
	compareDesign(t, emulated, g, d, difftest.Rand("one kernel", 0), 0)

	g.Out = append(g.Out, ir.Output{Name: "between", Node: sum})
	if d = emitGroups(t, g, groups); len(d.Outputs) != 2 || len(d.Units) != 2 {
		t.Fatalf("%d outputs of %d kernels\n%s", len(d.Outputs), len(d.Units), d.Source)
	}
	compareDesign(t, emulated, g, d, difftest.Rand("one kernel", 1), 0)
}

func emitGroups(t *testing.T, g *ir.Graph, anchors map[*ir.Node]*ir.Node) *cuda.Design {
	t.Helper()
	groups, err := group.New(g, anchors)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	d, err := cuda.EmitGroups(g, groups, cuda.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	return d
}

// TestKernelGroups: networks in random groups have the codes that their nodes have alone.
func TestKernelGroups(t *testing.T) {
	tools.NeedNVRTC(t)
	for i := range kernelCases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := difftest.Rand("groups", i)
			g := difftest.Residual(r, i%difftest.Residuals)
			if i%2 == 1 {
				g = difftest.Chain(r, difftest.Chains[r.IntN(len(difftest.Chains))])
			}
			d := emitGroups(t, g, randomGroups(t, r, g))
			compareDesign(t, emulated, g, d, r, 0)
		})
	}
}

// randomGroups joins nodes to the groups of their arguments, one after the other, as long as an order is left; at least
// one of them.
func randomGroups(t *testing.T, r *rand.Rand, g *ir.Graph) map[*ir.Node]*ir.Node {
	t.Helper()
	for range 100 {
		anchors := map[*ir.Node]*ir.Node{}
		for _, n := range g.Nodes {
			computed := slices.DeleteFunc(slices.Clone(n.Args), func(a *ir.Node) bool { return a.Op.Traits.Source })
			if len(computed) == 0 || r.IntN(4) == 0 {
				continue
			}
			to := computed[r.IntN(len(computed))]
			if a := anchors[to]; a != nil {
				to = a
			}
			anchors[n] = to
			if _, err := group.New(g, anchors); err != nil {
				delete(anchors, n)
			}
		}
		if len(anchors) > 0 {
			return anchors
		}
	}
	t.Fatalf("no groups of several in\n%s", difftest.Describe(g))
	return nil
}
