// SPDX-License-Identifier: Apache-2.0

// Package timing reads interval, latency and cost of each unit of a graph from the headers of the modules.
package timing

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/unit"
	"lathe/rtl"
)

// Units takes latency and initiation interval of every node from the header of its module, and the cost of the port
// to a memory outside that units share. Error L0414 names what has no module.
func Units(units *unit.Cache, g *ir.Graph) (list []Unit, port rtl.Cost, err error) {
	var errs diag.List
	turns := ring.Turns(g)
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		u := Unit{Node: n.Name, Op: n.Op.Name, InLanes: n.HW.InLanes, OutLanes: n.HW.OutLanes, StreamIn: n.HW.StreamIn}
		if err := Of(units, n, turns[n], &u); err != nil {
			errs = errs.Add(err, diag.NoHardware, n.Errorf("", "").Pos)
			continue
		}
		n.HW.II, n.HW.Latency = u.II, u.Latency
		list = append(list, u)
	}
	if err := errs.Err(); err != nil {
		return nil, port, err
	}
	g.Stage = ir.StageScheduled
	port, err = Port(units, g)
	return list, port, err
}

// Of fills in module, latency and initiation interval, of a unit that works in several turns of a sample for all
// of them. Wires and inputs take a cycle a beat and no time.
func Of(units *unit.Cache, n *ir.Node, turns int, u *Unit) error {
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

// Unit is the hardware of one node; Module is empty where it is only wires.
type Unit struct {
	Node, Op, Module            string
	InLanes, OutLanes, StreamIn int
	II, Latency                 int
	// Traffic is the beats of weights that cross the memory port for a sample, Weights where they lie: see ir.HW.
	Traffic int
	Weights string
	// Wired says that the weights are wired into sums.
	Wired bool
	// Cost is what the module's header states; Costed says that it states something.
	Cost   rtl.Cost
	Costed bool
}
