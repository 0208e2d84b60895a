// SPDX-License-Identifier: Apache-2.0

package op

import (
	"math"

	"lathe/ir"
)

// LogSoftmax is x - max - log(sum(exp(x - max))) along an axis.
var LogSoftmax = composite(ir.Op{
	Name: "log_softmax", Doc: "log(exp(x)/sum(exp(x))) along an axis", Attrs: AxisAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{FloatOnly: true, Axis: func(attrs any) *int { return &attrs.(*AxisAttrs).Axis }},
	Infer:  axisInfer, Eval: logSoftmaxEval, Expand: logSoftmaxExpand,
	Legal: noInteger, Gen: genSoftmax,
})

// axisInfer keeps the shape, and refuses an axis outside of it.
func axisInfer(n *ir.Node) ([]int, error) {
	_, err := normAxis(n.Attrs.(*AxisAttrs).Axis, len(n.Args[0].Type.Shape))
	return n.Args[0].Type.Shape, err
}

func logSoftmaxEval(n *ir.Node) (ir.Kernel, error) {
	if !n.Type.IsFloat() {
		return nil, n.Errorf("L0410", "log_softmax has no integer form in this version")
	}
	axis, err := normAxis(n.Attrs.(*AxisAttrs).Axis, len(n.Type.Shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, out := args[0].Floats, ir.NewTensor(n.Type)
		eachLine(n.Type.Shape, axis, func(base, n, stride int, _ []float64) {
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
	axis, err := normAxis(n.Attrs.(*AxisAttrs).Axis, len(x.Type.Shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	e, along := expand(n), &ReduceAttrs{[]int{axis}}
	below := e.do("below", Sub, nil, x, e.do("max", ReduceMax, along, x))
	total := e.do("sum", ReduceSum, along, e.do("exp", Exp, nil, below))
	e.do("result", Sub, nil, below, e.do("log", Log, nil, total))
	return e.done()
}
