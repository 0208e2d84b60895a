// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/op/stream"
	"lathe/ir/unit"
	"lathe/lower/balance"
	"lathe/lower/tokens"
)

// insertAdapters joins producers and consumers of different lanes: one widen or narrow where one number divides the
// other, else a widen to their least common multiple and a narrow, which keeps the rate of both sides. In front of a
// folded linear it puts a FIFO of one vector: that unit takes its vector in one go and is then busy with it, and
// without a buffer whatever produces the next vector slowly would have to wait. An input is slow only where it has
// fewer lanes than the unit.
func insertAdapters(s *State, g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op.Traits.Source {
			continue
		}
		front, _ := tokens.Front(s.plans(), n) // what cannot be built is refused with all others of its kind, by time_units
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
	have, slow := x.HW.OutLanes, !producer(x).Op.Traits.Source
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
		HW: ir.HW{InLanes: x.HW.OutLanes, OutLanes: lanes, StreamIn: x.HW.OutLanes, RowIn: x.HW.RowOut,
			RowOut: x.HW.RowOut, Tokens: x.HW.Tokens}, Stats: x.Stats}
	g.InsertBefore(reader, n)
	return n
}

// producer finds the node that computes x, behind wires.
func producer(x *ir.Node) *ir.Node {
	for x.Op.Traits.Wire {
		x = x.Args[0]
	}
	return x
}

// sizeFifos puts FIFOs behind forks, which have latencies too.
func sizeFifos(s *State, g *ir.Graph) error {
	fifos, ii, err := tokens.Size(s.runner.ctx, g, s.plans())
	if s.Report.Measured = ii; err != nil || fifos == 0 {
		return err
	}
	s.Report.Units = nil
	return timeUnits(s, g)
}

// timeUnits takes latency and initiation interval of every node from the header of its module.
func timeUnits(s *State, g *ir.Graph) error {
	var errs diag.List
	turns := ring.Turns(g)
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		u := UnitReport{Node: n.Name, Op: n.Op.Name, InLanes: n.HW.InLanes, OutLanes: n.HW.OutLanes, StreamIn: n.HW.StreamIn}
		if err := unitTime(s.plans(), n, turns[n], &u); err != nil {
			errs = errs.Add(err, "L0414", n.Errorf("", "").Pos)
			continue
		}
		n.HW.II, n.HW.Latency = u.II, u.Latency
		s.Report.Units = append(s.Report.Units, u)
	}
	if err := errs.Err(); err != nil {
		return err
	}
	g.Stage = ir.StageScheduled
	var err error
	s.Report.Port, err = portCost(s.plans(), g)
	return err
}

// Time fills in latency and initiation interval of every node from the headers of the modules.
func Time(g *ir.Graph) error { return timeUnits(&State{Report: &Report{}}, g) }

// unitTime fills in module, latency and initiation interval, of a unit that works in several turns of a sample for all
// of them. Wires and inputs take a cycle a beat and no time.
func unitTime(units *unit.Cache, n *ir.Node, turns int, u *UnitReport) error {
	turns = max(turns, 1)
	u.II = (n.Carried() + n.HW.OutLanes - 1) / n.HW.OutLanes * turns
	if n.Op.Traits.Source {
		return nil
	}
	made, err := units.Of(n)
	if err != nil || made.Wire() {
		return err
	}
	facts, err := units.Facts(n)
	if err != nil {
		return err
	}
	u.Module, u.Latency, u.Cost, u.Costed = made.Kind(), facts.Latency, facts.Cost, facts.Costed
	u.Traffic, u.Wired = unit.Traffic(n, made, turns), n.HW.Style == ir.StyleUnroll
	if made.Weights != nil {
		u.Weights = made.Weights.Way()
	}
	u.II = max(facts.II*max(made.Frames, 1)*turns/max(made.Within, 1), u.Traffic)
	if r, ok := n.Attrs.(*ring.Ring); ok {
		u.II /= r.InRow()
	}
	return nil
}
