// SPDX-License-Identifier: Apache-2.0

// Package training joins the stages of training: from a model file and data to a graph that every other command takes,
// with what it is worth before and after.
package training

import (
	"cmp"
	"context"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/float/simplify"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/train"
	"lathe/train/data"
	"lathe/train/model"
	"lathe/train/tokens"
)

// Task is what is trained, on what.
type Task struct {
	// Source is the model with its plan, whose tables [train], [prune], [lora] and [distill] say how it is trained.
	// Without calibration samples of its own, those of Data serve.
	Source driver.Source
	// Data are samples, Labels their classes or targets: a file, columns of a table, or empty where folders name them.
	Data, Labels string
	// Tokenizer is a tokenizer.json, by default that in the folder of the model. Text are the columns of a table that hold
	// texts; none for all but labels.
	Tokenizer string
	Text      []string
	// Eval and EvalLabels are what accuracy is measured on, or empty.
	Eval, EvalLabels string
	// Engine starts the engine, once all else is right.
	Engine func(context.Context) (train.Engine, error)
	// Folder keeps checkpoints; "" for none.
	Folder string
	Watch  func(train.Progress)
	// Adjust, if not nil, changes the plan once it is read.
	Adjust func(*plan.Plan) (*plan.Plan, error)
	// Memory is how many bytes may be used; 0: not known.
	Memory int64
	// Devices is the number of devices that Engine starts; 0: one.
	Devices int
	// Classes refuses losses that compare values.
	Classes bool
	// AtEnd measures accuracy in the end only, and not after each epoch.
	AtEnd bool
	// Progress hears of steps before training.
	Progress driver.Progress
	// Files, if not nil, keeps what has been read for the tasks that share it.
	Files *Files
}

// Figures of what models are worth on samples of --eval.
const (
	// accuracy is the share of right classes, or of right bits where the loss is bce.
	accuracy = "accuracy"
	// rmse is the root of the mean squared error, where the loss is mse.
	rmse = "rmse"
)

// Accuracy is what the model is worth, nil where it is not measured.
type Accuracy struct {
	// Figure is what the figures are: "accuracy", or "rmse", of which less is better; "" where nothing is measured.
	Figure string `json:"figure,omitempty"`
	// Before is that of the model as training begins: quantized, but where training is in floats.
	Before *float64 `json:"before"`
	// Float is that of the float model: as it was, or where training is in floats, as it became.
	Float *float64 `json:"float"`
	// Pruned is that of the model of Before with all zeros that pruning will have set, before the first step; nil where
	// nothing is pruned.
	Pruned *float64 `json:"pruned,omitempty"`
	// Quantized is that of the quantized model in the end.
	Quantized *float64 `json:"quantized"`
}

// Trained is what training came to.
type Trained struct {
	*train.Result
	Plan     *plan.Plan
	Accuracy Accuracy
	// Approximate names layers whose sums floats do not hold exactly.
	Approximate []string
	// Front are the best points of training with a price for bits.
	Front []Point
	// Report is that of quantization; nil where training is in floats.
	Report *quantize.Report
	// Adapter is the folder of the adapters, as PEFT has it, "" where there are none; where they could not be written,
	// a note says why.
	Adapter string
}

// prepared is a model that is ready for training.
type prepared struct {
	plan  *plan.Plan
	model *model.Model
	set   *train.Set
	data  *data.Data
	// tokens makes token numbers of texts; nil where there are none.
	tokens *tokens.Tokenizer
	float  *ir.Graph // in the layout of the file
	// imported is the graph before all passes.
	imported *ir.Graph
	report   *quantize.Report
	judge    func(context.Context, *ir.Graph) (float64, error)
	figure   string // that judge gives
	notes    []string
}

