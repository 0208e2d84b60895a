// SPDX-License-Identifier: Apache-2.0

package whole

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// GatherNDAttrs are the number of leading axes that data and indices share.
type GatherNDAttrs struct {
	BatchDims int
}

// GatherND takes slices of data: the last axis of indices holds a position on each of the leading axes behind the batch
// axes. Positions are those of gather.
var GatherND = &ir.Op{
	Name: "gather_nd", Doc: "the slices of data at tuples of positions; arguments data, indices",
	Attrs: GatherNDAttrs{}, Arity: [2]int{2, 2},
	Traits: ir.Traits{FloatOnly: true, Index: func(n *ir.Node, i int) int {
		if tuple, err := tupleOf(n, n.Attrs.(*GatherNDAttrs).BatchDims); err == nil && i == 1 {
			return slices.Min(tuple.sizes)
		}
		return 0
	}},
	Infer: func(n *ir.Node) ([]int, error) {
		t, err := tupleOf(n, n.Attrs.(*GatherNDAttrs).BatchDims)
		if err != nil {
			return nil, err
		}
		return append(slices.Clone(t.lead), t.rest...), nil
	},
	Format: indexedFormat,
	Eval:   gatherNDEval,
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		t, err := tupleOf(n, n.Attrs.(*GatherNDAttrs).BatchDims)
		if err != nil {
			return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
		}
		data, index, lead, err := tableHLO(b, n, args)
		if err != nil {
			return hlo.Value{}, err
		}
		rows := t.rows * max(lead*b.Samples, 1)
		v := b.TakeI(b.Reshape(data, append([]int{rows}, t.rest...)...), t.print(b, index, lead))
		return v, b.Err()
	},
	Legal: column.NoInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		data := genData(r, 1, 4)
		batch := r.IntN(min(len(data.Type.Shape), 3))
		k := draw.Between(r, 1, len(data.Type.Shape)-batch)
		shape := append(slices.Clone(data.Type.Shape[:batch]), draw.Shape(r, 0, 2)...)
		size := slices.Min(data.Type.Shape[batch : batch+k])
		return draw.FloatGraph(o, &GatherNDAttrs{batch}, data, genIndices(r, append(shape, k), size))
	},
}

// tuple says how indices, argument 1, name rows of data, argument 0.
type tuple struct {
	batch       int
	lead, rest  []int // axes of indices but the last, and of a row
	sizes       []int // of the axes that positions are on
	rows, inner int   // rows of data, and in each place of the batch axes
}

func tupleOf(n *ir.Node, batch int) (tuple, error) {
	data, index := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	last := len(index) - 1
	if last < 0 || batch < 0 || batch > last || batch+index[last] > len(data) || index[last] < 1 ||
		!slices.Equal(index[:batch], data[:batch]) {
		return tuple{}, fmt.Errorf("indices of %s, with %d batch axes, do not name parts of %s", ir.ShapeString(index), batch,
			ir.ShapeString(data))
	}
	k := batch + index[last]
	return tuple{batch, index[:last], data[k:], data[batch:k], walk.Size(data[:k]), walk.Size(data[batch:k])}, nil
}

// places lists the rows that indices name.
func (t tuple) places(n *ir.Node, codes []int64) ([]int, error) {
	k := len(t.sizes)
	places := make([]int, len(codes)/k)
	each := len(places) / max(walk.Size(t.lead[:t.batch]), 1)
	for i := range places {
		p := i / max(each, 1)
		for j, size := range t.sizes {
			at, err := position(n, codes[i*k+j], size)
			if err != nil {
				return nil, err
			}
			p = p*size + at
		}
		places[i] = p
	}
	return places, nil
}

// print prints places for indices with the samples of the node; with lead, data has them too.
func (t tuple) print(b *hlo.Builder, index hlo.Value, lead int) hlo.Value {
	last := index.Type().Rank() - 1
	dims := index.Type().Dims[:last]
	var place hlo.Value
	for j, size := range t.sizes {
		at := placeHLO(b, b.Reshape(b.SliceAxis(index, last, j, j+1), dims...), size)
		if j > 0 {
			at = b.Add(b.Mul(place, b.Splat(place, int64(size))), at)
		}
		place = at
	}
	rows := t.inner
	for i := t.batch - 1; i >= 0; i-- {
		place = b.Add(place, b.Mul(b.Iota(place.Type(), b.Axis(i)), b.Splat(place, int64(rows))))
		rows *= t.lead[i]
	}
	return inSample(b, place, rows*lead)
}

func gatherNDEval(n *ir.Node) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	t, err := tupleOf(n, n.Attrs.(*GatherNDAttrs).BatchDims)
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	fill, run := column.FixedArgs(n), walk.Size(t.rest)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		places, err := t.places(n, args[1].Codes)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		for i, p := range places {
			column.CopyRun(out, i*run, args[0], p*run, run)
		}
		return out, nil
	}, nil
}
