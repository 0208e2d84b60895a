// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/choose"
	"lathe/internal/choose/space"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/search"
	"lathe/search/pruner"
	"lathe/search/sampler"
)

// searchFlags are what a search takes beside a model.
type searchFlags struct {
	sourceFlags
	keptFlags
	samples          driver.Data // those that are measured on
	data, labels     string
	eval, evalLabels string
	space, sampler   string
	pruner           string
	trials, jobs     int
	warm, repairs    int
	isolate, answers bool
	trialTime        time.Duration
	replays          int
	measure          bool // designs of the best trials
	seed             uint64
	metric           metricFlags
	plans            string
	learner          *learner // nil: nothing is trained
}

func (f *searchFlags) add(c *cobra.Command) {
	f.sourceFlags.add(c, true)
	for _, hidden := range []string{"calibrate", "calibrate-labels"} {
		c.Flags().Lookup(hidden).Hidden = true
	}
	f.choices.add(c, sizing...)
	f.keptFlags.add(c)
	c.Flags().Lookup("study").Usage = "name of the study; without it: that of the space, or the model's"
	c.Flags().StringVar(&f.data, "data", "", "samples (.npz) that calibrate, and are measured on without --eval")
	c.Flags().StringVar(&f.labels, "labels", "", "class numbers of the samples of --data (.npy), for accuracy")
	c.Flags().StringVar(&f.eval, "eval", "", "other samples (.npz) to measure on")
	c.Flags().StringVar(&f.evalLabels, "eval-labels", "", "class numbers of the samples of --eval (.npy)")
	c.Flags().IntVar(&f.samples.Most, "samples", 0, "measure on the first N samples; 0: all")
	c.Flags().StringVar(&f.sampler, "sampler", "", "what proposes: "+strings.Join(sampler.Names(), ", "))
	c.Flags().IntVar(&f.repairs, "repair", 32, "how often a trial whose hardware breaks a limit is made cheaper before "+
		"it ends; 0:\nnever")
	c.Flags().BoolVar(&f.isolate, "isolate", false, "try trials in processes of their own: one that kills two of them "+
		"fails, and\nthe search goes on")
	c.Flags().DurationVar(&f.trialTime, "trial-time", 0, "with --isolate: end a trial that takes longer, such as 10m; 0: "+
		"none")
	c.Flags().StringVar(&f.pruner, "pruner", "", "what ends trials on rungs of the space: "+
		strings.Join(pruner.Names(), ", "))
	c.Flags().Uint64Var(&f.seed, "seed", 0, "seed of what is drawn")
	f.metric.add(c)
}

// addJobs declares how many trials run at a time.
func (f *searchFlags) addJobs(c *cobra.Command) {
	c.Flags().IntVar(&f.jobs, "jobs", 1, "trials at a time; of more than 1, which ends first decides what is proposed")
}

func (f *searchFlags) checkJobs() error {
	if f.jobs < 1 {
		return usagef("--jobs %d: at least 1", f.jobs)
	}
	return nil
}

const spaceUsage = "what may be chosen: a search space (TOML, docs/search.md)"

// check refuses wrong flags before the work.
func (f *searchFlags) check(c *cobra.Command) error {
	for _, flag := range []string{"calibrate", "calibrate-labels"} {
		if c.Flags().Changed(flag) {
			return usagef("--%s: the samples of --data calibrate", flag)
		}
	}
	f.samples.Inputs, f.samples.Labels = cmp.Or(f.eval, f.data), f.labels
	if f.eval != "" {
		f.samples.Labels = f.evalLabels
	}
	switch {
	case f.evalLabels != "" && f.eval == "":
		return usagef("--eval-labels needs --eval")
	case f.eval != "" && f.labels != "" && f.evalLabels == "":
		return usagef("--labels are those of --data: accuracy on --eval needs --eval-labels")
	case f.trialTime != 0 && (!f.isolate || f.trialTime < 0):
		return usagef("--trial-time %v: a time of more than 0, with --isolate", f.trialTime)
	case f.samples.Most < 0:
		return usagef("--samples %d: 0 for all, or how many", f.samples.Most)
	}
	if err := f.known(); err != nil {
		return err
	}
	if !f.server() {
		if err := writable(strings.TrimPrefix(f.storage, sqliteScheme), diag.StudyStorage); err != nil {
			return err
		}
	}
	if f.sampler != "" {
		if err := oneOf("--sampler", f.sampler, sampler.Names()...); err != nil {
			return err
		}
	}
	if f.pruner != "" {
		if err := oneOf("--pruner", f.pruner, pruner.Names()...); err != nil {
			return err
		}
	}
	return f.metric.check(f.samples.Labels, f.samples.Inputs, "--data")
}

