// SPDX-License-Identifier: Apache-2.0

// Package tokens runs a scheduled graph beat by beat, without values: in which cycles beats move when inputs never
// pause and outputs are never held up. From it follow the depths of the FIFOs behind forks.
package tokens

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/lower/schedule/tokens/beat"
	"lathe/rtl"
)

// net is a graph as parts and wires.
type net struct {
	*beat.Net
	in, out []*beat.Counter
	// into is the wire to each FIFO node, loads what the FIFOs that are there have held.
	into  map[*ir.Node]*beat.Wire
	loads map[*ir.Node]*beat.Load
	forks map[*ir.Node]*beat.Fork
	// args are the wires on which a node with several streams takes them.
	args map[*ir.Node][]*beat.Wire
	// results are the wires of the result of each unit, one a reader.
	results map[*ir.Node][]*beat.Wire
	// streams are the wires on which each unit takes its arguments that are no constants.
	streams map[*ir.Node][]*beat.Wire
}

func newNet(k *known) *net {
	return &net{Net: beat.New(k.tables), into: map[*ir.Node]*beat.Wire{}, loads: map[*ir.Node]*beat.Load{},
		forks: map[*ir.Node]*beat.Fork{}, args: map[*ir.Node][]*beat.Wire{}, results: map[*ir.Node][]*beat.Wire{},
		streams: map[*ir.Node][]*beat.Wire{}}
}

// scheduled is the depth of a FIFO node that the graph gives.
func scheduled(n *ir.Node) (int, bool) { return n.HW.Fifo, n.HW.Fifo > beat.BlockRAM }

// options of a simulation.
type options struct {
	frames int
	// tokens, if not 0, divides a frame: ends count tokens in place of frames.
	tokens int
	// known is what the modules say.
	known *known
	// depth of each FIFO node.
	depth func(n *ir.Node) (places int, late bool)
	// worst takes for every row of registers that move together one place: as many as it has for beats that come one by
	// one, with gaps between them, and are then held up.
	worst bool
	// holds, if not nil, says before every beat of an input, and in every cycle of an output, whether it holds still.
	holds func(cycle int) bool
	// pace, if not 0, is how many cycles pass at least between the frames of an input.
	pace float64
}

// build makes the parts of all nodes.
func build(g *ir.Graph, o options) (*net, error) {
	o.frames = upTo(o.frames, ring.Images(g)) // others wait for ever
	b := &builder{net: newNet(o.known), o: o, out: map[*ir.Node][]*beat.Wire{}, readers: g.Readers(),
		back: map[string]*beat.Wire{}}
	for _, n := range g.Nodes {
		if n.HW.Back != "" {
			b.back[n.HW.Back] = b.net.Wire()
		}
	}
	if slices.ContainsFunc(g.In, func(n *ir.Node) bool { return n.HW.Ends }) {
		b.ends = b.net.Wire()
	}
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		if err := b.node(n); err != nil {
			return nil, err
		}
	}
	for _, out := range g.Out {
		b.sink(b.next(out.Node), beats(out.Node)/max(o.tokens, 1))
	}
	for _, n := range g.Nodes {
		if !n.IsConst() && b.readers[n] == 0 && n.HW.Back == "" {
			b.sink(b.next(n), beats(n)) // drained
		}
	}
	return b.net, b.net.Check()
}

// builder gives out the wires of results, one a reader.
type builder struct {
	net     *net
	o       options
	out     map[*ir.Node][]*beat.Wire
	readers map[*ir.Node]int
	back    map[string]*beat.Wire // into the units that take results again, by name
	ends    *beat.Wire            // a bit a token, where frames change in length
}

// next is the wire from n to its next reader.
func (b *builder) next(n *ir.Node) *beat.Wire {
	w := b.out[n][0]
	b.out[n] = b.out[n][1:]
	return w
}

func (b *builder) source(beats, frames int) *beat.Wire {
	holds := b.o.holds
	if b.o.pace > 0 {
		holds = paced(beats, b.o.pace)
	}
	w, c := b.net.Source(beats, frames, holds)
	b.net.in = append(b.net.in, c)
	return w
}

// input makes the beats of an input. Those that say where frames of changing length end come with the last beat of each
// token of the input that has these frames: see stream_frames.
func (b *builder) input(n *ir.Node) {
	if n.HW.Ends {
		b.out[n] = []*beat.Wire{b.ends}
		return
	}
	parts := max(b.o.tokens, 1)
	from := b.source(beats(n)/parts, b.o.frames*parts)
	if b.out[n] = []*beat.Wire{from}; n.HW.Tokens == 0 {
		return
	}
	f, each, bits := b.net.Fork(from, 2), beats(n)/n.HW.Tokens, b.net.Wire()
	b.out[n][0] = f.Out[0]
	b.net.Stage(&rtl.Stage{Kind: rtl.StageSteps, Period: each, Step: func(s int) rtl.Step {
		return rtl.Step{Take: 1, Give: s == each-1, Free: s < each-1}
	}}, false, f.Out[1:], bits)
	b.net.Stage(&rtl.Stage{Kind: rtl.StageSkid}, false, []*beat.Wire{bits}, b.ends)
}

func (b *builder) sink(from *beat.Wire, beats int) {
	b.net.out = append(b.net.out, b.net.Sink(from, beats, b.o.holds))
}

// beats of a frame of the result of n.
func beats(n *ir.Node) int { return n.Beats() }

func (b *builder) node(n *ir.Node) error {
	if n.Op.Traits.Source {
		b.input(n)
		return nil
	}
	var in []*beat.Wire
	for _, a := range n.Args {
		if !a.IsConst() {
			in = append(in, b.next(a))
		}
	}
	if again := b.back[n.Name]; again != nil {
		in = append(in, again)
	}
	u, err := b.o.known.of(n)
	if err != nil {
		return err
	}
	if len(in) > 1 {
		b.net.args[n] = in
	}
	if b.out[n] = []*beat.Wire{b.back[n.HW.Back]}; n.HW.Back == "" {
		b.out[n][0] = b.net.Wire()
	}
	b.chain(n, u.flow, in)
	if len(u.flow) > 0 {
		b.net.streams[n] = in
		b.net.results[n] = append([]*beat.Wire(nil), b.out[n]...)
	}
	return nil
}

// chain makes the stages of n behind each other; without any, its result is the first of its streams.
func (b *builder) chain(n *ir.Node, flow rtl.Flow, in []*beat.Wire) {
	out := b.out[n][0]
	if len(flow) == 0 {
		b.out[n] = in
	}
	for i := range flow {
		to := out
		if i < len(flow)-1 {
			to = b.net.Wire()
		}
		if k := flow[i].Before; k > 0 {
			b.part(n, &flow[i], in[k-1:k], to)
			in = slices.Clone(in)
			in[k-1] = to
			continue
		}
		b.part(n, &flow[i], in, to)
		in = []*beat.Wire{to}
	}
}

// part makes one stage. The depth of a FIFO node is what the caller chooses.
func (b *builder) part(n *ir.Node, s *rtl.Stage, in []*beat.Wire, out *beat.Wire) {
	switch {
	case s.Kind == rtl.StageFork: // one wire for each reader of n
		f := b.net.Fork(in[0], max(b.readers[n], 1))
		b.out[n], b.net.forks[n] = append([]*beat.Wire(nil), f.Out...), f
	case b.o.known.read[n].fifo():
		places, late := b.o.depth(n)
		b.net.into[n], b.net.loads[n] = in[0], b.net.Fifo(in[0], out, places, late)
	default:
		b.net.Stage(s, b.o.worst, in, out)
	}
}
