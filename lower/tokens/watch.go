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
	probes := map[*ir.Node][]*probe{}
	for node, wires := range n.results {
		for _, w := range wires {
			p := &probe{sink{in: w, beats: beats(node), now: &n.now}}
			probes[node], n.parts = append(probes[node], p), append(n.parts, p)
		}
	}
	n.patience = 1
	times := n.times(len(g.Out))
	seen := map[*ir.Node][]Stream{}
	for node, list := range probes {
		for _, p := range list {
			seen[node] = append(seen[node], Stream{p.first, p.last})
		}
	}
	return times, seen, nil
}

// probe looks at a wire and has no part in what moves.
type probe struct{ sink }

func (p *probe) accept() {}
func (p *probe) tick() bool {
	p.sink.tick()
	return false
}
