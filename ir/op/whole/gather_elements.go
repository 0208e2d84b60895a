// SPDX-License-Identifier: Apache-2.0

package whole

import (
	"fmt"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// GatherElements takes one element for each element of indices: along the axis at the position that it says, along all
// others at its own place. Positions are those of gather.
var GatherElements = &ir.Op{
	Name: "gather_elements", Doc: "the element at a position along an axis, for each of indices; arguments data, indices",
	Attrs: column.AxisAttrs{}, Arity: [2]int{2, 2},
	Traits: ir.Traits{FloatOnly: true, Index: func(n *ir.Node, i int) int {
		return axisSize(n, i, n.Attrs.(*column.AxisAttrs).Axis)
	}},
	Infer: func(n *ir.Node) ([]int, error) {
		return n.Args[1].Type.Shape, besideData(n, n.Attrs.(*column.AxisAttrs).Axis)
	},
	Format: indexedFormat,
	Eval:   gatherElementsEval,
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		data, index, lead, err := tableHLO(b, n, args)
		if err != nil {
			return hlo.Value{}, err
		}
		place, err := elementPlaceHLO(b, n, index, n.Attrs.(*column.AxisAttrs).Axis, lead)
		if err != nil {
			return hlo.Value{}, err
		}
		return b.TakeI(b.Reshape(data, data.Type().Len()), place), b.Err()
	},
	Legal: column.NoInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		data, index, axis := genBeside(r)
		return draw.FloatGraph(o, &column.AxisAttrs{Axis: axis}, data, index)
	},
}

// besideData checks that indices have the rank of data and are, but along the axis, no longer.
func besideData(n *ir.Node, axis int) error {
	data, index := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	axis, err := walk.Axis(axis, len(data))
	if err != nil {
		return err
	}
	fits := len(index) == len(data)
	for i := 0; fits && i < len(data); i++ {
		fits = i == axis || index[i] <= data[i]
	}
	if !fits {
		return fmt.Errorf("indices of %s do not match data of %s except along axis %d", ir.ShapeString(index),
			ir.ShapeString(data), axis)
	}
	return nil
}

// elementPlaces lists the elements of data that the elements of indices name.
func elementPlaces(n *ir.Node, codes []int64, axis int) ([]int, error) {
	data, index := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	axis, err := walk.Axis(axis, len(data))
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	strides := walk.Strides(data)
	places, at := make([]int, len(codes)), make([]int, len(index))
	for i, v := range codes {
		p, err := position(n, v, data[axis])
		if err != nil {
			return nil, err
		}
		for k, x := range at {
			if k == axis {
				x = p
			}
			places[i] += x * strides[k]
		}
		for k := len(at) - 1; k >= 0; k-- {
			if at[k]++; at[k] < index[k] {
				break
			}
			at[k] = 0
		}
	}
	return places, nil
}

// elementPlaceHLO prints elementPlaces for indices with the samples of the node; with lead, data has them too.
func elementPlaceHLO(b *hlo.Builder, n *ir.Node, index hlo.Value, axis, lead int) (hlo.Value, error) {
	data := n.Args[0].Type.Shape
	axis, err := walk.Axis(axis, len(data))
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	strides := walk.Strides(data)
	place := placeHLO(b, index, data[axis])
	place = b.Mul(place, b.Splat(place, int64(strides[axis])))
	for i := range data {
		if i != axis && data[i] > 1 {
			place = b.Add(place, b.Mul(b.Iota(place.Type(), b.Axis(i)), b.Splat(place, int64(strides[i]))))
		}
	}
	return inSample(b, place, walk.Size(data)*lead), b.Err()
}

// inSample moves places into the part of their sample, which has so many rows.
func inSample(b *hlo.Builder, place hlo.Value, rows int) hlo.Value {
	if rows == 0 {
		return place
	}
	return b.Add(place, b.Mul(b.Iota(place.Type(), 0), b.Splat(place, int64(rows))))
}

func gatherElementsEval(n *ir.Node) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	fill := column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		places, err := elementPlaces(n, args[1].Codes, n.Attrs.(*column.AxisAttrs).Axis)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		for i, p := range places {
			column.CopyRun(out, i, args[0], p, 1)
		}
		return out, nil
	}, nil
}

// genBeside draws data, indices beside them and their axis.
func genBeside(r *rand.Rand) (data, index *ir.Node, axis int) {
	data = genData(r, 1, 4)
	shape := append([]int(nil), data.Type.Shape...)
	axis = draw.Between(r, -len(shape), len(shape)-1)
	at := (axis + len(shape)) % len(shape)
	for i, d := range shape {
		if shape[i] = d; i == at {
			shape[i] = draw.Between(r, 1, 4)
		} else if draw.Chance(r, 30) {
			shape[i] = draw.Between(r, 1, d)
		}
	}
	return data, genIndices(r, shape, data.Type.Shape[at]), axis
}
