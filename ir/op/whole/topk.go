// SPDX-License-Identifier: Apache-2.0

package whole

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// TopKAttrs say which elements along an axis are taken: the K largest, or least, in order; of equal ones the first.
type TopKAttrs struct {
	Axis, K int
	Largest bool
}

// The K largest or least elements along an axis, and their places. NaN is larger than all numbers.
var (
	TopKValues  = topK("topk_values", "the k largest or least elements along an axis, in order", false)
	TopKIndices = topK("topk_indices", "the places of the k largest or least elements along an axis", true)
)

func topK(name, doc string, places bool) *ir.Op {
	traits := ir.Traits{FloatOnly: true}
	if places {
		traits.Positions = func(n *ir.Node) int {
			axis, shape := n.Attrs.(*TopKAttrs).Axis, n.Args[0].Type.Shape
			return shape[(axis+len(shape))%len(shape)]
		}
	}
	return &ir.Op{
		Name: name, Doc: doc, Attrs: TopKAttrs{}, Arity: [2]int{1, 1},
		Traits: traits,
		Infer: func(n *ir.Node) ([]int, error) {
			a, shape := n.Attrs.(*TopKAttrs), slices.Clone(n.Args[0].Type.Shape)
			axis, err := walk.Axis(a.Axis, len(shape))
			if err != nil {
				return nil, err
			}
			if a.K < 0 || a.K > shape[axis] {
				return nil, fmt.Errorf("axis %d of %s does not have %d elements", axis, ir.ShapeString(shape), a.K)
			}
			shape[axis] = a.K
			return shape, nil
		},
		Format: func(n *ir.Node) (format.Format, error) {
			if places {
				return ir.Int64, nil
			}
			return n.Args[0].Type.Format, nil
		},
		Eval: func(n *ir.Node) (ir.Kernel, error) { return topKEval(n, places) },
		HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
			if err := column.InFloatGraph(n); err != nil {
				return hlo.Value{}, err
			}
			a := n.Attrs.(*TopKAttrs)
			axis, err := walk.Axis(a.Axis, len(n.Type.Shape))
			if err != nil {
				return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
			}
			v, at := b.SortPlaces(args[0], b.Axis(axis), a.Largest)
			if places {
				v = at
			}
			return b.SliceAxis(v, b.Axis(axis), 0, a.K), b.Err()
		},
		Legal: column.NoInteger,
		Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
			x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 3), Format: draw.Either(r)})
			rank := len(x.Type.Shape)
			a := &TopKAttrs{Axis: draw.Between(r, -rank, rank-1), Largest: draw.Chance(r, 50)}
			a.K = draw.Between(r, 1, x.Type.Shape[(a.Axis+rank)%rank])
			return draw.FloatGraph(o, a, x)
		},
	}
}

func topKEval(n *ir.Node, places bool) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	a, shape := n.Attrs.(*TopKAttrs), n.Args[0].Type.Shape
	axis, err := walk.Axis(a.Axis, len(shape))
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, out := args[0], ir.NewTensor(n.Type)
		order := make([]int, shape[axis])
		walk.Lines(shape, axis, func(base, size, stride int) {
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(i, j int) int {
				c := compareElements(x, base+i*stride, base+j*stride)
				if a.Largest {
					return -c
				}
				return c
			})
			outer, inner := base/(size*stride), base%stride
			for i, p := range order[:a.K] {
				to := (outer*a.K+i)*stride + inner
				if places {
					out.Codes[to] = int64(p)
				} else {
					column.CopyRun(out, to, x, base+p*stride, 1)
				}
			}
		})
		return out, nil
	}, nil
}

// compareElements orders two elements; NaN is larger than all numbers, and zeros are equal.
func compareElements(x *ir.Tensor, i, j int) int {
	if x.Codes != nil {
		return compareOrdered(x.Codes[i], x.Codes[j])
	}
	return compareOrdered(x.Floats[i], x.Floats[j])
}

func compareOrdered[T int64 | float32](a, b T) int {
	switch {
	case a > b, a != a && b == b:
		return 1
	case a < b, b != b && a == a:
		return -1
	}
	return 0
}
