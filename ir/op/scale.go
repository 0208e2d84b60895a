// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/rtl"
)

// ScaleAttrs are the attributes of scale.
type ScaleAttrs struct {
	// Axis is the channel axis.
	Axis int
}

// Scale is x*m[c] + b[c] per channel with constants m and b: the exact value, one rounding into the result format.
var Scale = &ir.Op{
	Name: "scale", Doc: "x*m + b per channel", Attrs: ScaleAttrs{}, Arity: [2]int{3, 3},
	Traits: ir.Traits{Weighted: true, Axis: scaleAxis, PerChannel: true},
	Infer:  func(n *ir.Node) ([]int, error) { return inferChannels(n, n.Attrs.(*ScaleAttrs).Axis) },
	Eval:   scaleEval,
	Exact:  ExactSum,
	HLO:    scaleHLO,
	RTL:    scaleRTL,
	Gen:    genScale,
	Legal: func(n *ir.Node) error {
		if a := n.Attrs.(*ScaleAttrs).Axis; a != len(n.Type.Shape)-1 {
			return fmt.Errorf("channels must be the last axis, not axis %d of %s", a, ir.ShapeString(n.Type.Shape))
		}
		return sumLegal(n)
	},
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

func scaleAxis(attrs any) *int { return &attrs.(*ScaleAttrs).Axis }

// scaleFloat is x*mul[c] + add[c], with the factors for the arguments of a sample; add may be nil.
func scaleFloat(n *ir.Node, axis int,
	factors func(args []*ir.Tensor) (mul, add []float64, err error)) (ir.Kernel, error) {
	x, err := fixedFloats(n, 0)
	inner := max(1, product(n.Type.Shape[axis+1:]))
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		mul, add, err := factors(args)
		if err != nil {
			return nil, err
		}
		out, in := ir.NewTensor(n.Type), x(args)
		workers.Ranges(len(out.Floats)/inner, 1+unaryGrain/inner, func(from, to int) {
			for row := from; row < to; row++ {
				c := row % len(mul)
				y := out.Floats[row*inner : (row+1)*inner]
				for i, v := range in[row*inner : (row+1)*inner] {
					y[i] = float32(float64(float64(v)*mul[c]) + add[c])
				}
			}
		})
		return out, nil
	}, err
}

func scaleEval(n *ir.Node) (ir.Kernel, error) {
	axis := n.Attrs.(*ScaleAttrs).Axis
	if n.Type.IsFloat() {
		mul, err := fixedFloats(n, 1)
		if err != nil {
			return nil, err
		}
		add, err := fixedFloats(n, 2)
		if err != nil {
			return nil, err
		}
		return scaleFloat(n, axis, func(args []*ir.Tensor) (m, a []float64, err error) {
			return widen(mul(args)), widen(add(args)), nil
		})
	}
	p, err := PlanSum(n)
	if err != nil {
		return nil, err
	}
	channels, _ := p.Size()
	kernels := p.groups(channels)
	inner := product(n.Type.Shape[axis+1:])
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, err := p.input(n, args[0])
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		for i := range x.ints {
			kernels[i/inner%channels](x.row(i, 1), out.Codes[i:i+1])
		}
		return out, nil
	}, nil
}

func scaleHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	axis := b.Axis(n.Attrs.(*ScaleAttrs).Axis)
	x, err := eachSample(b, n, args, 0)
	if err != nil {
		return hlo.Value{}, err
	}
	if n.Type.IsFloat() {
		mul, err := channels(b, n, args, 1, axis)
		if err != nil {
			return hlo.Value{}, err
		}
		return addBias(b, n, args, b.Mul(x, mul), axis)
	}
	p, err := PlanSum(n)
	if err != nil {
		return hlo.Value{}, err
	}
	return p.dot(b, n, x, sumDot{shape: n.Args[1].Type.Shape, carrier: hlo.I64,
		products: func(v, w hlo.Value, bits int) (hlo.Value, error) {
			if bits > 62 {
				return v, n.Errorf("L0317", "products need %d bits, StableHLO integers have 64", bits+1)
			}
			return b.Mul(wide(b, v), b.Along(w, x.Type().Dims, axis)), b.Err()
		}})
}

func widen(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func scaleRTL(n *ir.Node) (*rtl.Unit, error) {
	p, err := PlanSum(n)
	if err != nil {
		return nil, err
	}
	channels, _ := p.Size()
	lanes := n.HW.InLanes
	f := sumFront{name: "scale", size: []any{"C", channels, "LANES", lanes}, in: 1, out: lanes,
		tail: append([]any{"BEATS", frameBeats(n.Type, lanes)}, multipliers(n)...)}
	if e := checkLanes(n, "lanes", lanes, channels, "channels"); e != nil {
		f.lanes = e
	}
	return p.unit(n, f)
}
