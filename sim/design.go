// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"math/rand/v2"
	"slices"

	"lathe/emit"
	"lathe/emit/bench"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
)

// DesignSpec describes an emitted design to Build: its AXI4-Stream wrapper with all ports, that of one clock
// where there are two, and with taps the result stream of every unit and every branch of a fork.
func DesignSpec(d *emit.Design, cacheDir string, taps, waveform bool) Spec {
	s := Spec{Top: d.Single, Files: d.Files, Clock: "ap_clk", Reset: "ap_rst_n", ResetActiveLow: true, Settle: 2,
		CacheDir: cacheDir, Trace: waveform}
	if m := d.Memory; m != nil {
		s.Files = slices.DeleteFunc(slices.Clone(d.Files), func(f File) bool { return f.Name == m.File })
		s.Memory = &Memory{Memory: *m, Base: bench.MemoryBase, CacheBase: bench.CacheBase,
			Files: append(bench.MemoryParts(), d.Files[len(s.Files):]...)}
	}
	if waveform {
		s.Files = append(slices.Clone(s.Files), lanes(d)...)
	}
	for _, p := range d.Ports {
		port := Port{Name: p.Stream, Data: p.Stream + "_tdata", Valid: p.Stream + "_tvalid", Ready: p.Stream + "_tready",
			Last: p.Stream + "_tlast", Width: p.TData}
		if p.Input {
			s.In = append(s.In, port)
		} else {
			s.Out = append(s.Out, port)
		}
	}
	if taps {
		for _, u := range tapped(d) {
			wire := "core." + u.Stream
			s.Taps = append(s.Taps, Port{Name: u.Node, Data: wire + "_data", Valid: wire + "_valid", Ready: wire + "_ready",
				Width: u.Width})
		}
		s.Taps = append(s.Taps, branches(d)...) // behind those with values
	}
	return s
}

// lanes is the module that names the elements of streams in a waveform; nothing where they have no names, which
// SaveFiles then says.
func lanes(d *emit.Design) []File {
	t, err := bench.NewTrace(d)
	if err != nil {
		return nil
	}
	t.Binds = true
	f, err := t.File()
	if err != nil {
		return nil
	}
	return []File{f}
}

// SaveFiles are what shows a waveform of the design in viewers, a file for each by its extension.
func SaveFiles(d *emit.Design) (map[string][]byte, error) {
	t, err := bench.NewTrace(d)
	if err != nil {
		return nil, err
	}
	core := "top." + wrapperName + ".dut.core"
	clock, instance := core+".clk", core+".lanes"
	return map[string][]byte{".gtkw": t.GTKWave(clock, instance), ".sucl": t.Surfer(clock, instance)}, nil
}

// tapped lists the units with a stream of their own. Branches of a fork carry what goes into it.
func tapped(d *emit.Design) []emit.Unit {
	var units []emit.Unit
	for _, u := range d.Units {
		if u.Module != "" && u.Branches == 0 {
			units = append(units, u)
		}
	}
	return units
}

// DesignRun is what a simulated design gave back.
type DesignRun struct {
	// Outputs are the values of the graph outputs, one entry a sample.
	Outputs []ref.Sample
	// Values are the values of TapNodes of each sample, if the model was built with taps.
	Values   []ref.Sample
	TapNodes []*ir.Node
	Result   *Result
}

// drainCycles is how long a run goes on behind the last beat, so that surplus ones are seen.
const drainCycles = 64

// RunDesign drives the wrapper of design d, made from graph g, with samples. in gives seed, stalls and limits; its
// streams and beat counts are filled in here. A breach of the stream rules is an error, as in Result.Check.
func RunDesign(ctx context.Context, m *Model, g *ir.Graph, d *emit.Design, samples []ref.Sample,
	in Input) (*DesignRun, error) {
	asked := len(samples)
	if extra := asked % max(d.Group, 1); len(m.spec.Taps) > 0 && extra > 0 { // zeros that fill a group are nobody's values
		samples = slices.Concat(samples, slices.Repeat(samples[:1], d.Group-extra))
	}
	if len(m.spec.Taps) > 0 {
		in.TapBeats = tapBeats(g, d)
	}
	in = feed(d, samples, in)
	result, err := drive(ctx, m, g, d, in)
	if err != nil {
		return nil, err
	}
	run := &DesignRun{Result: result}
	if run.Outputs, err = gather(d, result.Streams, len(samples)); err != nil {
		return nil, err
	}
	err = run.taps(g, d, result)
	run.Outputs = run.Outputs[:asked]
	run.Values = run.Values[:min(asked, len(run.Values))]
	return run, err
}

