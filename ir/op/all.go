// SPDX-License-Identifier: Apache-2.0

// Package op holds the operations of the graph: one literal lists them, packages below hold one file an operation.
package op

import (
	"math/rand/v2"
	"slices"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/custom"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/ir/op/reduce"
	"lathe/ir/op/ring"
	"lathe/ir/op/sequence"
	"lathe/ir/op/stream"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
	"lathe/ir/op/window"
)

// All lists every operation, in the order of the support matrix.
var All = [...]*ir.Op{
	leaf.Input, leaf.Const,
	sum.Linear, sum.Conv, sum.LinearEach, sum.ConvEach,
	sum.MatMul, sum.BatchNorm, sum.Scale, norm.LayerNorm, norm.RMSNorm, norm.GroupNorm,
	sequence.Attention, sequence.Rotary, sequence.Append,
	sequence.AttendScores, sequence.AttendWeights, sequence.AttendSum, sequence.Rotate, sequence.Embedding,
	recur.LSTM, recur.GRU, recur.RNN,
	pointwise.Relu, pointwise.LeakyRelu, pointwise.PRelu, pointwise.Clip, curve.Sigmoid, curve.Tanh, norm.Softmax,
	norm.LogSoftmax, reduce.ArgMax,
	curve.Exp, curve.Log, curve.Sqrt, curve.Reciprocal, curve.Pow, curve.Erf, curve.Gelu, curve.GeluTanh, curve.Silu,
	curve.Mish, curve.Softplus, curve.Softsign, curve.Elu, curve.Selu, curve.Celu,
	curve.HardSigmoid, curve.HardSwish, curve.ThresholdedRelu, curve.Abs, curve.Sign, curve.Floor, curve.Ceil, curve.Round,
	curve.Trunc, curve.Formula, curve.Polyline,
	window.MaxPool, window.AvgPool, window.GlobalAvgPool, reduce.Sum, reduce.Mean, reduce.Max, reduce.Min,
	pointwise.Add, pointwise.Sub, pointwise.Mul, pointwise.Min, pointwise.Max,
	move.Reshape, move.Transpose, move.Identity, pointwise.Cast,
	pointwise.Quant, pointwise.QuantEach,
	move.Concat, move.Slice, move.Pad, move.Repeat, move.Stretch, move.Reverse,
	whole.Compare, whole.Where, whole.And, whole.Or, whole.Xor, whole.Not, whole.ShiftLeft, whole.ShiftRight, whole.Div,
	whole.Mod, whole.Power, whole.Convert, whole.IsNaN, whole.IsInf,
	whole.Gather, whole.GatherElements, whole.GatherND, whole.ScatterElements, whole.ScatterND, whole.CumSum,
	reduce.Prod, reduce.Any, reduce.All,
	whole.TopKValues, whole.TopKIndices,
	curve.Sin, curve.Cos, curve.Tan, curve.Asin, curve.Acos, curve.Atan, curve.Sinh, curve.Cosh, curve.Asinh,
	curve.Acosh, curve.Atanh,
	custom.Module,
	curve.Threshold, stream.Widen, stream.Narrow, stream.Fifo, stream.Fork, stream.Mark,
	ring.Enter, ring.Again, ring.Leave, ring.Replay,
}

// Find returns the operation called name, or nil.
func Find(name string) *ir.Op {
	for _, o := range All {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// Names lists the names of all operations.
func Names() []string {
	names := make([]string, len(All))
	for i, o := range All {
		names[i] = o.Name
	}
	return names
}

// Matrix is the support matrix: one row an operation. An operation without a unit has what lowering makes of it.
// kernels says whether an operation has CUDA kernels, which are made above this package.
func Matrix(kernels func(*ir.Op) bool) []ir.Support {
	rows := make([]ir.Support, len(All))
	for i, o := range All {
		source := o.Traits.Source // a port, an argument, a memory image
		rows[i] = ir.Support{
			Name: o.Name, Doc: o.Doc,
			Float: source || o.Eval != nil,
			Exact: source || o.Eval != nil && !o.Traits.FloatOnly || o.RTL == nil && HasHardware(o),
			HLO:   source || o.HLO != nil,
			RTL:   source || HasHardware(o),
			CUDA:  source || kernels(o),
		}
	}
	return rows
}

// HasHardware says that an operation has a unit, or consists of operations that have.
func HasHardware(o *ir.Op) bool {
	if !o.ByParts() {
		return o.RTL != nil
	}
	parts, err := o.Expand(o.Gen(rand.New(rand.NewPCG(1, 1)), o).Out[0].Node)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(parts, func(p *ir.Node) bool { return !p.IsConst() && !HasHardware(p.Op) })
}
