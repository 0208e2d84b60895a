// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lathe/emit"
	"lathe/emit/bench"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
)

// FrameKind says what is special about a frame.
type FrameKind uint8

// What is special about frames.
const (
	// Closes: its last beat has the last flag on inputs.
	Closes FrameKind = 1 << iota
	// Ends: its last beat has the last flag on outputs.
	Ends
	// Waits: it goes in when all outputs of the frames before it have come out.
	Waits
	// Silent: nothing comes out for it.
	Silent
)

// answered counts the frames that come out.
func (in *Input) answered() int {
	n := in.Frames
	for _, k := range in.Kinds {
		if k&Silent != 0 {
			n--
		}
	}
	return n
}

// beatsOut is how many beats come out of output port i.
func (in *Input) beatsOut(i int) int {
	frames := in.answered()
	if in.once(i) == 1 {
		frames = 0
		for _, k := range in.Kinds {
			frames += int(k & Closes)
		}
	}
	return frames * in.OutBeats[i]
}

// kinds packs the kinds of frames for the harness: whether there are any, and each.
func (in *Input) kinds() []int {
	if in.Kinds == nil {
		return []int{0}
	}
	words := []int{1}
	for _, k := range in.Kinds {
		words = append(words, int(k))
	}
	return words
}

// kindLines are the kinds of frames for $readmemh, each with the number of frames that come out before it.
func (in *Input) kindLines() string {
	var b strings.Builder
	answered := 0
	for _, k := range in.Kinds {
		fmt.Fprintf(&b, "%x\n", answered<<4|int(k))
		if k&Silent == 0 {
			answered++
		}
	}
	return b.String()
}

// Sequence is what a decoder is given before it begins anew.
type Sequence struct {
	// Sample is the number of the sample whose first tokens these are.
	Sample int
	// Tokens is how many there are, Prefill how many of them come without waiting for outputs. Each of the others comes
	// when the outputs of those before it have been seen.
	Tokens, Prefill int
	// Surplus is how many more tokens follow, for which there is no room.
	Surplus int
}

// TokenRun is what a decoder gave back.
type TokenRun struct {
	// Outputs are the values of the graph outputs, an entry a sequence: those of its tokens, and those of want behind.
	Outputs []ref.Sample
	// Want are the values that the reference has there.
	Want []ref.Sample
	// Position and Error are the status outputs at each beat of the input that was taken, if the model has taps.
	Position, Error []int64
	Result          *Result
}

// SequenceSpec is DesignSpec of a decoder, with its status outputs as taps.
func SequenceSpec(d *emit.Design, cacheDir string, waveform bool) Spec {
	s := DesignSpec(d, cacheDir, false, waveform)
	for _, status := range []Port{{Name: "position", Width: d.PositionBits()}, {Name: "error", Width: 1}} {
		status.Data, status.Valid, status.Ready = status.Name, s.In[0].Valid, s.In[0].Ready
		s.Taps = append(s.Taps, status)
	}
	return s
}

// RunSequences drives the wrapper of a decoder with sequences, one after the other. samples are whole ones, and results
// those of the reference; a frame of the result is a token. in is as for RunDesign.
func RunSequences(ctx context.Context, m *Model, d *emit.Design, samples, results []ref.Sample, list []Sequence,
	in Input) (*TokenRun, error) {
	in = feedSequences(d, samples, list, in)
	in.Drain = max(in.Drain, drainCycles)
	result, err := m.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	for i := range result.Tap {
		result.Tap[i].Unstable = -1 // status outputs are no streams: they change while the input waits
	}
	if err := result.Check(&m.spec); err != nil {
		return nil, err
	}
	run := &TokenRun{Result: result}
	if len(result.Taps) > 0 {
		run.Position = Unpack(result.Taps[0], 1, d.PositionBits(), false)
		run.Error = Unpack(result.Taps[1], 1, 1, false)
	}
	run.Outputs, run.Want, err = gatherSequences(d, result.Streams, results, list)
	return run, err
}

// IcarusSequences is RunSequences in Icarus.
func IcarusSequences(ctx context.Context, cache string, d *emit.Design, samples, results []ref.Sample, list []Sequence,
	in Input) (*TokenRun, error) {
	streams, err := Icarus(ctx, DesignSpec(d, cache, false, false), feedSequences(d, samples, list, in))
	if err != nil {
		return nil, err
	}
	run := &TokenRun{}
	run.Outputs, run.Want, err = gatherSequences(d, streams, results, list)
	return run, err
}

