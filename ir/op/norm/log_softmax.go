// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"math"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/curve"
	"lathe/ir/op/draw"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/walk"
)

// LogSoftmax is x - max - log(sum(exp(x - max))) along an axis. Quantized, it is that of LogRows.
var LogSoftmax = &ir.Op{
	Name: "log_softmax", Doc: "log(exp(x)/sum(exp(x))) along an axis", Attrs: column.AxisAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Reads16: true, Axis: func(attrs any) *int { return &attrs.(*column.AxisAttrs).Axis }},
	Infer:  column.AxisInfer,
	Bounds: logSoftmaxBounds,
	Eval:   logSoftmaxEval,
	Expand: logSoftmaxExpand,
	HLO:    logSoftmaxHLO,
	Gen:    genLogSoftmax,
	RTL:    logSoftmaxRTL,
	Lanes:  softmaxLanes,
	Legal: func(n *ir.Node) error {
		_, err := PlanLogRows(n)
		return err
	},
}

// logSoftmaxBounds bounds an element by those of its line: the result is at most x - max, and with n elements at most
// log(n) below it.
func logSoftmaxBounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(n.Type.Shape))
	if err != nil {
		return ir.Bounds{}, err
	}
	lo, hi, out := args[0].Lo.Floats, args[0].Hi.Floats, column.Between(n, 0, 0)
	walk.Lines(n.Type.Shape, axis, func(base, n, stride int) {
		least, most := math.Inf(-1), math.Inf(-1) // of the greatest element
		for i := base; i < base+n*stride; i += stride {
			least, most = max(least, float64(lo[i])), max(most, float64(hi[i]))
		}
		for i := base; i < base+n*stride; i += stride {
			out.Lo.Floats[i] = float32(min(float64(lo[i])-most, 0) - math.Log(float64(n)))
			out.Hi.Floats[i] = float32(min(float64(hi[i])-least, 0))
		}
	})
	return out, nil
}

func logSoftmaxEval(n *ir.Node) (ir.Kernel, error) {
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(n.Type.Shape))
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	if !n.Type.IsFloat() {
		rows, err := PlanLogRows(n)
		if err != nil {
			return nil, n.Errorf(diag.OpFormats, "%v", err)
		}
		encode := arith.Encoder(n.Type.Format, -eBits)
		return codeLines(n, axis, func(y, x []int64) {
			rows.Row(y, x)
			for i, v := range y {
				y[i] = encode(v)
			}
		}), nil
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
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	e, along := composite.Expand(n), &reduce.Attrs{Axes: []int{axis}}
	below := e.Do("below", pointwise.Sub, nil, x, e.Do("max", reduce.Max, along, x))
	total := e.Do("sum", reduce.Sum, along, e.Do("exp", curve.Exp, nil, below))
	e.Do("result", pointwise.Sub, nil, below, e.Do("log", curve.Log, nil, total))
	return e.Done()
}

// logSoftmaxHLO prints floats as the parts.
func logSoftmaxHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if n.Type.IsFloat() {
		return composite.PartsHLO(b, n, args)
	}
	axis, err := walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(n.Type.Shape))
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	rows, err := PlanLogRows(n)
	if err != nil {
		return hlo.Value{}, n.Errorf(diag.OpFormats, "%v", err)
	}
	return carrier.Requant(b, n, rows.Print(b, carrier.Wide(b, args[0]), b.Axis(axis)), -eBits, logSpan)
}

// genLogSoftmax draws results of all roundings, now and then with every bit that there is.
func genLogSoftmax(r *rand.Rand, o *ir.Op) *ir.Graph {
	x, a := genLines(r)
	in, _ := format.IntegersOf(x.Type.Format)
	step, _ := in.Step.Rat().Float64()
	y := draw.Result(r, max(int(math.Ceil(math.Log2(step)))+in.Codes.W, 2))
	if !y.Signed && draw.Chance(r, 70) { // which has results other than 0
		y.Signed, y.Over = true, format.Sat
	}
	if draw.Chance(r, 20) {
		y = format.Fixed{W: logSpan, F: eBits, Signed: true}
	}
	return draw.Graph(o, a, ir.Type{Format: y}, x)
}
