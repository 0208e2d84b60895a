// SPDX-License-Identifier: Apache-2.0

// Package tokens runs a scheduled graph beat by beat and cycle by cycle, without values: as the hardware moves when
// inputs never pause and outputs are never held up. From it follow the depths of the FIFOs behind forks.
package tokens

import (
	"lathe/ir"
	"lathe/rtl"
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
	// known is what the modules say.
	known *known
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
	b := &builder{net: newNet(), o: o, out: map[*ir.Node][]*wire{}, readers: g.Readers()}
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		if err := b.node(n); err != nil {
			return nil, err
		}
	}
	for _, out := range g.Out {
		b.sink(b.next(out.Node), beats(out.Node))
	}
	for _, n := range g.Nodes {
		if !n.IsConst() && b.readers[n] == 0 {
			b.sink(b.next(n), beats(n)) // drained
		}
	}
	return b.net, nil
}

func newNet() *net {
	return &net{fifos: map[*ir.Node]*fifo{}, forks: map[*ir.Node]*fork{}, args: map[*ir.Node][]*wire{},
		results: map[*ir.Node][]*wire{}}
}

// builder gives out the wires of results, one a reader.
type builder struct {
	net     *net
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

func (b *builder) source(beats, frames int) *wire {
	s := &source{out: &wire{}, beats: beats, left: beats * frames, now: &b.net.now, holds: b.o.holds}
	b.net.parts, b.net.sources = append(b.net.parts, s), append(b.net.sources, s)
	return s.out
}

func (b *builder) sink(from *wire, beats int) {
	s := &sink{in: from, beats: beats, now: &b.net.now, holds: b.o.holds}
	b.net.parts, b.net.sinks = append(b.net.parts, s), append(b.net.sinks, s)
}

// beats of a frame of the result of n.
func beats(n *ir.Node) int { return max(n.Type.Elems()/max(n.HW.OutLanes, 1), 1) }

func (b *builder) node(n *ir.Node) error {
	if n.Op.Traits.Source {
		b.out[n] = []*wire{b.source(beats(n), b.o.frames)}
		return nil
	}
	var in []*wire
	for _, a := range n.Args {
		if !a.IsConst() {
			in = append(in, b.next(a))
		}
	}
	u, err := b.o.known.of(n)
	if err != nil {
		return err
	}
	if len(in) > 1 {
		b.net.args[n] = in
	}
	b.out[n] = []*wire{{}}
	b.chain(n, u.flow, in)
	if len(u.flow) > 0 {
		b.net.results[n] = append([]*wire(nil), b.out[n]...)
	}
	return nil
}

// chain makes the stages of n behind each other; without any, its result is the first of its streams.
func (b *builder) chain(n *ir.Node, flow rtl.Flow, in []*wire) {
	out := b.out[n][0]
	if len(flow) == 0 {
		b.out[n] = in
	}
	for i := range flow {
		to := out
		if i < len(flow)-1 {
			to = &wire{}
		}
		b.part(n, &flow[i], in, to)
		in = []*wire{to}
	}
}

// part makes one stage.
func (b *builder) part(n *ir.Node, s *rtl.Stage, in []*wire, out *wire) {
	var p part
	if b.o.worst {
		least := *s
		least.Regs, least.Columns.Ahead = min(s.Regs, 1), 0
		s = &least
	}
	switch s.Kind {
	case rtl.StageSteps:
		p = newSteps(s, in, out)
	case rtl.StageMemory:
		p = newMemory(s, in[0], out)
	case rtl.StageSkid:
		p = &skid{in: in[0], out: out}
	case rtl.StageWiden:
		p = &widen{in: in[0], out: out, n: s.N}
	case rtl.StageNarrow:
		p = &narrow{in: in[0], out: out, n: s.N}
	case rtl.StageColumns:
		p = &columns{in: in[0], out: out, c: s.Columns, next: s.Columns.First}
	case rtl.StageFork:
		p = b.fork(n, in[0])
	case rtl.StageFifo:
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
	if !b.o.known.read[n].fifo() {
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