// feedSequences fills in streams, kinds and beat counts of a run: a frame is a token.
func feedSequences(d *emit.Design, samples []ref.Sample, list []Sequence, in Input) Input {
	in.Frames, in.Kinds, in.Streams, in.InBeats, in.OutBeats = 0, nil, nil, nil, nil
	for _, p := range d.Ports {
		if !p.Input {
			in.OutBeats = append(in.OutBeats, p.Beats/d.Tokens)
			continue
		}
		in.InBeats = append(in.InBeats, p.Beats/d.Tokens)
		size := p.Beats / d.Tokens * (p.TData / 8)
		var stream []byte
		for _, s := range list {
			sample := PackStream(p, samples[s.Sample:s.Sample+1], 0)
			stream = append(stream, sample[:s.Tokens*size]...)
			for range s.Surplus {
				stream = append(stream, sample[:size]...)
			}
		}
		in.Streams = append(in.Streams, stream)
	}
	for _, s := range list {
		for t := range s.Tokens + s.Surplus {
			kind := FrameKind(0)
			if t >= s.Prefill && t > 0 {
				kind |= Waits
			}
			if t >= s.Tokens {
				kind |= Silent
			}
			if t == s.Tokens+s.Surplus-1 {
				kind |= Closes
			}
			if t == s.Tokens-1 {
				kind |= Ends
			}
			in.Kinds = append(in.Kinds, kind)
		}
	}
	in.Frames = len(in.Kinds)
	return in
}

// SequenceVectors are sequences for the testbench of a decoder.
func SequenceVectors(d *emit.Design, samples, results []ref.Sample, list []Sequence) bench.Vectors {
	v := vectors(feedSequences(d, samples, list, Input{}), len(list))
	for at, p := range d.Ports[1:] {
		var stream []byte
		for _, s := range list {
			stream = append(stream, firstTokens(p, results[s.Sample], at, s.Tokens, d.Tokens)...)
		}
		v.Streams = append(v.Streams, stream)
	}
	return v
}

// FrameVectors are frames of the given lengths for the testbench of a design.
func FrameVectors(g *ir.Graph, d *emit.Design, samples, results []ref.Sample, lengths []int) bench.Vectors {
	v := vectors(feedFrames(g, d, samples, lengths, Input{}), len(lengths))
	inputs := len(v.Streams)
	for at, p := range d.Ports[inputs:] {
		var stream []byte
		for i, n := range lengths {
			stream = append(stream, firstTokens(p, results[i], at, n, p.Tokens)...)
		}
		v.Streams = append(v.Streams, stream)
	}
	return v
}

// vectors are what goes into a design for a testbench.
func vectors(in Input, samples int) bench.Vectors {
	return bench.Vectors{Samples: samples, Streams: in.Streams,
		Tokens: &bench.Tokens{In: in.Frames, Out: in.answered(), Lines: in.kindLines()}}
}

// firstTokens makes the beats by which port p carries the first n tokens of value at of a sample, which has most of
// them; all beats if most is 0.
func firstTokens(p emit.Port, s ref.Sample, at, n, most int) []byte {
	whole := PackStream(p, []ref.Sample{s}, at)
	if most == 0 {
		return whole
	}
	return whole[:len(whole)/most*n]
}

// gatherSequences cuts output streams into values, filled up with those of the reference, which it returns, too.
func gatherSequences(d *emit.Design, streams [][]byte, results []ref.Sample, list []Sequence) (got, want []ref.Sample,
	err error) {
	got, want = make([]ref.Sample, len(list)), make([]ref.Sample, len(list))
	for at, p := range d.Ports[1:] {
		size, stream, filled := p.Beats/d.Tokens*(p.TData/8), streams[at], []byte(nil)
		for i, s := range list {
			n := s.Tokens * size
			if len(stream) < n {
				return nil, nil, diag.New(diag.SimulationEnded, d.Name, "%d bytes came back for %d tokens", len(stream), s.Tokens)
			}
			whole := PackStream(p, results[s.Sample:s.Sample+1], at)
			filled = append(append(filled, stream[:n]...), whole[n:]...)
			stream = stream[n:]
			want[i] = append(want[i], results[s.Sample][at])
		}
		if err := cut(got, filled, p.Type, p.Lanes); err != nil {
			return nil, nil, err
		}
	}
	return got, want, nil
}

