// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower/tokens/beat"
)

// Stream is when the first and the last beat of each frame move on a stream.
type Stream struct{ First, Last []int }

// Watch is Run that also notes when beats move on the result of every unit; of a fork, on each of its branches, in the
// order of its readers.
func Watch(g *ir.Graph, units *unit.Cache, frames int) (*Times, map[*ir.Node][]Stream, error) {
	n, err := build(g, options{frames: frames, known: newKnown(units), depth: scheduled})
	if err != nil {
		return nil, nil, err
	}
	counters := map[*ir.Node][]*beat.Counter{}
	for node, wires := range n.results {
		for _, w := range wires {
			counters[node] = append(counters[node], w.Watch(beats(node)))
		}
	}
	times := n.times(len(g.Out))
	seen := map[*ir.Node][]Stream{}
	for node, list := range counters {
		for _, c := range list {
			seen[node] = append(seen[node], Stream{c.First, c.Last})
		}
	}
	return times, seen, nil
}
