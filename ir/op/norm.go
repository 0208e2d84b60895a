// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"
	"slices"

	"lathe/cuda"
	"lathe/cuda/reduce"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/hlo"
)

// NormAttrs are the attributes of normalizations over the axes from Axis on, which may be negative, to the last.
type NormAttrs struct {
	Axis int
	Eps  float32
}

// LayerNorm is (x - mean)/sqrt(variance + eps)*scale + bias over the axes from Axis on, with the population variance
// (Ba, Kiros and Hinton, 2016). scale and bias, which may be missing, broadcast to those axes.
var LayerNorm = composite(ir.Op{
	Name: "layer_norm", Doc: "(x - mean)/sqrt(var + eps)*scale + bias over the last axes",
	Attrs: NormAttrs{}, Arity: [2]int{1, 3}, Traits: ir.Traits{FloatOnly: true, RoundsOnce: true},
	Infer: normInfer, Eval: layerNormEval, Expand: layerNormExpand,
	CUDA:  ir.OneNode(func(n *ir.Node, t cuda.Target) (*cuda.Unit, error) { return normCUDA(n, false, t) }),
	Legal: noInteger, Gen: genNorm,
})

// RMSNorm is x/sqrt(mean of squares + eps)*scale over the axes from Axis on (Zhang and Sennrich, 2019). scale, which
// may be missing, broadcasts to those axes.
var RMSNorm = composite(ir.Op{
	Name: "rms_norm", Doc: "x/sqrt(mean of squares + eps)*scale over the last axes",
	Attrs: NormAttrs{}, Arity: [2]int{1, 2}, Traits: ir.Traits{FloatOnly: true, RoundsOnce: true},
	Infer: normInfer, Eval: rmsNormEval, Expand: rmsNormExpand,
	CUDA:  ir.OneNode(func(n *ir.Node, t cuda.Target) (*cuda.Unit, error) { return normCUDA(n, true, t) }),
	Legal: noInteger, Gen: genNorm,
})

func normInfer(n *ir.Node) ([]int, error) {
	x := n.Args[0].Type.Shape
	axis, err := normAxis(n.Attrs.(*NormAttrs).Axis, len(x))
	if err != nil {
		return nil, err
	}
	for _, a := range n.Args[1:] {
		shape, err := broadcast(a.Type.Shape, x[axis:])
		if err != nil || !slices.Equal(shape, x[axis:]) {
			return nil, fmt.Errorf("%s of %s does not broadcast to the axes %s", a.Name, ir.ShapeString(a.Type.Shape),
				ir.ShapeString(x[axis:]))
		}
	}
	return x, nil
}

// normalizer computes one row: y = (x - mean)*factor for statistics of its own.
type normalizer func(x []float32) (mean, factor float64)

func layerNormEval(n *ir.Node) (ir.Kernel, error) {
	eps := float64(n.Attrs.(*NormAttrs).Eps)
	return normEval(n, func(x []float32) (mean, factor float64) {
		mean, variance := moments(x)
		return mean, 1 / math.Sqrt(variance+eps)
	})
}

func rmsNormEval(n *ir.Node) (ir.Kernel, error) {
	eps := float64(n.Attrs.(*NormAttrs).Eps)
	return normEval(n, func(x []float32) (mean, factor float64) {
		squares := 0.0
		for _, v := range x {
			squares += float64(v) * float64(v)
		}
		return 0, 1 / math.Sqrt(squares/float64(len(x))+eps)
	})
}

// moments are the mean and the population variance, in two passes.
func moments(x []float32) (mean, variance float64) {
	for _, v := range x {
		mean += float64(v)
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean)
	}
	return mean, variance / float64(len(x))
}

