// SPDX-License-Identifier: Apache-2.0

package sequence

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/draw"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// Append writes rows [B,H,T,D] into a cache [B,H,N,D], from a position on: a whole number, moved to the nearest of 0 to
// N-T. All other rows stay as they are. A cache of floats may be one of blocks along D: rows are encoded, each block by
// itself.
var Append = composite.New(ir.Op{
	Name: "append", Doc: "a cache with rows in it from a position on; arguments cache, rows, position",
	Arity:  [2]int{3, 3},
	Traits: ir.Traits{FloatOnly: true, Blocks: keptInBlocks, Index: appendIndex},
	Infer:  appendInfer, Format: appendFormat, Eval: appendEval, Expand: appendExpand,
	CUDA:  appendCUDA,
	Legal: column.NoInteger, Gen: genAppend,
})

// appendIndex: positions are those at which all rows have room.
func appendIndex(n *ir.Node, i int) int {
	if i != 2 {
		return 0
	}
	return lastPlace(n.Args[0], 2, n.Args[1]) + 1
}

func appendInfer(n *ir.Node) ([]int, error) {
	cache, rows := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	if len(cache) != 4 || len(rows) != 4 || !slices.Equal(cache[:2], rows[:2]) || cache[3] != rows[3] ||
		rows[2] > cache[2] {
		return nil, fmt.Errorf("rows %s do not fit a cache %s: BxHxTxD go into BxHxNxD", ir.ShapeString(rows),
			ir.ShapeString(cache))
	}
	return cache, placeShape(n.Args[2])
}

func appendFormat(n *ir.Node) (format.Format, error) {
	if err := placeFormat(n.Args[2]); err != nil {
		return nil, err
	}
	for i, a := range n.Args[:2] {
		if !a.Type.IsFloat() && (i > 0 || !a.Type.InBlocks()) {
			return nil, fmt.Errorf("append takes rows of floats, and caches of floats or blocks; %q is %s", a.Name,
				a.Type.Format)
		}
	}
	if n.Args[0].Type.InBlocks() {
		return n.Args[0].Type.Format, nil
	}
	return n.OneFormat(n.Args[:2]...)
}

func appendEval(n *ir.Node) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	fill, last := column.FixedArgs(n), lastPlace(n.Args[0], 2, n.Args[1])
	size, rows := n.Type.Shape, n.Args[1].Type.Shape
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		fresh, from := args[1], place(args[2], last)
		if n.Type.InBlocks() {
			fresh = ir.EncodeFloats(n.Type.WithShape(rows), fresh.Floats)
		}
		out := &ir.Tensor{Type: n.Type, Floats: slices.Clone(args[0].Floats), Codes: slices.Clone(args[0].Codes),
			BlockScales: slices.Clone(args[0].BlockScales)}
		for head := range rows[0] * rows[1] {
			to, at := head*size[2]+from, head*rows[2]
			putRows(out.Floats, to, fresh.Floats, at, rows[2], rows[3])
			putRows(out.Codes, to, fresh.Codes, at, rows[2], rows[3])
			putRows(out.BlockScales, to, fresh.BlockScales, at, rows[2], len(n.Type.BlockLengths()))
		}
		return out, nil
	}, nil
}

// appendExpand takes for each place of the cache the row that comes there, or what is there.
func appendExpand(n *ir.Node) ([]*ir.Node, error) {
	if err := noProgram(n); err != nil {
		return nil, err
	}
	e, cache, rows := composite.Expand(n), n.Args[0], n.Args[1]
	all, count := cache.Type.Shape[2], rows.Type.Shape[2]
	from := placed(e, n.Args[2], 0, lastPlace(cache, 2, rows))
	row := e.Do("row", pointwise.Sub, nil, wholes(e, "places", upTo(all), all), from)
	fresh := e.Do("fresh", whole.And, nil,
		e.Do("behind", whole.Compare, &whole.CompareAttrs{Rel: "ge"}, row, wholes(e, "none", []int64{0})),
		e.Do("before", whole.Compare, &whole.CompareAttrs{Rel: "lt"}, row, wholes(e, "count", []int64{int64(count)})))
	if count > 1 {
		inside := e.Do("inside", pointwise.Min, nil, e.Do("above", pointwise.Max, nil, row, wholes(e, "first", []int64{0})),
			wholes(e, "last", []int64{int64(count - 1)}))
		rows = e.Do("rows", whole.Gather, &column.AxisAttrs{Axis: 2}, rows, inside)
	}
	e.Do("cache", whole.Where, nil, e.Reshape("column", fresh, all, 1), rows, cache)
	return e.Done()
}

func genAppend(r *rand.Rand, o *ir.Op) *ir.Graph {
	b, h, n, d := draw.Between(r, 1, 2), draw.Between(r, 1, 3), draw.Between(r, 1, 6), draw.Between(r, 1, 4)
	cache := draw.Input("cache", ir.Float(b, h, n, d))
	rows := draw.Operand(r, 20, "rows", b, h, draw.Between(r, 1, n), d)
	return draw.FloatGraph(o, nil, cache, rows, genPlace(r, lastPlace(cache, 2, rows)))
}

// Positions of tokens that are known only when a graph runs: a value of one whole number.

// lastPlace is the last place on an axis of all at which rows have room.
func lastPlace(all *ir.Node, axis int, rows *ir.Node) int {
	return all.Type.Shape[axis] - rows.Type.Shape[2]
}

func placeShape(n *ir.Node) error {
	if n.Type.Elems() != 1 {
		return fmt.Errorf("the position %q has shape %s, and must be one number", n.Name, ir.ShapeString(n.Type.Shape))
	}
	return nil
}

func placeFormat(n *ir.Node) error {
	if !ir.IsWhole(n.Type.Format) || n.Type.Format == ir.Bool {
		return fmt.Errorf("the position %q is %s, and must be an integer", n.Name, n.Type.Format)
	}
	return nil
}

// place is the position in v, moved to the nearest of 0 to last.
func place(v *ir.Tensor, last int) int { return int(min(max(v.Codes[0], 0), int64(last))) }

// placed is the position as an integer of 64 bits on one axis, moved to the nearest of first to last.
func placed(e *composite.Expansion, n *ir.Node, first, last int) *ir.Node {
	v := e.Do("position", whole.Convert, &whole.ConvertAttrs{To: ir.I64}, n)
	v = e.Reshape("position_axis", v, 1)
	v = e.Do("position_from", pointwise.Max, nil, v, wholes(e, "position_first", []int64{int64(first)}))
	return e.Do("position_to", pointwise.Min, nil, v, wholes(e, "position_last", []int64{int64(last)}))
}

// wholes is a constant of whole numbers, of one axis unless another shape is given.
func wholes(e *composite.Expansion, name string, codes []int64, shape ...int) *ir.Node {
	if shape == nil {
		shape = []int{len(codes)}
	}
	return e.Const(name, ir.Type{Shape: shape, Format: ir.Int64}, ir.CodeBlob(codes))
}

// upTo counts from 0 to n-1.
func upTo(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// genPlace draws an input or constant position from 0 to last, and some beyond.
func genPlace(r *rand.Rand, last int) *ir.Node {
	t := ir.Type{Shape: []int{}, Format: []format.Format{ir.Int64, ir.Int32, ir.Uint8}[r.IntN(3)]}
	if draw.Chance(r, 50) {
		t.Shape = []int{1}
	}
	if draw.Chance(r, 70) {
		return draw.Input("position", t)
	}
	return draw.Const("position", t, []int64{int64(r.IntN(last + 3))})
}
