// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"

	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/unit"
)

// Times are the cycles of an undisturbed run; cycle 0 is the first in which an input offers a beat.
type Times struct {
	// First and Last are, for every output of the graph, the cycles in which the first and the last beat of each frame
	// leave; In are those in which the first beat of each frame enters, for every input.
	In, First, Last [][]int
	// Most is the greatest number of beats in each FIFO node.
	Most map[*ir.Node]int
	// Done says that every frame has left; else the design has stopped.
	Done bool
}

// Run simulates frames samples through a graph whose nodes know their latencies, with FIFOs as deep as they are.
func Run(ctx context.Context, g *ir.Graph, units *unit.Cache, frames int) (*Times, error) {
	return RunStalled(ctx, g, units, frames, nil)
}

// RunStalled is Run with inputs that pause and outputs that are held up whenever holds says so.
func RunStalled(ctx context.Context, g *ir.Graph, units *unit.Cache, frames int, holds func(cycle int) bool) (
	*Times, error) {
	return simulate(ctx, ring.Units(g), options{frames: frames, holds: holds, known: newKnown(units), depth: scheduled})
}

// simulate builds a net and runs it.
func simulate(ctx context.Context, g *ir.Graph, o options) (*Times, error) {
	n, err := build(g, o)
	if err != nil {
		return nil, err
	}
	return n.times(ctx, len(g.Out))
}

// times runs a net, whose first sinks are its outs outputs, and reads its counters.
func (n *net) times(ctx context.Context, outs int) (*Times, error) {
	done, err := n.Run(ctx)
	if err != nil {
		return nil, err
	}
	t := &Times{Most: map[*ir.Node]int{}, Done: done}
	for node, l := range n.loads {
		t.Most[node] = l.Most
	}
	for _, c := range n.in {
		t.In = append(t.In, c.First)
	}
	for _, c := range n.out[:outs] {
		t.First, t.Last = append(t.First, c.First), append(t.Last, c.Last)
	}
	return t, nil
}

// II is the mean distance of frames in the second half of a run, over all outputs; 0 for fewer than two frames.
func (t *Times) II() float64 {
	ii := 0.0
	for _, first := range t.First {
		if end := len(first) - 1; end > 0 {
			from := end / 2
			ii = max(ii, float64(first[end]-first[from])/float64(end-from))
		}
	}
	return ii
}
