// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	library "lathe/cuda"
	"lathe/emit"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/kernels"
	"lathe/lower/pass"
)

// verifyFlags are the flags of verify.
type verifyFlags struct {
	sourceFlags
	inputs, labels, out string
	metric              metricFlags
	wave                string
	samples, stalls     int
	runs, prefill       int
	second, gates       int
	seed                uint64
	trace, tune         bool
	tuneTime            time.Duration
	engines             []string
	lowered             driver.Source // what was verified
}

func (a *App) verify() *cobra.Command {
	var v verifyFlags
	c := &cobra.Command{Use: "verify MODEL", Short: "test that ref, PJRT and the simulated hardware agree code by code",
		Long: "Quantizes, emits, simulates with random stalls, and compares the reference, PJRT and the hardware code\n" +
			"by code, on samples: a test, not a proof. Exit status 1 on a mismatch, which is named with node, index and\n" +
			"values, or if samples follow each other more slowly than the plan asks for.",
		Example: "  lathe verify model.onnx --calibrate c.npz --inputs x.npz --labels y.npy", Args: exactly("MODEL")}
	v.add(c, true)
	v.page.add(c)
	v.choices.add(c)
	v.addSamples(c)
	f := c.Flags()
	f.BoolVar(&v.trace, "trace", false, "also compare intermediate values, of up to 64 samples")
	f.StringSliceVar(&v.engines, "engines", []string{"ref", "pjrt", "rtl"},
		"engines to compare: ref and rtl always, pjrt and cuda if named")
	f.StringVar(&v.wave, "fst", "", "write a waveform of the stalled run to this file (FST), and beside it what GTKWave "+
		"(.gtkw) and Surfer (.sucl) show of it")
	f.StringVarP(&v.out, "output", "o", "", "also write the design into this folder")
	addTune(c, &v.tune, &v.tuneTime)
	c.RunE = func(c *cobra.Command, args []string) error { return a.verifyModel(c, &v, args[0]) }
	return a.withJSON(c)
}

// addSamples adds the flags that choose samples and stalls.
func (v *verifyFlags) addSamples(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&v.inputs, "inputs", "", "samples (.npz); without them random codes")
	f.IntVar(&v.samples, "samples", 1000, "number of random samples; with --inputs, they follow those")
	f.Uint64Var(&v.seed, "seed", 1, "seed of random samples and stalls")
	f.IntVar(&v.runs, "runs", 1, "stalled simulations, each with its own seed")
	f.IntVar(&v.stalls, "stalls", 30, "percent of cycles in which each port stalls, 0 to 95")
	f.IntVar(&v.prefill, "prefill", 0, "with --decode: tokens of the first sequence that come at once, the others one by "+
		"one; default: a fifth")
	f.StringVar(&v.labels, "labels", "", "class numbers of the samples, or of their tokens (.npy), for accuracy")
	v.metric.add(c)
	f.IntVar(&v.second, "second", 2, "samples that also run in Icarus, by default only if that is quick; 0: none")
	f.IntVar(&v.gates, "gates", 0, "samples that also run through the netlist that Yosys makes of the design")
}

// check refuses values out of range.
func (v *verifyFlags) check() error {
	switch {
	case v.stalls < 0 || v.stalls > 95:
		return usagef("--stalls %d is outside 0 to 95", v.stalls)
	case v.samples < 1:
		return usagef("--samples %d: at least one is needed", v.samples)
	case v.runs < 1:
		return usagef("--runs %d: at least one is needed", v.runs)
	case v.second < 0 || v.gates < 0:
		return usagef("--second %d, --gates %d: a number of samples is 0 or more", v.second, v.gates)
	}
	if v.engines != nil {
		for _, name := range v.engines {
			if err := oneOf("--engines", name, "ref", "pjrt", "rtl", "cuda"); err != nil {
				return err
			}
		}
		if !slices.Contains(v.engines, "ref") || !slices.Contains(v.engines, "rtl") {
			return usagef("--engines %s: verify compares at least ref and rtl; lathe run --engine has each alone",
				strings.Join(v.engines, ","))
		}
	}
	return v.metric.check(v.labels, v.inputs, "--inputs")
}

// cuda computes a quantized graph by its kernels, on a GPU or emulated.
func (a *App) cuda(p *progress, o pass.Options) func(context.Context, *ir.Graph, []ref.Sample) ([]ref.Sample, error) {
	return func(ctx context.Context, g *ir.Graph, samples []ref.Sample) ([]ref.Sample, error) {
		g, _, err := a.grouped(ctx, g, kernels.Precision{}, library.Portable(), o)
		if err != nil {
			return nil, err
		}
		return a.runKernels(ctx, p, g, samples, runFlags{device: new(string)})
	}
}

