// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"

	"lathe/ir"
)

// BatchNormAttrs are the attributes of batch_norm.
type BatchNormAttrs struct {
	Epsilon float32
	// Axis is the channel axis.
	Axis int
}

// BatchNorm is (x - mean)/sqrt(var + eps)*gamma + beta per channel; arguments x, gamma, beta, mean, var.
// It exists in float graphs only: lowering folds it into a linear operation or turns it into scale.
var BatchNorm = &ir.Op{
	Name: "batch_norm", Doc: "(x - mean)/sqrt(var + eps)*gamma + beta per channel",
	Attrs: BatchNormAttrs{}, Arity: [2]int{5, 5},
	Traits: ir.Traits{FloatOnly: true, Axis: batchNormAxis,
		Channels: func(n *ir.Node) int { return *batchNormAxis(n.Attrs) }},
	Infer: func(n *ir.Node) ([]int, error) {
		return inferChannels(n, n.Attrs.(*BatchNormAttrs).Axis)
	},
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		mul, add, err := batchNormFactors(n)
		if err != nil {
			return nil, err
		}
		return scaleFloat(n, n.Attrs.(*BatchNormAttrs).Axis, mul, add), nil
	},
	HLO:    batchNormHLO,
	Expand: batchNormExpand,
	Gen:    genBatchNorm,
	Legal: func(*ir.Node) error {
		return fmt.Errorf("batch_norm must be folded or turned into scale before it is quantized")
	},
}

func batchNormAxis(attrs any) *int { return &attrs.(*BatchNormAttrs).Axis }

// batchNormFactors turns a batch_norm node into y = x*mul[c] + add[c], in float64.
func batchNormFactors(n *ir.Node) (mul, add []float64, err error) {
	var p [5][]float32
	for i := 1; i < 5; i++ {
		t, err := constArg(n, i)
		if err != nil {
			return nil, nil, err
		}
		p[i] = t.Floats
	}
	eps := float64(n.Attrs.(*BatchNormAttrs).Epsilon)
	mul, add = make([]float64, len(p[1])), make([]float64, len(p[1]))
	for c := range mul {
		v := float64(p[4][c]) + eps
		if v <= 0 {
			return nil, nil, n.Errorf("L0316", "variance %g of channel %d is not positive", p[4][c], c)
		}
		mul[c] = float64(p[1][c]) / math.Sqrt(v)
		add[c] = float64(p[2][c]) - float64(p[3][c])*mul[c]
	}
	return mul, add, nil
}

// batchNormExpand is the scale that n is, with its constants before it.
func batchNormExpand(n *ir.Node) ([]*ir.Node, error) {
	mul, add, err := batchNormFactors(n)
	if err != nil {
		return nil, err
	}
	args := []*ir.Node{n.Args[0]}
	for _, c := range []struct {
		name   string
		values []float64
	}{{".mul", mul}, {".add", add}} {
		values := make([]float32, len(c.values))
		for i, v := range c.values {
			values[i] = float32(v)
		}
		args = append(args, &ir.Node{Name: n.Name + c.name, Op: Const, Pos: n.Pos, Type: ir.Float(len(values)),
			Attrs: &ir.Const{Data: ir.FloatBlob(values)}})
	}
	s := &ir.Node{Name: n.Name, Op: Scale, Pos: n.Pos, Args: args, Type: n.Type,
		Attrs: &ScaleAttrs{Axis: *batchNormAxis(n.Attrs)}}
	return append(args[1:], s), nil
}

// inferChannels checks that all arguments behind the first have one value a channel.
func inferChannels(n *ir.Node, axis int) ([]int, error) {
	x := n.Args[0].Type.Shape
	if axis < 0 || axis >= len(x) {
		return nil, fmt.Errorf("channel axis %d is outside of %s", axis, ir.ShapeString(x))
	}
	for _, p := range n.Args[1:] {
		if s := p.Type.Shape; len(s) != 1 || s[0] != x[axis] {
			return nil, fmt.Errorf("%s has shape %s, %d channels need %d", p.Name, ir.ShapeString(s), x[axis], x[axis])
		}
	}
	return x, nil
}

// ScaleAttrs are the attributes of scale.
type ScaleAttrs struct {
	// Axis is the channel axis.
	Axis int
}

// Scale is x*m[c] + b[c] per channel with constants m and b: the exact value, one rounding into the result format.
var Scale = &ir.Op{
	Name: "scale", Doc: "x*m + b per channel", Attrs: ScaleAttrs{}, Arity: [2]int{3, 3},
	Traits: ir.Traits{Weighted: true, Axis: scaleAxis, Channels: func(n *ir.Node) int { return *scaleAxis(n.Attrs) }},
	Infer:  func(n *ir.Node) ([]int, error) { return inferChannels(n, n.Attrs.(*ScaleAttrs).Axis) },
	Eval:   scaleEval,
	HLO:    scaleHLO,
	RTL:    scaleRTL,
	Gen:    genScale,
	Legal: func(n *ir.Node) error {
		if a := n.Attrs.(*ScaleAttrs).Axis; a != len(n.Type.Shape)-1 {
			return fmt.Errorf("channels must be the last axis, not axis %d of %s", a, ir.ShapeString(n.Type.Shape))
		}
		return macLegal(n)
	},
}

func scaleAxis(attrs any) *int { return &attrs.(*ScaleAttrs).Axis }

func scaleFloat(n *ir.Node, axis int, mul, add []float64) ir.Kernel {
	inner := product(n.Type.Shape[axis+1:])
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		for i, v := range args[0].Floats {
			c := i / inner % len(mul)
			out.Floats[i] = float32(float64(v)*mul[c] + add[c])
		}
		return out, nil
	}
}

// planScale views scale as a mac with one term a row: t[c] = (x*m[c]) << psh[c] + b[c].
func planScale(n *ir.Node) (*mac, error) {
	m, err := planMAC(n)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func scaleEval(n *ir.Node) (ir.Kernel, error) {
	axis := n.Attrs.(*ScaleAttrs).Axis
	if n.Type.IsFloat() {
		w, b, err := floatWeights(n)
		if err != nil {
			return nil, err
		}
		return scaleFloat(n, axis, widen(w), widen(b)), nil
	}
	m, err := planScale(n)
	if err != nil {
		return nil, err
	}
	rows := m.groups(m.out)
	kernels := make([]dotKernel, m.out)
	for c, r := range rows {
		kernels[c] = r.kernel(n.Type.Format)
	}
	inner := product(n.Type.Shape[axis+1:])
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		l, err := args[0].Lattice()
		if err != nil {
			return nil, n.Errorf("L0308", "%v", err)
		}
		out := ir.NewTensor(n.Type)
		for i := range l.Ints {
			kernels[i/inner%m.out](l.Ints[i:i+1], out.Codes[i:i+1])
		}
		return out, nil
	}, nil
}

func widen(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}