// RunFrames is RunDesign of a design whose frames change in length: sample i has lengths[i] tokens, as its mask says. A
// frame of the result is a token. Elements of tokens that are not there are 0 in what comes back.
func RunFrames(ctx context.Context, m *Model, g *ir.Graph, d *emit.Design, samples []ref.Sample, lengths []int,
	in Input) (*DesignRun, error) {
	in = feedFrames(g, d, samples, lengths, in)
	result, err := drive(ctx, m, g, d, in)
	if err != nil {
		return nil, err
	}
	run := &DesignRun{Result: result}
	if run.Outputs, err = gatherFrames(d, result.Streams, lengths); err != nil || len(result.Taps) == 0 {
		return run, err
	}
	run.Values = make([]ref.Sample, len(samples))
	for i, u := range tapped(d) {
		n := g.Find(u.Node)
		if n == nil {
			return nil, diag.New(diag.SimulationRequest, d.Name, "unit %q is not a node of the graph", u.Node)
		}
		if n.HW.Marked || saysEnds(n) {
			continue // no value of its own, or none of the graph
		}
		run.TapNodes = append(run.TapNodes, n)
		if err := cutFrames(run.Values, result.Taps[i], carried(n), n.HW.OutLanes, n.HW.Tokens, lengths); err != nil {
			return nil, err
		}
		for _, v := range run.Values {
			v[len(v)-1] = alive(v[len(v)-1], n.Type)
		}
	}
	return run, nil
}

// saysEnds says that n carries the bits that say where frames end.
func saysEnds(n *ir.Node) bool {
	for len(n.Args) == 1 && n.Op.Traits.KeepsCodes {
		n = n.Args[0]
	}
	return n.HW.Ends
}

// IcarusFrames is RunFrames in Icarus; it returns the values of the graph outputs.
func IcarusFrames(ctx context.Context, cache string, g *ir.Graph, d *emit.Design, samples []ref.Sample, lengths []int,
	in Input) ([]ref.Sample, error) {
	streams, err := Icarus(ctx, DesignSpec(d, cache, false, false), feedFrames(g, d, samples, lengths, in))
	if err != nil {
		return nil, err
	}
	return gatherFrames(d, streams, lengths)
}

// feedFrames fills in streams, kinds and beat counts of a run.
func feedFrames(g *ir.Graph, d *emit.Design, samples []ref.Sample, lengths []int, in Input) Input {
	in.Kinds, in.Streams, in.InBeats, in.OutBeats, in.OutOnce = nil, nil, nil, nil, nil
	for _, n := range lengths {
		for t := range n {
			kind := FrameKind(0)
			if t == n-1 {
				kind = Closes | Ends
			}
			in.Kinds = append(in.Kinds, kind)
		}
	}
	in.Frames = len(in.Kinds)
	for _, p := range d.Ports {
		if !p.Input {
			in.OutBeats = append(in.OutBeats, p.Beats/max(p.Tokens, 1))
			in.OutOnce = append(in.OutOnce, p.Tokens == 0)
			continue
		}
		at := slices.IndexFunc(g.In, func(n *ir.Node) bool { return n.Name == p.Name })
		var stream []byte
		for i, n := range lengths {
			stream = append(stream, firstTokens(p, samples[i], at, n, p.Tokens)...)
		}
		in.Streams, in.InBeats = append(in.Streams, stream), append(in.InBeats, p.Beats/p.Tokens)
	}
	return in
}

// gatherFrames cuts output streams into the values of the graph outputs of each sample.
func gatherFrames(d *emit.Design, streams [][]byte, lengths []int) ([]ref.Sample, error) {
	outputs, at := make([]ref.Sample, len(lengths)), 0
	for _, p := range d.Ports {
		if p.Input {
			continue
		}
		if err := cutFrames(outputs, streams[at], p.Type, p.Lanes, p.Tokens, lengths); err != nil {
			return nil, err
		}
		at++
	}
	return outputs, nil
}

// cutFrames appends one value of type t to each sample, of as many of its tokens as the sample has; tokens is the most,
// 0 for a value that every sample has whole.
func cutFrames(samples []ref.Sample, stream []byte, t ir.Type, lanes, tokens int, lengths []int) error {
	size := t.Elems() / lanes * ((t.BeatWidth(lanes) + 7) / 8)
	var filled []byte
	for _, n := range lengths {
		have := size
		if tokens > 0 {
			have = size / tokens * n
		}
		if len(stream) < have {
			return diag.New(diag.SimulationEnded, "", "%d bytes came back for %d of %s in %d lanes", len(stream), have, t, lanes)
		}
		filled = append(append(filled, stream[:have]...), make([]byte, size-have)...)
		stream = stream[have:]
	}
	return cut(samples, filled, t, lanes)
}