func (a *App) verifyModel(c *cobra.Command, v *verifyFlags, model string) error {
	if err := v.check(); err != nil {
		return err
	}
	if err := writable(v.wave, diag.FileWrite); err != nil {
		return err
	}
	if v.out != "" {
		if err := driver.Verilog.Check(v.out); err != nil {
			return err
		}
	}
	p := progress{app: a}
	defer p.finish()
	job, seconds, err := a.job(c, v, model, &p)
	if err != nil {
		return err
	}
	engines := driver.Engines{Cache: a.Env.Cache, PJRT: a.Env.pjrtConfig(), Now: time.Now,
		NoPJRT: !slices.Contains(v.engines, "pjrt")}
	if slices.Contains(v.engines, "cuda") {
		engines.CUDA = a.cuda(&p, v.source.Passes)
	}
	check, err := engines.Verify(c.Context(), *job)
	p.finish()
	if e := cmp.Or(v.saveFiles(job), v.write(c.Context(), job, model)); e != nil || err != nil {
		return cmp.Or(err, e)
	}
	check.Model, check.Folder = model, v.out
	for step, s := range seconds {
		check.Seconds[step] = s
	}
	for _, w := range check.Warnings {
		fmt.Fprintf(a.Err, "warning: %s\n", w)
	}
	if err := a.printCheck(check); err != nil {
		return err
	}
	if s := job.HW.Schedule; s != nil {
		check.Balance = s.Balance
		if err := a.printBalance(s.Balance, job.HW.Design); err != nil {
			return err
		}
	}
	if err := a.writeJSON(check); err != nil {
		return err
	}
	on := judged{v.inputs, v.labels, job.Metric, v.tuneTime, v.tune}
	if err := a.remediesOf(c.Context(), v, check, on, job.HW.Quantized, &p); err != nil {
		return err
	}
	if check.Missed != "" {
		fmt.Fprintf(a.Err, "rate missed: %s\n", check.Missed)
	}
	if check.Mismatches > 0 || check.Missed != "" {
		return errNo
	}
	return nil
}

// write puts the design into the folder of -o, whether it is right or not, but not after an interruption.
func (v *verifyFlags) write(ctx context.Context, job *driver.Job, model string) error {
	if v.out == "" || ctx.Err() != nil {
		return nil
	}
	vectors := job.Samples[:min(job.HW.AffordableVectors(), len(job.Samples))]
	if err := job.HW.Complete(ctx, model, vectors); err != nil {
		return err
	}
	return driver.Write(job.HW.Design, v.out)
}

// job runs the stages before the comparison and times them.
func (a *App) job(c *cobra.Command, v *verifyFlags, model string, p *progress) (*driver.Job, map[string]float64,
	error) {
	start := time.Now()
	source, err := v.of(a, model)
	if err != nil {
		return nil, nil, err
	}
	source.Arrays = v.inputs
	if v.tune {
		if source, err = a.tuned(c.Context(), source, judged{inputs: source.Calibrate, time: v.tuneTime}, p); err != nil {
			return nil, nil, err
		}
	}
	v.lowered = source
	hw, err := a.hardware(c.Context(), source, "", p)
	if err != nil {
		return nil, nil, err
	}
	if err := v.checkPrefill(c, hw); err != nil {
		return nil, nil, err
	}
	if err := v.page.write(hw.Quantized, hw.Scheduled); err != nil {
		return nil, nil, err
	}
	job := &driver.Job{HW: hw, Prefill: v.prefill, Stalls: v.stalls, Trace: v.trace, FST: v.wave, Progress: p.Report,
		Second: driver.Second{Frames: v.second, Optional: !c.Flags().Changed("second"), Gates: v.gates}}
	for i := range v.runs {
		job.Seeds = append(job.Seeds, v.seed+uint64(i))
	}
	if err := a.load(v, job, c.Flags().Changed("samples")); err != nil {
		return nil, nil, err
	}
	seconds := map[string]float64{"import": p.took["import"], "quantize": p.took["quantize"]}
	seconds["emit"] = time.Since(start).Seconds() - seconds["import"] - seconds["quantize"]
	return job, seconds, nil
}

// checkPrefill refuses a prompt that is none.
func (v *verifyFlags) checkPrefill(c *cobra.Command, hw *driver.Hardware) error {
	switch n := hw.Design.Tokens; {
	case !c.Flags().Changed("prefill"):
		return nil
	case n == 0:
		return usagef("--prefill %d: only a decoder has one, see --decode", v.prefill)
	case v.prefill < 1 || v.prefill > n:
		return usagef("--prefill %d is outside 1 to %d, the tokens of a sequence", v.prefill, n)
	}
	return nil
}

// load reads samples, makes random ones, or both.
func (a *App) load(v *verifyFlags, job *driver.Job, random bool) error {
	if v.inputs != "" {
		file, err := npz.Read(v.inputs)
		if err != nil {
			return err
		}
		file, tokens := driver.Filled(job.HW.Scheduled, job.HW.Plan, file)
		if tokens > 0 {
			v.source.Note(driver.FilledNote(file, tokens, job.HW.Scheduled))
		}
		if job.Samples, _, err = driver.Samples(job.HW.Scheduled, file); err != nil {
			return err
		}
		if job.HW.Float != nil {
			if job.Floats, _, err = driver.Samples(job.HW.Float, file); err != nil {
				return err
			}
		}
	}
	var err error
	if job.Metric, err = v.metric.of(a, v.labels); err != nil {
		return err
	}
	if job.Metric != nil {
		if err := job.Metric.Labelled(len(job.Samples), v.labels); err != nil {
			return err
		}
		job.Metric.Samples = len(job.Samples)
	} else if v.labels != "" {
		if job.Labels, err = driver.Labels(v.labels); err != nil {
			return err
		}
		if err := driver.CheckLabels(v.labels, job.Labels, len(job.Samples), job.HW.Scheduled); err != nil {
			return err
		}
	}
	if v.inputs == "" || random {
		extra, err := driver.RandomSamples(job.HW.Scheduled, v.samples, v.seed)
		if err != nil {
			return err
		}
		job.Samples = append(job.Samples, extra...)
	}
	return nil
}

