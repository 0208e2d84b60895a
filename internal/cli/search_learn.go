// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"lathe/frontend/source"
	"lathe/internal/choose"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/training"
	"lathe/ir/text"
	"lathe/lower/plan"
)

// learner trains what trials of a search try.
type learner struct {
	engine *trainEngine
	task   training.Task
	data   driver.Data
	one    sync.Mutex // of the engine, of files, and of what follows
	folder string     // of new models; "": there is none yet
	models map[string]*choose.Meter
	order  []string // of models, the oldest first
}

// mostModels bounds the new models that are kept in memory; all are kept in files until the search ends.
const mostModels = 8

// measured reads model and samples.
func (a *App) measured(ctx context.Context, f *searchFlags, model string) (*choose.Meter, error) {
	p := progress{app: a}
	defer p.finish()
	f.source.Calibrate = f.data
	if f.eval != "" {
		f.source.Labels = f.labels
	}
	t, err := a.study(ctx, &studyFlags{sourceFlags: f.sourceFlags, data: f.samples, metric: f.metric}, model, &p)
	if err != nil || f.labels == "" {
		return t, err
	}
	f.learner, err = a.learns(f, model, t)
	return t, err
}

// learns gives a meter what it trains with.
func (a *App) learns(f *searchFlags, model string, t *choose.Meter) (*learner, error) {
	l := &learner{engine: &trainEngine{app: a}, data: f.samples, models: map[string]*choose.Meter{}}
	l.task = training.Task{Data: f.data, Labels: f.labels, AtEnd: true, Classes: true, Engine: l.engine.get,
		Memory: freeMemory(), Files: &training.Files{}}
	var err error
	if l.task.Source, err = f.of(a, model); err != nil {
		return nil, err
	}
	if l.data.Metric, err = f.metric.of(a, f.samples.Labels); err != nil {
		return nil, err
	}
	t.Train = l.trains(l.task.Source)
	if f.transformer.New != nil {
		t.New = l.model
	}
	return l, nil
}

// trains trains the quantized model of a source.
func (l *learner) trains(s driver.Source) func(context.Context, *plan.Plan) (*driver.Quantized, error) {
	return func(ctx context.Context, p *plan.Plan) (*driver.Quantized, error) {
		l.one.Lock()
		defer l.one.Unlock()
		task := l.task
		task.Source = s
		task.Adjust = func(*plan.Plan) (*plan.Plan, error) { return p, nil }
		return training.Quantized(ctx, &task)
	}
}

// model makes a new model, and trains it for so many epochs, unless it has done so before.
func (l *learner) model(ctx context.Context, m source.NewModel, epochs int) (*choose.Meter, error) {
	l.one.Lock()
	defer l.one.Unlock()
	key := fmt.Sprintf("%d %d %d %d %q %d %d", m.Layers, m.Heads, m.Hidden, m.Intermediate, m.Identity, m.Seed, epochs)
	if t, ok := l.models[key]; ok {
		return t, nil
	}
	if l.folder == "" {
		var err error
		if l.folder, err = os.MkdirTemp("", "lathe-models-"); err != nil {
			return nil, diag.New(diag.FileWrite, os.TempDir(), "cannot write: %v", reason(err))
		}
	}
	s := l.task.Source
	s.Model = filepath.Join(l.folder, fmt.Sprintf("%x.lathe", sha256.Sum256([]byte(key))))
	s.Transformer, s.Dims, s.Shapes = source.Transformer{}, nil, nil
	if _, err := os.Stat(s.Model); err != nil {
		if err := l.make(ctx, m, epochs, s.Model); err != nil {
			return nil, err
		}
	}
	g, err := s.Import()
	if err != nil {
		return nil, err
	}
	subject, err := s.Subject(ctx, g, l.data)
	if err != nil {
		return nil, err
	}
	t, err := choose.NewMeter(ctx, subject)
	if err != nil {
		return nil, err
	}
	t.Train = l.trains(s)
	if len(l.order) == mostModels {
		delete(l.models, l.order[0])
		l.order = l.order[1:]
	}
	l.models[key], l.order = t, append(l.order, key)
	return t, nil
}

// make trains a new model in floats, and saves it.
func (l *learner) make(ctx context.Context, m source.NewModel, epochs int, path string) error {
	task := l.task
	task.Source.Transformer.New = &m
	task.Adjust = func(p *plan.Plan) (*plan.Plan, error) {
		out := *p
		out.Train.Method, out.Train.Epochs = "sft", epochs
		out.Prune, out.LoRA, out.Bits, out.Distill = plan.Prune{}, plan.LoRA{}, plan.Bits{}, plan.Distill{}
		return &out, nil
	}
	r, err := training.Run(ctx, &task)
	if err != nil {
		return err
	}
	return text.Save(path, r.Graph)
}

// end gives the engine and the files back.
func (l *learner) end() {
	l.engine.end()
	if l.folder != "" {
		os.RemoveAll(l.folder)
	}
}
