// SPDX-License-Identifier: Apache-2.0

// Package sum holds the operations that multiply by weights and sum: linear, conv, matmul, scale, batch normalization.
package sum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/curve"
	"lathe/ir/op/draw"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// BatchNormAttrs are the attributes of batch_norm.
type BatchNormAttrs struct {
	Epsilon float32
	// Axis is the channel axis.
	Axis int
}

// BatchNorm is (x - mean)/sqrt(var + eps)*gamma + beta per channel; arguments x, gamma, beta, mean, var.
// It exists in float graphs only: lowering merges it with a linear operation or turns it into scale.
var BatchNorm = &ir.Op{
	Name: "batch_norm", Doc: "(x - mean)/sqrt(var + eps)*gamma + beta per channel",
	Attrs: BatchNormAttrs{}, Arity: [2]int{5, 5},
	Traits: ir.Traits{FloatOnly: true, Axis: batchNormAxis, PerChannel: true},
	Infer: func(n *ir.Node) ([]int, error) {
		return column.InferChannels(n, n.Attrs.(*BatchNormAttrs).Axis)
	},
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		axis := n.Attrs.(*BatchNormAttrs).Axis
		if !constParams(n) {
			return scaleFloat(n, axis, func(args []*ir.Tensor) (mul, add []float64, err error) {
				return batchNormFactors(n, args)
			})
		}
		mul, add, err := batchNormFactors(n, nil)
		if err != nil {
			return nil, err
		}
		return scaleFloat(n, axis, func([]*ir.Tensor) ([]float64, []float64, error) { return mul, add, nil })
	},
	HLO:    batchNormHLO,
	Expand: batchNormExpand,
	Gen:    genBatchNorm,
	Legal: func(*ir.Node) error {
		return fmt.Errorf("batch_norm must be absorbed or turned into scale before it is quantized")
	},
}

// Statistics says of a batch normalization with constant statistics along which axis they are, and what is added to the
// variance; ok is false for other nodes.
func Statistics(n *ir.Node) (axis int, epsilon float32, ok bool) {
	a, ok := n.Attrs.(*BatchNormAttrs)
	if !ok || !n.Args[3].IsConst() || !n.Args[4].IsConst() {
		return 0, 0, false
	}
	return a.Axis, a.Epsilon, true
}

func batchNormAxis(attrs any) *int { return &attrs.(*BatchNormAttrs).Axis }

// constParams says that all arguments behind the first are constants.
func constParams(n *ir.Node) bool {
	return !slices.ContainsFunc(n.Args[1:], func(a *ir.Node) bool { return !a.IsConst() })
}

// batchNormFactors turns a batch_norm node into y = x*mul[c] + add[c], in float64, for the arguments of a sample; nil
// where all parameters are constants.
func batchNormFactors(n *ir.Node, args []*ir.Tensor) (mul, add []float64, err error) {
	var p [5][]float32
	for i := 1; i < 5; i++ {
		of, err := fixedFloats(n, i)
		if err != nil {
			return nil, nil, err
		}
		p[i] = of(args)
	}
	eps := float64(n.Attrs.(*BatchNormAttrs).Epsilon)
	mul, add = make([]float64, len(p[1])), make([]float64, len(p[1]))
	for c := range mul {
		v := float64(p[4][c]) + eps
		if v <= 0 {
			return nil, nil, n.Errorf(diag.Variance, "variance %g of channel %d is not positive", p[4][c], c)
		}
		mul[c] = float64(p[1][c]) / math.Sqrt(v)
		add[c] = float64(p[2][c]) - float64(p[3][c])*mul[c]
	}
	return mul, add, nil
}

// batchNormExpand is the scale that n is, with its constants before it, or how they are computed.
func batchNormExpand(n *ir.Node) ([]*ir.Node, error) {
	attrs := &column.ScaleAttrs{Axis: *batchNormAxis(n.Attrs)}
	if !constParams(n) {
		e, eps := composite.Expand(n), float64(n.Attrs.(*BatchNormAttrs).Epsilon)
		root := e.Do("root", curve.Sqrt, nil, e.Do("variance", pointwise.Add, nil, n.Args[4], e.Number("eps", eps)))
		mul := e.Do("mul", whole.Div, nil, n.Args[1], root)
		add := e.Do("add", pointwise.Sub, nil, n.Args[2], e.Do("shift", pointwise.Mul, nil, n.Args[3], mul))
		e.Do("scaled", Scale, attrs, n.Args[0], mul, add)
		return e.Done()
	}
	mul, add, err := batchNormFactors(n, nil)
	if err != nil {
		return nil, err
	}
	args := []*ir.Node{n.Args[0]}
	for _, c := range []struct {
		name   string
		values []float64
	}{{".mul", mul}, {".add", add}} {
		args = append(args, &ir.Node{Name: n.Name + c.name, Op: leaf.Const, Pos: n.Pos, Type: ir.Float(len(c.values)),
			Attrs: ir.Computed(ir.FloatBlob(narrow(c.values)), n.Args[1:]...)})
	}
	s := &ir.Node{Name: n.Name, Op: Scale, Pos: n.Pos, Args: args, Type: n.Type, Attrs: attrs}
	return append(args[1:], s), nil
}

func genBatchNorm(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Float(draw.Shape(r, 2, 4)...))
	a := &BatchNormAttrs{Epsilon: 1e-5, Axis: r.IntN(len(x.Type.Shape))}
	args := []*ir.Node{x}
	for i, name := range []string{"gamma", "beta", "mean", "variance"} {
		values := make([]float32, x.Type.Shape[a.Axis])
		for c := range values {
			if values[c] = float32(r.NormFloat64()); i == 3 {
				values[c] = r.Float32() + 0.1
			}
		}
		args = append(args, &ir.Node{Name: name, Op: leaf.Const, Attrs: &ir.Const{Data: ir.FloatBlob(values)},
			Type: ir.Float(len(values))})
	}
	return draw.Graph(o, a, ir.Type{Format: format.FP32}, args...)
}

func batchNormHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if !constParams(n) {
		return composite.PartsHLO(b, n, args)
	}
	mul, add, err := batchNormFactors(n, nil)
	if err != nil {
		return hlo.Value{}, err
	}
	axis := b.Axis(n.Attrs.(*BatchNormAttrs).Axis)
	x, err := carrier.EachSample(b, n, args, 0)
	if err != nil {
		return hlo.Value{}, err
	}
	dims := x.Type().Dims
	scale := b.Weight(hlo.FromFloat32s([]int{len(mul)}, narrow(mul)))
	shift := b.Weight(hlo.FromFloat32s([]int{len(add)}, narrow(add)))
	return b.Add(b.Mul(x, b.Along(scale, dims, axis)), b.Along(shift, dims, axis)), b.Err()
}

func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
