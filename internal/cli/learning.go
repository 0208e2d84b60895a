// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"lathe/golden/pjrt"
	"lathe/internal/diag"
	"lathe/internal/memory"
	"lathe/internal/training"
	"lathe/train"
	"lathe/train/data"
	"lathe/train/slow"
)

// learning are the flags of commands that train a model.
type learning struct {
	sourceFlags
	task          training.Task
	method        string
	engine        string
	epochs, batch int
	lr            float64
}

// add declares them; choices are those of a plan.
func (f *learning) add(c *cobra.Command, choices ...string) {
	f.sourceFlags.add(c, true)
	c.Flags().Lookup("calibrate").Usage = "calibration inputs (.npz); without them: the samples of --data"
	f.choices.add(c, choices...)
	c.Flags().StringVar(&f.task.Data, "data", "", "samples to train on: .npz, .csv, IDX (ubyte, .gz), "+
		"a folder of pictures by class, or text (.jsonl, .csv, .tsv, .txt, a folder)")
	c.Flags().StringVar(&f.task.Labels, "labels", "", "their class numbers, or targets (.npy, IDX), "+
		"or their columns in a table")
	c.Flags().StringSliceVar(&f.task.Text, "text", nil, "columns of a table that hold texts; default: all but labels")
	c.Flags().StringVar(&f.task.Tokenizer, "tokenizer", "", "tokenizer.json for text; default: in the folder of the model")
	c.Flags().StringVar(&f.task.Eval, "eval", "", "other samples, for the accuracy of the quantized model, as --data")
	c.Flags().StringVar(&f.task.EvalLabels, "eval-labels", "", "the class numbers of the samples of --eval, as --labels")
	c.Flags().StringVar(&f.method, "method", "", "qat (default), sft (in floats), distill")
	c.Flags().IntVar(&f.epochs, "epochs", 0, "times that all samples are seen; default 10")
	c.Flags().IntVar(&f.batch, "batch", 0, "samples of a step; default 32")
	c.Flags().Float64Var(&f.lr, "lr", 0, "learning rate; default 0.001")
	c.Flags().IntVar(&f.task.Devices, "devices", 1, "devices of the PJRT plugin, each of which computes an equal part of "+
		"each batch")
	c.Flags().StringVar(&f.engine, "engine", "", "pjrt (default where its plugin is there), ref (in Go, slow)")
}

// check refuses what would only fail later; more are further flags that are needed.
func (f *learning) check(c *cobra.Command, more ...string) error {
	needed := []string{"data", "labels"}
	if data.Labelled(f.task.Data) {
		needed = []string{"data"}
	}
	if err := required(c, append(needed, more...)...); err != nil {
		return err
	}
	if (f.task.Eval == "") != (f.task.EvalLabels == "") && !(f.task.EvalLabels == "" && data.Labelled(f.task.Eval)) {
		return usagef("--eval and --eval-labels go together")
	}
	if !slices.Contains([]string{"", "pjrt", "ref"}, f.engine) {
		return usagef("--engine %s: use pjrt or ref", f.engine)
	}
	if f.task.Devices < 1 || f.task.Devices > mostDevices {
		return usagef("--devices %d: use 1 to %d", f.task.Devices, mostDevices)
	}
	if f.task.Devices > 1 && f.engine == "ref" {
		return usagef("--devices %d needs the PJRT plugin: --engine ref computes on one device", f.task.Devices)
	}
	return nil
}

// mostDevices bounds the devices that one processor is divided into.
const mostDevices = 32

// begin makes the task: model, settings and engine; end gives the engine back.
func (f *learning) begin(ctx context.Context, a *App, model string, c *cobra.Command, p *progress) (end func(),
	err error) {
	if f.task.Source, err = f.of(a, model); err != nil {
		return nil, err
	}
	set := &f.task.Source.Settings
	set.Method, set.Epochs, set.Batch = given(c.Flags(), "method", &f.method), given(c.Flags(), "epochs", &f.epochs),
		given(c.Flags(), "batch", &f.batch)
	set.LR = given(c.Flags(), "lr", &f.lr)
	f.task.Progress = p.Report
	f.task.Memory = freeMemory()
	e := &trainEngine{app: a, name: f.engine, devices: f.task.Devices}
	if f.engine == "pjrt" { // demanded: fail before anything is written
		if _, err := e.get(ctx); err != nil {
			return nil, err
		}
	}
	f.task.Engine = func(ctx context.Context) (train.Engine, error) {
		p.Report("compiling", 0, 0)
		return e.get(ctx)
	}
	return e.end, nil
}

// freeMemory is how many bytes training may take; 0: not known.
func freeMemory() int64 {
	if free := memory.Free("/"); free != memory.Unknown {
		return free
	}
	return 0
}

// trainEngine is what training runs on, for all that is trained in turn.
type trainEngine struct {
	app     *App
	devices int
	name    string       // as asked for; "": PJRT where its plugin is there
	started train.Engine // nil: not yet
	pjrt    *pjrt.Engine // behind it; nil: it is in Go
}

// get starts it, if it does not run.
func (e *trainEngine) get(ctx context.Context) (_ train.Engine, err error) {
	switch {
	case e.started != nil:
	case e.app.inGo(e.name):
		if e.devices > 1 {
			return nil, diag.New(diag.PJRTPlugin, e.app.Env.Plugin, "there is no PJRT plugin, and --devices %d needs one",
				e.devices).WithHint("scripts/setup fetches it; or leave out --devices")
		}
		e.started = slow.Engine()
	default:
		config := e.app.Env.pjrtConfig()
		config.Devices = e.devices
		if e.pjrt, err = pjrt.Start(ctx, config); err != nil {
			return nil, err
		}
		e.started = train.OnPJRT(e.pjrt)
	}
	return e.started, nil
}

// end ends its process.
func (e *trainEngine) end() {
	if e.pjrt != nil {
		e.pjrt.Close()
	}
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
