// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
)

// TestEmpty evaluates operations on arguments without elements, which constant expressions of models have: whatever
// shapes are inferred, there is a result, or an error, and never a panic.
func TestEmpty(t *testing.T) {
	ran := map[*ir.Op]bool{}
	for _, o := range All {
		if o.Traits.Source || o.Traits.Weighted || !(o.Traits.Whole || o.Traits.FloatOnly || o.Format != nil) {
			continue // hardware and layers, whose arguments importers check
		}
		for seed := range uint64(30) {
			r := rand.New(rand.NewPCG(seed, 13))
			n := o.Gen(r, o).Out[0].Node
			f := []format.Format{format.FP32, ir.Int64}[seed%2]
			if o.Format == nil && f != format.FP32 && !o.Traits.Whole {
				f = format.FP32
			}
			if o.Format == nil {
				for _, a := range n.Args {
					a.Type = ir.Type{Shape: a.Type.Shape, Format: f}
				}
			}
			if err := emptied(r, n, int(seed)); err != nil {
				t.Errorf("seed %d: %s: %v", seed, o.Name, err)
			} else if n.Type.Shape != nil {
				ran[o] = true
			}
		}
	}
	for _, o := range []*ir.Op{pointwise.Add, move.Concat, move.Reshape, move.Transpose, whole.Gather, whole.Where,
		whole.Compare, reduce.Sum, reduce.Prod, whole.CumSum,
		reduce.ArgMax, whole.TopKValues, whole.Convert, whole.ScatterND, whole.GatherND, move.Pad, move.Repeat, move.Slice} {
		if !ran[o] {
			t.Errorf("%s never ran on nothing", o.Name)
		}
	}
}

// emptied takes the elements out of one axis of the inputs of n and evaluates it.
func emptied(r *rand.Rand, n *ir.Node, k int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v of %v: %v", n.Attrs, column.TypesOf(n.Args), p)
		}
	}()
	for i, a := range n.Args {
		if len(a.Type.Shape) > 0 && (i == 0 || k%3 > 0) {
			shape := append([]int(nil), a.Type.Shape...)
			shape[k%len(shape)] = 0
			a.Type.Shape = shape
		}
		if a.Op == leaf.Const { // any values of the shape
			a.Op, a.Attrs = leaf.Input, &ir.Input{}
		}
	}
	if a, ok := n.Attrs.(*move.SliceAttrs); ok {
		a.Start, a.Count = 0, 0
	}
	if a, ok := n.Attrs.(*move.ReshapeAttrs); ok {
		a.Shape = []int{0, 3}
	}
	if a, ok := n.Attrs.(*move.RepeatAttrs); ok {
		a.Shape = n.Args[0].Type.Shape
	}
	n.Type.Shape = nil
	shape, err := n.Op.Infer(n)
	if err != nil {
		return nil // refused, which is as well
	}
	if n.Type.Format, err = (&ir.Node{Op: n.Op, Args: n.Args, Attrs: n.Attrs}).FloatFormat(); err != nil {
		return nil
	}
	n.Type.Shape, n.Type.Scales = shape, nil
	args := make([]*ir.Tensor, len(n.Args))
	for i, a := range n.Args {
		args[i] = ir.NewTensor(a.Type)
		for j := range args[i].Codes {
			args[i].Codes[j] = int64(r.IntN(2))
		}
	}
	if y, err := draw.Run(n, args); err == nil && len(y.Codes)+len(y.Floats) != n.Type.Elems() {
		return fmt.Errorf("%d elements for %s", len(y.Codes)+len(y.Floats), n.Type)
	}
	return nil
}
