// SPDX-License-Identifier: Apache-2.0

// Package stream holds the operations that only scheduled graphs have: they change how beats move, and no value.
package stream

import (
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/lane"
	"lathe/rtl"
)

// adapterUnit is the unit that changes the lanes of blocks from in to out; the scale goes with every beat.
func adapterUnit(t ir.Type, in, out int) *rtl.Unit {
	b, _ := t.BlockFormat()
	if out > in {
		return rtl.NewUnit("mx_widen", "WIDTH", b.Width()*in, "SCALE_W", b.ScaleWidth(), "N", out/in)
	}
	return rtl.NewUnit("mx_narrow", "WIDTH", b.Width()*out, "SCALE_W", b.ScaleWidth(), "N", in/out)
}

// isAdapterOfBlocks says that n widens or narrows a stream of blocks.
func isAdapterOfBlocks(n *ir.Node) bool {
	_, ok := n.Type.Format.(format.Block)
	return ok && n.HW.InLanes != n.HW.OutLanes
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
		Infer:  column.SameShape,
		Eval:   column.PassThrough,
		HLO:    func(_ *hlo.Builder, _ *ir.Node, args []hlo.Value) (hlo.Value, error) { return args[0], nil },
		Legal:  column.SameFormat,
	}
	o.Gen = func(r *rand.Rand, o *ir.Op) *ir.Graph { return genAdapter(r, o, module) }
	o.RTL = func(n *ir.Node) (*rtl.Unit, error) {
		in, out := n.HW.InLanes, n.HW.OutLanes
		var u *rtl.Unit
		switch {
		case isAdapterOfBlocks(n):
			u = adapterUnit(n.Type, in, out)
		case module == "stream_widen":
			u = rtl.NewUnit(module, "WIDTH", n.Type.BeatWidth(in), "N", out/in)
		case module == "stream_narrow":
			u = rtl.NewUnit(module, "WIDTH", n.Type.BeatWidth(out), "N", in/out)
		default:
			u = rtl.NewUnit(module, "WIDTH", n.Type.BeatWidth(in)+rtl.Flag(n.HW.Marked), "DEPTH", n.HW.Fifo)
		}
		u.Frames = (n.Carried() + max(in, out) - 1) / max(in, out) // the header speaks of one wide beat
		return u, nil
	}
	return o
}

// genAdapter draws an adapter with its lanes, or its depth.
func genAdapter(r *rand.Rand, o *ir.Op, module string) *ir.Graph {
	g := draw.Same(r, o)
	n := g.Out[0].Node
	if module == "stream_fifo" {
		n.HW.Fifo = draw.Between(r, 1, 100)
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
	all := lane.Divisors(n)
	return all[r.IntN(len(all))]
}
