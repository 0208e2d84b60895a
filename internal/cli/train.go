// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/internal/training"
	"lathe/ir/text"
)

// trainFlags are what train takes beside a model.
type trainFlags struct {
	learning
	out  string
	seed int64
}

func (a *App) train() *cobra.Command {
	f := &trainFlags{}
	c := &cobra.Command{Use: "train MODEL --data X.npz --labels Y.npy -o M.lathe",
		Short: "train a model as the hardware will compute it, and save it",
		Long: "Quantizes a model under the plan and trains it: the forward pass computes the codes that hardware\n" +
			"computes, gradients go to the float parameters behind them. The saved graph holds the codes that were\n" +
			"trained and works with every command in place of the model. Tables [train], [prune], [lora], [distill] and\n" +
			"[bits] of the plan say how; method = \"sft\" trains in floats. Ctrl-C saves, and the same command goes on.",
		Example: "  lathe train model.onnx --data x.npz --labels y.npy --eval x2.npz --eval-labels y2.npy --bits 4 " +
			"-o m.lathe", Args: exactly("MODEL")}
	f.add(c, "bits", "equalize", "wide")
	c.Flags().StringVarP(&f.out, "output", "o", "", "file for the trained graph (.lathe)")
	c.Flags().StringVar(&f.task.Folder, "log", "", "folder for checkpoints, train.jsonl and curves; default: that of "+
		"-o with .train in place of .lathe")
	c.Flags().Int64Var(&f.seed, "seed", 0, "seed of the order of samples; default 1")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.check(c); err != nil {
			return err
		}
		return a.trainModel(c.Context(), f, args[0], c)
	}
	return a.withJSON(c)
}

// check refuses what would only fail later.
func (f *trainFlags) check(c *cobra.Command) error {
	if err := f.learning.check(c, "output"); err != nil {
		return err
	}
	if err := namesGraph(f.out); err != nil {
		return err
	}
	if f.task.Folder == "" {
		f.task.Folder = strings.TrimSuffix(f.out, ".lathe") + ".train"
	}
	return writable(f.out, diag.GraphFile)
}

// trainModel trains, saves and prints.
func (a *App) trainModel(ctx context.Context, f *trainFlags, model string, c *cobra.Command) error {
	p := progress{app: a}
	defer p.finish()
	end, err := f.begin(ctx, a, model, c, &p)
	if err != nil {
		return err
	}
	defer end()
	f.task.Source.Settings.Seed = given(c.Flags(), "seed", &f.seed)
	log := &trainLog{app: a, model: model, folder: f.task.Folder, progress: &p}
	f.task.Watch = log.watch
	start := time.Now()
	r, err := training.Run(ctx, &f.task)
	p.finish()
	if e := log.close(); err == nil {
		err = e
	}
	if diag.CodeOf(err) == diag.TrainInterrupted { // which a signal drowns
		fmt.Fprintf(a.Err, "note: %v\n", err)
	}
	if err != nil {
		return err
	}
	if err := text.Save(f.out, r.Graph); err != nil {
		return err
	}
	if err := a.printTrained(r, f); err != nil {
		return err
	}
	return a.writeJSON(trainFacts(r, f, time.Since(start)))
}

// printTrained prints what training came to.
func (a *App) printTrained(r *training.Trained, f *trainFlags) error {
	if r.Report != nil {
		a.warn(&r.Report.Report)
	}
	for _, name := range r.Approximate {
		fmt.Fprintf(a.Err, "note: sums of %s have no common step that floats hold: while it is trained, its codes may "+
			"differ from those of hardware\n", name)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(a.Err, "note: %s\n", note)
	}
	if r.Resumed > 0 {
		fmt.Fprintf(a.Out, "went on from step %d\n", r.Resumed)
	}
	fmt.Fprintf(a.Out, "%s: %d of %d parameters, %d steps, loss %s -> %s\n", r.Plan.Train.Method, r.Trained,
		max(r.Elements, r.Trained), r.Steps, diag.Number(r.First, 4), diag.Number(r.Last, 4))
	if v := r.Accuracy; v.Before != nil {
		pruned := ""
		if v.Pruned != nil {
			pruned = fmt.Sprintf("pruned %.4f, ", *v.Pruned)
		}
		if v.Quantized == nil {
			fmt.Fprintf(a.Out, "%s: before %.4f, %strained %.4f\n", v.Figure, *v.Before, pruned, *v.Float)
		} else {
			fmt.Fprintf(a.Out, "%s: float %.4f, quantized %.4f, %strained %.4f\n", v.Figure, *v.Float, *v.Before, pruned,
				*v.Quantized)
		}
	}
	if r.Channels > 0 {
		fmt.Fprintf(a.Out, "channels: %d of %d removed\n", r.Removed, r.Channels)
	}
	if err := a.printFront(r.Front, r.Accuracy.Figure); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "saved %s\n", f.out)
	if r.Adapter != "" {
		fmt.Fprintf(a.Out, "saved the adapter in %s\n", r.Adapter)
	}
	return nil
}

// printFront prints the best points of training with a price for bits.
func (a *App) printFront(points []training.Point, figure string) error {
	if len(points) == 0 {
		return nil
	}
	rows := [][]string{{figure, "LUT", "DSP", "epoch", "graph"}}
	for _, p := range points {
		rows = append(rows, []string{fmt.Sprintf("%.4f", p.Accuracy), fmt.Sprint(p.LUT), fmt.Sprint(p.DSP),
			fmt.Sprint(p.Epoch), p.File})
	}
	fmt.Fprintln(a.Out)
	if err := a.table(rows); err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	return nil
}

// trainedFacts is the JSON of train.
type trainedFacts struct {
	Method   string            `json:"method"`
	Epochs   int               `json:"epochs"`
	Steps    int               `json:"steps"`
	Resumed  int               `json:"resumed,omitempty"`
	Loss     lossFacts         `json:"loss"`
	Accuracy training.Accuracy `json:"accuracy"`
	Trained  int               `json:"trained"`
	All      int               `json:"parameters"`
	Front    []training.Point  `json:"front,omitempty"`
	Seconds  float64           `json:"seconds"`
	Output   string            `json:"output"`
	Adapter  string            `json:"adapter,omitempty"`
	Log      string            `json:"log"`
}

// lossFacts are the mean loss of the first and of the last epoch.
type lossFacts struct {
	First float64 `json:"first"`
	Last  float64 `json:"last"`
}

func trainFacts(r *training.Trained, f *trainFlags, took time.Duration) trainedFacts {
	return trainedFacts{r.Plan.Train.Method, r.Plan.Train.Epochs, r.Steps, r.Resumed, lossFacts{r.First, r.Last},
		r.Accuracy, r.Trained, r.Elements, r.Front, took.Seconds(), f.out, r.Adapter, f.task.Folder}
}
