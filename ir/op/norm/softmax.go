// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"math"
	"math/rand/v2"

	"lathe/cuda"
	"lathe/cuda/reduce"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// Softmax is exp(x - max)/sum(exp(x - max)) along an axis. Quantized, it is that of Rows.
var Softmax = &ir.Op{
	Name: "softmax", Doc: "exp(x)/sum(exp(x)) along an axis", Attrs: column.AxisAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Reads16: true, Fraction: true,
		Axis: func(attrs any) *int { return &attrs.(*column.AxisAttrs).Axis }},
	Infer: func(n *ir.Node) ([]int, error) {
		_, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(n.Args[0].Type.Shape))
		return n.Args[0].Type.Shape, err
	},
	Bounds: func(n *ir.Node, _ []ir.Bounds) (ir.Bounds, error) { return column.Between(n, 0, 1), nil },
	Eval:   softmaxEval,
	HLO:    softmaxHLO,
	CUDA:   ir.OneNode(softmaxCUDA),
	Gen:    genSoftmax,
	RTL:    softmaxRTL,
	Lanes:  softmaxLanes,
	Legal: func(n *ir.Node) error {
		_, err := PlanRows(n, 1)
		return err
	},
}

func softmaxEval(n *ir.Node) (ir.Kernel, error) {
	shape := n.Type.Shape
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(shape))
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	if !n.Type.IsFloat() {
		return softmaxCodes(n, axis)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, out := args[0].Floats, ir.NewTensor(n.Type)
		walk.EachLine(shape, axis, func(base, n, stride int, e []float64) {
			top, total := float32(math.Inf(-1)), 0.0
			for i := range n {
				top = max(top, x[base+i*stride])
			}
			for i := range n {
				e[i] = math.Exp(float64(x[base+i*stride]) - float64(top))
				total += e[i]
			}
			for i := range n {
				out.Floats[base+i*stride] = float32(e[i] / total)
			}
		})
		return out, nil
	}, nil
}

// softmaxCUDA takes rows: the last axis.
func softmaxCUDA(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
	shape := n.Type.Shape
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(shape))
	if err != nil {
		return nil, err
	}
	in, out, err := column.FloatWords(n)
	if err != nil {
		return nil, err
	}
	if walk.Size(shape[axis+1:]) != 1 {
		return nil, cuda.Refuse("softmax runs along rows, not along axis %d of %s", axis, ir.ShapeString(shape))
	}
	p := reduce.Softmax{In: in, Out: out,
		Matrix: reduce.Matrix{Rows: int64(walk.Size(shape[:axis])), Cols: int64(shape[axis])}}
	var u cuda.Unit
	x, y := u.Add(cuda.Operand{Kind: cuda.Input}), u.Add(cuda.Operand{Kind: cuda.Output})
	return column.CUDAUnit(&u, p, reduce.SoftmaxArgs{X: x, Mask: cuda.Null(), Y: y}, t)
}

// softmaxCodes computes lines of codes.
func softmaxCodes(n *ir.Node, axis int) (ir.Kernel, error) {
	rows, err := PlanRows(n, 1)
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	return codeLines(n, axis, func(y, x []int64) { rows.Row(y, x, nil) }), nil
}

// codeLines computes the lines of codes y from those of argument 0.
func codeLines(n *ir.Node, axis int, row func(y, x []int64)) ir.Kernel {
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		size := n.Type.Shape[axis]
		x, y := make([]int64, size), make([]int64, size)
		walk.Lines(n.Type.Shape, axis, func(base, count, stride int) {
			for i := range count {
				x[i] = args[0].Codes[base+i*stride]
			}
			row(y, x)
			for i := range count {
				out.Codes[base+i*stride] = y[i]
			}
		})
		return out, nil
	}
}

// genSoftmax draws results of up to 16 bits, mostly all of them behind the point.
func genSoftmax(r *rand.Rand, o *ir.Op) *ir.Graph {
	x, a := genLines(r)
	y := format.Fixed{W: draw.Between(r, 1, maxWidth), Signed: draw.Chance(r, 30)}
	if y.F = y.W; draw.Chance(r, 30) {
		y.F = draw.Between(r, 0, maxWidth)
	}
	return draw.Graph(o, a, ir.Type{Format: y}, x)
}

// genLines draws arguments of all formats with a step of up to 8, mostly one at which rows are neither flat nor
// one-hot, and an axis.
func genLines(r *rand.Rand) (x *ir.Node, a *column.AxisAttrs) {
	f := draw.Fixed(r, maxWidth)
	f.F = max(f.F, -3)
	if draw.Chance(r, 70) {
		f.F = f.W - draw.Between(r, 1, 4)
	}
	x = draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 3), Format: f})
	if draw.Chance(r, 25) {
		x.Type.Format = draw.Affine(r, maxWidth)
	}
	rank := len(x.Type.Shape)
	return x, &column.AxisAttrs{Axis: draw.Between(r, -rank, rank-1)}
}

func softmaxHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(n.Type.Shape))
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	x := args[0]
	if !n.Type.IsFloat() {
		rows, err := PlanRows(n, 1)
		if err != nil {
			return hlo.Value{}, n.Errorf(diag.OpFormats, "%v", err)
		}
		return b.Convert(rows.Print(b, carrier.Wide(b, x), b.Axis(axis), nil), carrier.DType(n.Type)), b.Err()
	}
	dims, ones := x.Type().Dims, append([]int(nil), x.Type().Dims...)
	ones[b.Axis(axis)] = 1
	all := make([]int, len(dims))
	for i := range all {
		all[i] = i
	}
	top := b.ReduceKeep(hlo.ReduceMax, x, b.Axis(axis))
	e := b.Exp(b.Sub(x, carrier.Spread(b, top, dims, all)))
	total := b.ReduceKeep(hlo.ReduceAdd, e, b.Axis(axis))
	return b.Div(e, carrier.Spread(b, total, dims, all)), b.Err()
}
