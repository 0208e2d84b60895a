// SPDX-License-Identifier: Apache-2.0

// Package streams makes the nodes between units that a graph of streams needs and a graph of values does not: forks,
// adapters of lanes, marks of frames; and has units take in what stands beside them.
package streams

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/stream"
	"lathe/lower/float"
	"lathe/lower/pass"
)

// RefuseStream lists the operations without a module: L0414.
func RefuseStream(g *ir.Graph) error {
	var errs diag.List
	for _, n := range g.Nodes {
		if n.Op.RTL == nil && !n.Op.Traits.Source {
			errs = append(errs, n.Errorf(diag.NoHardware, "%s (%q) has no hardware in this version", n.Op.Name, n.Name).
				WithHint("%s, or run it with --engine ref or pjrt", float.EndAt(nil, g, n)))
		}
	}
	return errs.Err()
}

// InsertForks drops what nobody needs and puts a fork behind every value that several nodes or outputs read. An input
// that nobody reads stays, since it is a port; its beats are taken and forgotten.
func InsertForks(report *pass.Report, g *ir.Graph) error {
	g.DropDead()
	stream.InsertForks(g)
	readers := g.Readers()
	for _, n := range g.In {
		if readers[n] == 0 {
			report.Warn("input %q is read by nothing; its beats are taken and forgotten", n.Name)
		}
	}
	return nil
}

// PairStreams splits what hardware does in several steps: joins of more than two streams, and streams that broadcast,
// which it repeats.
func PairStreams(g *ir.Graph) error {
	move.SplitConcats(g)
	move.InsertRepeats(g)
	return nil
}