// cycles is a mean number of cycles in words.
func cycles(n float64) string {
	if n == 1 {
		return counted(1, "cycle")
	}
	return diag.Number(n, 4) + " cycles"
}

func decibels(v float64) string {
	if v >= driver.SQNRLimit {
		return "exact"
	}
	return fmt.Sprintf("%.1f dB", v)
}

// decodeRows say how the tokens of a decoder came and went.
func decodeRows(c *driver.Check) [][]string {
	d := c.Decode
	one := fmt.Sprintf("%s one by one, %s each, the slowest %d", counted(d.Tokens-d.Prefill, "token"),
		cycles(d.TokenCycles), d.MostCycles)
	all := fmt.Sprintf("%d, %d short, %s beyond the last place; whole ones follow each other every %s",
		d.Sequences, d.Short, counted(d.Surplus, "token"), cycles(c.II))
	rows := [][]string{{"decode", one}, {"sequences", all}}
	if m := d.Cache; m != nil {
		rows = append(rows, []string{"cache outside", cacheText(m, d.Tokens)})
	}
	return rows
}

// cacheText says how large a cache outside is, and what crosses the port for a token.
func cacheText(c *emit.Cache, tokens int) string {
	return fmt.Sprintf("%s; a token writes %s, the last of %d reads %d", counted(c.Bytes, "byte"),
		counted(c.Writes, "byte"), tokens, c.Reads)
}

func (a *App) printCheck(c *driver.Check) error {
	var engines []string
	for _, name := range []string{"ref", "pjrt", "cuda", "rtl"} {
		if slices.Contains(c.Engines, name) {
			engines = append(engines, name)
		}
	}
	rows := [][]string{
		{"samples", fmt.Sprint(c.Samples)}, {"outputs compared", fmt.Sprint(c.Outputs)},
		{"mismatches", fmt.Sprintf("%d (%s)", c.Mismatches, strings.Join(engines, " = "))},
		{"latency", counted(c.Latency, "cycle")}, {"initiation interval", cycles(c.II)},
		{"simulated", fmt.Sprintf("%d cycles, %d starved, %d blocked by stalls", c.Cycles, c.Stalls.Starved,
			c.Stalls.Blocked)},
	}
	if c.Mismatches > 0 {
		rows[2][1] = fmt.Sprint(c.Mismatches)
	}
	if d := c.Decode; d != nil {
		rows[4] = []string{"prefill", fmt.Sprintf("%s, %s", counted(d.Prefill, "token"), counted(d.PrefillCycles, "cycle"))}
		rows = append(rows, decodeRows(c)...)
	}
	if l := c.Lengths; l != nil {
		rows[0][1] = fmt.Sprintf("%d; frames of 1 to %s: %d in all runs, %d short", c.Samples, counted(l.Tokens, "token"),
			l.Frames, l.Short)
		for _, p := range l.Pace {
			rows = append(rows, []string{counted(p.Tokens, "token"), fmt.Sprintf("%s a frame, latency %s", cycles(p.Cycles),
				counted(p.Latency, "cycle"))})
		}
	}
	for _, o := range c.Second {
		names := map[string]string{driver.SecondSimulator: "also in Icarus", driver.GateLevel: "also as gates of Yosys"}
		text := fmt.Sprintf("%s, %s, %d mismatches", counted(o.Samples, "sample"), counted(o.Outputs, "output"), o.Mismatches)
		rows = append(rows, []string{names[o.Engine], text})
	}
	if name, text := rightText(&c.Right); name != "" {
		rows = append(rows, []string{name, text})
	}
	if c.SQNR != nil {
		text := decibels(*c.SQNR)
		if len(c.OutputSQNR) > 1 {
			for i, o := range c.OutputSQNR {
				text += fmt.Sprintf("%s %s %s", []string{":", ","}[min(i, 1)], o.Name, decibels(o.SQNR))
			}
		}
		rows = append(rows, []string{"output SQNR", text})
	}
	steps := ""
	for _, s := range []string{"import", "quantize", "emit", "ref", "pjrt", "cuda", "build", "simulate", "trace",
		"second"} {
		if t, ok := c.Seconds[s]; ok {
			steps += fmt.Sprintf("%s %.2f  ", s, t)
		}
	}
	rows = append(rows, []string{"seconds", steps})
	for _, m := range c.First {
		rows = append(rows, []string{"first mismatch", m.String()})
	}
	return a.table(rows)
}
