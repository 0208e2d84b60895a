// SPDX-License-Identifier: Apache-2.0

// Package carrier is how codes travel in StableHLO programs: types, constants, broadcasting, the one rounding.
package carrier

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
)

// Number is a constant of type f32.
func Number(b *hlo.Builder, v float64) hlo.Value { return b.Float(hlo.F32, v) }

// Column is the type of ir.Op.HLO.
type Column = func(*hlo.Builder, *ir.Node, []hlo.Value) (hlo.Value, error)

// Requant prints the one rounding of the integers v*2^exp, |v| < 2^bits, into the format of n.
func Requant(b *hlo.Builder, n *ir.Node, v hlo.Value, exp, bits int) (hlo.Value, error) {
	fx, err := arith.FixedOf(n, n.Type)
	if err != nil {
		return hlo.Value{}, err
	}
	return RequantTo(b, n, fx, v, exp, bits)
}

// RequantTo is Requant into codes of fx, which those of n are.
func RequantTo(b *hlo.Builder, n *ir.Node, fx format.Fixed, v hlo.Value, exp, bits int) (hlo.Value, error) {
	return b.Requant(v, hlo.Requantize{
		Bits: bits, Shift: hlo.Places(-fx.F - exp), Round: uint8(fx.Round), Over: int32(fx.Over),
		Width: fx.W, Signed: fx.Signed, Out: DType(n.Type),
	}), b.Err()
}

// ArgStep is the exponent and the width of argument 0, which must be fixed.
func ArgStep(n *ir.Node) (exp, bits int, err error) {
	fx, err := arith.FixedOf(n, n.Args[0].Type)
	return -fx.F, fx.W, err
}

// Wide converts to i64, where intermediate results of up to 63 bits live.
func Wide(b *hlo.Builder, v hlo.Value) hlo.Value { return b.Convert(v, hlo.I64) }

// Operands broadcasts all arguments to the result shape; constants are printed as weights.
func Operands(b *hlo.Builder, n *ir.Node, args []hlo.Value) ([]hlo.Value, error) {
	dims := b.Dims(n.Type.Shape...)
	out := make([]hlo.Value, len(args))
	for i, a := range n.Args {
		v, err := Value(b, n, args, i)
		if err != nil {
			return nil, err
		}
		var axes []int
		if PerSample(n, i, v) {
			axes = append(axes, 0)
		}
		for k := range a.Type.Shape {
			axes = append(axes, len(dims)-len(a.Type.Shape)+k)
		}
		out[i] = Spread(b, v, dims, axes)
	}
	return out, b.Err()
}

// Spread is numpy broadcasting: axes of size 1 are dropped, and the rest is repeated into dims.
func Spread(b *hlo.Builder, v hlo.Value, dims, axes []int) hlo.Value {
	var kept, keptAxes []int
	for i, d := range v.Type().Dims {
		if d != 1 || dims[axes[i]] == 1 {
			kept, keptAxes = append(kept, d), append(keptAxes, axes[i])
		}
	}
	return b.BroadcastInDim(b.Reshape(v, kept...), dims, keptAxes)
}

// KeepScale hangs the scales of blocks x, in the shape of the blocks of n, on y.
func KeepScale(b *hlo.Builder, n *ir.Node, x, y hlo.Value) hlo.Value {
	if !n.Args[0].Type.InBlocks() || !n.Type.InBlocks() || b.Err() != nil {
		return y // without blocks in the argument the graph is refused
	}
	s := x.Scale()
	return y.WithScale(b.Reshape(s, b.Dims(n.Type.ScaleShape()...)...))
}

// ScaleType is the StableHLO type of the scale fields of values in a block format, as Carry.
func ScaleType(t ir.Type, samples int) hlo.Type {
	return hlo.Type{DType: hlo.I32, Dims: behindSamples(samples, t.ScaleShape())}
}

// Const prints a constant as a weight argument: floats as they are, codes in their carrier.
func Const(b *hlo.Builder, n *ir.Node) (hlo.Value, error) {
	if c, ok := n.Attrs.(*ir.Const); ok && n.Type.IsFloat() {
		return b.Weight(hlo.Array{Type: hlo.Type{DType: hlo.F32, Dims: n.Type.Shape}, Data: c.Data.FloatBytes()}), b.Err()
	}
	t, err := n.Value()
	if err != nil {
		return hlo.Value{}, err
	}
	return b.Weight(hlo.FromInt64s(DType(n.Type), n.Type.Shape, t.Codes)), b.Err()
}

// DType is the integer type that holds codes of t in StableHLO: i32 where every code fits, else i64.
func DType(t ir.Type) hlo.DType { return format.Carrier(t.Format) }

// Type is the StableHLO type of values of type t: samples of them, which lead the shape, or with 0 a single one.
func Type(t ir.Type, samples int) hlo.Type {
	return hlo.Type{DType: DType(t), Dims: behindSamples(samples, t.Shape)}
}

// Wrap cuts integers to the low bits of whole numbers of type t; for other types it keeps them.
func Wrap(b *hlo.Builder, v hlo.Value, t ir.Type) hlo.Value {
	f, whole := ir.WholeOf(t.Format)
	d := v.Type().DType
	s := int64(d.Bits() - f.W)
	switch {
	case !whole || s <= 0:
		return v
	case f.Signed:
		return b.ShiftRightArith(b.ShiftLeft(v, b.Int(d, s)), b.Int(d, s))
	}
	return b.And(v, b.Int(d, 1<<f.W-1))
}

// FromBool prints truth values as codes of Bool.
func FromBool(b *hlo.Builder, v hlo.Value) hlo.Value {
	return b.Convert(v, DType(ir.Type{Format: ir.Bool}))
}

// IsTrue prints codes of Bool as truth values.
func IsTrue(b *hlo.Builder, v hlo.Value) hlo.Value { return b.Compare(hlo.NE, v, b.Splat(v, 0)) }

// behindSamples is a shape behind an axis of samples, if there are any.
func behindSamples(samples int, shape []int) []int {
	if samples == 0 {
		return slices.Clone(shape)
	}
	return append([]int{samples}, shape...)
}
