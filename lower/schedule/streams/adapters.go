// SPDX-License-Identifier: Apache-2.0

package streams

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/stream"
	"lathe/ir/unit"
	"lathe/lower/schedule/balance"
	"lathe/lower/schedule/tokens"
)

// InsertAdapters joins producers and consumers of different lanes: one widen or narrow where one number divides the
// other, else a widen to their least common multiple and a narrow, which keeps the rate of both sides. In front of a
// folded linear it puts a FIFO of one vector: that unit takes its vector in one go and is then busy with it, and
// without a buffer whatever produces the next vector slowly would have to wait. An input is slow only where it has
// fewer lanes than the unit.
func InsertAdapters(units *unit.Cache, g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op.Traits.Source {
			continue
		}
		front, _ := tokens.Front(units, n) // what cannot be built is refused with all others of its kind, by time_units
		for i, x := range n.Args {
			if !x.IsConst() {
				n.Args[i] = equalize(g, n, x, n.Takes(i), front)
			}
		}
	}
	return nil
}

// equalize is argument x of n, behind what brings it to the lanes that n wants of it.
func equalize(g *ir.Graph, n, x *ir.Node, want, front int) *ir.Node {
	have, slow := x.HW.OutLanes, !tokens.Producer(x).Op.Traits.Source
	common := balance.Common(have, want)
	if common > have {
		x = adapter(g, stream.Widen, x, n, common)
	}
	if common > want {
		x = adapter(g, stream.Narrow, x, n, want)
	}
	if front > 1 && (slow || have < want) {
		x = adapter(g, stream.Fifo, x, n, want)
		x.HW.Fifo = front
	}
	return x
}

// adapter makes a node behind x, before its reader, whose beats have the given lanes.
func adapter(g *ir.Graph, o *ir.Op, x, reader *ir.Node, lanes int) *ir.Node {
	n := &ir.Node{Name: g.FreshName(reader.Name + "." + o.Name), Op: o, Args: []*ir.Node{x}, Type: x.Type, Pos: reader.Pos,
		HW: ir.HW{Widths: ir.Widths{InLanes: x.HW.OutLanes, OutLanes: lanes, StreamIn: x.HW.OutLanes, RowIn: x.HW.RowOut,
			RowOut: x.HW.RowOut}, Frames: ir.Frames{Tokens: x.HW.Tokens}}, Stats: x.Stats}
	g.InsertBefore(reader, n)
	return n
}
