// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"lathe/ir"
	"lathe/ir/unit"
)

// Stream is when the first and the last beat of each frame move on a stream.
type Stream struct{ First, Last []int }

// Watch is Run that also notes when beats move on the result of every unit; of a fork, on each of its branches, in the
// order of its readers.
func Watch(g *ir.Graph, frames int) (*Times, map[*ir.Node][]Stream, error) {
	known := newKnown(&unit.Cache{})
	n, err := build(g, options{frames: frames, known: known, depth: func(n *ir.Node) (int, bool) {
		return n.HW.Fifo, n.HW.Fifo > blockRAM
	}})
	if err != nil {
		return nil, nil, err
	}
	counters := map[*ir.Node][]*counter{}
	for node, wires := range n.results {
		for _, w := range wires {
			c := &counter{beats: beats(node)}
			counters[node], w.watch = append(counters[node], c), append(w.watch, c)
		}
	}
	times := n.times(len(g.Out))
	seen := map[*ir.Node][]Stream{}
	for node, list := range counters {
		for _, c := range list {
			seen[node] = append(seen[node], Stream{c.first, c.last})
		}
	}
	return times, seen, nil
}
