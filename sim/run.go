// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"lathe/internal/diag"
)

// Stall says how often a port holds still: Percent of all cycles, in runs of mean length Burst (0 or 1: each cycle is
// drawn by itself). If Late, of an input, Percent of its beats come late, each by Burst cycles on average. The zero
// value never stalls.
type Stall struct {
	Percent int
	Burst   int
	Late    bool
}

// words are those of a request.
func (s Stall) words() (percent, burst, late int) {
	if s.Late {
		late = 1
	}
	return s.Percent, s.Burst, late
}

// Input is what a run is fed with.
type Input struct {
	Streams [][]byte // one per input port, Frames * InBeats[i] beats
	Frames  int
	// Kinds, if not nil, say of every frame what is special about it; else the last beat of each has the last flag.
	Kinds   []FrameKind
	InBeats []int // beats of a frame, per input port
	// OutBeats are the beats of a frame per output port. The run ends when every frame has gone in and come out.
	OutBeats []int
	// OutOnce says of output ports that they have a frame only for each of those that close.
	OutOnce []bool
	// TapBeats are the beats of a frame per tap; only with them First and Last of taps are noted.
	TapBeats []int
	Seed     uint64
	// Idle and Back are the stalls of the input and output ports; a single element stands for all, none for no
	// stalls.
	Idle, Back []Stall
	// Memory are the stalls of a memory at the design, MemoryLatency the cycles that it takes for a burst at most; one
	// that never stalls sends a beat in each cycle.
	Memory        Stall
	MemoryLatency int
	// Warm is how many cycles go by before the inputs begin: a memory at the design loads it meanwhile.
	Warm int
	// MaxIdle is the number of cycles without any transfer after which the run ends with L0704; 0 means one million.
	MaxIdle int
	// ResetAt asserts reset for ResetLen cycles (0: one) at that cycle; then all frames run again from the first and
	// only those are reported. 0: no such reset.
	ResetAt, ResetLen int
	// Drain is the number of cycles that the run goes on after the last beat, to catch surplus ones.
	Drain int
	// Strict looks in every cycle whether a valid depends on a ready. It doubles the time.
	Strict bool
	// Occupancy has every stream_fifo print "occupancy NAME MOST of DEPTH" into the log at the end.
	Occupancy bool
	// FSTFile, a path, receives a waveform; the Spec must have Trace.
	FSTFile string
	// Progress, if set, is called now and then with the number of frames that have come out.
	Progress func(frames int)
}

// Result is what a run has shown.
type Result struct {
	Streams [][]byte // per output port
	Taps    [][]byte // per tap, as many beats as passed
	Cycles  int
	// FirstIn[f] is the cycle of the first accepted beat of frame f over all inputs, FirstOut and LastOut those of
	// the first and last delivered beat over all outputs. Cycle 0 is the first after reset.
	FirstIn, FirstOut, LastOut []int
	// LatencyCycles is FirstOut - FirstIn of frame 0.
	LatencyCycles int
	// IICycles is the mean distance of frames in the second half of the run, taken where a frame begins to leave the
	// slowest output, as others may run ahead; 0 for fewer than two frames.
	IICycles float64
	// In, Out and Tap count stalls and protocol errors per port.
	In, Out, Tap []PortStats
	// Log is what the design itself printed.
	Log string
}

// PortStats counts, while work was outstanding on a port, cycles of (not valid, ready) and of (valid, not ready), and
// notes the first breaches of the stream rules: cycle, beat, or -1 for none.
type PortStats struct {
	Starved, Blocked int
	Unstable         int // cycle in which a payload changed or a valid fell before its beat was taken
	WrongLast        int // index of the first beat whose last flag was wrong
	ValidByReady     int // cycle in which valid changed with ready (Input.Strict)
	Surplus          int // beats beyond the expected ones
	// First and Last are the cycles of the first and the last beat of each frame; inputs have no Last.
	First, Last []int
}

// Check returns the first breach of the stream rules in the run, as error L0706, or nil.
func (r *Result) Check(spec *Spec) error {
	for i, s := range r.Out {
		if err := s.check(spec.Top, spec.Out[i].Name); err != nil {
			return err
		}
	}
	for i, s := range r.Tap {
		if err := s.check(spec.Top, spec.Taps[i].Name); err != nil {
			return err
		}
	}
	return nil
}

