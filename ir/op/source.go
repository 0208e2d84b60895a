// SPDX-License-Identifier: Apache-2.0

package op

import (
	"errors"
	"math/rand/v2"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/rtl"
)

// Input is a value that the caller supplies.
var Input = &ir.Op{
	Name:   "input",
	Doc:    "a value supplied by the caller",
	Attrs:  ir.Input{},
	Traits: ir.Traits{Source: true},
	Infer:  ownShape,
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		return nil, errors.New("an input has no value of its own")
	},
	HLO: func(*hlo.Builder, *ir.Node, []hlo.Value) (hlo.Value, error) {
		return hlo.Value{}, errors.New("an input has no value of its own")
	},
}

// Const is a constant; quantized constants hold codes.
var Const = &ir.Op{
	Name:   "const",
	Doc:    "a constant",
	Attrs:  ir.Const{},
	Traits: ir.Traits{Source: true},
	Infer:  ownShape,
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		t, err := n.Value()
		return func([]*ir.Tensor) (*ir.Tensor, error) { return t, nil }, err
	},
	HLO: func(b *hlo.Builder, n *ir.Node, _ []hlo.Value) (hlo.Value, error) { return constHLO(b, n) },
}

// constHLO prints a constant as a weight argument: floats as they are, codes in their carrier.
func constHLO(b *hlo.Builder, n *ir.Node) (hlo.Value, error) {
	if c, ok := n.Attrs.(*ir.Const); ok && n.Type.IsFloat() {
		return b.Weight(hlo.Array{Type: hlo.Type{DType: hlo.F32, Dims: n.Type.Shape}, Data: c.Data.FloatBytes()}), b.Err()
	}
	t, err := n.Value()
	if err != nil {
		return hlo.Value{}, err
	}
	return b.Weight(hlo.FromInt64s(carry(n.Type), n.Type.Shape, t.Codes)), b.Err()
}

// ownShape is for nodes whose shape nothing else determines.
func ownShape(n *ir.Node) ([]int, error) { return n.Type.Shape, nil }

// carry is the integer type that holds codes of t in StableHLO: i32 where every code fits, else i64.
func carry(t ir.Type) hlo.DType { return format.Carrier(t.Format) }

// Carry is the StableHLO type of values of type t: samples of them, which lead the shape, or with 0 a single one.
func Carry(t ir.Type, samples int) hlo.Type {
	return hlo.Type{DType: carry(t), Dims: behindSamples(samples, t.Shape)}
}

// behindSamples is a shape behind an axis of samples, if there are any.
func behindSamples(samples int, shape []int) []int {
	if samples == 0 {
		return slices.Clone(shape)
	}
	return append([]int{samples}, shape...)
}

// Widen joins N beats into one; it exists only in scheduled graphs.
var Widen = adapter("widen", "joins beats into wider ones: lanes change, values do not", "stream_widen")

// Narrow splits a beat into N; it exists only in scheduled graphs.
var Narrow = adapter("narrow", "splits beats into narrower ones: lanes change, values do not",
	"stream_narrow")

// Fifo buffers HW.Fifo beats; it exists only in scheduled graphs.
var Fifo = adapter("fifo", "buffers beats", "stream_fifo")

// adapter is an operation that moves beats and leaves values alone.
func adapter(name, doc, module string) *ir.Op {
	o := &ir.Op{
		Name: name, Doc: doc, Arity: [2]int{1, 1},
		Traits: ir.Traits{KeepsCodes: true, Monotone: true, Elementwise: true},
		Infer:  sameShape,
		Eval:   passThrough,
		HLO:    func(_ *hlo.Builder, _ *ir.Node, args []hlo.Value) (hlo.Value, error) { return args[0], nil },
		Legal:  sameFormat,
	}
	o.Gen = func(r *rand.Rand, o *ir.Op) *ir.Graph { return genAdapter(r, o, module) }
	o.RTL = func(n *ir.Node) (*rtl.Unit, error) {
		in, out := n.HW.InLanes, n.HW.OutLanes
		var u *rtl.Unit
		switch {
		case isAdapterOfBlocks(n):
			u = adapterUnit(n.Type, in, out)
		case module == "stream_widen":
			u = unit(module, "WIDTH", n.Type.BeatWidth(in), "N", out/in)
		case module == "stream_narrow":
			u = unit(module, "WIDTH", n.Type.BeatWidth(out), "N", in/out)
		default:
			u = unit(module, "WIDTH", n.Type.BeatWidth(in), "DEPTH", n.HW.Fifo)
		}
		u.Frames = frameBeats(n.Type, max(in, out)) // the header speaks of one wide beat
		return u, nil
	}
	return o
}

// genAdapter draws an adapter with its lanes, or its depth.
func genAdapter(r *rand.Rand, o *ir.Op, module string) *ir.Graph {
	g := genSame(r, o)
	n := g.Out[0].Node
	if module == "stream_fifo" {
		n.HW.Fifo = between(r, 1, 100)
		return g
	}
	wide := anyDivisor(r, n.Type.Elems())
	n.HW.InLanes, n.HW.OutLanes = anyDivisor(r, wide), wide
	if module == "stream_narrow" {
		n.HW.InLanes, n.HW.OutLanes = wide, n.HW.InLanes
	}
	n.HW.StreamIn = n.HW.InLanes
	return g
}

func anyDivisor(r *rand.Rand, n int) int {
	all := Divisors(n)
	return all[r.IntN(len(all))]
}
