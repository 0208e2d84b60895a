// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/internal/training/sweeps"
	"lathe/lower/plan"
)

// sweepFlags are what a sweep of trainings takes beside a model.
type sweepFlags struct {
	learning
	sweeps.Options
	out, formats string
	parts        []string
}

// trainingSweeps are the sweeps that train a model again and again.
func (a *App) trainingSweeps() []*cobra.Command {
	short := map[string]string{
		"ptq-qat": "train in one format after the other: accuracy against bits, before and after",
		"prune":   "train with more and more zeros: accuracy against sparsity, before and after",
		"lora":    "train adapters of one rank after the other, and all parameters",
		"bits":    "train the widths of weights at one price after the other: accuracy against LUTs",
	}
	var out []*cobra.Command
	for _, k := range sweeps.Kinds {
		out = append(out, a.trainingSweep(k, short[k.Name]))
	}
	return out
}

// noKind is the error of a sweep whose first argument is nearly a kind of sweep that trains; nil for other commands.
func noKind(c *cobra.Command) error {
	args := c.Flags().Args()
	if c.Name() != "sweep" || len(args) == 0 {
		return nil
	}
	var names []string
	for _, k := range sweeps.Kinds {
		names = append(names, k.Name)
	}
	near := diag.Nearest(args[0], names)
	if _, err := os.Stat(args[0]); near == "" || err == nil {
		return nil
	}
	return &usageError{diag.New(diag.Usage, "", "sweep %s is none of the sweeps that train: %s", args[0],
		strings.Join(names, ", ")).WithHint("did you mean %s?", near)}
}

func (a *App) trainingSweep(k sweeps.Kind, short string) *cobra.Command {
	f := &sweepFlags{}
	f.Kind = k
	c := &cobra.Command{Use: k.Name + " MODEL --data X.npz --labels Y.npy --eval X2.npz --eval-labels Y2.npy",
		Short: short, Args: exactly("MODEL"),
		Long: "Trains the model once for each setting and seed, as lathe train does under the plan, and prints\n" +
			"accuracy on --eval and the predicted hardware. A star marks points that no other one beats in\n" +
			"accuracy and LUTs together. -o keeps sweep.csv, sweep.svg, sweep.pdf, sweep.html and the graphs of seed 1 in a\n" +
			"folder; an interrupted sweep goes on from there.",
		Example: "  lathe sweep " + k.Name + " model.onnx --data x.npz --labels y.npy --eval x2.npz --eval-labels y2.npy " +
			"-o build/" + k.Name}
	f.add(c)
	c.Flags().StringVarP(&f.out, "output", "o", "", "folder for table, plots, page and graphs")
	c.Flags().IntVar(&f.Seeds, "seeds", 3, "runs of each setting")
	c.Flags().IntVar(&f.Fresh, "fresh", 0, "give each seed a float model of its own: train it so many epochs from random "+
		"parameters")
	c.Flags().BoolVar(&f.NoCost, "no-cost", false, "predict no hardware: saves time on large models")
	switch k.Name {
	case "ptq-qat":
		c.Flags().StringVar(&f.formats, "formats", "fixed(2..6),fixed(8)",
			"formats to try: fixed(4),mxint8; fixed(4..8) stands for five")
		c.Flags().StringSliceVar(&f.parts, "parts", []string{"weight", "data"}, "what gets the format: weight, data or both")
	case "prune":
		c.Flags().StringSliceVar(&f.Shares, "sparsities", []string{"0.3", "0.5", "0.7", "0.8", "0.9", "2:4"},
			"shares of zeros to try, or N:M: N weights stay of each M in a row")
		c.Flags().StringSliceVar(&f.Methods, "methods", []string{"random", "l1"}, "what decides which weights go")
	case "lora":
		c.Flags().IntSliceVar(&f.Ranks, "ranks", []int{1, 2, 4, 8}, "ranks to try")
	case "bits":
		c.Flags().Float64SliceVar(&f.Prices, "prices", []float64{1e-6, 3e-6, 1e-5, 3e-5, 1e-4}, "prices to try")
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.check(c); err != nil {
			return err
		}
		return a.sweepTraining(c, f, args[0])
	}
	return a.withJSON(c)
}

// check refuses what would only fail later.
func (f *sweepFlags) check(c *cobra.Command) error {
	if err := f.learning.check(c, "eval"); err != nil {
		return err
	}
	if f.Seeds < 1 {
		return usagef("--seeds %d: at least 1", f.Seeds)
	}
	if f.Fresh < 0 {
		return usagef("--fresh %d: 0 for the model as it is, or epochs", f.Fresh)
	}
	for _, m := range f.Methods {
		if err := oneOf("--methods", m, plan.PruneWords...); err != nil {
			return err
		}
	}
	if f.Kind.Name != "ptq-qat" {
		return nil
	}
	parts, err := readParts(f.parts)
	if err != nil {
		return err
	}
	f.Weight, f.Data = parts.Weight, parts.Data
	f.Formats, err = plan.ParseFormats(f.formats)
	return err
}

// sweepTraining trains, prints and writes.
func (a *App) sweepTraining(c *cobra.Command, f *sweepFlags, model string) error {
	p := progress{app: a}
	defer p.finish()
	end, err := f.begin(c.Context(), a, model, c, &p)
	if err != nil {
		return err
	}
	defer end()
	f.task.Progress = nil
	f.Task, f.Folder = f.task, f.out
	f.Watch = func(done, all int) { p.Report("training", done, all) }
	f.Ended = func(r *sweeps.Run) {
		p.clearLine()
		fmt.Fprintf(a.Err, "%s, seed %d: accuracy %.4f\n", r.Label, r.Seed, r.After)
	}
	s, err := sweeps.Measure(c.Context(), &f.Options)
	p.finish()
	if err != nil {
		return err
	}
	if err := a.table(s.Table()); err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	for _, line := range s.Facts() {
		fmt.Fprintln(a.Out, line)
	}
	if f.out == "" {
		return a.writeJSON(s)
	}
	if _, err := writeDrawn(filepath.Join(f.out, "sweep"), s.SVG(), s.CSV()); err != nil {
		return err
	}
	if err := a.writePage(filepath.Join(f.out, "sweep.html"), s.Page(Version)); err != nil {
		return err
	}
	return a.writeJSON(s)
}