// drive runs a design until units with taps have nothing left, and holds the run to the rules of streams.
func drive(ctx context.Context, m *Model, g *ir.Graph, d *emit.Design, in Input) (*Result, error) {
	in.Drain = max(in.Drain, drainCycles)
	if len(m.spec.Taps) > 0 {
		for _, u := range d.Units { // which may have beats left when the last output has gone
			in.Drain = max(in.Drain, 4*u.Cycles)
		}
	}
	results, states, err := m.run(ctx, []Input{in})
	if stuck, ok := err.(*diag.Error); ok && states != nil && len(m.spec.Taps) > 0 {
		return nil, waiting(stuck, g, states)
	}
	if err != nil {
		return nil, err
	}
	return results[0], results[0].Check(&m.spec)
}

// IcarusDesign is RunDesign in Icarus, with the limits of Icarus; it returns the values of the graph outputs. Nothing
// is probed, and the rules of streams are not watched.
func IcarusDesign(ctx context.Context, cache string, d *emit.Design, samples []ref.Sample,
	in Input) ([]ref.Sample, error) {
	streams, err := Icarus(ctx, DesignSpec(d, cache, false, false), feed(d, samples, in))
	if err != nil {
		return nil, err
	}
	return gather(d, streams, len(samples))
}

// feed fills in streams and beat counts of a run.
func feed(d *emit.Design, samples []ref.Sample, in Input) Input {
	in.Frames = len(samples)
	in.Streams, in.InBeats, in.OutBeats = nil, nil, nil
	if d.Group > 1 {
		in.Kinds = groups(len(samples), d.Group, in)
	}
	at := 0
	for _, p := range d.Ports {
		if !p.Input {
			in.OutBeats = append(in.OutBeats, p.Beats)
			continue
		}
		in.Streams = append(in.Streams, PackStream(p, samples, at))
		in.InBeats = append(in.InBeats, p.Beats)
		at++
	}
	return in
}

// groups are the kinds of samples that a design takes in groups: the last one ends its group. So do others in runs with
// stalls, of which one of the first group ends it early.
func groups(samples, group int, in Input) []FrameKind {
	kinds, r := make([]FrameKind, samples), rand.New(rand.NewPCG(in.Seed, uint64(group)))
	stalls, early := in.TapBeats == nil && len(in.Idle) > 0, r.IntN(group-1)
	for i := range kinds {
		kinds[i] = Ends
		if i == samples-1 || stalls && (i == early || r.IntN(2*group) == 0) {
			kinds[i] |= Closes
		}
	}
	return kinds
}

// PackStream makes the beats by which port p carries value at of every sample.
func PackStream(p emit.Port, samples []ref.Sample, at int) []byte {
	var beats []byte
	for _, s := range samples {
		v := *s[at]
		v.Type = p.Type
		beats = append(beats, PackValue(&v, p.Lanes)...)
	}
	return beats
}

// tapBeats are the beats of a frame on the streams that DesignSpec taps.
func tapBeats(g *ir.Graph, d *emit.Design) (beats []int) {
	of := func(node string) int {
		n := g.Find(node)
		if n == nil {
			return 0
		}
		return n.Beats()
	}
	for _, u := range tapped(d) {
		beats = append(beats, of(u.Node))
	}
	for _, u := range d.Units {
		for range u.Branches {
			beats = append(beats, of(u.Node))
		}
	}
	return beats
}

// gather cuts output streams into the values of the graph outputs of each sample.
func gather(d *emit.Design, streams [][]byte, samples int) ([]ref.Sample, error) {
	outputs := make([]ref.Sample, samples)
	at := 0
	for _, p := range d.Ports {
		if p.Input {
			continue
		}
		if err := cut(outputs, streams[at], p.Type, p.Lanes); err != nil {
			return nil, err
		}
		at++
	}
	return outputs, nil
}