// normEval normalizes rows, and multiplies by argument 1 and adds argument 2 where they are.
func normEval(n *ir.Node, row normalizer) (ir.Kernel, error) {
	if !n.Type.IsFloat() {
		return nil, n.Errorf("L0410", "%s has no integer form in this version", n.Op.Name)
	}
	shape := n.Type.Shape
	axis, err := normAxis(n.Attrs.(*NormAttrs).Axis, len(shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	cols := product(shape[axis:])
	var at [][]int
	for _, a := range n.Args[1:] {
		at = append(at, broadcastIndex(a.Type.Shape, shape[axis:]))
	}
	fill := fixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		workers.Ranges(product(shape[:axis]), 1+unaryGrain/max(cols, 1), func(first, last int) {
			for from := first * cols; from < last*cols; from += cols {
				x := args[0].Floats[from : from+cols]
				mean, factor := row(x)
				for i, v := range x {
					y := (float64(v) - mean) * factor
					if len(at) > 0 {
						y *= float64(args[1].Floats[at[0][i]])
					}
					if len(at) > 1 {
						y += float64(args[2].Floats[at[1][i]])
					}
					out.Floats[from+i] = float32(y)
				}
			}
		})
		return out, nil
	}, nil
}

// axesFrom lists the axes from the given one on.
func axesFrom(axis, rank int) []int {
	var axes []int
	for i := axis; i < rank; i++ {
		axes = append(axes, i)
	}
	return axes
}

// normalized is x divided by the root of the mean of its squares along axes plus eps.
func (e *expansion) normalized(x *ir.Node, axes []int, eps float32) *ir.Node {
	squares := e.do("squares", Mul, nil, x, x)
	mean := e.do("mean_square", ReduceMean, &ReduceAttrs{axes}, squares)
	root := e.do("root", Sqrt, nil, e.do("variance", Add, nil, mean, e.number("eps", float64(eps))))
	return e.do("normalized", Mul, nil, x, e.do("factor", Reciprocal, &ReciprocalAttrs{Numerator: 1}, root))
}

// centered is x minus its mean along axes.
func (e *expansion) centered(x *ir.Node, axes []int) *ir.Node {
	return e.do("centered", Sub, nil, x, e.do("mean", ReduceMean, &ReduceAttrs{axes}, x))
}

// affine is x*scale + bias, as far as there are such.
func (e *expansion) affine(x *ir.Node, with ...*ir.Node) *ir.Node {
	if len(with) > 0 {
		x = e.do("scaled", Mul, nil, x, with[0])
	}
	if len(with) > 1 {
		x = e.do("biased", Add, nil, x, with[1])
	}
	return x
}

func layerNormExpand(n *ir.Node) ([]*ir.Node, error) {
	a, x := n.Attrs.(*NormAttrs), n.Args[0]
	axis, err := normAxis(a.Axis, len(x.Type.Shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	e, axes := expand(n), axesFrom(axis, len(x.Type.Shape))
	e.affine(e.normalized(e.centered(x, axes), axes, a.Eps), n.Args[1:]...)
	return e.done()
}

func rmsNormExpand(n *ir.Node) ([]*ir.Node, error) {
	a, x := n.Attrs.(*NormAttrs), n.Args[0]
	axis, err := normAxis(a.Axis, len(x.Type.Shape))
	if err != nil {
		return nil, n.Errorf("L0306", "%v", err)
	}
	e := expand(n)
	e.affine(e.normalized(x, axesFrom(axis, len(x.Type.Shape)), a.Eps), n.Args[1:]...)
	return e.done()
}

// normCUDA takes floats whose gain and bias, if any, are constants of a value a column.
func normCUDA(n *ir.Node, rms bool, t cuda.Target) (*cuda.Unit, error) {
	a, shape := n.Attrs.(*NormAttrs), n.Type.Shape
	axis, err := normAxis(a.Axis, len(shape))
	if err != nil || !n.Type.IsFloat() {
		return nil, cuda.Refuse("%s of %s", n.Op.Name, n.Type.Format)
	}
	cols := product(shape[axis:])
	p := reduce.Norm{RMS: rms, Eps: a.Eps, Matrix: reduce.Matrix{Rows: int64(product(shape[:axis])), Cols: int64(cols)}}
	var u cuda.Unit
	args := reduce.NormArgs{X: u.Add(cuda.Operand{Kind: cuda.Input}), Addend: cuda.Null(), Sum: cuda.Null(),
		Gain: cuda.Null(), Bias: cuda.Null(), Scales: cuda.Null()}
	for i, arg := range n.Args[1:] {
		to := []*cuda.Arg{&args.Gain, &args.Bias}[i]
		switch {
		case arg.IsConst():
			v, err := arg.Value()
			if err != nil {
				return nil, err
			}
			*to = u.Add(cuda.Operand{Kind: cuda.Table, Data: columnTable(v.Floats, arg.Type.Shape, shape[axis:])})
		default:
			return nil, cuda.Refuse("%s of a scale or bias that is computed", n.Op.Name)
		}
	}
	args.Y = u.Add(cuda.Operand{Kind: cuda.Output})
	return unitOf(&u, p, args, t)
}

// columnTable are the bytes of values, broadcast to a value a column.
func columnTable(values []float32, shape, columns []int) []byte {
	at := broadcastIndex(shape, columns)
	out := make([]float32, len(at))
	for i, k := range at {
		out[i] = values[k]
	}
	return hlo.FromFloat32s([]int{len(out)}, out).Data
}
