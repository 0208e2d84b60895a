// SPDX-License-Identifier: Apache-2.0

package move

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
)

// ReshapeAttrs hold the shape of the result.
type ReshapeAttrs struct {
	Shape []int
}

// Reshape gives the elements, in row-major order, another shape. Flatten, Squeeze and Unsqueeze become it.
var Reshape = &ir.Op{
	Name: "reshape", Doc: "same elements in row-major order, other shape", Attrs: ReshapeAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Whole: true, KeepsCodes: true, Monotone: true, Wire: true},
	Infer: func(n *ir.Node) ([]int, error) {
		shape := n.Attrs.(*ReshapeAttrs).Shape
		if walk.Size(shape) != n.Args[0].Type.Elems() {
			return nil, fmt.Errorf("cannot reshape %s to %s", ir.ShapeString(n.Args[0].Type.Shape), ir.ShapeString(shape))
		}
		return shape, nil
	},
	Eval: column.PassThrough,
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		v := b.Reshape(args[0], b.Dims(n.Type.Shape...)...)
		return carrier.KeepScale(b, n, args[0], v), b.Err()
	},
	RTL:   hardware.Wire,
	Legal: column.SameFormat,
	Gen:   genReshape,
}

// Identity returns its argument. Dropout at inference becomes it.
var Identity = &ir.Op{
	Name: "identity", Doc: "x", Arity: [2]int{1, 1},
	Traits: ir.Traits{Whole: true, KeepsCodes: true, Monotone: true, Wire: true, Elementwise: true},
	Infer:  column.SameShape,
	Eval:   column.PassThrough,
	HLO:    func(_ *hlo.Builder, _ *ir.Node, args []hlo.Value) (hlo.Value, error) { return args[0], nil },
	RTL:    hardware.Wire,
	Legal:  column.SameFormat,
	Gen:    draw.Same,
}

// TransposeAttrs hold the permutation: axis i of the result is axis Perm[i] of the argument.
type TransposeAttrs struct {
	Perm []int
}

// Transpose permutes the axes. In hardware only permutations that keep the order of elements are free; others keep a
// frame in memory.
var Transpose = &ir.Op{
	Name: "transpose", Doc: "permutes axes", Attrs: TransposeAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Whole: true, KeepsCodes: true, Monotone: true,
		Perm: func(attrs any) []int { return attrs.(*TransposeAttrs).Perm }},
	Infer: func(n *ir.Node) ([]int, error) {
		perm, in := n.Attrs.(*TransposeAttrs).Perm, n.Args[0].Type.Shape
		if len(perm) != len(in) {
			return nil, fmt.Errorf("permutation %v does not fit rank %d", perm, len(in))
		}
		out, seen := make([]int, len(perm)), make([]bool, len(perm))
		for i, p := range perm {
			if p < 0 || p >= len(in) || seen[p] {
				return nil, fmt.Errorf("%v is not a permutation of %d axes", perm, len(in))
			}
			seen[p], out[i] = true, in[p]
		}
		return out, nil
	},
	Eval: transposeEval,
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		perm := append([]int{0}[:b.Lead()], b.Axes(n.Attrs.(*TransposeAttrs).Perm...)...)
		return b.Transpose(args[0], perm...), b.Err()
	},
	RTL:   reorderRTL,
	Lanes: moves(func(n *ir.Node) []int { return lane.Divisors(keptRun(n)) }),
	Gen:   genTranspose,
	Legal: column.SameFormat,
}

// KeepsOrder says that a transpose moves only axes of size 1, so that the row-major order stays.
func KeepsOrder(n *ir.Node) bool {
	return Ascending(n.Attrs.(*TransposeAttrs).Perm, n.Args[0].Type.Shape)
}

// Ascending says that a permutation of the axes of a shape moves only those of size 1.
func Ascending(perm, shape []int) bool {
	last := -1
	for _, p := range perm {
		if shape[p] == 1 {
			continue
		}
		if p < last {
			return false
		}
		last = p
	}
	return true
}

func transposeEval(n *ir.Node) (ir.Kernel, error) {
	return walkEval(n, transposeWalk(n.Args[0].Type.Shape, n.Attrs.(*TransposeAttrs).Perm)), nil
}

// transposeWalk is the walk over the transpose of an array of the given shape.
func transposeWalk(shape, perm []int) *walk.Walk {
	out, strides := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		out[i], strides[i] = shape[p], walk.Size(shape[p+1:])
	}
	return walk.New(out, strides)
}

func genReshape(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 4), Format: draw.Moved(r)})
	shape := []int{x.Type.Elems()}
	if draw.Chance(r, 50) {
		shape = append([]int{1}, shape...)
	}
	if d := x.Type.Shape[0]; draw.Chance(r, 50) {
		shape = []int{d, x.Type.Elems() / d}
	}
	return draw.Graph(o, &ReshapeAttrs{shape}, draw.Keeps(x.Type), x)
}

// genTranspose draws any permutation, sometimes with axes of size 1.
func genTranspose(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 5), Format: draw.Moved(r)})
	for i := range x.Type.Shape {
		if draw.Chance(r, 20) {
			x.Type.Shape[i] = 1
		}
	}
	return draw.Graph(o, &TransposeAttrs{r.Perm(len(x.Type.Shape))}, draw.Keeps(x.Type), x)
}
