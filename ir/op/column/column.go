// SPDX-License-Identifier: Apache-2.0

// Package column holds columns that operations of several rooms have in common, and conditions on formats.
package column

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/arith"
	"lathe/ir/op/walk"
)

// WithConsts fills in the values of constant arguments, which come as nil.
func WithConsts(n *ir.Node, args []*ir.Tensor) ([]*ir.Tensor, error) {
	full := append([]*ir.Tensor(nil), args...)
	for i, a := range full {
		if a == nil {
			t, err := n.Args[i].Value()
			if err != nil {
				return nil, err
			}
			full[i] = t
		}
	}
	return full, nil
}

// SameShape infers the shape of the first argument.
func SameShape(n *ir.Node) ([]int, error) { return n.Args[0].Type.Shape, nil }

// Plain is the rule of all operations but casts: what they read has one step, and what they make has one scale. Blocks
// and scales along an axis are for constants. Codes that are no integers are moved and looked up, not computed on.
func Plain(n *ir.Node) error {
	for _, t := range append(TypesOf(n.Args), n.Type) {
		if t.Format != nil && format.Coded(t.Format) && !MovesCodes(n) {
			return fmt.Errorf("%s takes fixed values, not %s", n.Op.Name, t.Format)
		}
	}
	return arith.OneStep(n)
}

// SameFormat is the rule of operations that move codes without changing them.
func SameFormat(n *ir.Node) error {
	if n.Type.InBlocks() && n.Args[0].Type.InBlocks() {
		return BlocksLegal(n)
	}
	if err := Plain(n); err != nil {
		return err
	}
	if !n.Type.SameFormat(n.Args[0].Type) {
		return fmt.Errorf("%s keeps codes as they are, so %s cannot become %s", n.Op.Name, n.Args[0].Type.Format,
			n.Type.Format)
	}
	return nil
}

// PassThrough evaluates operations that leave values alone.
func PassThrough(n *ir.Node) (ir.Kernel, error) {
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		t := *args[0]
		t.Type = n.Type
		return &t, nil
	}, nil
}

// AtZero is the Bends trait of functions that bend at 0.
func AtZero(any) []float64 { return []float64{0} }

// CopyRun copies run elements of src from place from on into dst from place to on.
func CopyRun(dst *ir.Tensor, to int, src *ir.Tensor, from, run int) {
	if src.Codes != nil {
		copy(dst.Codes[to:to+run], src.Codes[from:from+run])
		return
	}
	copy(dst.Floats[to:to+run], src.Floats[from:from+run])
}

// Finite refuses NaN and infinities among attributes.
func Finite(name string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%s is %g", name, v)
	}
	return nil
}

// AxisInfer keeps the shape, and refuses an axis outside it.
func AxisInfer(n *ir.Node) ([]int, error) {
	_, err := walk.Axis(n.Attrs.(*AxisAttrs).Axis, len(n.Args[0].Type.Shape))
	return n.Args[0].Type.Shape, err
}

// WholeUnary evaluates a function of whole numbers modulo 2^W.
func WholeUnary(n *ir.Node, f func(v int64) int64) ir.Kernel {
	cut := arith.Wrap(n.Type)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		for i, v := range args[0].Codes {
			out.Codes[i] = cut(f(v))
		}
		return out, nil
	}
}

// ErrNoInteger is all that is to be said of operations without a meaning in quantized graphs.
var ErrNoInteger = errors.New("no integer form in hardware in this version")

// NoInteger is the Legal column of operations without a meaning in quantized graphs. Its error is an ErrNoInteger.
func NoInteger(n *ir.Node) error { return fmt.Errorf("%s has %w", n.Op.Name, ErrNoInteger) }

// OneFormat is the rule of operations whose arguments and result have one format.
func OneFormat(n *ir.Node) error {
	if err := Plain(n); err != nil {
		return err
	}
	for _, a := range n.Args {
		if !n.Type.SameFormat(a.Type) {
			return fmt.Errorf("%s keeps codes as they are, so %s cannot become %s", n.Op.Name, a.Type.Format, n.Type.Format)
		}
	}
	return nil
}

// ScaleAttrs are the attributes of scale.
type ScaleAttrs struct {
	// Axis is the channel axis.
	Axis int
}

// InferChannels checks that all arguments behind the first have one value a channel.
func InferChannels(n *ir.Node, axis int) ([]int, error) {
	x := n.Args[0].Type.Shape
	if axis < 0 || axis >= len(x) {
		return nil, fmt.Errorf("channel axis %d is outside %s", axis, ir.ShapeString(x))
	}
	for _, p := range n.Args[1:] {
		if s := p.Type.Shape; len(s) != 1 || s[0] != x[axis] {
			return nil, fmt.Errorf("%s has shape %s, %d channels need %d", p.Name, ir.ShapeString(s), x[axis], x[axis])
		}
	}
	return x, nil
}

// ScaleAxis points to the axis in a ScaleAttrs.
func ScaleAxis(attrs any) *int { return &attrs.(*ScaleAttrs).Axis }

// AxisAttrs name the axis that an operation works along.
type AxisAttrs struct {
	Axis int
}

// InFloatGraph refuses nodes of quantized graphs, which may have float formats nowhere and whole ones of the same bits.
// Blocks may stand beside floats where the operation takes them.
func InFloatGraph(n *ir.Node) error {
	for _, t := range append([]ir.Type{n.Type}, TypesOf(n.Args)...) {
		if !t.IsFloat() && !ir.IsWhole(t.Format) && !(t.InBlocks() && n.TakesBlocks()) {
			return n.Errorf(diag.OpFormats, "%s computes in float graphs, %s has no meaning there", n.Op.Name, t.Format)
		}
	}
	return nil
}

// TypesOf lists the types of nodes.
func TypesOf(nodes []*ir.Node) []ir.Type {
	types := make([]ir.Type, len(nodes))
	for i, n := range nodes {
		types[i] = n.Type
	}
	return types
}

// FixedArgs returns what fills in the values of the constant arguments of n, which come as nil. They are read once,
// when first needed.
func FixedArgs(n *ir.Node) func(args []*ir.Tensor) ([]*ir.Tensor, error) {
	read := make([]func() (*ir.Tensor, error), len(n.Args))
	for i, a := range n.Args {
		read[i] = sync.OnceValues(a.Value)
	}
	return func(args []*ir.Tensor) ([]*ir.Tensor, error) {
		full := append([]*ir.Tensor(nil), args...)
		for i, a := range full {
			if a != nil {
				continue
			}
			t, err := read[i]()
			if err != nil {
				return nil, err
			}
			full[i] = t
		}
		return full, nil
	}
}
