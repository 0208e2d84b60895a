// SPDX-License-Identifier: Apache-2.0

// Package train trains models: a program that takes steps runs on an engine, which keeps parameters, moments and data;
// this package chooses samples and rates, watches, saves and goes on.
package train

import (
	"cmp"
	"context"
	"math"
	"os"
	"slices"

	"lathe/frontend/safetensors"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/lower/plan"
	"lathe/train/model"
)

// Options say how a model is trained.
type Options struct {
	Train   plan.Train
	Prune   plan.Prune
	LoRA    plan.LoRA
	Distill plan.Distill
	Bits    plan.Bits
	// Drops are the shares of the dropouts of the model file, by the node behind which they stand.
	Drops map[string]float64
	// Memory is how many bytes may be used; 0: not known.
	Memory int64
	// Devices is the number of devices of the engine, each of which takes an equal part of each batch; 0: one.
	Devices int
	// Folder keeps checkpoints, one an epoch; "" for none.
	Folder string
	// Watch, if not nil, hears of each call, that is of a few steps.
	Watch func(Progress)
	// Judge, if not nil, measures a graph with trained parameters after each epoch, counted from 1, as it ships; Figure is
	// what it measures.
	Judge  func(ctx context.Context, g *ir.Graph, epoch int) (float64, error)
	Figure string
}

// Progress is where training stands.
type Progress struct {
	Step, Steps int       // done, in all
	Resumed     int       // the step at which this run began
	Epoch       int       // counted from 1
	Loss        float64   // mean over the steps of the call
	Losses      []float64 // of each
	Rate        float64
	Norm        float64  // of the gradient
	Metric      *float64 // of Judge, after an epoch
	Figure      string   // what Judge measures
	Sparsity    float64  // share of the pruned weights that are 0
}

// Result is what training came to.
type Result struct {
	// Graph is the model with trained parameters.
	Graph *ir.Graph
	// Values are its parameters, in the order of model.Params.
	Values [][]float32
	Steps  int
	// First and Last are the mean loss of the first and of the last epoch.
	First, Last float64
	// Trained is the number of elements that are trained, of Elements in all.
	Trained, Elements int
	// Resumed is the step at which training went on; 0 from the beginning.
	Resumed int
	// Metric is what Judge said of Graph; nil where it was not asked, since no step was left.
	Metric *float64
	// Removed are the channels that are gone, of Channels that could go; Notes say of layers why theirs stay.
	Removed, Channels int
	Notes             []string
	// Adapters are the leaves of adapters, by name.
	Adapters []model.Param
}

// patience is how many steps in a row may have no finite loss.
const patience = 10

// Trainer is a model that is trained on a set, from the beginning or from a checkpoint.
type Trainer struct {
	stepper
	options *Options
	engine  Engine
	printed *hlo.Program
	program Program
	held    []Buffer // what does not change: inputs, labels, teacher
	masks   []Buffer
	state   []Buffer
	done    int // steps
	resumed int // at this step; 0: from the beginning
	start   []hlo.Array
	total   int
	epoch   int // steps of one
	first   average
	last    average
	belongs []safetensors.Text // what its checkpoints belong to
	metric  *float64           // what Judge said last

	channels *channels // nil where single weights are pruned, or none
	cut      []int     // how many weights or channels the masks take, of each lot; nil: not known
	worth    Program   // see worths; nil until it is needed
}

// Resumed is the step at which training goes on, 0 where it begins.
func (t *Trainer) Resumed() int { return t.resumed }

// Run trains on an engine, once. Where ctx ends, the state is saved, if there is a folder, and the error says so.
func (t *Trainer) Run(ctx context.Context, e Engine) (*Result, error) {
	t.engine = e
	work := context.WithoutCancel(ctx) // what runs when a signal comes ends first
	t.giveBack()
	if err := t.begin(work); err != nil {
		return nil, err
	}
	t.giveBack()
	for t.done < t.total {
		if err := ctx.Err(); err != nil {
			return nil, t.interrupted()
		}
		if err := t.call(work); err != nil {
			return nil, err
		}
	}
	out, err := t.result(work)
	for _, b := range slices.Concat(t.state, t.masks, t.held) {
		b.Drop(work) // the next run on this engine needs the room
	}
	return out, err
}

