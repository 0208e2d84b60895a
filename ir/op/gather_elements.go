// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/hlo"
)

// GatherElements takes one element for each element of indices: along the axis at the position that it says, along all
// others at its own place. Positions are those of gather.
var GatherElements = &ir.Op{
	Name: "gather_elements", Doc: "the element at a position along an axis, for each of indices; arguments data, indices",
	Attrs: AxisAttrs{}, Arity: [2]int{2, 2},
	Traits: ir.Traits{FloatOnly: true, Index: func(n *ir.Node, i int) int {
		return axisSize(n, i, n.Attrs.(*AxisAttrs).Axis)
	}},
	Infer: func(n *ir.Node) ([]int, error) {
		return n.Args[1].Type.Shape, besideData(n, n.Attrs.(*AxisAttrs).Axis)
	},
	Format: indexedFormat,
	Eval:   gatherElementsEval,
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		if err := inFloatGraph(n); err != nil {
			return hlo.Value{}, err
		}
		data, lead, err := tableHLO(b, n, args)
		if err != nil {
			return hlo.Value{}, err
		}
		index, err := eachSample(b, n, args, 1)
		if err != nil {
			return hlo.Value{}, err
		}
		place, err := elementPlaceHLO(b, n, index, n.Attrs.(*AxisAttrs).Axis, lead)
		if err != nil {
			return hlo.Value{}, err
		}
		return b.TakeI(b.Reshape(data, data.Type().Len()), place), b.Err()
	},
	Legal: noInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		data, index, axis := genBeside(r)
		return floatOp(o, &AxisAttrs{axis}, data, index)
	},
}

// besideData checks that indices have the rank of data and are, but along the axis, no longer.
func besideData(n *ir.Node, axis int) error {
	data, index := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	axis, err := normAxis(axis, len(data))
	if err != nil {
		return err
	}
	fits := len(index) == len(data)
	for i := 0; fits && i < len(data); i++ {
		fits = i == axis || index[i] <= data[i]
	}
	if !fits {
		return fmt.Errorf("indices of %s do not lie beside data of %s along axis %d", ir.ShapeString(index),
			ir.ShapeString(data), axis)
	}
	return nil
}

// elementPlaces lists the elements of data that the elements of indices name.
func elementPlaces(n *ir.Node, codes []int64, axis int) ([]int, error) {
	data, index := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	axis, err := normAxis(axis, len(data))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	strides := stridesOf(data)
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

// stridesOf is the distance of neighbours along each axis, in elements.
func stridesOf(shape []int) []int {
	strides, s := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = s
		s *= shape[i]
	}
	return strides
}

// elementPlaceHLO prints elementPlaces for indices with the samples of the node; with lead, data has them too.
func elementPlaceHLO(b *hlo.Builder, n *ir.Node, index hlo.Value, axis, lead int) (hlo.Value, error) {
	data := n.Args[0].Type.Shape
	axis, err := normAxis(axis, len(data))
	if err != nil {
		return hlo.Value{}, n.Errorf("L0306", "%v", err)
	}
	strides := stridesOf(data)
	place := placeHLO(b, index, data[axis])
	place = b.Mul(place, b.Splat(place, int64(strides[axis])))
	for i := range data {
		if i != axis && data[i] > 1 {
			place = b.Add(place, b.Mul(b.Iota(place.Type(), b.Axis(i)), b.Splat(place, int64(strides[i]))))
		}
	}
	return inSample(b, place, product(data)*lead), b.Err()
}

// inSample moves places into the part of their sample, which has so many rows.
func inSample(b *hlo.Builder, place hlo.Value, rows int) hlo.Value {
	if rows == 0 {
		return place
	}
	return b.Add(place, b.Mul(b.Iota(place.Type(), 0), b.Splat(place, int64(rows))))
}

func gatherElementsEval(n *ir.Node) (ir.Kernel, error) {
	if err := inFloatGraph(n); err != nil {
		return nil, err
	}
	fill := fixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		places, err := elementPlaces(n, args[1].Codes, n.Attrs.(*AxisAttrs).Axis)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		for i, p := range places {
			copyRun(out, i, args[0], p, 1)
		}
		return out, nil
	}, nil
}

// genBeside draws data, indices beside them and their axis.
func genBeside(r *rand.Rand) (data, index *ir.Node, axis int) {
	data = genData(r, 1, 4)
	shape := append([]int(nil), data.Type.Shape...)
	axis = between(r, -len(shape), len(shape)-1)
	at := (axis + len(shape)) % len(shape)
	for i, d := range shape {
		if shape[i] = d; i == at {
			shape[i] = between(r, 1, 4)
		} else if chance(r, 30) {
			shape[i] = between(r, 1, d)
		}
	}
	return data, genIndices(r, shape, data.Type.Shape[at]), axis
}
