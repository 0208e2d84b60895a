// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"

	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/unit"
	"lathe/lower/schedule/tokens/beat"
)

// Watch is Run that also notes when the first and the last beat of each frame move on the result of every unit; of a
// fork, on each of its branches, in the order of its readers. Of units that
// layers share, the node of the first layer has the frames of all.
func Watch(ctx context.Context, g *ir.Graph, units *unit.Cache, frames int) (*Times, map[*ir.Node][]*beat.Counter,
	error) {
	all, g := g, ring.Units(g)
	n, err := build(g, options{frames: frames, known: newKnown(units), depth: scheduled})
	if err != nil {
		return nil, nil, err
	}
	counters := map[*ir.Node][]*beat.Counter{}
	for node, wires := range n.results {
		for _, w := range wires {
			seen := all.Find(node.Name)
			counters[seen] = append(counters[seen], w.Watch(beats(node)))
		}
	}
	t, err := n.times(ctx, len(g.Out))
	return t, counters, err
}