// searchStudy is a study with the model that it is about.
type searchStudy struct {
	*search.Study
	model   *choose.Meter
	space   *space.Space
	remote  bool // the storage is a server, which may be gone for a while
	repairs int  // of a trial whose hardware breaks a limit
	// isolation is how trials run in processes of their own; nil: in this one.
	isolation *isolation
	// command is how the study is made, for other workers; nil where it is made of a preset.
	command func() (*remembered, error)
}

// begin reads model, samples and space, and finds or makes the study; fresh demands a new one.
func (a *App) begin(ctx context.Context, f *searchFlags, c *cobra.Command, model string, fresh bool) (*searchStudy,
	error) {
	text, err := os.ReadFile(f.space)
	if err != nil {
		return nil, diag.New(diag.SpaceText, f.space, "cannot be read: %v", reason(err))
	}
	if f.transformer.New, err = space.Largest(f.space, text); err != nil {
		return nil, err
	}
	measured, err := a.measured(ctx, f, model)
	if err != nil {
		return nil, err
	}
	s, err := space.Read(f.space, text, measured)
	if err != nil {
		return nil, err
	}
	if !c.Flags().Changed("seed") {
		f.seed = s.Study.Seed
	}
	f.study = cmp.Or(f.study, s.Study.Name, modelName(model))
	b, err := newSearchStudy(measured, s, cmp.Or(f.sampler, s.Study.Sampler), f.seed)
	if err != nil {
		return nil, diag.At(err, diag.SpaceSize, f.space)
	}
	if err := b.prunes(f.pruner); err != nil {
		return nil, err
	}
	b.repairs, b.isolation = f.repairs, f.isolated(c, model)
	if f.answers {
		return b, nil
	}
	b.command = func() (*remembered, error) { return remember(c, model) } // which reads all files
	return b, b.join(ctx, f, fresh)
}

// modelName is that of the model's file, for a study.
func modelName(model string) string {
	return strings.TrimSuffix(filepath.Base(model), filepath.Ext(model))
}

// end ends what trials were trained on.
func (f *searchFlags) end() {
	if f.learner != nil {
		f.learner.end()
	}
}

// printSpace says how large the space is, and what in it has but one value.
func (a *App) printSpace(b *searchStudy) {
	var single []string
	for _, p := range b.Space {
		if p.Dist.Single() {
			single = append(single, p.Name)
		}
	}
	size := b.Space.Size()
	text := fmt.Sprintf("10^%.1f", size)
	if size < 6 {
		text = fmt.Sprintf("%.0f", math.Round(math.Pow(10, size)))
	}
	fmt.Fprintf(a.Out, "space: %s, %s configurations\n", diag.Amount(len(b.Space), "parameter"), text)
	if len(single) > 0 {
		fmt.Fprintf(a.Out, "of one value: %s\n", diag.Several(single))
	}
}

func (a *App) searchCreate() *cobra.Command {
	var f searchFlags
	c := a.verb("create MODEL --space S.toml --data X.npz", "make a study, for workers and lathe search ask",
		func(c *cobra.Command, args []string) error {
			if err := required(c, "space", "data"); err != nil {
				return err
			}
			if err := f.check(c); err != nil {
				return err
			}
			defer f.end()
			b, err := a.begin(c.Context(), &f, c, args[0], true)
			if err != nil {
				return err
			}
			a.printSpace(b)
			fmt.Fprintf(a.Out, "study %s in %s\n", b.Info.Name, f.shown())
			return a.writeJSON(map[string]any{"study": b.Info.Name, "storage": f.shown(), "parameters": b.Space,
				"log10_size": b.Space.Size()})
		}, "MODEL")
	f.add(c)
	c.Flags().StringVar(&f.space, "space", "", spaceUsage)
	c.Example = "  lathe search create model.onnx --space s.toml --data x.npz --storage run.log"
	return c
}

