// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// PRelu is x for x >= 0, else slope[c]*x with a constant slope for each channel: the exact product, one rounding.
var PRelu = &ir.Op{
	Name: "prelu", Doc: "x for x >= 0, else slope*x per channel", Attrs: column.ScaleAttrs{}, Arity: [2]int{2, 2},
	Traits: ir.Traits{Axis: column.ScaleAxis, PerChannel: true, Bends: column.AtZero},
	Infer:  func(n *ir.Node) ([]int, error) { return column.InferChannels(n, n.Attrs.(*column.ScaleAttrs).Axis) },
	Eval:   preluEval,
	HLO:    preluHLO,
	RTL:    preluRTL,
	Gen:    genPRelu,
	Legal: func(n *ir.Node) error {
		if a := n.Attrs.(*column.ScaleAttrs).Axis; a != len(n.Type.Shape)-1 {
			return fmt.Errorf("channels must be the last axis, not axis %d of %s", a, ir.ShapeString(n.Type.Shape))
		}
		if err := column.Plain(n); err != nil {
			return err
		}
		_, err := planPRelu(n)
		return err
	},
}

// slopes are the factors of prelu as integers: x times one for x >= 0, times slope[c] below, at exponent exp.
type slopes struct {
	slope []int64
	one   uint // the factor 2^one
	exp   int
}

// planPRelu aligns the slopes with 1.
func planPRelu(n *ir.Node) (*slopes, error) {
	xexp, ok := arith.Step(n.Args[0].Type)
	if !ok {
		return nil, n.Errorf(diag.OpFormats, "%s takes formats with a common step, not %s", n.Op.Name, n.Args[0].Type.Format)
	}
	l, err := arith.ConstLattice(n, 1)
	if err != nil {
		return nil, err
	}
	s := &slopes{slope: make([]int64, len(l.Ints))}
	least := 0
	for c := range l.Ints {
		least = min(least, l.Exp(c))
	}
	s.one, s.exp = uint(-least), xexp+least
	for c, v := range l.Ints {
		up := l.Exp(c) - least
		if s.slope[c] = v << up; up > 40 || s.one > 40 || s.slope[c]>>up != v {
			return nil, n.Errorf(diag.OpFormats, "slopes of %s have no common step with 1 of 40 bits", n.Args[1].Type.Format)
		}
	}
	return s, nil
}

func preluEval(n *ir.Node) (ir.Kernel, error) {
	inner := walk.Size(n.Type.Shape[n.Attrs.(*column.ScaleAttrs).Axis+1:])
	if n.Type.IsFloat() {
		t, err := arith.ConstArg(n, 1)
		if err != nil {
			return nil, err
		}
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			out := ir.NewTensor(n.Type)
			for i, v := range args[0].Floats {
				if v < 0 {
					v *= t.Floats[i/inner%len(t.Floats)]
				}
				out.Floats[i] = v
			}
			return out, nil
		}, nil
	}
	s, err := planPRelu(n)
	if err != nil {
		return nil, err
	}
	f := n.Type.Format
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		l, err := args[0].Lattice()
		if err != nil {
			return nil, n.Errorf(diag.OpFormats, "%v", err)
		}
		out := ir.NewTensor(n.Type)
		for i, v := range l.Ints {
			factor := int64(1) << s.one
			if v < 0 {
				factor = s.slope[i/inner%len(s.slope)]
			}
			out.Codes[i] = f.Encode(format.FromInt(v, s.exp).Mul(format.FromInt(factor, 0)))
		}
		return out, nil
	}, nil
}

func preluHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	x, axis := args[0], b.Axis(n.Attrs.(*column.ScaleAttrs).Axis)
	if n.Type.IsFloat() {
		w, err := carrier.Const(b, n.Args[1])
		if err != nil {
			return hlo.Value{}, err
		}
		low := b.Mul(x, b.Along(w, x.Type().Dims, axis))
		return b.Select(b.Compare(hlo.LT, x, b.Splat(x, 0)), low, x), b.Err()
	}
	s, err := planPRelu(n)
	if err != nil {
		return hlo.Value{}, err
	}
	if _, err := arith.FixedOf(n, n.Args[0].Type); err != nil {
		return hlo.Value{}, err
	}
	bits := n.Args[0].Type.Format.Width() + s.width()
	if bits > 63 {
		return hlo.Value{}, n.Errorf(diag.IntegerWidth, "products need %d bits, StableHLO integers have 64", bits)
	}
	x = carrier.Wide(b, x)
	w := b.Along(b.Weight(hlo.FromInt64s(hlo.I64, []int{len(s.slope)}, s.slope)), x.Type().Dims, axis)
	one := b.Splat(w, int64(1)<<s.one)
	return carrier.Requant(b, n, b.Mul(x, b.Select(b.Compare(hlo.LT, x, b.Splat(x, 0)), w, one)), s.exp, bits)
}

// width is the bits of all factors in two's complement.
func (s *slopes) width() int {
	w := int(s.one) + 2
	for _, v := range s.slope {
		w = max(w, arith.SignedBits(big.NewInt(v)))
	}
	return w
}

func preluRTL(n *ir.Node) (*rtl.Unit, error) {
	s, err := planPRelu(n)
	if err != nil {
		return nil, err
	}
	lanes := n.HW.InLanes
	if e := lane.CheckDivisor(n, "lanes", lanes, len(s.slope), "channels"); e != nil {
		return nil, e
	}
	width := 1
	for _, v := range s.slope {
		width = max(width, arith.SignedBits(big.NewInt(v)))
	}
	u, err := hardware.Elementwise("op_prelu", n, s.exp, "C", len(s.slope), "W_W", width, "ONE", int(s.one))
	if err != nil {
		return nil, err
	}
	var words []*big.Int
	for f := 0; f < len(s.slope); f += lanes {
		word := new(big.Int)
		for i := lanes - 1; i >= 0; i-- {
			hardware.AppendField(word, big.NewInt(s.slope[f+i]), width)
		}
		words = append(words, word)
	}
	u.Images = []rtl.Image{{Param: "SLOPES", Width: lanes * width, Words: words}}
	return u, nil
}

func genPRelu(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 3), Format: draw.Format(r)})
	channels := x.Type.Shape[len(x.Type.Shape)-1]
	f := draw.Fixed(r, 9)
	slope := draw.Const("slope", ir.Type{Shape: []int{channels}, Format: f}, draw.Codes(r, f, channels))
	top := draw.Top(x.Type) + max(0, draw.Top(slope.Type)-draw.Between(r, 0, 3))
	return draw.Graph(o, &column.ScaleAttrs{Axis: len(x.Type.Shape) - 1}, ir.Type{Format: draw.Result(r, top)}, x, slope)
}
