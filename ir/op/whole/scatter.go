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
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// ScatterAttrs are the axis of positions, and what becomes of an element and an update that meet: "" takes the update,
// the last of several; add, mul, max and min combine them.
type ScatterAttrs struct {
	Axis   int
	Reduce string
}

// ScatterNDAttrs say what becomes of an element and an update that meet, as in ScatterAttrs.
type ScatterNDAttrs struct {
	Reduce string
}

// reductions are the ways in which scatters combine.
var reductions = []struct {
	name    string
	reducer hlo.Reducer
	floats  func(a, b float32) float32
	whole   func(a, b int64) int64
}{
	{"", hlo.ReduceLast, func(_, b float32) float32 { return b }, func(_, b int64) int64 { return b }},
	{"add", hlo.ReduceAdd, func(a, b float32) float32 { return a + b }, func(a, b int64) int64 { return a + b }},
	{"mul", hlo.ReduceMul, func(a, b float32) float32 { return a * b }, func(a, b int64) int64 { return a * b }},
	{"max", hlo.ReduceMax, func(a, b float32) float32 { return max(a, b) }, func(a, b int64) int64 { return max(a, b) }},
	{"min", hlo.ReduceMin, func(a, b float32) float32 { return min(a, b) }, func(a, b int64) int64 { return min(a, b) }},
}

// ScatterElements writes each element of updates into data: along the axis at the position that indices say, along all
// others at its own place. Positions are those of gather.
var ScatterElements = &ir.Op{
	Name: "scatter_elements", Doc: "data with updates at positions along an axis; arguments data, indices, updates",
	Attrs: ScatterAttrs{}, Arity: [2]int{3, 3},
	Traits: ir.Traits{FloatOnly: true, Index: func(n *ir.Node, i int) int {
		return axisSize(n, i, n.Attrs.(*ScatterAttrs).Axis)
	}},
	Infer: func(n *ir.Node) ([]int, error) {
		a := n.Attrs.(*ScatterAttrs)
		if err := besideData(n, a.Axis); err != nil {
			return nil, err
		}
		return scatterShape(n, a.Reduce, n.Args[1].Type.Shape)
	},
	Format: scatterFormat,
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		a := n.Attrs.(*ScatterAttrs)
		return scatterEval(n, a.Reduce, 1, func(codes []int64) ([]int, error) { return elementPlaces(n, codes, a.Axis) })
	},
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		a := n.Attrs.(*ScatterAttrs)
		return scatterHLO(b, n, args, a.Reduce, nil, func(index hlo.Value) (hlo.Value, error) {
			return elementPlaceHLO(b, n, index, a.Axis, b.Lead())
		})
	},
	Legal: column.NoInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		data, index, axis := genBeside(r)
		a := &ScatterAttrs{axis, reductions[r.IntN(len(reductions))].name}
		return draw.FloatGraph(o, a, data, index, draw.Input("updates", data.Type.WithShape(index.Type.Shape)))
	},
}

// ScatterND writes slices of updates into data: the last axis of indices holds a position on each of the leading axes
// of data. Positions are those of scatter_elements.
var ScatterND = &ir.Op{
	Name: "scatter_nd", Doc: "data with slices of updates at tuples of positions; arguments data, indices, updates",
	Attrs: ScatterNDAttrs{}, Arity: [2]int{3, 3},
	Traits: ir.Traits{FloatOnly: true, Index: func(n *ir.Node, i int) int {
		if t, err := tupleOf(n, 0); err == nil && i == 1 {
			return slices.Min(t.sizes)
		}
		return 0
	}},
	Infer: func(n *ir.Node) ([]int, error) {
		t, err := tupleOf(n, 0)
		if err != nil {
			return nil, err
		}
		return scatterShape(n, n.Attrs.(*ScatterNDAttrs).Reduce, append(slices.Clone(t.lead), t.rest...))
	},
	Format: scatterFormat,
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		t, err := tupleOf(n, 0)
		if err != nil {
			return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
		}
		return scatterEval(n, n.Attrs.(*ScatterNDAttrs).Reduce, walk.Size(t.rest),
			func(codes []int64) ([]int, error) { return t.places(n, codes) })
	},
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		t, err := tupleOf(n, 0)
		if err != nil {
			return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
		}
		return scatterHLO(b, n, args, n.Attrs.(*ScatterNDAttrs).Reduce, t.rest,
			func(index hlo.Value) (hlo.Value, error) { return t.print(b, index, b.Lead()), b.Err() })
	},
	Legal: column.NoInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		data := genData(r, 1, 4)
		k := draw.Between(r, 1, len(data.Type.Shape))
		shape := draw.Shape(r, 0, 2)
		index := genIndices(r, append(slices.Clone(shape), k), slices.Min(data.Type.Shape[:k]))
		updates := draw.Input("updates", data.Type.WithShape(append(shape, data.Type.Shape[k:]...)))
		return draw.FloatGraph(o, &ScatterNDAttrs{reductions[r.IntN(len(reductions))].name}, data, index, updates)
	},
}

