// SPDX-License-Identifier: Apache-2.0

package whole

import (
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// CumSumAttrs are the axis of running sums; Exclusive sums leave the element itself out, Reverse sums begin at the end.
type CumSumAttrs struct {
	Axis               int
	Exclusive, Reverse bool
}

// CumSum is the sum of all elements up to each along an axis.
var CumSum = &ir.Op{
	Name: "cumsum", Doc: "the sum of all elements up to each along an axis", Attrs: CumSumAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{FloatOnly: true, Whole: true, Axis: func(attrs any) *int { return &attrs.(*CumSumAttrs).Axis }},
	Infer: func(n *ir.Node) ([]int, error) {
		_, err := walk.Axis(n.Attrs.(*CumSumAttrs).Axis, len(n.Args[0].Type.Shape))
		return n.Args[0].Type.Shape, err
	},
	Eval:  cumSumEval,
	HLO:   cumSumHLO,
	Legal: column.NoInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 4), Format: draw.Either(r)})
		rank := len(x.Type.Shape)
		return draw.FloatGraph(o, &CumSumAttrs{draw.Between(r, -rank, rank-1), draw.Chance(r, 50), draw.Chance(r, 50)}, x)
	},
}

func cumSumEval(n *ir.Node) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	a, shape := n.Attrs.(*CumSumAttrs), n.Type.Shape
	axis, err := walk.Axis(a.Axis, len(shape))
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	cut := arith.Wrap(n.Type)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		walk.Lines(shape, axis, func(base, size, stride int) {
			sum, whole := 0.0, int64(0)
			for i := range size {
				at := base + i*stride
				if a.Reverse {
					at = base + (size-1-i)*stride
				}
				before, codes := sum, whole
				if out.Codes == nil {
					sum += float64(args[0].Floats[at])
				} else {
					whole += args[0].Codes[at]
				}
				if !a.Exclusive {
					before, codes = sum, whole
				}
				if out.Codes == nil {
					out.Floats[at] = float32(before)
				} else {
					out.Codes[at] = cut(codes)
				}
			}
		})
		return out, nil
	}, nil
}

// cumSumHLO sums windows that reach to the end of the axis; exclusive ones see the argument moved by one.
func cumSumHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if err := column.InFloatGraph(n); err != nil {
		return hlo.Value{}, err
	}
	a, x := n.Attrs.(*CumSumAttrs), args[0]
	axis, err := walk.Axis(a.Axis, len(n.Type.Shape))
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	axis = b.Axis(axis)
	rank := x.Type().Rank()
	none, size := make([]int, rank), x.Type().Dims[axis]
	at := func(v int) []int {
		list := slices.Clone(none)
		list[axis] = v
		return list
	}
	shift := 1
	if a.Reverse {
		shift = -1
	}
	if a.Exclusive {
		x = b.Pad(x, b.Int(x.Type().DType, 0), at(shift), at(-shift), nil)
	}
	w := hlo.Window{Size: slices.Repeat([]int{1}, rank), Low: at(size - 1), High: at(0)}
	w.Size[axis] = size
	if a.Reverse {
		w.Low, w.High = w.High, w.Low
	}
	y := b.ReduceWindow(hlo.ReduceAdd, x, w)
	return carrier.Wrap(b, y, n.Type), b.Err()
}
