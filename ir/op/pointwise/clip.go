// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/rtl"
)

// ClipAttrs are the bounds of clip; a missing bound is an infinity.
type ClipAttrs struct {
	Min, Max float32
}

// Clip is min(max(x, lo), hi); the bounds are exact float32 values.
var Clip = &ir.Op{
	Name: "clip", Doc: "min(max(x, lo), hi)", Attrs: ClipAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Whole: true, Elementwise: true, Table: true, Monotone: true},
	Infer:  column.SameShape,
	Eval:   clipEval,
	Exact: func(n *ir.Node) (format.Format, error) {
		a := n.Attrs.(*ClipAttrs)
		return argumentFormat(n, a.Min, a.Max)
	},
	HLO: affineHLO(clipHLO),
	RTL: affineRTL(clipRTL),
	Legal: func(n *ir.Node) error {
		if a := n.Attrs.(*ClipAttrs); math.IsNaN(float64(a.Min)) || math.IsNaN(float64(a.Max)) {
			return fmt.Errorf("a bound is NaN: %g, %g", a.Min, a.Max)
		}
		return column.Plain(n)
	},
	Gen: genClip,
}

func clipEval(n *ir.Node) (ir.Kernel, error) {
	if arith.OnWhole(n) {
		f, err := clipUnary.Exact(n, 0)
		return column.WholeUnary(n, f), err
	}
	return clipUnary.Eval(n)
}

var clipUnary = Unary{
	Float: func(n *ir.Node) func(float32) float32 {
		a := n.Attrs.(*ClipAttrs)
		return func(x float32) float32 { return min(max(x, a.Min), a.Max) }
	},
	Exact: func(n *ir.Node, exp int) (func(int64) int64, error) {
		c := clipOf(n, exp)
		enc := arith.Encoder(n.Type.Format, exp)
		return func(v int64) int64 {
			switch {
			case v > c.xhi: // the upper bound wins where the bounds cross, as in the formula
				return c.codeHi
			case v < c.xlo:
				return c.codeLo
			}
			return enc(v)
		}, nil
	},
}

// clipBounds is clip in threshold form on lattice integers: below xlo the result is codeLo, above xhi codeHi.
type clipBounds struct {
	xlo, xhi       int64
	codeLo, codeHi int64
}

// clipOf computes the threshold form for arguments at exponent exp. Where lo > hi every result is hi.
func clipOf(n *ir.Node, exp int) clipBounds {
	a := n.Attrs.(*ClipAttrs)
	lo := min(a.Min, a.Max)
	c := clipBounds{
		xlo: threshold(lo, exp, format.RoundCeil),
		xhi: threshold(a.Max, exp, format.RoundFloor),
	}
	c.codeLo = n.Type.Format.Encode(format.FromFloat32(lo))
	c.codeHi = n.Type.Format.Encode(format.FromFloat32(a.Max))
	if a.Min > a.Max {
		c.xlo, c.codeLo = math.MaxInt64, c.codeHi
	}
	return c
}

// threshold is a bound in steps of 2^exp, rounded to an integer; beyond 64 bits it is the last one.
func threshold(bound float32, exp int, r format.Round) int64 {
	x := format.FromFloat32(bound)
	switch v, ok := x.RoundTo(exp, r).Int64(exp); {
	case ok:
		return v
	case x.Sign() > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

// genClip draws bounds on, between and beyond the values of the argument, sometimes crossed, sometimes missing.
func genClip(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 3), Format: draw.Format(r)})
	bound := func() float32 {
		switch r.IntN(4) {
		case 0:
			return float32(x.Type.Format.Decode(draw.Code(r, format.Raw(x.Type.Format))).Float64())
		case 1:
			return float32(draw.Between(r, -1, 6))
		}
		return float32(math.Ldexp(2*r.Float64()-1, draw.Top(x.Type)+1))
	}
	a := &ClipAttrs{Min: bound(), Max: bound()}
	if a.Min > a.Max && draw.Chance(r, 80) {
		a.Min, a.Max = a.Max, a.Min
	}
	if draw.Chance(r, 10) {
		a.Min = float32(math.Inf(-1))
	}
	if draw.Chance(r, 10) {
		a.Max = float32(math.Inf(1))
	}
	return draw.Graph(o, a, ir.Type{Format: draw.Result(r, draw.Top(x.Type))}, x)
}

func clipHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	a := n.Attrs.(*ClipAttrs)
	if n.Type.IsFloat() {
		v := b.Max(args[0], b.Float(hlo.F32, float64(a.Min)))
		return b.Min(v, b.Float(hlo.F32, float64(a.Max))), b.Err()
	}
	exp, bits, err := carrier.ArgStep(n)
	if err != nil {
		return hlo.Value{}, err
	}
	c, v := clipOf(n, exp), args[0]
	if !arith.OnWhole(n) {
		if v, err = carrier.Requant(b, n, v, exp, bits); err != nil {
			return hlo.Value{}, err
		}
	}
	x, out := carrier.Wide(b, args[0]), carrier.DType(n.Type)
	v = b.Select(b.Compare(hlo.LT, x, b.Int(hlo.I64, c.xlo)), b.Int(out, c.codeLo), v)
	return b.Select(b.Compare(hlo.GT, x, b.Int(hlo.I64, c.xhi)), b.Int(out, c.codeHi), v), b.Err()
}

// codesClip is op_clip on codes as they are: those between the bounds of c stay what they are.
func codesClip(n *ir.Node, in, out format.Fixed, c clipBounds) *rtl.Unit {
	u := rtl.NewUnit("op_clip", "LANES", n.HW.InLanes, "IN_W", in.W, "IN_SIGNED", rtl.Flag(in.Signed), "SHIFT", 0,
		"OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "ROUND", 0, "OVER", 0)
	c.params(u, in.W, out.W)
	return u.With("BEATS", hardware.Beats(n.Type, n.HW.InLanes))
}

// params adds the thresholds for arguments of in bits and codes of out bits.
func (c clipBounds) params(u *rtl.Unit, in, out int) {
	for _, p := range []struct {
		name string
		v    int64
		w    int
	}{{"XLO", c.xlo, in}, {"XHI", c.xhi, in}, {"CODE_LO", c.codeLo, out}, {"CODE_HI", c.codeHi, out}} {
		u.Params = append(u.Params, rtl.Param{Name: p.name, Value: hardware.Hex(big.NewInt(p.v), p.w)})
	}
}

// within brings the thresholds into the range of the argument, which holds two numbers at least. Where all of it lies
// beyond one bound, both codes become that bound's and between them the thresholds leave no argument over.
func (c clipBounds) within(least, most *big.Int) clipBounds {
	lo, hi := least.Int64(), most.Int64()
	switch {
	case c.xhi < lo:
		return clipBounds{xlo: lo + 1, xhi: lo, codeLo: c.codeHi, codeHi: c.codeHi}
	case c.xlo > hi:
		return clipBounds{xlo: lo + 1, xhi: lo, codeLo: c.codeLo, codeHi: c.codeLo}
	}
	c.xlo, c.xhi = max(c.xlo, lo), min(c.xhi, hi)
	return c
}

func clipRTL(n *ir.Node) (*rtl.Unit, error) {
	in, err := arith.FixedOf(n, n.Args[0].Type)
	if err != nil {
		return nil, err
	}
	u, err := hardware.Elementwise("op_clip", n, hardware.ArgExp(n))
	if err != nil {
		return nil, err
	}
	clipOf(n, hardware.ArgExp(n)).within(arith.Range(in)).params(u, in.W, n.Type.Format.Width())
	return u, nil
}
