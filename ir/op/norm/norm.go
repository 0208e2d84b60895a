// SPDX-License-Identifier: Apache-2.0

// Package norm holds normalizations and softmax, which divide lines of elements by what they sum to.
package norm

import (
	"fmt"
	"math"
	"slices"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// Of a gain of Fg and a bias of Fb fraction bits the integer form takes Fb up to Fg + BiasBeyond and Fg up to Fb +
// GainBeyond, each of up to GainBits bits, sign included.
const (
	GainBits   = exactBits
	BiasBeyond = zFrac
	GainBeyond = sumBits - GainBits - zFrac
)

// Attrs are the attributes of normalizations over the axes from Axis on, which may be negative, to the last.
type Attrs struct {
	Axis int
	Eps  float32
}

// LayerNorm is (x - mean)/sqrt(variance + eps)*scale + bias over the axes from Axis on, with the population variance
// (Ba, Kiros and Hinton, 2016). scale and bias, which may be missing, broadcast to those axes.
var LayerNorm = &ir.Op{
	Name: "layer_norm", Doc: "(x - mean)/sqrt(var + eps)*scale + bias over the last axes",
	Attrs: Attrs{}, Arity: [2]int{1, 3}, Traits: ir.Traits{RoundsOnce: true, Reads16: true},
	Infer: normInfer, Eval: layerNormEval, Expand: layerNormExpand,
	Bounds: func(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) { return normBounds(n, args, false) },
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		return normHLO(b, n, args, false)
	},
	RTL:   func(n *ir.Node) (*rtl.Unit, error) { return normRTL(n, false) },
	Lanes: normLanes,
	CUDA:  func(g *ir.Group, t cuda.Target) (*cuda.Unit, error) { return normCUDA(g, false, t) },
	Legal: func(n *ir.Node) error { return normLegal(n, false) }, Gen: genNorm,
}

// RMSNorm is x/sqrt(mean of squares + eps)*scale over the axes from Axis on (Zhang and Sennrich, 2019). scale, which
// may be missing, broadcasts to those axes.
var RMSNorm = &ir.Op{
	Name: "rms_norm", Doc: "x/sqrt(mean of squares + eps)*scale over the last axes",
	Attrs: Attrs{}, Arity: [2]int{1, 2}, Traits: ir.Traits{RoundsOnce: true, Reads16: true},
	Infer: normInfer, Eval: rmsNormEval, Expand: rmsNormExpand,
	Bounds: func(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) { return normBounds(n, args, true) },
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		return normHLO(b, n, args, true)
	},
	RTL:   func(n *ir.Node) (*rtl.Unit, error) { return normRTL(n, true) },
	Lanes: normLanes,
	CUDA:  func(g *ir.Group, t cuda.Target) (*cuda.Unit, error) { return normCUDA(g, true, t) },
	Legal: func(n *ir.Node) error { return normLegal(n, true) }, Gen: genNorm,
}

func normInfer(n *ir.Node) ([]int, error) {
	x := n.Args[0].Type.Shape
	axis, err := walk.Axis(n.Attrs.(*Attrs).Axis, len(x))
	if err != nil {
		return nil, err
	}
	for _, a := range n.Args[1:] {
		shape, err := walk.Broadcast(a.Type.Shape, x[axis:])
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
	eps := float64(n.Attrs.(*Attrs).Eps)
	return normEval(n, false, func(x []float32) (mean, factor float64) {
		mean, variance := Moments(x)
		return mean, 1 / math.Sqrt(variance+eps)
	})
}

func rmsNormEval(n *ir.Node) (ir.Kernel, error) {
	eps := float64(n.Attrs.(*Attrs).Eps)
	return normEval(n, true, func(x []float32) (mean, factor float64) {
		squares := 0.0
		for _, v := range x {
			squares += float64(v) * float64(v)
		}
		return 0, 1 / math.Sqrt(squares/float64(len(x))+eps)
	})
}

// Moments are the mean and the population variance, in two passes.
func Moments(x []float32) (mean, variance float64) {
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
func normEval(n *ir.Node, rms bool, row normalizer) (ir.Kernel, error) {
	if !n.Type.IsFloat() {
		return exactEval(n, rms)
	}
	shape := n.Type.Shape
	axis, err := walk.Axis(n.Attrs.(*Attrs).Axis, len(shape))
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	cols := walk.Size(shape[axis:])
	var at [][]int
	for _, a := range n.Args[1:] {
		at = append(at, walk.BroadcastIndex(a.Type.Shape, shape[axis:]))
	}
	fill := column.FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		workers.Ranges(walk.Size(shape[:axis]), 1+walk.Grain/max(cols, 1), func(first, last int) {
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

// normalized is x divided by the root of the mean of its squares along axes plus eps.
func normalized(e *composite.Expansion, x *ir.Node, axes []int, eps float32) *ir.Node {
	squares := e.Do("squares", pointwise.Mul, nil, x, x)
	mean := e.Do("mean_square", reduce.Mean, &reduce.Attrs{Axes: axes}, squares)
	root := e.Do("root", curve.Sqrt, nil, e.Do("variance", pointwise.Add, nil, mean, e.Number("eps", float64(eps))))
	return e.Do("normalized", pointwise.Mul, nil, x,
		e.Do("factor", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, root))
}

// centered is x minus its mean along axes.
func centered(e *composite.Expansion, x *ir.Node, axes []int) *ir.Node {
	return e.Do("centered", pointwise.Sub, nil, x, e.Do("mean", reduce.Mean, &reduce.Attrs{Axes: axes}, x))
}

// affine is x*scale + bias, as far as there are such.
func affine(e *composite.Expansion, x *ir.Node, with ...*ir.Node) *ir.Node {
	if len(with) > 0 {
		x = e.Do("scaled", pointwise.Mul, nil, x, with[0])
	}
	if len(with) > 1 {
		x = e.Do("biased", pointwise.Add, nil, x, with[1])
	}
	return x
}

func layerNormExpand(n *ir.Node) ([]*ir.Node, error) {
	a, x := n.Attrs.(*Attrs), n.Args[0]
	axis, err := walk.Axis(a.Axis, len(x.Type.Shape))
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	e, axes := composite.Expand(n), walk.AxesFrom(axis, len(x.Type.Shape))
	affine(e, normalized(e, centered(e, x, axes), axes, a.Eps), n.Args[1:]...)
	return e.Done()
}

func rmsNormExpand(n *ir.Node) ([]*ir.Node, error) {
	a, x := n.Attrs.(*Attrs), n.Args[0]
	axis, err := walk.Axis(a.Axis, len(x.Type.Shape))
	if err != nil {
		return nil, n.Errorf(diag.ArgumentShapes, "%v", err)
	}
	e := composite.Expand(n)
	affine(e, normalized(e, x, walk.AxesFrom(axis, len(x.Type.Shape)), a.Eps), n.Args[1:]...)
	return e.Done()
}
