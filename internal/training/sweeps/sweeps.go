// SPDX-License-Identifier: Apache-2.0

// Package sweeps trains one model many times, each time under another plan, and compares what came of it: accuracy
// against bits, zeros, rank and hardware.
package sweeps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/training"
	"lathe/ir/hlo"
	hlotext "lathe/ir/hlo/text"
	"lathe/ir/text"
	"lathe/lower/plan"
	"lathe/train"
)

// Options say what is swept.
type Options struct {
	Kind
	Ranges
	// Task is what each run trains, with Eval; its Engine is started once for all runs.
	Task training.Task
	// Seeds is the number of runs of each setting, with the seeds 1 to Seeds.
	Seeds int
	// Fresh is the number of epochs in which each seed trains a float model of its own from random parameters, which then
	// takes the place of the model; 0: none.
	Fresh int
	// NoCost predicts no hardware.
	NoCost bool
	// Folder keeps what runs came to, so that an interrupted sweep goes on, and the graphs of seed 1. "" for none.
	Folder string
	// Watch hears of steps: so many of all runs are done. Ended hears of runs.
	Watch func(done, all int)
	Ended func(*Run)
}

// Run is what one training came to.
type Run struct {
	Label string `json:"label"`
	Seed  int    `json:"seed"`
	// Float is the accuracy of the float model, Before that before training, and After that in the end.
	Float  float64  `json:"float"`
	Before *float64 `json:"before,omitempty"`
	After  float64  `json:"after"`
	// Trained is the number of parameters that were trained.
	Trained int `json:"trained"`
	// LUT and DSP are predicted; nil where there is no hardware, or nobody asked.
	LUT *int `json:"lut,omitempty"`
	DSP *int `json:"dsp,omitempty"`
	// Graph is the file of the trained graph, "" where it was not kept.
	Graph string `json:"graph,omitempty"`
	Key   string `json:"key"`
	// Sweep is what all runs of a folder have in common.
	Sweep string `json:"sweep"`
}

// Measure trains under each setting with each seed.
func Measure(ctx context.Context, o *Options) (*Sweep, error) {
	list, err := o.settings(&o.Ranges)
	if err != nil {
		return nil, err
	}
	if err := o.folders(); err != nil {
		return nil, err
	}
	common := short(o.digest() + o.Kind.Name)
	done, err := readRuns(o.Folder, common)
	if err != nil {
		return nil, err
	}
	engine := &shared{start: o.Task.Engine}
	o.Task.Files = &training.Files{}
	fresh := &floats{options: o}
	defer fresh.remove()
	out := &Sweep{Kind: o.Kind.Name, Seeds: o.Seeds, Fresh: o.Fresh, Model: filepath.Base(o.Task.Source.Model),
		Data: filepath.Base(o.Task.Data), Eval: filepath.Base(o.Task.Eval), kind: o.Kind}
	for i, s := range list {
		p := Point{Series: s.series, Label: s.label, X: s.x}
		for seed := 1; seed <= o.Seeds; seed++ {
			key := short(fmt.Sprintln(common, s.label, seed))
			r, known := done[key]
			if !known {
				model, err := fresh.of(ctx, engine, seed)
				if err != nil {
					return nil, err
				}
				watch := func(train.Progress) { o.Watch(i*o.Seeds+seed-1, len(list)*o.Seeds) }
				if r, err = o.run(ctx, engine, &s, model, seed, watch); err != nil {
					return nil, err
				}
				r.Key, r.Sweep = key, common
				if err := r.keep(o.Folder); err != nil {
					return nil, err
				}
				o.Ended(r)
			}
			p.Runs = append(p.Runs, *r)
		}
		p.sum()
		out.Points = append(out.Points, p)
	}
	out.float()
	out.mark()
	return out, nil
}

// folders makes those of what is kept.
func (o *Options) folders() error {
	if o.Folder == "" {
		return nil
	}
	dir := filepath.Join(o.Folder, graphs)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return diag.New(diag.FileWrite, dir, "cannot write: %v", err)
	}
	return nil
}