func (a *App) searchRun() *cobra.Command {
	var f searchFlags
	c := a.verb("run MODEL --space S.toml --data X.npz", "search: propose, quantize, predict the hardware, measure",
		func(c *cobra.Command, args []string) error {
			if err := required(c, "space", "data"); err != nil {
				return err
			}
			if err := f.check(c); err != nil {
				return err
			}
			defer f.end()
			if c.Flags().Changed("trials") && f.trials < 1 {
				return usagef("--trials %d: at least 1", f.trials)
			}
			if err := f.checkJobs(); err != nil {
				return err
			}
			if f.warm < 0 && c.Flags().Changed("warm") {
				return usagef("--warm %d: 0 for none, or how many", f.warm)
			}
			return a.runSearch(c, &f, args[0])
		}, "MODEL")
	f.add(c)
	c.Flags().StringVar(&f.space, "space", "", spaceUsage)
	c.Flags().IntVar(&f.trials, "trials", 0, "end when so many trials are finished; default: those of the space, or 100")
	f.addJobs(c)
	c.Flags().IntVar(&f.warm, "warm", usualWarm, "begin with so many trials, from the cheapest to the best, that a "+
		"knapsack of\nthe layers' errors foresees; default: 10 for tpe and nsga2, if that measures no more\nplans than "+
		"there are trials")
	c.Flags().Lookup("warm").DefValue = ""
	c.Flags().BoolVar(&f.measure, "measure", false, "emit, count and simulate the designs of the best trials: what they "+
		"take\nreplaces what was predicted")
	c.Flags().BoolVar(&f.answers, childFlag, false, "")
	c.Flags().IntVar(&f.replays, replayFlag, 0, "")
	for _, hidden := range []string{childFlag, replayFlag} {
		c.Flags().Lookup(hidden).Hidden = true
	}
	c.Flags().StringVarP(&f.plans, "output", "o", "", "folder for the plans of the best trials, or for their graphs "+
		"where they are trained")
	c.Long = "Runs trials of a study until so many are finished. Each one is a configuration of the space: formats for\n" +
		"the layers, quantized with the samples of --data, its hardware predicted, its outputs computed by the integers\n" +
		"that the hardware computes. A trial whose hardware breaks a limit ends before it is measured. The same command\n" +
		"goes on with a study that was interrupted."
	c.Example = "  lathe search run model.onnx --space s.toml --data x.npz --labels y.npy --trials 100 -o plans"
	return c
}

func (a *App) runSearch(c *cobra.Command, f *searchFlags, model string) error {
	to := a.Out
	if f.answers { // to another process
		a.Out = a.Err
	}
	b, err := a.begin(c.Context(), f, c, model, false)
	if err != nil {
		return err
	}
	if f.answers {
		return a.answerTrials(c.Context(), b, to)
	}
	if c.Flags().Changed(replayFlag) {
		return a.replayTrial(c.Context(), b, f.replays)
	}
	a.printSpace(b)
	trials := cmp.Or(f.trials, b.space.Study.Trials, 100)
	if err := a.warmUp(c.Context(), b, f.warm, trials); err != nil {
		return err
	}
	texts := map[int]string{}
	if err := a.runTrials(c.Context(), b, trials, f.jobs, texts); err != nil {
		return err
	}
	a.printFacts(b.model)
	fmt.Fprintln(a.Out)
	wrong := false
	if f.measure {
		if wrong, err = a.measureBest(c.Context(), b); err != nil {
			return err
		}
	}
	best, err := b.Best(c.Context())
	if err != nil {
		return err
	}
	if f.plans != "" {
		if err := b.writeBest(c.Context(), f.plans, best, texts); err != nil {
			return err
		}
		what := "plan"
		if b.space.Trains() {
			what = "graph"
		}
		fmt.Fprintf(a.Out, "wrote %s to %s\n", diag.Amount(len(best), what), f.plans)
	}
	if err := a.printTrials(c.Context(), b.Study, best); err != nil {
		return err
	}
	if wrong {
		return errNo
	}
	return nil
}
