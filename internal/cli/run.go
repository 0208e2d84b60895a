// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	library "lathe/cuda"
	"lathe/golden"
	"lathe/golden/pjrt"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/kernels"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/sim"
)

// runFlags say on what a model runs, and what comes out.
type runFlags struct {
	engine, record   string
	labels           string
	metric           metricFlags
	codes, invariant bool
	archs            []string // of the machine code in a recording
	device           *string  // on which the engine cuda ran
	halves           precisionFlags
	precision        kernels.Precision
}

func (a *App) runModel() *cobra.Command {
	var s sourceFlags
	var inputs, output string
	var r runFlags
	c := &cobra.Command{Use: "run MODEL --inputs IN.npz -o OUT.npz", Short: "compute the outputs of a model on an engine",
		Long: "Computes the outputs of a model. Without --plan, --calibrate, --bits and the like it runs as imported\n" +
			"(engines ref, pjrt and cuda); with any of them, quantized. The engine rtl always quantizes: without a plan\n" +
			"by the default one, with ranges from --calibrate or interval analysis. The engine cuda runs on a GPU or,\n" +
			"without one, interprets the kernels and says so. A longer leading axis, or an extra one, counts samples.",
		Example: "  lathe run model.onnx --inputs x.npz -o y.npz --engine pjrt", Args: exactly("MODEL")}
	s.add(c, true)
	s.choices.add(c)
	asImported(c)
	c.Flags().StringVar(&inputs, "inputs", "", "arrays named as the graph's inputs (.npz), if it has any")
	c.Flags().StringVarP(&output, "output", "o", "", "file for the outputs (.npz)")
	c.Flags().StringVar(&r.engine, "engine", "ref", "ref, pjrt, rtl or cuda")
	c.Flags().StringVar(&r.labels, "labels", "", "class numbers of the samples, or of their tokens (.npy), for accuracy")
	r.metric.add(c)
	c.Flags().BoolVar(&r.codes, "codes", false, "write integer codes instead of values")
	c.Flags().StringVar(&r.record, "record", "", "folder to record the calls of the engine cuda in, see lathe replay")
	c.Flags().StringSliceVar(&r.archs, "arch", library.ArchNames(), "GPU architectures of a recording")
	c.Flags().BoolVar(&r.invariant, "batch-invariant", false, invariantUsage+" (engine cuda)")
	r.halves.add(c, "fp32")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := required(c, "output"); err != nil {
			return err
		}
		if err := r.check(inputs, c.Flags().Changed("arch")); err != nil {
			return err
		}
		if err := writable(output, diag.ArrayWrite); err != nil {
			return err
		}
		source, err := s.of(a, args[0])
		if err != nil {
			return err
		}
		if r.precision, err = r.halves.of(quantizes(source, r.engine)); err != nil {
			return err
		}
		source.Arrays = inputs
		r.device = new(string)
		arrays, right, err := a.compute(c.Context(), source, inputs, r)
		if err != nil {
			return err
		}
		if err := a.writeArrays(c.Context(), output, arrays); err != nil {
			return err
		}
		return a.writeJSON(runFacts{args[0], r.engine, *r.device, output, a.printArrays(output, arrays), right})
	}
	return a.withJSON(c)
}

// check refuses flags that have no effect on the engine, and labels without samples.
func (r *runFlags) check(inputs string, archs bool) error {
	if err := oneOf("--engine", r.engine, "ref", "pjrt", "rtl", "cuda"); err != nil {
		return err
	}
	switch cuda := r.engine == "cuda"; {
	case r.record != "" && !cuda:
		return usagef("--record needs --engine cuda")
	case r.record == "" && archs:
		return usagef("--arch needs --record")
	case r.invariant && !cuda:
		return usagef("--batch-invariant needs --engine cuda")
	}
	if err := checkArchs(r.archs); err != nil {
		return err
	}
	return r.metric.check(r.labels, inputs, "--inputs")
}

// runFacts are what --json says of a run; Device is "emulated (sm_80)" or the GPU of the engine cuda.
type runFacts struct {
	Model  string `json:"model"`
	Engine string `json:"engine"`
	Device string `json:"device,omitempty"`
	Output string `json:"output"`
	Arrays any    `json:"arrays"`
	rightFacts
}

