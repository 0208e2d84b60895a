// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"math"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/walk"
)

// LogSoftmax is x - max - log(sum(exp(x - max))) along an axis.
var LogSoftmax = composite.New(ir.Op{
	Name: "log_softmax", Doc: "log(exp(x)/sum(exp(x))) along an axis", Attrs: column.AxisAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{FloatOnly: true, Ranks: true, Axis: func(attrs any) *int { return &attrs.(*column.AxisAttrs).Axis }},
	Infer:  column.AxisInfer, Eval: logSoftmaxEval, Expand: logSoftmaxExpand,
	Legal: column.NoInteger, Gen: genFloatSoftmax,
})

func logSoftmaxEval(n *ir.Node) (ir.Kernel, error) {
	if !n.Type.IsFloat() {
		return nil, n.Errorf("L0410", "log_softmax has no integer form in this version")
	}
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(n.Type.Shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, out := args[0].Floats, ir.NewTensor(n.Type)
		walk.EachLine(n.Type.Shape, axis, func(base, n, stride int, _ []float64) {
			top, total := math.Inf(-1), 0.0
			for i := range n {
				top = math.Max(top, float64(x[base+i*stride]))
			}
			for i := range n {
				total += math.Exp(float64(x[base+i*stride]) - top)
			}
			log := math.Log(total)
			for i := range n {
				out.Floats[base+i*stride] = float32(float64(x[base+i*stride]) - top - log)
			}
		})
		return out, nil
	}, nil
}

func logSoftmaxExpand(n *ir.Node) ([]*ir.Node, error) {
	x := n.Args[0]
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(x.Type.Shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	e, along := composite.Expand(n), &reduce.Attrs{Axes: []int{axis}}
	below := e.Do("below", pointwise.Sub, nil, x, e.Do("max", reduce.Max, along, x))
	total := e.Do("sum", reduce.Sum, along, e.Do("exp", curve.Exp, nil, below))
	e.Do("result", pointwise.Sub, nil, below, e.Do("log", curve.Log, nil, total))
	return e.Done()
}