// New checks the data against the model, and reads the checkpoint of the folder, if there is one.
func New(m *model.Model, set *Set, o *Options) (*Trainer, error) {
	o = o.complete(set)
	l, err := choose(m, &o.Train, &o.LoRA)
	if err == nil {
		l.steps()
	}
	if err == nil && o.Bits.Given {
		err = l.widths(&o.Bits)
	}
	if err == nil {
		err = drops(m, &o.Train)
	}
	if err != nil {
		return nil, err
	}
	if err := o.checkBatch(set); err != nil {
		return nil, err
	}
	out := m.Graph().Out[0]
	shape := out.Node.Type.Shape
	if out.Perm != nil {
		shape = ir.TransposeShape(shape, out.Perm)
	}
	if err := lossOf(&o.Train).checkTarget(set.Labels, set.N, shape, set.Name); err != nil {
		return nil, err
	}
	t := &Trainer{options: o, stepper: stepper{leaves: l, plan: &o.Train, distill: &o.Distill, set: set, drops: o.Drops}}
	if o.Train.Fidelity == "fast" {
		t.fidelity = model.Fast
	}
	if t.plan.BatchNorm == "train" && t.plan.Init != "random" && len(m.Buffers) == 0 {
		return nil, diag.New(diag.NothingToTrain, m.Graph().Name, "batch_norm = \"train\", and the model has no batch "+
			"normalization").WithHint("export it in training mode, or without merging normalizations into layers")
	}
	t.epoch = max(set.N/o.Train.Samples(), 1)
	t.total, t.steps, t.start = cmp.Or(o.Train.Steps, t.epoch*o.Train.Epochs), t.perCall(), t.initial()
	if t.options.Prune.Given {
		if err := t.beginPruning(); err != nil {
			return nil, err
		}
	}
	if t.printed, err = t.stepper.program(t.start); err != nil {
		return nil, err
	}
	if err := t.enough(); err != nil || t.options.Folder == "" {
		return t, err
	}
	if err := os.MkdirAll(t.options.Folder, 0o755); err != nil {
		return nil, notSaved(t.options.Folder, err)
	}
	t.belongs = t.digests()
	saved, err := t.load()
	if saved != nil {
		t.start, t.resumed, t.done = saved.state, saved.step, saved.step
		t.first, t.last, t.cut = saved.first, saved.last, nil
	}
	return t, err
}

// perCall is how many steps one call takes: several of a small model, whose steps take less than a call.
func (t *Trainer) perCall() int {
	const small, most = 1 << 22, 32
	work := t.elements() * t.plan.Samples()
	return max(min(small/max(work, 1), most, t.epoch), 1)
}

// begin compiles the program and brings the state onto the device.
func (t *Trainer) begin(ctx context.Context) error {
	var err error
	if t.program, err = t.engine.Compile(ctx, t.printed); err != nil {
		return err
	}
	data := append(slices.Clone(t.set.Inputs), t.set.Labels)
	if t.set.Teacher != nil {
		data = append(data, *t.set.Teacher)
	}
	if t.held, err = t.engine.Upload(ctx, data...); err != nil {
		return err
	}
	if t.state, err = t.engine.Upload(ctx, t.start...); err != nil {
		return err
	}
	if err := t.uploadMasks(ctx); err != nil {
		return err
	}
	t.start = nil      // the device has it
	if t.resumed > 0 { // masks are as they were
		return nil
	}
	return t.prune(ctx)
}

// starts are the values of the leaves in the beginning.
func (t *Trainer) starts() [][]float32 {
	out := make([][]float32, len(t.all))
	for i, l := range t.all {
		out[i] = l.Start
	}
	return out
}

// call takes a few steps, not beyond the end of an epoch: the rest of the program's steps are none.
func (t *Trainer) call(ctx context.Context) error {
	if err := t.prune(ctx); err != nil {
		return err
	}
	n := min(t.steps, t.total-t.done, t.epoch-t.done%t.epoch)
	numbers := rates(t.plan, &t.options.Bits, t.done, n, t.total)
	for len(numbers) < t.steps*columns {
		numbers = append(numbers, 0, 1, 1, 0, 0, 0)
	}
	samples := batches(t.plan.Seed, t.done, t.steps, t.plan.Samples(), t.set.N)
	given, err := t.give(ctx, hlo.FromFloat32s([]int{t.steps, columns}, numbers),
		hlo.FromInt64s(hlo.I32, []int{t.steps * t.plan.Accumulate, t.plan.Batch}, samples))
	if err != nil {
		return err
	}
	out, err := t.program.Step(ctx, slices.Concat(t.state, t.masks, given, t.held))
	if err != nil {
		return err
	}
	t.state = out[:t.states()]
	facts, err := download(ctx, out[t.states()-1:])
	for _, b := range slices.Concat(given, out[t.states():]) {
		b.Drop(ctx)
	}
	if err != nil {
		return err
	}
	return t.after(ctx, n, facts)
}

