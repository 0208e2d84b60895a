// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/text"
	"lathe/lower/own"
	"lathe/lower/pass"
	"lathe/lower/quantize"
)

// sourceFlags are the flags of commands that read and lower a model.
type sourceFlags struct {
	source    driver.Source
	dims      map[string]int
	shape     shapeFlags
	dumpAfter string
	page      passPage
	// of folders of Hugging Face
	transformer source.Transformer
	past        int
	given       func(flag string) bool
	choices     choiceFlags
}

func (s *sourceFlags) add(c *cobra.Command, calibrate bool) {
	c.Flags().StringVar(&s.source.Plan, "plan", "", "plan file (TOML); without one: 8 bits, folded")
	c.Flags().StringToIntVar(&s.dims, "dim", nil, "bind a symbolic dimension: batch=1")
	s.addTransformer(c)
	s.shape.add(c)
	c.Flags().StringVar(&s.source.Bind, "bind", "",
		"arrays (.npz) that replace inputs of the model, such as weights: by name, number or order")
	c.Flags().StringVar(&s.source.Ops, "ops", "",
		"file that declares operations of the model that Lathe does not know (TOML, docs/own-layers.md)")
	c.Flags().StringVar(&s.source.Adapter, "adapter", "", "folder of a LoRA adapter (PEFT) to add to the model")
	c.Flags().StringSliceVar(&s.source.Outputs, "outputs", nil,
		"end the model at these values: nodes of lathe inspect, or tensors of the file")
	c.Flags().IntVar(&s.source.Unroll, "unroll", 0, "unroll loops of up to this many rounds (StableHLO)")
	if calibrate {
		c.Flags().StringVar(&s.dumpAfter, "dump-after", "",
			"print the graph after this pass (lathe list passes) to standard error")
		c.Flags().BoolVar(&s.source.Passes.Verify, "check-passes", false, "check the effect of every pass on sample values")
		c.Flags().StringVar(&s.source.Calibrate, "calibrate", "",
			"calibration inputs (.npz); without them: interval analysis")
		c.Flags().StringVar(&s.source.Labels, "calibrate-labels", "",
			"class numbers of the samples of --calibrate (.npy), for calibrate = \"cross-entropy\" of a plan")
	}
}

// addTransformer adds what folders of Hugging Face leave open.
func (s *sourceFlags) addTransformer(c *cobra.Command) {
	c.Flags().IntVar(&s.transformer.Seq, "seq", 0, "tokens of a Hugging Face model; default: as many as the arrays "+
		"have, else 128 or the model's most; 1 with --past or --max-seq (emit-cuda --max-seq: 128 or half of the room)")
	c.Flags().StringSliceVar(&s.transformer.Inputs, "model-inputs", nil,
		"inputs of a Hugging Face model: input_ids,attention_mask")
	c.Flags().StringVar(&s.transformer.Task, "task", "", "head of a Hugging Face model: encoder, causal-lm, ...")
	c.Flags().IntVar(&s.past, "past", -1,
		"use caches: keys and values of this many tokens are inputs, of all tokens outputs")
	c.Flags().IntVar(&s.transformer.Room, "max-seq", 0, "use caches with room for this many tokens; the graph writes "+
		"its tokens into them")
	s.given = c.Flags().Changed
	c.Flags().BoolVar(&s.transformer.Loss, "loss", false, "add the input labels and the output loss")
}

// of completes the source with the model's path.
func (s *sourceFlags) of(a *App, model string) (driver.Source, error) {
	if s.source.Labels != "" && s.source.Calibrate == "" {
		return s.source, usagef("--calibrate-labels needs --calibrate")
	}
	s.source.Model, s.source.Dims, s.source.Transformer = model, s.dims, s.transformer
	if s.past >= 0 {
		s.source.Transformer.Cache, s.source.Transformer.Past = true, s.past
	} else if s.past < -1 {
		return s.source, &usageError{diag.New(diag.Usage, "", "--past %d is negative", s.past)}
	}
	for name, tokens := range map[string]int{"seq": s.transformer.Seq, "max-seq": s.transformer.Room} {
		if s.given(name) && tokens < 1 {
			return s.source, usagef("--%s %d: at least one token", name, tokens)
		}
	}
	shapes, err := s.shape.shapes()
	if err != nil {
		return s.source, err
	}
	s.source.Shapes = shapes
	s.source.Note = func(text string) { fmt.Fprintf(a.Err, "note: %s\n", text) }
	s.source.Warn = func(text string) { fmt.Fprintf(a.Err, "warning: %s\n", text) }
	if err := s.choose(a); err != nil {
		return s.source, err
	}
	if err := s.source.LoadPlan(); err != nil {
		return s.source, err
	}
	start := time.Now()
	s.source.Passes.Clock = func() time.Duration { return time.Since(start) }
	if s.dumpAfter != "" {
		if err := knownPass(s.dumpAfter); err != nil {
			return s.source, err
		}
	}
	if err := s.page.begin(model); err != nil {
		return s.source, err
	}
	if s.dumpAfter != "" || s.page.file != "" {
		s.source.Passes.DumpAfter = func(pass string, g *ir.Graph) {
			if pass == s.dumpAfter {
				fmt.Fprintf(a.Err, "# after %s\n%s", pass, text.Print(g))
			}
			s.page.after(pass, g)
		}
	}
	return s.source, nil
}

