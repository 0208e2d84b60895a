// SPDX-License-Identifier: Apache-2.0

// Package tokens runs a scheduled graph beat by beat, without values: in which cycles beats move when inputs never pause
// and outputs are never held up. From it follow the depths of the FIFOs behind forks.
//
// No clock ticks. Each part of the hardware knows in which cycle it takes a beat that is offered to it, and in which one
// it offers the next, as soon as it knows when those before have left; so the work is that of the beats, however many
// cycles lie between them.
package tokens

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/rtl"
)

// net is a graph as parts and wires.
type net struct {
	parts   []part
	waiting []int  // the parts that must move
	waits   []bool // by part
	// into is the wire to each FIFO node, loads what the FIFOs that are there have held.
	into    map[*ir.Node]*wire
	loads   map[*ir.Node]*load
	forks   map[*ir.Node]*fork
	sources []*source
	sinks   []*sink
	// args are the wires on which a node with several streams takes them.
	args map[*ir.Node][]*wire
	// results are the wires of the result of each unit, one a reader.
	results map[*ir.Node][]*wire
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
	holds func(cycle int) bool
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
	return b.net, b.net.check()
}

// check refuses what no module of the library has: a step without registers that waits for room where there is no FIFO
// to say since when there is any.
func (n *net) check() error {
	for _, p := range n.parts {
		if s, ok := p.(*steps); ok && s.waits() {
			switch n.parts[s.out.to].(type) {
			case *fifo, *sink:
			default:
				return diag.New("L0603", "", "in a flow line steps without registers wait for room, and no skid follows")
			}
		}
	}
	return nil
}

func newNet() *net {
	return &net{into: map[*ir.Node]*wire{}, loads: map[*ir.Node]*load{}, forks: map[*ir.Node]*fork{},
		args: map[*ir.Node][]*wire{}, results: map[*ir.Node][]*wire{}}
}

// add makes p a part between its wires.
func (n *net) add(p part, in, out []*wire) {
	for _, w := range in {
		w.to = len(n.parts)
	}
	for _, w := range out {
		w.from = len(n.parts)
	}
	n.parts, n.waits = append(n.parts, p), append(n.waits, true)
	n.waiting = append(n.waiting, len(n.parts)-1)
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
	s := &source{out: b.net.wire(), left: beats * frames, counts: counter{beats: beats}, holds: b.o.holds}
	b.net.add(s, nil, []*wire{s.out})
	b.net.sources = append(b.net.sources, s)
	s.out.watch = append(s.out.watch, &s.counts)
	return s.out
}

func (b *builder) sink(from *wire, beats int) {
	s := &sink{in: from, counts: counter{beats: beats}, holds: b.o.holds}
	b.net.add(s, []*wire{from}, nil)
	b.net.sinks = append(b.net.sinks, s)
	from.watch = append(from.watch, &s.counts)
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
	b.out[n] = []*wire{b.net.wire()}
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
			to = b.net.wire()
		}
		b.part(n, &flow[i], in, to)
		in = []*wire{to}
	}
}

// part makes one stage.
func (b *builder) part(n *ir.Node, s *rtl.Stage, in []*wire, out *wire) {
	known, whole := b.o.known, s
	if b.o.worst {
		least := *s
		least.Regs, least.Columns.Ahead = min(s.Regs, 1), 0
		s = &least
	}
	var p part
	outs := []*wire{out}
	switch s.Kind {
	case rtl.StageSteps:
		p = newSteps(s, once(known.marks, whole, marksOf), in, out)
	case rtl.StageMemory:
		p = newMemory(s, once(known.uses, whole, usesOf), in[0], out)
	case rtl.StageSkid:
		p = newFifo(in[0], out, 2, false)
	case rtl.StageWiden:
		p = &widen{in: in[0], out: out, n: s.N}
	case rtl.StageNarrow:
		p = &narrow{in: in[0], out: out, n: s.N}
	case rtl.StageColumns:
		p = newColumns(s.Columns, in[0], out)
	case rtl.StageFork:
		f := b.fork(n, in[0])
		p, outs = f, f.out
	case rtl.StageFifo:
		p = b.fifo(n, s.N, in[0], out)
	}
	b.net.add(p, in, outs)
}

// fork has one wire for each reader of n.
func (b *builder) fork(n *ir.Node, in *wire) *fork {
	f := &fork{in: in}
	for range max(b.readers[n], 1) {
		f.out = append(f.out, b.net.wire())
	}
	f.blocked = make([]int, len(f.out))
	b.out[n], b.net.forks[n] = append([]*wire(nil), f.out...), f
	return f
}

// fifo is a FIFO inside a unit, or that of a FIFO node, whose depth the caller chooses.
func (b *builder) fifo(n *ir.Node, places int, in, out *wire) part {
	if !b.o.known.read[n].fifo() {
		return newFifo(in, out, places, places > blockRAM)
	}
	places, late := b.o.depth(n)
	b.net.into[n] = in
	if places == 0 {
		return &link{in: in, out: out}
	}
	f := newFifo(in, out, places, late)
	f.load = &load{}
	b.net.loads[n] = f.load
	return f
}

// wake has a part move again; there is none at a wire that nobody reads.
func (n *net) wake(part int) {
	if part >= 0 && !n.waits[part] {
		n.waits[part] = true
		n.waiting = append(n.waiting, part)
	}
}

// run moves all beats, and says whether every frame has left by then.
func (n *net) run() (done bool) {
	for len(n.waiting) > 0 {
		p := n.waiting[len(n.waiting)-1]
		n.waiting, n.waits[p] = n.waiting[:len(n.waiting)-1], false
		n.parts[p].move()
	}
	for _, l := range n.loads {
		l.count(true)
	}
	return n.finished()
}

// finished says that all sources are empty and all sinks have whole frames.
func (n *net) finished() bool {
	for _, s := range n.sources {
		if s.left > 0 || s.out.has {
			return false
		}
	}
	for _, s := range n.sinks {
		for _, from := range n.sources {
			if s.counts.had*from.counts.beats != from.counts.had*s.counts.beats {
				return false
			}
		}
	}
	return true
}
