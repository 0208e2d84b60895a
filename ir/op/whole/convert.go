// SPDX-License-Identifier: Apache-2.0

package whole

import (
	"fmt"
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/rtl"
)

// ConvertAttrs name the element type of the source model to convert to.
type ConvertAttrs struct {
	To ir.DType
}

// Convert is a cast of the source model. Floats become whole numbers toward zero, modulo 2^W, and 0 where they are not
// finite; bool is 1 for all that is not 0. f16 and bf16 are rounded to nearest even, and stay fp32.
var Convert = &ir.Op{
	Name: "convert", Doc: "x in another element type: toward zero modulo 2^W, or to the nearest float",
	Attrs: ConvertAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{FloatOnly: true, Elementwise: true},
	Infer:  column.SameShape,
	Format: func(n *ir.Node) (format.Format, error) {
		to := n.Attrs.(*ConvertAttrs).To
		f := ir.FormatOf(to)
		if f == nil {
			return nil, fmt.Errorf("unknown element type %q", to)
		}
		return f, nil
	},
	Eval:  convertEval,
	HLO:   convertHLO,
	Legal: column.NoInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		types := []ir.DType{ir.F32, ir.F64, ir.F16, ir.BF, ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32,
			ir.U64, ir.B1}
		return draw.Element(r, o, &ConvertAttrs{types[r.IntN(len(types))]}, draw.Either(r))
	},
}

func convertEval(n *ir.Node) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	to := n.Attrs.(*ConvertAttrs).To
	round := roundTo(to)
	code := wrappedOrTrue(n.Type)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, out := args[0], ir.NewTensor(n.Type)
		for i := range n.Type.Elems() {
			switch {
			case x.Codes == nil && out.Codes == nil:
				out.Floats[i] = round(x.Floats[i])
			case out.Codes == nil:
				out.Floats[i] = round(float32(x.Codes[i]))
			case x.Codes != nil:
				out.Codes[i] = code(x.Codes[i])
			case to == ir.B1:
				out.Codes[i] = int64(rtl.Flag(x.Floats[i] != 0))
			default:
				out.Codes[i] = code(truncated(x.Floats[i]))
			}
		}
		return out, nil
	}, nil
}

// wrappedOrTrue cuts to the low bits of t; Bool is what is not 0.
func wrappedOrTrue(t ir.Type) func(v int64) int64 {
	if t.Format == ir.Bool {
		return func(v int64) int64 { return int64(rtl.Flag(v != 0)) }
	}
	return arith.Wrap(t)
}

// truncated is x toward zero modulo 2^64, 0 for what is not finite.
func truncated(x float32) int64 {
	bits := math.Float32bits(x)
	exp := int(bits>>23&255) - 150
	v := int64(bits&(1<<23-1) | 1<<23)
	switch {
	case exp < 0:
		v >>= min(-exp, 63)
	default:
		v <<= min(exp, 64) // no bit of an infinity or a NaN is left
	}
	if x < 0 {
		return -v
	}
	return v
}

// roundTo rounds to the values of an element type of floats.
func roundTo(d ir.DType) func(x float32) float32 {
	if h, ok := ir.HalfOf(d); ok {
		return h.Round
	}
	return func(x float32) float32 { return x }
}

func convertHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if err := column.InFloatGraph(n); err != nil {
		return hlo.Value{}, err
	}
	x, to := args[0], n.Attrs.(*ConvertAttrs).To
	switch {
	case n.Type.IsFloat():
		x = roundHLO(b, b.Convert(x, hlo.F32), to)
	case to == ir.B1:
		x = carrier.FromBool(b, carrier.IsTrue(b, x))
	case n.Args[0].Type.IsFloat():
		x = carrier.Wrap(b, b.Convert(truncatedHLO(b, x), carrier.DType(n.Type)), n.Type)
	default:
		x = carrier.Wrap(b, b.Convert(x, carrier.DType(n.Type)), n.Type)
	}
	return x, b.Err()
}

// truncatedHLO prints truncated.
func truncatedHLO(b *hlo.Builder, x hlo.Value) hlo.Value {
	bits := b.Convert(b.Bitcast(x, hlo.I32), hlo.I64)
	word := func(v int64) hlo.Value { return b.Int(hlo.I64, v) }
	exp := b.Sub(b.And(b.ShiftRightLogical(bits, word(23)), word(255)), word(150))
	v := b.Or(b.And(bits, word(1<<23-1)), word(1<<23))
	zero := b.Splat(exp, 0)
	right, left := b.Min(b.Max(b.Neg(exp), zero), word(63)), b.Min(b.Max(exp, zero), word(64))
	v = b.ShiftLeft(b.ShiftRightArith(v, right), left)
	return b.Select(b.Compare(hlo.LT, x, b.Splat(x, 0)), b.Neg(v), v)
}

// roundHLO prints roundTo.
func roundHLO(b *hlo.Builder, x hlo.Value, to ir.DType) hlo.Value {
	if h, ok := ir.HalfOf(to); ok {
		return h.RoundHLO(b, x)
	}
	return x
}