// knownPass refuses a pass that no pipeline of quantize and schedule has; the names come by pipeline.
func knownPass(name string) error {
	err, all := diag.New(diag.Usage, "", "--dump-after %q is no pass", name), []string(nil)
	for _, l := range pipelines() {
		var names []string
		for _, p := range l.steps {
			if p.Name == name {
				return nil
			}
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
		err, all = err.WithNote("%s: %s", l.name, strings.Join(names, ", ")), append(all, names...)
	}
	if near := diag.Nearest(name, all); near != "" {
		err = err.WithHint("did you mean %s?", near)
	}
	return &usageError{err}
}

// warn prints the notes of a report to standard error.
func (a *App) warn(r *pass.Report) {
	for _, w := range r.Warnings {
		fmt.Fprintf(a.Err, "warning: %s\n", w)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(a.Err, "note: %s\n", n)
	}
	for _, p := range r.Passes {
		if p.Verified {
			fmt.Fprintf(a.Err, "pass %s (%s): %s, %v\n", p.Name, p.Effect, lossOf(p), p.Time.Round(time.Microsecond))
		}
	}
}

// noteFormats says of a model that was quantized elsewhere that it is taken in float all the same.
func (a *App) noteFormats(g *ir.Graph) {
	if g.Stage == ir.StageFloat && slices.ContainsFunc(g.Nodes, own.Quantizes) {
		fmt.Fprintln(a.Err, "note: the model brings formats of its own, and is computed in float all the same: "+
			"--plan (the file may be empty) or --calibrate takes them for integers")
	}
}

// warnQuantized prints what quantization has to say.
func (a *App) warnQuantized(q *driver.Quantized) {
	if q.Ignored != "" {
		fmt.Fprintf(a.Err, "warning: %s\n", q.Ignored)
	}
	if q.Report != nil {
		a.warn(&q.Report.Report)
	}
}

// lossOf says what a pass did to the values of the samples on which it was checked.
func lossOf(p pass.Ran) string {
	if p.Loss.Same {
		return "same bits"
	}
	return fmt.Sprintf("max error %s, %s", diag.Number(p.Loss.MaxErr, 3), ratio(p.Loss.SQNR))
}

// required refuses an empty flag.
func required(c *cobra.Command, flags ...string) error {
	for _, f := range flags {
		if v := c.Flags().Lookup(f); v == nil || v.Value.String() == "" {
			name := "--" + f
			if v != nil && v.Shorthand != "" {
				name = "-" + v.Shorthand
			}
			return usagef("%s needs %s", c.CommandPath(), name)
		}
	}
	return nil
}

// oneOf refuses a value outside of a list.
func oneOf(flag, value string, allowed ...string) error {
	for _, v := range allowed {
		if v == value {
			return nil
		}
	}
	err := diag.New(diag.Usage, "", "%s %q: must be one of %s", flag, value, strings.Join(allowed, ", "))
	if near := diag.Nearest(value, allowed); near != "" {
		err = err.WithHint("did you mean %s?", near)
	}
	return &usageError{err}
}

// prepared is the model that kernels are to compute, quantized where a plan or calibration is given.
func (a *App) prepared(ctx context.Context, s driver.Source) (*ir.Graph, error) {
	p := progress{app: a}
	defer p.finish()
	p.Report("import", 0, 0)
	g, err := s.Import()
	if err != nil {
		return nil, err
	}
	p.finish()
	if s.Plan == "" && s.Calibrate == "" {
		a.noteFormats(g)
		return g, nil
	}
	s.Errors = quantize.Unmeasured // no error is printed
	q, err := a.integers(ctx, s, g, &p)
	if err != nil {
		return nil, err
	}
	return q.Graph, nil
}
