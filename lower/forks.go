// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/stream"
)

// refuseStream lists the operations without a module: L0414.
func refuseStream(s *State, g *ir.Graph) error {
	var errs diag.List
	for _, n := range g.Nodes {
		if n.Op.RTL == nil && !n.Op.Traits.Source {
			errs = append(errs, n.Errorf("L0414", "%s (%q) has no hardware in this version", n.Op.Name, n.Name).
				WithHint("%s, or run it with --engine ref or pjrt", s.endAt(g, n)))
		}
	}
	return errs.Err()
}

// insertForks drops what nobody needs and puts a fork behind every value that several nodes or outputs read. An input
// that nobody reads stays, since it is a port; its beats are taken and forgotten.
func insertForks(s *State, g *ir.Graph) error {
	g.DropDead()
	stream.InsertForks(g)
	readers := g.Readers()
	for _, n := range g.In {
		if readers[n] == 0 {
			s.Report.warn("input %q is read by nothing; its beats are taken and forgotten", n.Name)
		}
	}
	return nil
}

// pairStreams splits what hardware does in several steps: joins of more than two streams, and streams that broadcast,
// which it repeats.
func pairStreams(_ *State, g *ir.Graph) error {
	move.SplitConcats(g)
	move.InsertRepeats(g)
	return nil
}

// streams lists the arguments of n that are no constants, in order.
func streams(n *ir.Node) (list []*ir.Node) {
	for _, a := range n.Args {
		if !a.IsConst() {
			list = append(list, a)
		}
	}
	return list
}

// arriving is the lanes of the widest stream into n: a unit of several keeps the pace of the fastest.
func arriving(n *ir.Node) int {
	lanes := 1
	for _, a := range streams(n) {
		lanes = max(lanes, a.HW.OutLanes)
	}
	return lanes
}