// rightFacts are how right the outputs are: Accuracy the share of samples, nil without labels, or Score that of another
// metric.
type rightFacts struct {
	Accuracy *float64 `json:"accuracy,omitempty"`
	Metric   string   `json:"metric,omitempty"`
	Score    *float64 `json:"score,omitempty"`
}

// quantizes says that a model from s is quantized for an engine.
func quantizes(s driver.Source, engine string) bool {
	return s.Plan != "" || s.Calibrate != "" || s.Settings != (plan.Settings{}) || engine == "rtl"
}

// compute imports, quantizes where a plan or the engine asks for it, and runs.
func (a *App) compute(ctx context.Context, s driver.Source, inputs string, r runFlags) (_ []npz.Array,
	right rightFacts, err error) {
	p := progress{app: a}
	defer p.finish()
	p.Report("import", 0, 0)
	g, err := s.Import()
	if err != nil {
		return nil, right, err
	}
	p.finish()
	if inputs == "" && len(g.In) > 0 {
		return nil, right, usagef("lathe run needs --inputs")
	}
	var hw *driver.Hardware
	plan := plan.Default()
	if quantizes(s, r.engine) {
		s.Errors = quantize.Unmeasured // no error is printed
		q, err := a.integers(ctx, s, g, &p)
		if err != nil {
			return nil, right, err
		}
		plan = q.Plan
		if g = q.Graph; r.engine == "rtl" {
			if hw, err = a.design(ctx, q, "", &p); err != nil {
				return nil, right, err
			}
			g = hw.Scheduled
		}
	} else {
		a.noteFormats(g)
	}
	if g, err = a.computed(ctx, g, r, s.Passes); err != nil {
		return nil, right, err
	}
	if r.codes {
		if err := driver.HasCodes(s.Model, g); err != nil {
			return nil, right, err
		}
	}
	samples, batch, tokens, err := runSamples(g, plan, inputs)
	if err != nil {
		return nil, right, err
	}
	outputs, err := a.engine(ctx, &p, r, g, hw, samples)
	p.finish()
	if err != nil {
		return nil, right, err
	}
	if right, err = a.printRight(g, outputs, &r); err != nil {
		return nil, right, err
	}
	arrays, err := driver.Arrays(g, outputs, batch, r.codes)
	if tokens > 0 {
		driver.FirstTokens(g, arrays, tokens)
	}
	return arrays, right, err
}

// runSamples reads the samples of a run. tokens is how many those for a decoder have, 0 where they fill it.
func runSamples(g *ir.Graph, plan *plan.Plan, inputs string) (s []ref.Sample, b driver.Batch, tokens int, err error) {
	var file *npz.File
	if inputs != "" {
		if file, err = npz.Read(inputs); err != nil {
			return nil, b, 0, err
		}
	}
	file, tokens = driver.Filled(g, plan, file)
	s, b, err = driver.Samples(g, file)
	return s, b, tokens, err
}

// computed is the graph that the engine of r computes: in the groups of kernels where it runs them, or where these say
// which values are rounded.
func (a *App) computed(ctx context.Context, g *ir.Graph, r runFlags, o pass.Options) (*ir.Graph, error) {
	if r.engine == "cuda" || g.Stage == ir.StageFloat && r.precision.Halved() {
		g, _, err := a.grouped(ctx, g, r.precision, library.Portable(), o)
		return g, err
	}
	return g, nil
}

func (a *App) engine(ctx context.Context, p *progress, r runFlags, g *ir.Graph, hw *driver.Hardware,
	samples []ref.Sample) ([]ref.Sample, error) {
	switch r.engine {
	case "pjrt":
		e, err := pjrt.Start(ctx, a.Env.pjrtConfig())
		if err != nil {
			return nil, err
		}
		defer e.Close()
		return golden.RunPJRT(ctx, e, g, samples, false, func(n int) { p.Report("PJRT", n, len(samples)) })
	case "cuda":
		return a.runKernels(ctx, p, g, samples, r)
	case "rtl":
		p.Report("build simulation", 0, 0)
		m, err := sim.Build(ctx, sim.DesignSpec(hw.Design, a.Env.Cache, false, false))
		if err != nil {
			return nil, err
		}
		run, err := sim.RunDesign(ctx, m, g, hw.Design, samples, sim.Input{
			Progress: func(n int) { p.Report("simulation", n, len(samples)) }})
		if err != nil {
			return nil, err
		}
		return run.Outputs, nil
	}
	p.Report("compute", 0, 0)
	program, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	return program.Run(ctx, samples)
}
