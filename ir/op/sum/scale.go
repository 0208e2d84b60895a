// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"fmt"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/dot"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// Scale is x*m[c] + b[c] per channel. Quantized, m and b are constants: the exact value, one rounding into the result
// format.
var Scale = &ir.Op{
	Name: "scale", Doc: "x*m + b per channel", Attrs: column.ScaleAttrs{}, Arity: [2]int{3, 3},
	Traits:   ir.Traits{Weighted: true, Axis: column.ScaleAxis, PerChannel: true},
	Infer:    func(n *ir.Node) ([]int, error) { return column.InferChannels(n, n.Attrs.(*column.ScaleAttrs).Axis) },
	Eval:     scaleEval,
	Bounds:   weightedBounds,
	Exact:    dot.ExactSum,
	HLO:      scaleHLO,
	RTL:      scaleRTL,
	Products: scaleProducts,
	Gen:      genScale,
	Legal: func(n *ir.Node) error {
		if a := n.Attrs.(*column.ScaleAttrs).Axis; a != len(n.Type.Shape)-1 {
			return fmt.Errorf("channels must be the last axis, not axis %d of %s", a, ir.ShapeString(n.Type.Shape))
		}
		return dot.Legal(n)
	},
}

// scaleFloat is x*mul[c] + add[c], with the factors for the arguments of a sample; add may be nil.
func scaleFloat(n *ir.Node, axis int,
	factors func(args []*ir.Tensor) (mul, add []float64, err error)) (ir.Kernel, error) {
	x, err := fixedFloats(n, 0)
	inner := max(1, walk.Size(n.Type.Shape[axis+1:]))
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		mul, add, err := factors(args)
		if err != nil {
			return nil, err
		}
		out, in := ir.NewTensor(n.Type), x(args)
		workers.Ranges(len(out.Floats)/inner, 1+walk.Grain/inner, func(from, to int) {
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
	axis := n.Attrs.(*column.ScaleAttrs).Axis
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
	p, err := dot.New(n)
	if err != nil {
		return nil, err
	}
	channels, _ := p.Size()
	kernels := p.Groups(channels)
	inner := walk.Size(n.Type.Shape[axis+1:])
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, err := p.Input(n, args[0])
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		for i := range x.Ints {
			kernels[i/inner%channels](x.Row(i, 1), out.Codes[i:i+1])
		}
		return out, nil
	}, nil
}

func scaleHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	axis := b.Axis(n.Attrs.(*column.ScaleAttrs).Axis)
	x, err := carrier.EachSample(b, n, args, 0)
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
	p, err := dot.New(n)
	if err != nil {
		return hlo.Value{}, err
	}
	return p.Dot(b, n, x, dot.Form{Shape: n.Args[1].Type.Shape, Carrier: hlo.I64,
		Products: func(v, w hlo.Value, bits int) (hlo.Value, error) {
			if bits > 62 {
				return v, n.Errorf(diag.IntegerWidth, "products need %d bits, StableHLO integers have 64", bits+1)
			}
			return b.Mul(carrier.Wide(b, v), b.Along(w, x.Type().Dims, axis)), b.Err()
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
	p, err := dot.New(n)
	if err != nil {
		return nil, err
	}
	return p.Unit(n, scaleFront(n, p))
}

// scaleProducts is the Products column.
func scaleProducts(n *ir.Node) ([]ir.ProductForm, error) {
	p, err := dot.New(n)
	if err != nil {
		return nil, err
	}
	return p.Products(n, scaleFront(n, p))
}

// scaleFront is what stands before the multipliers of n.
func scaleFront(n *ir.Node, p dot.Sum) dot.Front {
	channels, _ := p.Size()
	lanes := n.HW.InLanes
	f := dot.Front{Name: "scale", Size: []any{"C", channels, "LANES", lanes}, In: 1, Out: lanes,
		Tail: append([]any{"BEATS", hardware.Beats(n.Type, lanes)}, dot.Multipliers(n)...), Sweeps: n.Type.Elems() / channels}
	if e := lane.CheckDivisor(n, "lanes", lanes, channels, "channels"); e != nil {
		f.Lanes = e
	}
	return f
}

func genScale(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 3), Format: draw.Format(r)})
	axis := len(x.Type.Shape) - 1
	return genSum(r, o, &column.ScaleAttrs{Axis: axis}, x, []int{x.Type.Shape[axis]}, true)
}
