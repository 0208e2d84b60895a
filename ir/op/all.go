// SPDX-License-Identifier: Apache-2.0

// Package op holds the operations of the graph, one file an operation.
package op

import (
	"math/rand/v2"
	"slices"

	"lathe/ir"
)

// All lists every operation, in the order of the support matrix.
var All = [...]*ir.Op{
	Input, Const,
	Linear, Conv, MatMul, BatchNorm, Scale, LayerNorm, RMSNorm, GroupNorm, Attention, Rotary,
	Relu, LeakyRelu, PRelu, Clip, Sigmoid, Tanh, Softmax, LogSoftmax, ArgMax,
	Exp, Log, Sqrt, Reciprocal, Pow, Erf, Gelu, GeluTanh, Silu, Mish, Softplus, Softsign, Elu, Selu, Celu,
	HardSigmoid, HardSwish, ThresholdedRelu, Abs, Sign, Floor, Ceil, Round,
	MaxPool, AvgPool, GlobalAvgPool, ReduceSum, ReduceMean, ReduceMax, ReduceMin,
	Add, Sub, Mul, Min, Max,
	Reshape, Transpose, Identity, Cast,
	Quant,
	Concat, Slice, Pad, Repeat,
	Compare, Where, And, Or, Xor, Not, ShiftLeft, ShiftRight, Div, Mod, Power, Convert, IsNaN, IsInf,
	Gather, GatherElements, GatherND, ScatterElements, ScatterND, CumSum, ReduceProd, ReduceAny, ReduceAll,
	TopKValues, TopKIndices,
	Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh,
	Widen, Narrow, Fifo, Fork,
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