// Run trains.
func Run(ctx context.Context, t *Task) (*Trained, error) {
	p, err := t.prepare(ctx)
	if err != nil {
		return nil, err
	}
	o := &train.Options{Train: p.plan.Train, Prune: p.plan.Prune, LoRA: p.plan.LoRA, Distill: p.plan.Distill,
		Bits: p.plan.Bits, Memory: t.Memory, Devices: t.Devices, Folder: t.Folder, Watch: t.Watch}
	points := &front{plan: p.plan, epochs: p.plan.Train.Epochs, figure: p.figure}
	if p.judge != nil && !t.AtEnd {
		o.Judge, o.Figure = t.judged(p, points), p.figure
	}
	if o.Drops, err = p.drops(); err != nil {
		return nil, err
	}
	trainer, err := train.New(p.model, p.set, o)
	if err != nil {
		return nil, err
	}
	if trainer.Resumed() > 0 && p.plan.Bits.Given {
		if err := points.read(t.Folder); err != nil {
			return nil, err
		}
	}
	out := &Trained{Plan: p.plan, Approximate: p.model.Approximate, Report: p.report}
	defer func() { out.Front = points.front() }()
	if err := p.before(ctx, trainer, &out.Accuracy); err != nil {
		return nil, err
	}
	engine, err := t.Engine(ctx)
	if err != nil {
		return nil, err
	}
	if out.Result, err = trainer.Run(ctx, engine); err != nil {
		return nil, err
	}
	out.Notes = append(out.Notes, p.notes...)
	if p.plan.LoRA.Rank > 0 && t.Folder != "" {
		var note string
		if out.Adapter, note, err = t.writeAdapter(p, out.Result); err != nil {
			return nil, err
		}
		if note != "" {
			out.Notes = append(out.Notes, note)
		}
	}
	after := out.Metric
	if after == nil && p.judge != nil {
		right, err := p.judge(ctx, out.Graph)
		if err != nil {
			return nil, err
		}
		after = &right
	}
	if p.report != nil {
		out.Accuracy.Quantized = after
	} else {
		out.Accuracy.Float = after
	}
	return out, nil
}

// Quantized trains, and returns the model with what quantization found, as if it had found those weights.
func Quantized(ctx context.Context, t *Task) (*driver.Quantized, error) {
	r, err := Run(ctx, t)
	if err != nil {
		return nil, err
	}
	return &driver.Quantized{Plan: r.Plan, Graph: r.Graph, Report: r.Report}, nil
}

// judged measures graphs after epochs, and where bits have a price keeps the points of the front.
func (t *Task) judged(p *prepared, points *front) func(context.Context, *ir.Graph, int) (float64, error) {
	return func(ctx context.Context, g *ir.Graph, epoch int) (float64, error) {
		right, err := p.judge(ctx, g)
		if err != nil || !p.plan.Bits.Given || t.Folder == "" {
			return right, err
		}
		if err := points.add(ctx, g, epoch, right); err != nil {
			return right, err
		}
		return right, points.write(t.Folder)
	}
}

// before measures what training begins with.
func (p *prepared) before(ctx context.Context, trainer *train.Trainer, a *Accuracy) error {
	a.Figure = p.figure
	if p.judge == nil {
		return nil
	}
	if p.plan.Prune.Given && p.plan.Prune.Method != "taylor" {
		g, err := trainer.Pruned()
		if err != nil {
			return err
		}
		right, err := p.judge(ctx, g)
		if err != nil {
			return err
		}
		a.Pruned = &right
	}
	before, err := p.judge(ctx, p.model.Graph())
	if err != nil || p.report == nil {
		a.Before = &before
		return err
	}
	right, err := p.judge(ctx, p.float)
	a.Before, a.Float = &before, &right
	return err
}

