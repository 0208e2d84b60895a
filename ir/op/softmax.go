// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"

	"lathe/internal/workers"
	"lathe/ir"
)

// AxisAttrs name the axis that an operation works along.
type AxisAttrs struct {
	Axis int
}

// Softmax is exp(x - max)/sum(exp(x - max)) along an axis; float only for now.
var Softmax = &ir.Op{
	Name: "softmax", Doc: "exp(x)/sum(exp(x)) along an axis", Attrs: AxisAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{FloatOnly: true, Axis: func(attrs any) *int { return &attrs.(*AxisAttrs).Axis }},
	Infer: func(n *ir.Node) ([]int, error) {
		_, err := normAxis(n.Attrs.(*AxisAttrs).Axis, len(n.Args[0].Type.Shape))
		return n.Args[0].Type.Shape, err
	},
	Eval:  softmaxEval,
	HLO:   softmaxHLO,
	CUDA:  ir.OneNode(softmaxCUDA),
	Gen:   genSoftmax,
	Legal: func(*ir.Node) error { return fmt.Errorf("softmax has no integer form in this version") },
}

// lines calls f for every line of shape along axis: n elements from base, stride apart.
func lines(shape []int, axis int, f func(base, n, stride int)) {
	stride := product(shape[axis+1:])
	n := shape[axis]
	for outer := range product(shape[:axis]) {
		for inner := range stride {
			f(outer*n*stride+inner, n, stride)
		}
	}
}

// eachLine is lines, several at once. scratch has n elements that f may use.
func eachLine(shape []int, axis int, f func(base, n, stride int, scratch []float64)) {
	stride := product(shape[axis+1:])
	n := shape[axis]
	workers.Ranges(product(shape[:axis])*stride, 1+unaryGrain/max(n, 1), func(from, to int) {
		scratch := make([]float64, n)
		for i := from; i < to; i++ {
			f(i/stride*n*stride+i%stride, n, stride, scratch)
		}
	})
}

func softmaxEval(n *ir.Node) (ir.Kernel, error) {
	if !n.Type.IsFloat() {
		return nil, n.Errorf("L0410", "softmax has no integer form in this version")
	}
	shape := n.Type.Shape
	axis, err := normAxis(n.Attrs.(*AxisAttrs).Axis, len(shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, out := args[0].Floats, ir.NewTensor(n.Type)
		eachLine(shape, axis, func(base, n, stride int, e []float64) {
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
