// SPDX-License-Identifier: Apache-2.0

// Package tokens runs a scheduled graph beat by beat and cycle by cycle, without values: as the hardware moves when
// inputs never pause and outputs are never held up. From it follow the depths of the FIFOs behind forks.
package tokens

import (
	"lathe/ir"
	"lathe/ir/op"
)

// net is a graph as parts and wires.
type net struct {
	parts   []part // arguments before users
	fifos   map[*ir.Node]*fifo
	forks   map[*ir.Node]*fork
	sources []*source
	sinks   []*sink
	// args are the wires on which a node with several streams takes them.
	args map[*ir.Node][]*wire
	// results are the wires of the result of each unit, one a reader.
	results map[*ir.Node][]*wire
	now     int
	// patience is how many cycles without any change end a run.
	patience int
}

// options of a simulation.
type options struct {
	frames int
	// depth of each FIFO node, in place of that in the graph.
	depth func(n *ir.Node) (places int, late bool)
	// worst takes for every row of registers that move together one place: as many as it has for beats that come one by
	// one, with gaps between them, and are then held up.
	worst bool
	// holds, if not nil, says before every beat of an input, and in every cycle of an output, whether it holds still.
	holds func() bool
}

// build makes the parts of all nodes.
func build(g *ir.Graph, o options) (*net, error) {
	b := &builder{net: &net{fifos: map[*ir.Node]*fifo{}, forks: map[*ir.Node]*fork{}, args: map[*ir.Node][]*wire{},
		results: map[*ir.Node][]*wire{}},
		g: g, o: o, out: map[*ir.Node][]*wire{}, readers: g.Readers()}
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		if err := b.node(n); err != nil {
			return nil, err
		}
	}
	for _, out := range g.Out {
		b.sink(b.next(out.Node), out.Node)
	}
	for _, n := range g.Nodes {
		if !n.IsConst() && b.readers[n] == 0 {
			b.sink(b.next(n), n) // drained
		}
	}
	return b.net, nil
}

// builder gives out the wires of results, one a reader.
type builder struct {
	net     *net
	g       *ir.Graph
	o       options
	out     map[*ir.Node][]*wire
	readers map[*ir.Node]int
}

// next is the wire from n to its next reader.
func (b *builder) next(n *ir.Node) *wire {
	w := b.out[n][0]
	b.out[n] = b.out[n][1:]
	return w
}

func (b *builder) sink(from *wire, n *ir.Node) {
	s := &sink{in: from, beats: beats(n, n.HW.OutLanes), now: &b.net.now, holds: b.o.holds}
	b.net.parts, b.net.sinks = append(b.net.parts, s), append(b.net.sinks, s)
}

// beats of a frame of the result of n.
func beats(n *ir.Node, lanes int) int { return max(n.Type.Elems()/max(lanes, 1), 1) }

func (b *builder) node(n *ir.Node) error {
	out := &wire{}
	b.out[n] = []*wire{out}
	if n.Op == op.Input {
		per := beats(n, n.HW.OutLanes)
		s := &source{out: out, beats: per, left: per * b.o.frames, now: &b.net.now, holds: b.o.holds}
		b.net.parts, b.net.sources = append(b.net.parts, s), append(b.net.sources, s)
		return nil
	}
	var in []*wire
	for _, a := range n.Args {
		if !a.IsConst() {
			in = append(in, b.next(a))
		}
	}
	if n.Op.Traits.Wire && len(in) == 1 {
		b.out[n] = in
		return nil
	}
	flow, err := flowOf(n, len(in))
	if err != nil {
		return err
	}
	if len(flow) == 0 { // a wire after all
		b.out[n] = in
		return nil
	}
	if len(in) > 1 {
		b.net.args[n] = in
	}
	for i := range flow {
		to := out
		if i < len(flow)-1 {
			to = &wire{}
		}
		b.part(n, &flow[i], in, to)
		in = []*wire{to}
	}
	b.net.results[n] = append([]*wire(nil), b.out[n]...)
	return nil
}

