// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lathe/golden/pjrt"
	"lathe/internal/diag"
	"lathe/internal/training"
	"lathe/ir/text"
	"lathe/train"
	"lathe/train/data"
	"lathe/train/slow"
)

// trainFlags are what train takes beside a model.
type trainFlags struct {
	sourceFlags
	task          training.Task
	out, method   string
	engine        string
	epochs, batch int
	lr            float64
	seed          int64
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
	f.add(c, true)
	f.choices.add(c, "bits", "equalize", "wide")
	c.Flags().StringVar(&f.task.Data, "data", "", "samples to train on: .npz, .csv, IDX (ubyte, .gz), or "+
		"a folder of pictures by class")
	c.Flags().StringVar(&f.task.Labels, "labels", "", "their class numbers, or targets (.npy, IDX), "+
		"or their column in a .csv")
	c.Flags().StringVar(&f.task.Eval, "eval", "", "other samples, for the accuracy of the quantized model, as --data")
	c.Flags().StringVar(&f.task.EvalLabels, "eval-labels", "", "the class numbers of the samples of --eval, as --labels")
	c.Flags().StringVarP(&f.out, "output", "o", "", "file for the trained graph (.lathe)")
	c.Flags().StringVar(&f.task.Folder, "log", "", "folder for checkpoints, train.jsonl and curves; default: that of "+
		"-o with .train in place of .lathe")
	c.Flags().StringVar(&f.method, "method", "", "qat (default), sft (in floats), distill")
	c.Flags().IntVar(&f.epochs, "epochs", 0, "times that all samples are seen; default 10")
	c.Flags().IntVar(&f.batch, "batch", 0, "samples of a step; default 32")
	c.Flags().Float64Var(&f.lr, "lr", 0, "learning rate; default 0.001")
	c.Flags().Int64Var(&f.seed, "seed", 0, "seed of the order of samples; default 1")
	c.Flags().StringVar(&f.engine, "engine", "", "pjrt (default where its plugin is there), ref (in Go, slow)")
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
	needed := []string{"data", "labels", "output"}
	if data.Labelled(f.task.Data) {
		needed = []string{"data", "output"}
	}
	if err := required(c, needed...); err != nil {
		return err
	}
	if (f.task.Eval == "") != (f.task.EvalLabels == "") && !(f.task.EvalLabels == "" && data.Labelled(f.task.Eval)) {
		return usagef("--eval and --eval-labels go together")
	}
	if !slices.Contains([]string{"", "pjrt", "ref"}, f.engine) {
		return usagef("--engine %s: use pjrt or ref", f.engine)
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
	source, err := f.of(a, model)
	if err != nil {
		return err
	}
	set := &source.Settings
	set.Method, set.Epochs, set.Batch = given(c.Flags(), "method", &f.method), given(c.Flags(), "epochs", &f.epochs),
		given(c.Flags(), "batch", &f.batch)
	set.LR, set.Seed = given(c.Flags(), "lr", &f.lr), given(c.Flags(), "seed", &f.seed)
	p := progress{app: a}
	defer p.finish()
	log := &trainLog{app: a, model: model, folder: f.task.Folder, progress: &p}
	f.task.Source, f.task.Progress, f.task.Watch = source, p.Report, log.watch
	var engine *pjrt.Engine
	defer func() {
		if engine != nil {
			engine.Close()
		}
	}()
	if f.engine == "pjrt" { // demanded: fail before anything is written
		if engine, err = pjrt.Start(ctx, a.Env.pjrtConfig()); err != nil {
			return err
		}
	}
	f.task.Engine = func(ctx context.Context) (train.Engine, error) {
		if a.inGo(f.engine) {
			return slow.Engine(), nil
		}
		if engine == nil {
			var err error
			if engine, err = pjrt.Start(ctx, a.Env.pjrtConfig()); err != nil {
				return nil, err
			}
		}
		p.Report("compiling", 0, 0)
		return train.OnPJRT(engine), nil
	}
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

// inGo says that training runs without the plugin: it was asked to, or there is none.
func (a *App) inGo(engine string) bool {
	if engine != "" {
		return engine == "ref"
	}
	if _, err := os.Stat(a.Env.Plugin); !errors.Is(err, os.ErrNotExist) {
		return false
	}
	fmt.Fprintln(a.Err, "note: there is no PJRT plugin: training runs in Go, which is slow; scripts/setup fetches the "+
		"plugin")
	return true
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
		if v.Quantized == nil {
			fmt.Fprintf(a.Out, "accuracy: before %.4f, trained %.4f\n", *v.Before, *v.Float)
		} else {
			fmt.Fprintf(a.Out, "accuracy: float %.4f, quantized %.4f, trained %.4f\n", *v.Float, *v.Before, *v.Quantized)
		}
	}
	if r.Channels > 0 {
		fmt.Fprintf(a.Out, "channels: %d of %d removed\n", r.Removed, r.Channels)
	}
	if err := a.printFront(r.Front); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "saved %s\n", f.out)
	return nil
}

// printFront prints the best points of training with a price for bits.
func (a *App) printFront(points []training.Point) error {
	if len(points) == 0 {
		return nil
	}
	rows := [][]string{{"accuracy", "LUT", "DSP", "epoch", "graph"}}
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
	Log      string            `json:"log"`
}

// lossFacts are the mean loss of the first and of the last epoch.
type lossFacts struct {
	First float64 `json:"first"`
	Last  float64 `json:"last"`
}

func trainFacts(r *training.Trained, f *trainFlags, took time.Duration) trainedFacts {
	return trainedFacts{r.Plan.Train.Method, r.Plan.Train.Epochs, r.Steps, r.Resumed, lossFacts{r.First, r.Last},
		r.Accuracy, r.Trained, r.Elements, r.Front, took.Seconds(), f.out, f.task.Folder}
}
