// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
)

// hloColumn is the type of ir.Op.HLO.
type hloColumn = func(*hlo.Builder, *ir.Node, []hlo.Value) (hlo.Value, error)

// fixedOf returns the fixed format of t, or an error that says which engines are left.
func fixedOf(n *ir.Node, t ir.Type) (format.Fixed, error) {
	if fx, ok := format.AsFixed(t.Format); ok {
		return fx, nil
	}
	return format.Fixed{}, n.Errorf("L0310", "%s in %s has a meaning in the reference engine only", n.Op.Name, t.Format).
		WithHint("use fixed, ufixed, int or uint for the other engines")
}

// requant prints the one rounding of the integers v*2^exp, |v| < 2^bits, into the format of n.
func requant(b *hlo.Builder, n *ir.Node, v hlo.Value, exp, bits int) (hlo.Value, error) {
	fx, err := fixedOf(n, n.Type)
	if err != nil {
		return hlo.Value{}, err
	}
	return b.Requant(v, hlo.Requantize{
		Bits: bits, Shift: hlo.Places(-fx.F - exp), Round: uint8(fx.Round), Over: uint8(fx.Over),
		Width: fx.W, Signed: fx.Signed, Out: carry(n.Type),
	}), b.Err()
}

// argStep is the exponent and the width of argument 0, which must be fixed.
func argStep(n *ir.Node) (exp, bits int, err error) {
	fx, err := fixedOf(n, n.Args[0].Type)
	return -fx.F, fx.W, err
}

// wide converts to i64, where intermediate results of up to 63 bits live.
func wide(b *hlo.Builder, v hlo.Value) hlo.Value { return b.Convert(v, hlo.I64) }

func reluHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	v := b.Max(args[0], b.Splat(args[0], 0))
	if n.Type.IsFloat() || n.Type.InBlocks() {
		return keepScale(b, n, args[0], v), b.Err()
	}
	exp, bits, err := argStep(n)
	if err != nil {
		return hlo.Value{}, err
	}
	return requant(b, n, v, exp, bits)
}

func leakyHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	x := args[0]
	alpha := n.Attrs.(*LeakyAttrs).Alpha
	if n.Type.IsFloat() {
		return b.Select(b.Compare(hlo.LT, x, b.Splat(x, 0)), b.Mul(x, b.Float(hlo.F32, float64(alpha))), x), b.Err()
	}
	exp, bits, err := argStep(n)
	if err != nil {
		return hlo.Value{}, err
	}
	sig, aexp := significand(alpha)
	if bits+24 > 63 {
		return hlo.Value{}, n.Errorf("L0317", "leaky_relu on %d bits needs products beyond 63 bits", bits)
	}
	pos, err := requant(b, n, x, exp, bits)
	if err != nil {
		return hlo.Value{}, err
	}
	neg, err := requant(b, n, b.Mul(wide(b, x), b.Int(hlo.I64, sig)), exp+aexp, bits+24)
	if err != nil {
		return hlo.Value{}, err
	}
	return b.Select(b.Compare(hlo.LT, x, b.Splat(x, 0)), neg, pos), b.Err()
}

func clipHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	a := n.Attrs.(*ClipAttrs)
	if n.Type.IsFloat() {
		v := b.Max(args[0], b.Float(hlo.F32, float64(a.Min)))
		return b.Min(v, b.Float(hlo.F32, float64(a.Max))), b.Err()
	}
	exp, bits, err := argStep(n)
	if err != nil {
		return hlo.Value{}, err
	}
	c, v := clipOf(n, exp), args[0]
	if _, ok := wholeOf(n); !ok {
		if v, err = requant(b, n, v, exp, bits); err != nil {
			return hlo.Value{}, err
		}
	}
	x, out := wide(b, args[0]), carry(n.Type)
	v = b.Select(b.Compare(hlo.LT, x, b.Int(hlo.I64, c.xlo)), b.Int(out, c.codeLo), v)
	return b.Select(b.Compare(hlo.GT, x, b.Int(hlo.I64, c.xhi)), b.Int(out, c.codeHi), v), b.Err()
}

// operands broadcasts all arguments to the result shape; constants are printed as weights.
func operands(b *hlo.Builder, n *ir.Node, args []hlo.Value) ([]hlo.Value, error) {
	dims := b.Dims(n.Type.Shape...)
	out := make([]hlo.Value, len(args))
	for i, a := range n.Args {
		v, err := value(b, n, args, i)
		if err != nil {
			return nil, err
		}
		var axes []int
		if perSample(n, i, v) {
			axes = append(axes, 0)
		}
		for k := range a.Type.Shape {
			axes = append(axes, len(dims)-len(a.Type.Shape)+k)
		}
		out[i] = spread(b, v, dims, axes)
	}
	return out, b.Err()
}

// spread is numpy broadcasting: axes of size 1 are dropped, and the rest is repeated into dims.
func spread(b *hlo.Builder, v hlo.Value, dims, axes []int) hlo.Value {
	var kept, keptAxes []int
	for i, d := range v.Type().Dims {
		if d != 1 || dims[axes[i]] == 1 {
			kept, keptAxes = append(kept, d), append(keptAxes, axes[i])
		}
	}
	return b.BroadcastInDim(b.Reshape(v, kept...), dims, keptAxes)
}

func argMaxHLO(b *hlo.Builder, n *ir.Node, x hlo.Value) (hlo.Value, error) {
	a := n.Attrs.(*ArgMaxAttrs)
	axis, err := normAxis(a.Axis, len(n.Args[0].Type.Shape))
	if err != nil {
		return hlo.Value{}, n.Errorf("L0306", "%v", err)
	}
	size := n.Args[0].Type.Shape[axis]
	switch {
	case a.Least && n.Args[0].Type.IsFloat():
		x = b.Neg(x)
	case a.Least:
		x = b.Not(x) // -x - 1, of the least integer too
	}
	if a.Last {
		x = b.Reverse(x, b.Axis(axis))
	}
	v := b.ArgMax(x, b.Axis(axis))
	if a.Last {
		v = b.Sub(b.Splat(v, int64(size-1)), v)
	}
	v = b.Reshape(v, b.Dims(n.Type.Shape...)...)
	if n.Type.IsFloat() {
		return b.Convert(v, hlo.F32), b.Err()
	}
	return requant(b, n, v, 0, 31)
}

func softmaxHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if !n.Type.IsFloat() {
		return hlo.Value{}, fmt.Errorf("softmax has no integer form in this version")
	}
	axis, err := normAxis(n.Attrs.(*AxisAttrs).Axis, len(n.Type.Shape))
	if err != nil {
		return hlo.Value{}, n.Errorf("L0306", "%v", err)
	}
	x := args[0]
	dims, ones := x.Type().Dims, append([]int(nil), x.Type().Dims...)
	ones[b.Axis(axis)] = 1
	all := make([]int, len(dims))
	for i := range all {
		all[i] = i
	}
	top := b.ReduceKeep(hlo.FoldMax, x, b.Axis(axis))
	e := b.Exp(b.Sub(x, spread(b, top, dims, all)))
	total := b.ReduceKeep(hlo.FoldAdd, e, b.Axis(axis))
	return b.Div(e, spread(b, total, dims, all)), b.Err()
}