// taps cuts what the taps recorded; a stream with fewer beats than its node has values is an error.
func (r *DesignRun) taps(g *ir.Graph, d *emit.Design, result *Result) error {
	if len(result.Taps) == 0 {
		return nil
	}
	r.Values = make([]ref.Sample, len(r.Outputs))
	for i, u := range tapped(d) {
		n := g.Find(u.Node)
		if n == nil {
			return diag.New(diag.SimulationRequest, d.Name, "unit %q is not a node of the graph", u.Node)
		}
		if err := r.tap(g, n, u.Turns, d, result.Taps[i]); err != nil {
			return err
		}
	}
	return nil
}

// tap cuts the stream of one unit; that of one that layers share has the values of all of them.
func (r *DesignRun) tap(g *ir.Graph, n *ir.Node, turns []string, d *emit.Design, stream []byte) error {
	if len(turns) == 0 {
		turns = []string{n.Name}
	}
	frames := make([]ref.Sample, len(r.Values)*len(turns))
	if err := cut(frames, stream, carried(n), n.HW.OutLanes); err != nil {
		return err
	}
	if d.Tokens > 0 {
		byTurn(frames, len(turns), d.Tokens)
	}
	group := max(d.Group, 1)
	for t, name := range turns {
		if name == "" { // nobody needs it, and no node computes it
			continue
		}
		of := g.Find(name)
		if of == nil {
			return diag.New(diag.SimulationRequest, g.Name, "unit %q computes %q, which is not a node of the graph", n.Name,
				name)
		}
		r.TapNodes = append(r.TapNodes, of)
		for s := range r.Values {
			at := s/group*group*len(turns) + t*group + s%group // a group takes a turn in a row
			r.Values[s] = append(r.Values[s], alive(frames[at][0], n.Type))
		}
	}
	return nil
}

// byTurn sorts what a decoder has computed in several turns of each token: frames as they came hold the first token in
// all of its turns, then the second one; afterwards each has all tokens of a turn.
func byTurn(frames []ref.Sample, turns, tokens int) {
	for ; turns > 1 && len(frames) > 0; frames = frames[turns:] {
		var codes, scales []int64
		for _, f := range frames[:turns] {
			codes, scales = append(codes, f[0].Codes...), append(scales, f[0].BlockScales...)
		}
		for t, f := range frames[:turns] {
			takeTurn(f[0].Codes, codes, t, turns, tokens)
			takeTurn(f[0].BlockScales, scales, t, turns, tokens)
		}
	}
}

// takeTurn copies what is of turn t.
func takeTurn(to, from []int64, t, turns, tokens int) {
	each := len(to) / tokens
	for k := range tokens {
		copy(to[k*each:(k+1)*each], from[(k*turns+t)*each:])
	}
}

// carried is the type of what the beats of n carry: its own, with the dead elements of padded rows.
func carried(n *ir.Node) ir.Type {
	t := n.Type
	if n.HW.RowOut > 0 {
		t.Shape = slices.Clone(t.Shape)
		t.Shape[len(t.Shape)-1] = n.HW.RowOut
	}
	return t
}

// alive is v without the dead elements at the ends of its rows, of type t.
func alive(v *ir.Tensor, t ir.Type) *ir.Tensor {
	from, to := v.Type.Row(), t.Row()
	if from == to {
		return v
	}
	kept := ir.NewTensor(t)
	for i := range kept.Codes {
		kept.Codes[i] = v.Codes[i/to*from+i%to]
	}
	return kept
}

// cut appends one value of type t to each sample.
func cut(samples []ref.Sample, stream []byte, t ir.Type, lanes int) error {
	values := UnpackValues(stream, t, lanes, len(samples))
	if values == nil {
		return diag.New(diag.SimulationEnded, "", "%d bytes came back for %d samples of %s in %d lanes", len(stream),
			len(samples), t,
			lanes)
	}
	for s := range samples {
		samples[s] = append(samples[s], values[s])
	}
	return nil
}