// prepare reads model and data.
func (t *Task) prepare(ctx context.Context) (*prepared, error) {
	s := t.Source
	p := &prepared{}
	var err error
	if p.plan, err = s.ReadPlan(); err == nil && t.Adjust != nil {
		p.plan, err = t.Adjust(p.plan)
	}
	if err != nil {
		return nil, err
	}
	if s.Arrays == "" && data.Plain(t.Data) {
		s.Arrays = t.Data
	}
	g, err := t.Files.graph(s)
	if err != nil {
		return nil, err
	}
	if err := p.thresholds(g); err != nil {
		return nil, err
	}
	p.imported = g
	if p.data, err = t.read(p, t.Data, t.Labels, p.plan.Train.Loss != "cross_entropy"); err != nil {
		return nil, err
	}
	s.Read = func(path string) (*npz.File, error) {
		if path == t.Data {
			return p.data.File, nil
		}
		return npz.Read(path)
	}
	if p.plan.Train.Method == "sft" {
		if p.float, _, err = float.End(ctx, g, s.Outputs != nil, s.Passes); err != nil {
			return nil, err
		}
		p.model, err = model.Float(p.float)
	} else {
		if s.Calibrate == "" {
			s.Calibrate = t.Data
		}
		err = p.quantize(ctx, s, g)
	}
	if err != nil {
		return nil, err
	}
	if p.set, err = t.set(ctx, p); err != nil {
		return nil, err
	}
	return p, t.measure(p)
}

// thresholds puts those of the plan behind the activations of g.
func (p *prepared) thresholds(g *ir.Graph) error {
	least := p.plan.Prune.Activation
	if least == 0 {
		return nil
	}
	n, err := simplify.Thresholds(g, least)
	if err == nil && n == 0 {
		err = diag.New(diag.NothingToPrune, g.Name, "activation = %g, and no layer reads an activation", least)
	}
	return err
}

// quantize makes the model that is trained in integers.
func (p *prepared) quantize(ctx context.Context, s driver.Source, g *ir.Graph) error {
	q, err := s.QuantizeUnder(ctx, g, p.plan)
	if err != nil {
		return err
	}
	if q.Report == nil {
		return diag.New(diag.WrongStage, s.Model, "the graph is quantized already; training starts from a float model")
	}
	if p.plan.Bits.OfData() {
		if q, err = narrowing(ctx, s, p, g, q); err != nil {
			return err
		}
	}
	p.float, p.report = q.Float, q.Report
	p.model, err = model.Quantized(q.Graph, q.Report.Lowered, q.Report.Grids)
	if err == nil && p.plan.Train.Scales == "lsq" {
		err = p.learnScales(ctx, q)
	}
	return err
}

// measure makes what judges graphs, if there are samples for it.
func (t *Task) measure(p *prepared) error {
	if t.Eval == "" {
		return nil
	}
	if p.plan.Train.Loss != "cross_entropy" {
		return t.measureValues(p)
	}
	p.figure = accuracy
	file, labels, err := t.evaluation(p)
	if err != nil {
		return err
	}
	n, err := p.judged(file, func(g *ir.Graph, out []ref.Sample) (float64, error) {
		return driver.Accuracy(g, out, labels)
	})
	if err != nil {
		return err
	}
	return driver.CheckLabels(cmp.Or(t.EvalLabels, t.Eval), labels, n, p.float)
}

// judged has outputs for the samples of a file scored, and gives their number.
func (p *prepared) judged(file *npz.File, score func(*ir.Graph, []ref.Sample) (float64, error)) (n int, err error) {
	samples := map[ir.Stage][]ref.Sample{} // the inputs of a stage have one type
	p.judge = func(ctx context.Context, g *ir.Graph) (float64, error) {
		if samples[g.Stage] == nil {
			if samples[g.Stage], _, err = driver.Samples(g, file); err != nil {
				return 0, err
			}
		}
		out, err := driver.Evaluate(ctx, g, samples[g.Stage])
		if err != nil {
			return 0, err
		}
		return score(g, out)
	}
	first, _, err := driver.Samples(p.float, file)
	samples[p.float.Stage] = first
	return len(first), err
}