// flowOf is the flow of a node: as its operation says, else a pipeline of the latency of its module.
func flowOf(n *ir.Node, streams int) (ir.Flow, error) {
	if n.Op.Flow != nil {
		flow, err := n.Op.Flow(n)
		if err != nil || flow != nil {
			return flow, err
		}
	}
	out := beats(n, n.HW.OutLanes)
	for _, a := range n.Args {
		if !a.IsConst() && beats(a, a.HW.OutLanes) != out {
			return uneven(n, streams, beats(a, a.HW.OutLanes), out), nil
		}
	}
	return ir.Pipeline(streams, out, n.HW.Latency), nil
}

// uneven is the flow of a unit without a description whose frames have other numbers of beats at both ends: as many
// beats at the larger end as go with one at the smaller.
func uneven(n *ir.Node, streams, in, out int) ir.Flow {
	flow := ir.Pipeline(streams, max(in, out), 1)
	all := uint(1)<<streams - 1
	flow[0].Step = func(s int) ir.Step {
		if in > out {
			return ir.Step{Take: all, Give: (s+1)*out/in > s*out/in}
		}
		step := ir.Step{Give: true}
		if s == 0 || s*in/out > (s-1)*in/out {
			step.Take = all
		}
		return step
	}
	flow[0].Regs = min(max(n.HW.Latency-1-max(in/out-1, 0), 0), 63)
	return flow
}

// part makes one stage.
func (b *builder) part(n *ir.Node, s *ir.FlowStage, in []*wire, out *wire) {
	var p part
	if b.o.worst {
		least := *s
		least.Regs, least.Columns.Ahead = min(s.Regs, 1), 0
		s = &least
	}
	switch s.Kind {
	case ir.FlowSteps:
		p = newSteps(s, in, out)
	case ir.FlowMemory:
		p = newMemory(s, in[0], out)
	case ir.FlowSkid:
		p = &skid{in: in[0], out: out}
	case ir.FlowWiden:
		p = &widen{in: in[0], out: out, n: s.N}
		if s.N == 1 {
			p = &skid{in: in[0], out: out}
		}
	case ir.FlowNarrow:
		p = &narrow{in: in[0], out: out, n: s.N}
		if s.N == 1 {
			p = newFifo(in[0], out, 0, false)
		}
	case ir.FlowColumns:
		p = &columns{in: in[0], out: out, c: s.Columns, next: s.Columns.First}
	case ir.FlowFork:
		p = b.fork(n, in[0])
	case ir.FlowFifo:
		p = b.fifo(n, s.N, in[0], out)
	}
	b.net.parts = append(b.net.parts, p)
}

// fork has one wire for each reader of n.
func (b *builder) fork(n *ir.Node, in *wire) *fork {
	f := &fork{in: in}
	for range max(b.readers[n], 1) {
		f.out = append(f.out, &wire{})
	}
	f.taken, f.blocked = make([]bool, len(f.out)), make([]int, len(f.out))
	b.out[n], b.net.forks[n] = append([]*wire(nil), f.out...), f
	return f
}

// fifo is a FIFO inside a unit, or that of a FIFO node, whose depth the caller chooses.
func (b *builder) fifo(n *ir.Node, places int, in, out *wire) *fifo {
	if n.Op != op.Fifo {
		return newFifo(in, out, places, places > blockRAM)
	}
	places, late := b.o.depth(n)
	f := newFifo(in, out, places, late)
	b.net.fifos[n] = f
	return f
}

// run simulates until nothing has moved for so many cycles, and says whether every frame has left by then.
func (n *net) run(patience int) (done bool) {
	for still := 0; still < patience; n.now++ {
		for _, p := range n.parts {
			p.offer()
		}
		for i := len(n.parts) - 1; i >= 0; i-- {
			n.parts[i].accept()
		}
		still++
		for _, p := range n.parts {
			if p.tick() {
				still = 0
			}
		}
	}
	return n.finished()
}

// finished says that all sources are empty and all sinks have whole frames.
func (n *net) finished() bool {
	for _, s := range n.sources {
		if s.left > 0 {
			return false
		}
	}
	for _, s := range n.sinks {
		for _, from := range n.sources {
			if s.had*from.beats != from.had*s.beats {
				return false
			}
		}
	}
	return true
}
