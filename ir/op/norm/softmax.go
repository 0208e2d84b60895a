// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"fmt"
	"math"
	"math/rand/v2"

	"lathe/cuda"
	"lathe/cuda/reduce"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// Softmax is exp(x - max)/sum(exp(x - max)) along an axis; float only for now.
var Softmax = &ir.Op{
	Name: "softmax", Doc: "exp(x)/sum(exp(x)) along an axis", Attrs: column.AxisAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{FloatOnly: true, Ranks: true, Axis: func(attrs any) *int { return &attrs.(*column.AxisAttrs).Axis }},
	Infer: func(n *ir.Node) ([]int, error) {
		_, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(n.Args[0].Type.Shape))
		return n.Args[0].Type.Shape, err
	},
	Bounds: func(n *ir.Node, _ []ir.Bounds) (ir.Bounds, error) { return column.Between(n, 0, 1), nil },
	Eval:   softmaxEval,
	HLO:    softmaxHLO,
	CUDA:   ir.OneNode(softmaxCUDA),
	Gen:    genSoftmax,
	Legal:  func(*ir.Node) error { return fmt.Errorf("softmax has no integer form in this version") },
}

func softmaxEval(n *ir.Node) (ir.Kernel, error) {
	if !n.Type.IsFloat() {
		return nil, n.Errorf("L0410", "softmax has no integer form in this version")
	}
	shape := n.Type.Shape
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
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

// genSoftmax and genBatchNorm draw float graphs: these operations have no integer form.
func genSoftmax(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Float(draw.Shape(r, 1, 3)...))
	rank := len(x.Type.Shape)
	return draw.Graph(o, &column.AxisAttrs{Axis: draw.Between(r, -rank, rank-1)}, ir.Type{Format: format.FP32}, x)
}

func softmaxHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if !n.Type.IsFloat() {
		return hlo.Value{}, fmt.Errorf("softmax has no integer form in this version")
	}
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(n.Type.Shape))
	if err != nil {
		return hlo.Value{}, n.Errorf("L0306", "%v", err)
	}
	x := args[0]
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