func (s PortStats) check(top, port string) error {
	bad := func(msg string, at int) error {
		return diag.New(diag.StreamRules, top, "port %s: "+msg+" %d", port, at)
	}
	switch {
	case s.Unstable >= 0:
		return bad("payload or valid changed before the beat was taken, at cycle", s.Unstable)
	case s.WrongLast >= 0:
		return bad("last flag is wrong at beat", s.WrongLast)
	case s.ValidByReady >= 0:
		return bad("valid depends on ready, at cycle", s.ValidByReady)
	case s.Surplus > 0:
		return bad("more beats than expected, surplus", s.Surplus)
	}
	return nil
}

// Run feeds the model. The same Input gives the same Result. Errors: L0704 nothing moves any more, L0705 the design
// itself stopped the simulation (a wrong memory image, say), L0707 the simulation crashed, L0708 the Input does not
// fit.
func (m *Model) Run(ctx context.Context, in Input) (*Result, error) {
	results, err := m.RunAll(ctx, []Input{in})
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// RunAll is Run of each input in turn, from power-up, in one process: short runs take less time than the start of one.
// What holds for the process is that of the first input: Occupancy, Memory and its latency, FSTFile. With an error, the
// results are those of the inputs before it.
func (m *Model) RunAll(ctx context.Context, ins []Input) ([]*Result, error) {
	results, _, err := m.run(ctx, ins)
	return results, err
}

// run is RunAll. With the error of a design that is stuck it returns the state of every port, by its name.
func (m *Model) run(ctx context.Context, ins []Input) ([]*Result, map[string]state, error) {
	request := binary.LittleEndian.AppendUint64(nil, uint64(len(ins)))
	for _, in := range ins {
		one, err := m.request(in)
		if err != nil {
			return nil, nil, err
		}
		request = append(request, one...)
	}
	cmd, err := m.command(ctx, ins[0])
	if err != nil {
		return nil, nil, err
	}
	from, writer, err := os.Pipe()
	if err != nil {
		return nil, nil, diag.New(diag.SimulationEnded, m.spec.Top, "%v", err)
	}
	var log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = bytes.NewReader(request), &log, &log, []*os.File{writer}
	err = cmd.Start()
	writer.Close()
	if err != nil {
		from.Close()
		return nil, nil, diag.New(diag.SimulationEnded, m.spec.Top, "cannot start the simulation: %v", err)
	}
	results, last, readErr := m.results(from, ins)
	from.Close() // a simulation that goes on ends when it writes
	waitErr := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case last.deadlock != "":
		e, states := m.deadlock(last.deadlock, last.result)
		return results, states, e
	case waitErr != nil || readErr != nil || !last.done:
		return results, nil, m.stopped(log.String(), waitErr, readErr)
	}
	for _, result := range results {
		result.Log = log.String()
	}
	return results, nil, nil
}

// results are those of the inputs up to the first one that ends early, and the records of the last one begun.
func (m *Model) results(from io.Reader, ins []Input) (results []*Result, last *reader, err error) {
	buffered := bufio.NewReaderSize(from, 1<<16)
	for _, in := range ins {
		last = newReader(m, in)
		if err = last.read(buffered); err != nil || !last.done || last.deadlock != "" {
			break
		}
		last.finish()
		results = append(results, last.result)
	}
	return results, last, err
}

// command is the process that runs the model.
func (m *Model) command(ctx context.Context, in Input) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, m.program, fmt.Sprintf("+lathe_model=%d", m.number))
	if in.Occupancy {
		cmd.Args = append(cmd.Args, "+lathe_occupancy")
	}
	cmd.Args = append(cmd.Args, m.spec.Memory.plusargs(in)...)
	if in.FSTFile != "" {
		path, err := filepath.Abs(in.FSTFile)
		if err != nil {
			return nil, diag.New(diag.SimulationRequest, m.spec.Top, "%v", err)
		}
		cmd.Args = append(cmd.Args, "+lathe_trace="+path)
	}
	cmd.Dir = m.dir
	return cmd, nil
}