// run trains once.
func (o *Options) run(ctx context.Context, e *shared, s *setting, model string, seed int,
	watch func(train.Progress)) (*Run, error) {
	t := o.Task
	if t.Source.Model = model; o.Fresh > 0 { // a graph that has been read with all this
		t.Tokenizer = o.Task.TokenizerFile()
		t.Source.Adapter, t.Source.Bind, t.Source.Outputs, t.Source.Dims, t.Source.Shapes = "", "", nil, nil, nil
		t.Source.Transformer = source.Transformer{}
	}
	t.Watch = watch
	t.Folder, t.AtEnd, t.Classes = "", true, true
	t.Engine = e.engine
	t.Adjust = func(p *plan.Plan) (*plan.Plan, error) {
		if m := p.Train.Method; m == "sft" && o.Quantized {
			return nil, diag.New(diag.Usage, "", "sweep %s is about formats, and method = %q trains in floats", o.Kind.Name,
				m).WithHint("leave out the method, or use qat or distill")
		}
		p, err := s.change(p)
		if err == nil {
			p.Train.Seed = uint64(seed)
		}
		return p, err
	}
	trained, err := training.Run(ctx, &t)
	if err != nil {
		return nil, err
	}
	a := trained.Accuracy
	r := &Run{Label: s.label, Seed: seed, Float: *a.Float, Before: a.Before, Trained: trained.Trained}
	if trained.Plan.Prune.Given {
		r.Before = a.Pruned // nil where gradients decide: there is nothing before training
	}
	if r.After = *a.Float; a.Quantized != nil {
		r.After = *a.Quantized
	}
	if trained.Report == nil { // the float model is the one that was trained
		r.Float = *a.Before
	} else if !o.NoCost {
		lut, dsp, err := training.Hardware(ctx, trained.Graph, trained.Plan)
		if err != nil {
			return nil, err
		}
		r.LUT, r.DSP = &lut, &dsp
	}
	if seed == 1 && o.Folder != "" {
		r.Graph = filepath.Join(o.Folder, graphs, fileName(s.label)+".lathe")
		return r, text.Save(r.Graph, trained.Graph)
	}
	return r, nil
}

// shared is one engine for all runs, which compiles a program that it has compiled before no second time.
type shared struct {
	train.Engine
	start func(context.Context) (train.Engine, error)
	known map[string]train.Program
}

func (e *shared) engine(ctx context.Context) (train.Engine, error) {
	if e.Engine != nil {
		return e, nil
	}
	var err error
	e.known = map[string]train.Program{}
	e.Engine, err = e.start(ctx)
	return e, err
}

func (e *shared) Compile(ctx context.Context, p *hlo.Program) (train.Program, error) {
	h := sha256.New()
	io.WriteString(h, hlotext.Print(p))
	for _, a := range p.Data() {
		h.Write(a.Data)
	}
	key := string(h.Sum(nil))
	if c, ok := e.known[key]; ok {
		return c, nil
	}
	c, err := e.Engine.Compile(ctx, p)
	if err == nil {
		e.known[key] = c
	}
	return c, err
}

// digest tells apart what runs have in common: model, plan, data and settings.
func (o *Options) digest() string {
	t := &o.Task
	h := sha256.New()
	settings, _ := json.Marshal(t.Source.Settings) // pointers to numbers and words
	fmt.Fprintf(h, "%s %v %v %v %d\n", settings, o.NoCost, o.Weight, o.Data, o.Fresh)
	read := t.Source
	fmt.Fprintf(h, "%v %v %v %d %+v %q\n", read.Dims, read.Shapes, read.Outputs, read.Unroll, read.Transformer, t.Text)
	for _, path := range []string{read.Model, read.Plan, read.Calibrate, read.Labels, read.Bind, read.Ops, read.Adapter,
		read.Model + ".data", t.Data, t.Labels, t.Eval, t.EvalLabels, t.TokenizerFile()} {
		fmt.Fprintln(h, path)
		digestFile(h, path)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digestFile takes in a file, or of a folder names, sizes and times of its files; a path may be a column, or nothing.
func digestFile(h io.Writer, path string) {
	if info, err := os.Stat(path); err != nil {
		return
	} else if info.IsDir() {
		filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // what cannot be read is an error where it is needed
			}
			if info, err := e.Info(); err == nil && !e.IsDir() {
				fmt.Fprintln(h, name, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
		return
	}
	f, err := os.Open(path)
	if err != nil {
		return
	}
	io.Copy(h, f)
	f.Close()
}

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:16]
}
