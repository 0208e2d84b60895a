// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"errors"

	"lathe/golden"
	"lathe/golden/pjrt"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/sim"
)

// software compares PJRT and kernels, as far as they are wanted, with the outputs of the reference.
func (e Engines) software(ctx context.Context, j Job, c *Check, nodes []*ir.Node, want []ref.Sample,
	done func(step string)) error {
	if !e.NoPJRT {
		got, err := e.pjrt(ctx, j.HW.Scheduled, j.Samples, false, j.Progress)
		if err == nil {
			err = c.compare("pjrt", nodes, want, got)
		}
		if err != nil {
			return err
		}
		done("pjrt")
	}
	if e.CUDA == nil {
		return nil
	}
	got, err := e.CUDA(ctx, j.HW.Graph, j.Samples)
	if err == nil {
		err = c.compare("cuda", nodes, want, got)
	}
	done("cuda")
	return err
}

func (e Engines) pjrt(ctx context.Context, g *ir.Graph, samples []ref.Sample, trace bool,
	p Progress) ([]ref.Sample, error) {
	p.report("PJRT compiles (--engines ref,rtl does without)", 0, 0)
	engine, err := pjrt.Start(ctx, e.PJRT)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	return golden.RunPJRT(ctx, engine, g, samples, trace, func(n int) { p.report("PJRT", n, len(samples)) })
}

// Names of the second opinions on the hardware, as engines of a Check.
const (
	// SecondSimulator is another simulator, reading the same sources: Icarus.
	SecondSimulator = "icarus"
	// GateLevel is the netlist that Yosys makes of the design, in Verilator.
	GateLevel = "gates"
)

// Second asks for second opinions on the hardware.
type Second struct {
	// Frames is how many samples run in Icarus, which is slow; 0 for none.
	Frames int
	// Optional lets Icarus be missing, or run fewer samples of a design that takes very many cycles: the result warns of
	// none.
	Optional bool
	// Gates is how many samples run through the netlist that Yosys makes; 0 for none.
	Gates int
}

// Opinion is what a second opinion found.
type Opinion struct {
	Engine     string `json:"engine"`
	Samples    int    `json:"samples"`
	Outputs    int    `json:"outputs"`
	Mismatches int    `json:"mismatches"`
}

// second compares samples of the run in other simulators. Registers start unknown in Icarus, and it reads Verilog by
// rules of its own; the netlist is what a synthesizer makes of the sources, memory images included.
func (e Engines) second(ctx context.Context, j Job, c *Check, want []ref.Sample) error {
	frames := min(j.Second.Frames, len(j.Samples))
	if j.Second.Optional && frames > 0 {
		if frames = min(frames, c.quick()); frames == 0 {
			c.Warnings = append(c.Warnings, "Icarus is left out, which takes long for so many cycles: --second 1 runs it")
		}
	}
	if n := frames; n > 0 {
		j.Progress.report("Icarus", 0, n)
		err := e.icarus(ctx, j, c, want, n)
		var missing *diag.Error
		switch {
		case j.Second.Optional && errors.As(err, &missing) && missing.Code == diag.NoSimulator:
			c.Warnings = append(c.Warnings, "Icarus is not here: no second simulator has read the design")
		case err != nil:
			return err
		}
	}
	if n := min(j.Second.Gates, len(j.Samples)); n > 0 {
		j.Progress.report("synthesis", 0, 0)
		spec, err := sim.Gates(ctx, sim.DesignSpec(j.HW.Design, e.Cache, false, false))
		if err != nil {
			return err
		}
		j.Progress.report("build gates", 0, 0)
		model, err := sim.Build(ctx, spec)
		if err != nil {
			return err
		}
		run, err := j.runSamples(ctx, model, j.Samples[:n], j.stalled(1))
		if err != nil {
			return err
		}
		nodes := OutputNodes(j.HW.Scheduled)
		want = j.present(nodes, j.Samples[:n], want[:n])
		return c.opinion(GateLevel, j, want, j.present(nodes, j.Samples[:n], run.Outputs))
	}
	return nil
}