// scatterShape is the shape of data; updates must have the shape want.
func scatterShape(n *ir.Node, reduce string, want []int) ([]int, error) {
	if reductionOf(reduce) < 0 {
		return nil, fmt.Errorf("%q combines nothing; add, mul, max and min do", reduce)
	}
	if have := n.Args[2].Type.Shape; !slices.Equal(have, want) {
		return nil, fmt.Errorf("updates have shape %s, not %s", ir.ShapeString(have), ir.ShapeString(want))
	}
	return n.Args[0].Type.Shape, nil
}

// reductionOf is the place of a reduction in the list, -1 for none.
func reductionOf(reduce string) int {
	for i, f := range reductions {
		if f.name == reduce {
			return i
		}
	}
	return -1
}

func scatterFormat(n *ir.Node) (format.Format, error) {
	if _, err := indexedFormat(n); err != nil {
		return nil, err
	}
	return n.OneFormat(n.Args[0], n.Args[2])
}

// scatterEval combines runs of updates with data at the rows that places lists.
func scatterEval(n *ir.Node, reduce string, run int, places func(codes []int64) ([]int, error)) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	at := reductionOf(reduce)
	if at < 0 {
		return nil, n.Errorf(diag.ArgumentShapes, "%q combines nothing", reduce)
	}
	f, fill, cut := reductions[at], column.FixedArgs(n), arith.Wrap(n.Type)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		rows, err := places(args[1].Codes)
		if err != nil {
			return nil, err
		}
		out := &ir.Tensor{Type: n.Type, Floats: slices.Clone(args[0].Floats), Codes: slices.Clone(args[0].Codes)}
		for i, p := range rows {
			for k := range run {
				if out.Codes == nil {
					out.Floats[p*run+k] = f.floats(out.Floats[p*run+k], args[2].Floats[i*run+k])
				} else {
					out.Codes[p*run+k] = cut(f.whole(out.Codes[p*run+k], args[2].Codes[i*run+k]))
				}
			}
		}
		return out, nil
	}, nil
}

// scatterHLO combines rows of updates with data at the places that place prints.
func scatterHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value, reduce string, rest []int,
	place func(index hlo.Value) (hlo.Value, error)) (hlo.Value, error) {
	if err := column.InFloatGraph(n); err != nil {
		return hlo.Value{}, err
	}
	var v [3]hlo.Value
	for i := range v {
		var err error
		if v[i], err = carrier.EachSample(b, n, args, i); err != nil {
			return hlo.Value{}, err
		}
	}
	at, err := place(v[1])
	if err != nil || reductionOf(reduce) < 0 {
		return hlo.Value{}, err
	}
	dims := v[0].Type().Dims
	table := b.Reshape(v[0], append([]int{walk.Size(dims) / max(walk.Size(rest), 1)}, rest...)...)
	updates := b.Reshape(v[2], append([]int{at.Type().Len()}, rest...)...)
	y := b.ScatterRows(reductions[reductionOf(reduce)].reducer, table, b.Reshape(at, at.Type().Len()), updates)
	return b.Reshape(carrier.Wrap(b, y, n.Type), dims...), b.Err()
}