// request packs the input for the harness.
func (m *Model) request(in Input) ([]byte, error) {
	s := &m.spec
	bad := func(msg string, args ...any) ([]byte, error) {
		return nil, diag.New(diag.SimulationRequest, s.Top, msg, args...)
	}
	if len(in.Streams) != len(s.In) || len(in.InBeats) != len(s.In) || len(in.OutBeats) != len(s.Out) {
		return bad("%d streams, %d and %d beat counts for %d inputs and %d outputs", len(in.Streams), len(in.InBeats),
			len(in.OutBeats), len(s.In), len(s.Out))
	}
	if n, m := len(in.Idle), len(in.Back); n > 1 && n != len(s.In) || m > 1 && m != len(s.Out) {
		return bad("%d and %d stall patterns for %d inputs and %d outputs", n, m, len(s.In), len(s.Out))
	}
	if in.FSTFile != "" && !s.Trace {
		return bad("waveform asked of a model built without trace")
	}
	var b []byte
	put := func(values ...int) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	put(in.head()...)
	if in.Kinds != nil && len(in.Kinds) != in.Frames {
		return bad("%d kinds of %d frames", len(in.Kinds), in.Frames)
	}
	put(in.kinds()...)
	for _, beats := range append(append([]int{in.Frames}, in.InBeats...), in.OutBeats...) {
		if beats < 1 {
			return bad("%d frames of %v and %v beats: each must be positive", in.Frames, in.InBeats, in.OutBeats)
		}
	}
	for i, p := range s.In {
		if want := in.Frames * in.InBeats[i] * p.Bytes(); len(in.Streams[i]) != want {
			return bad("input %s: %d bytes given, %d frames of %d beats are %d", p.Name, len(in.Streams[i]), in.Frames,
				in.InBeats[i], want)
		}
		percent, burst, late := pick(in.Idle, i).words()
		put(in.InBeats[i], percent, burst, late, len(in.Streams[i]))
		b = append(b, in.Streams[i]...)
	}
	for i := range s.Out {
		percent, burst, late := pick(in.Back, i).words()
		put(in.OutBeats[i], percent, burst, late, in.once(i))
	}
	for i := range s.Taps {
		beats := 0
		if i < len(in.TapBeats) {
			beats = in.TapBeats[i]
		}
		put(beats, 0, 0, 0, 0)
	}
	return b, nil
}

// head are the words of a request in front of the frames.
func (in *Input) head() []int {
	maxIdle, resetAt, progress, strict := in.MaxIdle, in.ResetAt, 0, 0
	if maxIdle == 0 {
		maxIdle = 1_000_000
	}
	if resetAt == 0 {
		resetAt = -1
	}
	if in.Progress != nil {
		progress = 50_000
	}
	if in.Strict {
		strict = 1
	}
	return []int{int(in.Seed), in.Frames, maxIdle, resetAt, max(in.ResetLen, 1), in.Drain, strict, progress,
		in.Warm}
}

// once is 1 for an output port that has a frame only for each of those that close.
func (in *Input) once(i int) int {
	if i < len(in.OutOnce) && in.OutOnce[i] {
		return 1
	}
	return 0
}

func pick(stalls []Stall, i int) Stall {
	switch {
	case len(stalls) == 0:
		return Stall{}
	case len(stalls) == 1:
		return stalls[0]
	}
	return stalls[i]
}

// state is how a port was found when nothing moved any more.
type state struct{ valid, ready bool }

// deadlock turns the harness's table of port states into an error. Notes name the ports of the design; those of taps
// are for the caller.
func (m *Model) deadlock(table string, seen *Result) (*diag.Error, map[string]state) {
	e := diag.New(diag.Stuck, m.spec.Top, "deadlock: nothing moves any more, at cycle %d", seen.Cycles)
	states := map[string]state{}
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			continue
		}
		states[f[0]] = state{valid: f[1] == "1", ready: f[2] == "1"}
		if i >= len(m.spec.In)+len(m.spec.Out) && len(m.spec.Taps) > shownTaps {
			continue
		}
		note := fmt.Sprintf("%s: valid %s, ready %s, %s", f[0], f[1], f[2], f[3])
		if f[4] != "0" {
			note += " of " + f[4]
		}
		e = e.WithNote("%s beats", note)
	}
	if breach := seen.Check(&m.spec); breach != nil {
		e = e.WithNote("before that: %v", breach)
	}
	return e, states
}

// shownTaps is how many taps are listed one by one when a design is stuck.
const shownTaps = 4

// stopped explains a simulation that ended early: the design's own message if it gave one.
func (m *Model) stopped(log string, waitErr, readErr error) error {
	for _, line := range strings.Split(log, "\n") {
		if strings.Contains(line, "%Fatal") || strings.Contains(line, "%Error") {
			return diag.New(diag.DesignStopped, m.spec.Top, "the design stopped the simulation: %s", strings.TrimSpace(line))
		}
	}
	cause := waitErr
	if cause == nil {
		cause = readErr
	}
	if cause == nil {
		cause = errors.New("no results")
	}
	e := diag.New(diag.SimulationEnded, m.spec.Top, "the simulation ended early (%v)", cause)
	if log = strings.TrimSpace(log); log != "" {
		e = e.WithNote("it printed: %s", log)
	}
	return e
}
