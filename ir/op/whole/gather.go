// SPDX-License-Identifier: Apache-2.0

package whole

import (
	"fmt"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// Gather takes slices of data at positions along an axis: the axes of indices stand where the axis was. Negative
// positions count from the end; one outside is an error of the reference engine, and the nearest inside elsewhere.
var Gather = &ir.Op{
	Name: "gather", Doc: "the slices of data at positions along an axis; arguments data, indices",
	Attrs: column.AxisAttrs{}, Arity: [2]int{2, 2},
	Traits: ir.Traits{FloatOnly: true, Index: func(n *ir.Node, i int) int {
		return axisSize(n, i, n.Attrs.(*column.AxisAttrs).Axis)
	}},
	Infer: func(n *ir.Node) ([]int, error) {
		in, index := n.Args[0].Type.Shape, n.Args[1].Type.Shape
		axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(in))
		if err != nil {
			return nil, err
		}
		return append(append(append([]int{}, in[:axis]...), index...), in[axis+1:]...), nil
	},
	Format: indexedFormat,
	Eval:   gatherEval,
	HLO:    gatherHLO,
	Legal:  column.NoInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		data := genData(r, 1, 4)
		rank := len(data.Type.Shape)
		a := &column.AxisAttrs{Axis: draw.Between(r, -rank, rank-1)}
		size := data.Type.Shape[(a.Axis+rank)%rank]
		return draw.FloatGraph(o, a, data, genIndices(r, draw.Shape(r, 0, 2), size))
	},
}

// axisSize is the Index trait of operations whose argument 1 holds positions on an axis of argument 0.
func axisSize(n *ir.Node, i, axis int) int {
	shape := n.Args[0].Type.Shape
	axis, err := walk.Axis(axis, len(shape))
	if i != 1 || err != nil {
		return 0
	}
	return shape[axis]
}

// indexedFormat is the format of data, argument 0; indices, argument 1, are whole numbers.
func indexedFormat(n *ir.Node) (format.Format, error) {
	if i := n.Args[1]; !ir.IsWhole(i.Type.Format) || i.Type.Format == ir.Bool {
		return nil, fmt.Errorf("%s takes integer positions, %q is %s", n.Op.Name, i.Name, i.Type.Format)
	}
	return n.Args[0].Type.Format, nil
}

// position is the place of v on an axis, or an error that names the node.
func position(n *ir.Node, v int64, size int) (int, error) {
	p := v
	if p < 0 {
		p += int64(size)
	}
	if p < 0 || p >= int64(size) {
		return 0, n.Errorf(diag.PositionOutside, "position %d is outside an axis of %d of %s", v, size,
			ir.ShapeString(n.Args[0].Type.Shape))
	}
	return int(p), nil
}

func gatherEval(n *ir.Node) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	in := n.Args[0].Type.Shape
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(in))
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	outer, size, run := walk.Size(in[:axis]), in[axis], walk.Size(in[axis+1:])
	table, fill := floatTable(n), column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		if table != nil {
			args = append([]*ir.Tensor{{}}, args[1:]...)
		}
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		places := make([]int, len(args[1].Codes))
		for i, v := range args[1].Codes {
			if places[i], err = position(n, v, size); err != nil {
				return nil, err
			}
		}
		out, to := ir.NewTensor(n.Type), 0
		for o := range outer {
			for _, p := range places {
				if from := (o*size + p) * run; table != nil {
					table.FloatsAt(out.Floats[to:to+run], from)
				} else {
					column.CopyRun(out, to, args[0], from, run)
				}
				to += run
			}
		}
		return out, nil
	}, nil
}

// floatTable is argument 0 where it is a constant of floats, which need not be copied to be read; else nil.
func floatTable(n *ir.Node) *ir.Blob {
	c, ok := n.Args[0].Attrs.(*ir.Const)
	if !ok || !n.Type.IsFloat() || c.Data.Len() != n.Args[0].Type.Elems() {
		return nil
	}
	return c.Data
}

// gatherHLO brings the axis to the front, takes rows, and brings it back.
func gatherHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	in := n.Args[0].Type.Shape
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(in))
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	data, index, lead, err := tableHLO(b, n, args)
	if err != nil {
		return hlo.Value{}, err
	}
	rest := append(append([]int{}, in[:axis]...), in[axis+1:]...)
	perm := make([]int, 0, lead+len(in))
	for i := range lead {
		perm = append(perm, i)
	}
	perm = append(perm, lead+axis)
	for i := range in {
		if i != axis {
			perm = append(perm, lead+i)
		}
	}
	rows := b.Reshape(b.Transpose(data, perm...), append([]int{data.Type().Len() / max(walk.Size(rest), 1)}, rest...)...)
	place := placeHLO(b, index, in[axis])
	if lead > 0 {
		place = b.Add(place, b.Mul(b.Iota(place.Type(), 0), b.Splat(place, int64(in[axis]))))
	}
	v := b.TakeI(rows, place) // samples, if any, indices, rest
	return b.Transpose(v, gatheredPerm(b, axis, len(n.Args[1].Type.Shape), len(rest))...), b.Err()
}

// gatheredPerm moves the axes before the axis in front of those of the indices, behind the samples.
func gatheredPerm(b *hlo.Builder, axis, indices, rest int) []int {
	perm := []int{0}[:b.Lead()]
	for i := range axis {
		perm = append(perm, b.Axis(indices+i))
	}
	for i := range indices {
		perm = append(perm, b.Axis(i))
	}
	for i := axis; i < rest; i++ {
		perm = append(perm, b.Axis(indices+i))
	}
	return perm
}

// tableHLO is argument 0 and the positions of argument 1, of each sample. lead is 1 where the table has an axis of
// samples, which stays as it is, and 0 where all samples share it.
func tableHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (table, index hlo.Value, lead int, err error) {
	if err = column.InFloatGraph(n); err != nil {
		return
	}
	if table, err = carrier.Value(b, n, args, 0); err != nil {
		return
	}
	if carrier.PerSample(n, 0, table) {
		lead = 1
	}
	index, err = carrier.EachSample(b, n, args, 1)
	return
}

// placeHLO is the place on an axis for positions, in i64: negative ones count from the end, and those outside are moved
// to the nearest inside.
func placeHLO(b *hlo.Builder, index hlo.Value, size int) hlo.Value {
	v := carrier.Wide(b, index)
	v = b.Select(b.Compare(hlo.LT, v, b.Splat(v, 0)), b.Add(v, b.Splat(v, int64(size))), v)
	return b.Clamp(b.Splat(v, 0), v, b.Splat(v, int64(size-1)))
}

// genData draws what positions are taken from: an input or a constant.
func genData(r *rand.Rand, lo, hi int) *ir.Node {
	t := ir.Type{Shape: draw.Shape(r, lo, hi), Format: draw.Either(r)}
	if draw.Chance(r, 50) {
		return draw.Values(r, "data", t)
	}
	return draw.Input("data", t)
}

// genIndices draws an input of positions, or a constant of positions in -size..size-1.
func genIndices(r *rand.Rand, shape []int, size int) *ir.Node {
	formats := []format.Format{ir.Int64, ir.Int32, ir.Uint8}
	t := ir.Type{Shape: shape, Format: formats[r.IntN(len(formats))]}
	if draw.Chance(r, 70) {
		return draw.Input("index", t)
	}
	codes := make([]int64, t.Elems())
	for i := range codes {
		if codes[i] = int64(r.IntN(size)); t.Format != ir.Uint8 && draw.Chance(r, 40) {
			codes[i] -= int64(size)
		}
	}
	return draw.Const("index", t, codes)
}