// give uploads the numbers of steps and their samples: of each batch, a device gets an equal part.
func (t *Trainer) give(ctx context.Context, numbers, samples hlo.Array) ([]Buffer, error) {
	given, err := t.engine.Upload(ctx, numbers)
	if err != nil {
		return nil, err
	}
	parts, err := t.engine.Spread(ctx, 1, samples)
	return append(given, parts), err
}

func download(ctx context.Context, held []Buffer) ([]hlo.Array, error) {
	out := make([]hlo.Array, len(held))
	for i, b := range held {
		var err error
		if out[i], err = b.Download(ctx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// after notes what n steps came to: facts are the count of bad steps, losses and norms of the steps, norms by leaf.
func (t *Trainer) after(ctx context.Context, n int, facts []hlo.Array) error {
	losses, norms := facts[1].Float64s()[:n], facts[2].Float64s()[:n]
	before := t.done
	t.done += n
	if bad := facts[0].Int64s()[0]; bad >= patience {
		return t.diverged(facts[3].Float64s())
	}
	sum := average{}
	for i, v := range losses {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		sum.add(v)
		if before+i < t.epoch {
			t.first.add(v)
		}
		if before+i >= t.total-t.epoch {
			t.last.add(v)
		}
	}
	p := Progress{Step: t.done, Steps: t.total, Resumed: t.resumed, Epoch: (t.done-1)/t.epoch + 1, Loss: sum.value(),
		Losses: losses,
		Rate:   rate(t.plan, t.done-1, t.total), Norm: norms[n-1], Sparsity: t.sparsity()}
	ended := before/t.epoch != t.done/t.epoch
	if ended && t.options.Judge != nil {
		metric, err := t.judge(ctx)
		if err != nil {
			return err
		}
		p.Metric, p.Figure, t.metric = &metric, t.options.Figure, &metric
	}
	if t.options.Watch != nil {
		t.options.Watch(p)
	}
	if t.options.Folder != "" && ended {
		return t.save(ctx)
	}
	return nil
}

func (t *Trainer) judge(ctx context.Context) (float64, error) {
	g, err := t.shipped(ctx)
	if err != nil {
		return 0, err
	}
	return t.options.Judge(ctx, g, t.done/t.epoch)
}

// now are the values of the leaves.
func (t *Trainer) now(ctx context.Context) ([][]float32, error) {
	return values(ctx, t.state[:len(t.all)], nil)
}

func (t *Trainer) shipped(ctx context.Context) (*ir.Graph, error) {
	now, err := t.now(ctx)
	if err != nil {
		return nil, err
	}
	return t.ship(ctx, now)
}

// ship is the graph with the values of leaves, without the channels that are gone.
func (t *Trainer) ship(ctx context.Context, now [][]float32) (*ir.Graph, error) {
	var buffers [][]float32
	if len(t.buffers()) > 0 {
		var err error
		if buffers, err = values(ctx, t.state[t.moving():t.states()-1], nil); err != nil {
			return nil, err
		}
	}
	g, err := t.model.Ship(t.values(now), buffers, t.lost(now), scaleValues(t.leaves, now))
	if err == nil && t.channels != nil {
		err = t.channels.Remove(g, t.gone())
	}
	return g, err
}

func (t *Trainer) result(ctx context.Context) (*Result, error) {
	now, err := t.now(ctx)
	if err != nil {
		return nil, err
	}
	g, err := t.ship(ctx, now)
	if err != nil {
		return nil, err
	}
	r := &Result{Graph: g, Values: t.values(now), Steps: t.total, First: t.first.value(), Last: t.last.value(),
		Trained: t.elements(), Elements: t.model.Elements(), Resumed: t.resumed,
		Metric: t.metric}
	if t.channels != nil {
		r.Channels, r.Notes = len(t.channels.free), t.channels.notes
		for _, gone := range t.gone() {
			if gone {
				r.Removed++
			}
		}
	}
	for i, l := range t.all {
		if _, direct := t.direct[l.param]; !direct && !l.isWidth() {
			l.Param.Start = now[i]
			r.Adapters = append(r.Adapters, l.Param)
		}
	}
	return r, nil
}
