// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"fmt"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/rtl"
)

// QuantAttrs say into which codes a model quantizes a value.
type QuantAttrs struct {
	// Format is the text of a format of integers with one scale.
	Format string
	// Bipolar makes x the code 1 where x >= 0, else the code -1, whatever the rounding of Format.
	Bipolar bool
}

// Quant is the quantization that a model itself asks for: the value of the code of x. Float graphs hold it as imported;
// quantized, it gives its format to the node before it, or becomes a cast.
var Quant = &ir.Op{
	Name: "quant", Doc: "x, rounded to the codes of a format of the model", Attrs: QuantAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Elementwise: true, Monotone: true},
	Infer:  column.SameShape,
	Eval:   quantEval,
	HLO:    quantHLO,
	RTL:    quantRTL,
	Legal:  quantLegal,
	Gen:    genQuant,
}

// genQuant draws integers with one scale, and the same format as result or another one.
func genQuant(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 0, 4), Format: draw.Affine(r, 12)})
	f := draw.Affine(r, 10)
	if f.Over == format.Wrap { // models have no such overflow, and it is not monotone
		f.Over = format.Sat
	}
	a := &QuantAttrs{Format: f.String()}
	if a.Bipolar = draw.Chance(r, 15); a.Bipolar {
		f = format.Affine{W: 2, Signed: true, Scale: f.Scale, Axis: format.PerTensor}
		a.Format = f.String()
	}
	return draw.Graph(o, a, ir.Type{Format: f}, x)
}

// QuantFormat is the format that a quant node asks for.
func QuantFormat(n *ir.Node) (format.Format, error) {
	a := n.Attrs.(*QuantAttrs)
	f, err := format.Parse(a.Format)
	if err != nil {
		return nil, n.Errorf(diag.NoLanes, "%v", err)
	}
	if _, ok := format.IntegersOf(f); !ok {
		return nil, fmt.Errorf("quant needs integers with one scale, not %s", f)
	}
	return f, nil
}

// bipolar is the code of x by its sign.
func bipolar(negative bool) int64 {
	if negative {
		return -1
	}
	return 1
}

func quantEval(n *ir.Node) (ir.Kernel, error) {
	if !n.Type.IsFloat() {
		return exactUnary(n, func(x format.Exact) int64 { return quantCode(n, x) })
	}
	f, err := QuantFormat(n)
	if err != nil {
		return nil, err
	}
	sign := n.Attrs.(*QuantAttrs).Bipolar
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		for i, v := range args[0].Floats {
			code := bipolar(v < 0)
			if !sign {
				code = f.Encode(format.FromFloat32(v))
			}
			out.Floats[i] = f.Decode(code).Float32()
		}
		return out, nil
	}, nil
}

// quantCode is the code of the exact value x in the result format.
func quantCode(n *ir.Node, x format.Exact) int64 {
	if !n.Attrs.(*QuantAttrs).Bipolar {
		return n.Type.Format.Encode(x)
	}
	f, err := QuantFormat(n) // Legal has seen that there is none
	if err != nil {
		return 0
	}
	return n.Type.Format.Encode(f.Decode(bipolar(x.Sign() < 0)))
}

// signCodes are the codes of a bipolar node for arguments below the code of zero and from it on.
func signCodes(n *ir.Node) (zero, below, above int64) {
	c, _ := format.IntegersOf(n.Args[0].Type.Format)
	return c.Zero, quantCode(n, format.FromInt(-1, 0)), quantCode(n, format.FromInt(1, 0))
}

// quantRTL compares the sign of a bipolar node with thresholds; all else is a cast.
func quantRTL(n *ir.Node) (*rtl.Unit, error) {
	if !n.Attrs.(*QuantAttrs).Bipolar {
		return affineRTL(castRTL)(n)
	}
	in, ok := format.IntegersOf(n.Args[0].Type.Format)
	out, okOut := format.IntegersOf(n.Type.Format)
	if !ok || !okOut {
		_, err := arith.FixedOf(n, n.Type)
		return nil, err
	}
	zero, below, above := signCodes(n)
	all := format.Fixed{W: in.Codes.W, Signed: in.Codes.Signed}
	switch {
	case zero <= all.Min():
		zero, below = all.Min()+1, above
	case zero > all.Max():
		zero, above = all.Max(), below
	}
	return codesClip(n, in.Codes, out.Codes, clipBounds{xlo: zero, xhi: zero - 1, codeLo: below, codeHi: above}), nil
}

func quantLegal(n *ir.Node) error {
	if err := column.Plain(n); err != nil {
		return err
	}
	_, err := QuantFormat(n)
	return err
}

// quantHLO prints the float meaning in float32: quotient, rounding, clamp, product.
func quantHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if !n.Type.IsFloat() {
		return quantCodesHLO(b, n, args)
	}
	f, err := QuantFormat(n)
	if err != nil {
		return hlo.Value{}, err
	}
	c, _ := format.IntegersOf(f)
	x := args[0]
	scale := b.Weight(hlo.FromFloat32s(nil, []float32{c.Step.Float32()})) // an argument: XLA must not take its reciprocal
	if n.Attrs.(*QuantAttrs).Bipolar {
		s := b.BroadcastInDim(scale, x.Type().Dims, nil)
		return b.Select(b.Compare(hlo.LT, x, b.Splat(x, 0)), b.Neg(s), s), b.Err()
	}
	scale = b.BroadcastInDim(scale, x.Type().Dims, nil)
	if c.Codes.Over == format.Wrap {
		return hlo.Value{}, n.Errorf(diag.ReferenceOnly, "quant to %s has a float meaning in the reference engine only", f)
	}
	v := roundFloat(b, b.Div(x, scale), c.Codes.Round)
	lo, hi := float64(c.Codes.Min()-c.Zero), float64(c.Codes.Max()-c.Zero)
	v = b.Min(b.Max(v, b.Float(hlo.F32, lo)), b.Float(hlo.F32, hi))
	return b.Mul(v, scale), b.Err()
}

// quantCodesHLO is the exact meaning.
func quantCodesHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if !n.Attrs.(*QuantAttrs).Bipolar {
		return affineHLO(castHLO)(b, n, args)
	}
	zero, below, above := signCodes(n)
	x, out := carrier.Wide(b, args[0]), carrier.DType(n.Type)
	v := b.Select(b.Compare(hlo.LT, x, b.Int(hlo.I64, zero)), b.Int(out, below), b.Int(out, above))
	return v, b.Err()
}

// roundFloat rounds float32 values to integers; every step is exact.
func roundFloat(b *hlo.Builder, v hlo.Value, r format.Round) hlo.Value {
	half := b.Float(hlo.F32, 0.5)
	low := b.Floor(v)
	beyond := func(dir hlo.Dir) hlo.Value { // low, or one more where the rest stands in that relation to a half
		return b.Select(b.Compare(dir, b.Sub(v, low), half), b.Add(low, b.Float(hlo.F32, 1)), low)
	}
	negative := b.Compare(hlo.LT, v, b.Splat(v, 0))
	switch r {
	case format.RoundAway:
		return b.RoundAway(v)
	case format.RoundUp:
		return beyond(hlo.GE)
	case format.RoundDown:
		return beyond(hlo.GT)
	case format.RoundHalfZero:
		return b.Select(negative, beyond(hlo.GE), beyond(hlo.GT))
	case format.RoundFloor:
		return low
	case format.RoundCeil:
		return b.Ceil(v)
	case format.RoundZero:
		return b.Select(negative, b.Ceil(v), low)
	case format.RoundOutward:
		return b.Select(negative, low, b.Ceil(v))
	}
	return b.RoundEven(v)
}