// icarus compares n samples of the run, or sequences of a decoder, in Icarus.
func (e Engines) icarus(ctx context.Context, j Job, c *Check, want []ref.Sample, n int) error {
	if j.HW.Design.Lengths > 0 {
		lengths, err := lengthsOf(j.HW.Scheduled, j.Samples[:n])
		if err != nil {
			return err
		}
		got, err := sim.IcarusFrames(ctx, e.Cache, j.HW.Scheduled, j.HW.Design, j.Samples[:n], lengths, j.stalled(1))
		if err != nil {
			return err
		}
		nodes := OutputNodes(j.HW.Scheduled)
		return c.opinion(SecondSimulator, j, presentAll(nodes, want[:n], lengths), presentAll(nodes, got, lengths))
	}
	if j.HW.decode == nil {
		got, err := sim.IcarusDesign(ctx, e.Cache, j.HW.Design, j.Samples[:n], j.stalled(1))
		if err != nil {
			return err
		}
		return c.opinion(SecondSimulator, j, want[:n], got)
	}
	list := j.measured(1)[1:]
	list = list[:min(n, len(list))]
	run, err := sim.IcarusSequences(ctx, e.Cache, j.HW.Design, j.Samples, want, list, j.stalled(1))
	if err != nil {
		return err
	}
	mismatches, compared := c.Mismatches, c.Compared[SecondSimulator]
	if err := c.compareTokens(SecondSimulator, j, OutputNodes(j.HW.Scheduled), list, run); err != nil {
		return err
	}
	c.Second = append(c.Second, Opinion{SecondSimulator, len(list), c.Compared[SecondSimulator] - compared,
		c.Mismatches - mismatches})
	return nil
}

// quickCycles is how many cycles Icarus simulates unasked: half a minute or so.
const quickCycles = 20_000

// quick is how many samples those are.
func (c *Check) quick() int {
	if c.Latency > quickCycles {
		return 0
	}
	return 1 + int((quickCycles-float64(c.Latency))/max(c.II, 1))
}

// opinion adds an engine to the counts and to the opinions.
func (c *Check) opinion(engine string, j Job, want, got []ref.Sample) error {
	mismatches := c.Mismatches
	if err := c.compare(engine, OutputNodes(j.HW.Scheduled), want, got); err != nil {
		return err
	}
	c.Second = append(c.Second, Opinion{engine, len(want), outputs(j.HW.Scheduled, len(want)), c.Mismatches - mismatches})
	return nil
}

// model builds the simulation, and says how it is run.
func (e Engines) model(ctx context.Context, j Job, c *Check) (*sim.Model,
	func(context.Context, Job, *sim.Model, []ref.Sample, []*ir.Node) error, error) {
	if j.HW.Design.Tokens > 0 {
		m, err := sim.Build(ctx, sim.SequenceSpec(j.HW.Design, e.Cache, j.FST != ""))
		return m, c.sequences, err
	}
	m, err := sim.Build(ctx, sim.DesignSpec(j.HW.Design, e.Cache, false, j.FST != ""))
	if j.HW.Design.Lengths > 0 {
		return m, c.frames, err
	}
	return m, c.simulate, err
}

// traceLimit bounds the samples of a trace: every intermediate value of each is held.
const traceLimit = 64

// trace compares every intermediate value of the samples around each engine's first mismatch (of the first samples
// where there is none), and puts the first node that differs in place of the output that showed it.
func (e Engines) trace(ctx context.Context, j Job, c *Check) error {
	seen := c.First
	c.First = nil
	for _, engine := range c.Engines[1:] {
		var shown *golden.Mismatch
		for _, m := range seen {
			if m.Engine == engine {
				shown = m
				break
			}
		}
		samples, offset := traced(j.Samples, shown)
		first, err := e.firstNode(ctx, j, engine, samples)
		switch {
		case err != nil:
			return err
		case first != nil:
			first.Sample += offset
			c.First = append(c.First, first)
			if shown == nil {
				c.Mismatches++
			}
		case shown != nil: // the state that led there began before the traced samples
			c.First = append(c.First, shown)
		}
	}
	return nil
}

// firstNode compares an engine with the reference node by node, in graph order; nil: all are equal.
func (e Engines) firstNode(ctx context.Context, j Job, engine string, samples []ref.Sample) (*golden.Mismatch, error) {
	nodes := golden.Traced(j.HW.Scheduled)
	want, err := intermediate(ctx, j.HW.Scheduled, samples, nodes)
	if err != nil {
		return nil, err
	}
	var got []ref.Sample
	if engine == "cuda" { // most values stay in registers
		return nil, nil
	}
	if engine == "rtl" {
		var tapped []*ir.Node
		if tapped, got, err = e.taps(ctx, j, samples); err == nil {
			want, nodes = j.present(tapped, samples, project(want, nodes, tapped)), tapped
			got = j.present(tapped, samples, got)
		}
	} else {
		got, err = e.pjrt(ctx, j.HW.Scheduled, samples, true, j.Progress)
	}
	if err != nil {
		return nil, err
	}
	for i, n := range nodes {
		_, _, m, err := golden.Compare(engine, []*ir.Node{n}, column(want, i), column(got, i))
		if err != nil || m != nil {
			return m, err
		}
	}
	return nil, nil
}

// intermediate evaluates the values of nodes of every sample.
func intermediate(ctx context.Context, g *ir.Graph, samples []ref.Sample, nodes []*ir.Node) ([]ref.Sample, error) {
	program, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	at := make(map[*ir.Node]int, len(g.Nodes))
	for i, n := range g.Nodes {
		at[n] = i
	}
	values := make([]ref.Sample, len(samples))
	err = program.Trace(ctx, samples, func(s int, all []*ir.Tensor) error {
		for _, n := range nodes {
			values[s] = append(values[s], all[at[n]])
		}
		return nil
	})
	return values, err
}

// traced picks the sample of a mismatch together with some before it: the state of streams may matter.
func traced(samples []ref.Sample, shown *golden.Mismatch) (part []ref.Sample, offset int) {
	end := min(traceLimit, len(samples))
	if shown != nil {
		end = min(len(samples), max(shown.Sample+1, end))
	}
	offset = max(0, end-traceLimit)
	return samples[offset:end], offset
}

// taps simulates with a probe at every unit's result stream.
func (e Engines) taps(ctx context.Context, j Job, samples []ref.Sample) ([]*ir.Node, []ref.Sample, error) {
	j.Progress.report("build simulation with probes", 0, 0)
	model, err := sim.Build(ctx, sim.DesignSpec(j.HW.Design, e.Cache, true, false))
	if err != nil {
		return nil, nil, err
	}
	run, err := j.runSamples(ctx, model, samples, j.stalled(j.Seeds[0]))
	if err != nil {
		return nil, nil, err
	}
	return run.TapNodes, run.Values, nil
}

// column picks value i of every sample.
func column(samples []ref.Sample, i int) []ref.Sample {
	out := make([]ref.Sample, len(samples))
	for s := range samples {
		out[s] = samples[s][i : i+1]
	}
	return out
}

// project picks the values of some of the nodes.
func project(samples []ref.Sample, nodes, wanted []*ir.Node) []ref.Sample {
	at := make(map[*ir.Node]int, len(nodes))
	for i, n := range nodes {
		at[n] = i
	}
	out := make([]ref.Sample, len(samples))
	for s := range samples {
		for _, n := range wanted {
			out[s] = append(out[s], samples[s][at[n]])
		}
	}
	return out
}
