// SPDX-License-Identifier: Apache-2.0

// Package driver joins the stages: from a model file to a design, and from a design to the proof that it is right. It
// reads neither flags nor the environment.
package driver

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"lathe/emit"
	"lathe/emit/verilog"
	"lathe/frontend/layers"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/unit"
	"lathe/lower"
	"lathe/lower/float"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/lower/quantize/calib"
	"lathe/lower/schedule"
)

// Progress hears of long work: a step has done of total units, total 0 being unknown. It may be nil.
type Progress func(step string, done, total int)

func (p Progress) report(step string, done, total int) {
	if p != nil {
		p(step, done, total)
	}
}

// Source says what is compiled.
type Source struct {
	// Model is the path of the model; Plan and Calibrate are paths or empty.
	Model, Plan, Calibrate string
	// PlanText is what the plan file holds; nil: it is read.
	PlanText []byte
	// Labels is the path of the classes of the samples of Calibrate, or empty.
	Labels string
	// Settings stand above the plan.
	Settings plan.Settings
	// Dims binds symbolic dimensions of the model.
	Dims map[string]int
	// Transformer is what a Hugging Face folder leaves open.
	Transformer source.Transformer
	// Shapes gives shapes to inputs of the model; they win over those of the plan.
	Shapes map[string][]int
	// Unroll is up to how many rounds a loop of the model is written out.
	Unroll int
	// Passes are options of the passes that run: checks, dumps.
	Passes pass.Options
	// Errors is which errors of quantization are measured.
	Errors quantize.Errors
	// Read reads the samples of Calibrate; nil: they are arrays.
	Read func(path string) (*npz.File, error)
	// Arrays is the path of the arrays that the model will run on, or empty. They, or else those of Calibrate, decide
	// sizes that are open; Note, if not nil, hears of it.
	Arrays string
	Note   func(string)
	// Bind is the path of arrays that stand for inputs of the model, which so become constants, or empty.
	Bind string
	// Ops is the path of the operations that the user declares, or empty.
	Ops string
	// Outputs are the names of the values at which the model ends; nil for the outputs that it has.
	Outputs []string
	// Adapter is a folder of an adapter that is added to the model, or empty.
	Adapter string
	// Warn, if not nil, hears what a user should know of the import before trusting the results.
	Warn func(string)
}

// Import reads the model as it is; the plan's [[input]] shapes bind what the model leaves open, and what is open then
// has the sizes of the arrays.
func (s Source) Import() (*ir.Graph, error) {
	plan, err := s.ReadPlan()
	if err != nil {
		return nil, err
	}
	shapes := plan.Shapes()
	maps.Copy(shapes, s.Shapes)
	transformer, err := s.transformer(plan)
	if err != nil {
		return nil, err
	}
	opts := source.Options{Dims: s.Dims, Shapes: shapes, Transformer: transformer, Unroll: s.Unroll,
		Outputs: s.Outputs, Adapter: s.Adapter}
	if s.Bind != "" {
		if opts.Bind, err = npz.Read(s.Bind); err != nil {
			return nil, err
		}
	}
	if s.Ops != "" {
		if opts.Layers, err = layers.Read(s.Ops); err != nil {
			return nil, err
		}
	}
	g, err := s.load(opts)
	if err == nil && g.Origin != nil && s.Warn != nil {
		for _, text := range g.Origin.Warnings {
			s.Warn(text)
		}
	}
	if err == nil && g.Stage == ir.StageFloat && s.Warn != nil {
		for _, text := range calib.InfiniteWeights(g) {
			s.Warn(text)
		}
	}
	return g, err
}

// Recognize makes operations of a float graph whole that an exporter has decomposed, measured on random samples.
func (s Source) Recognize(ctx context.Context, g *ir.Graph) (*ir.Graph, *float.Report, error) {
	if g.Stage != ir.StageFloat {
		return nil, nil, diag.New(diag.WrongStage, g.Name, "the graph is %s; operations are recognized in float graphs",
			g.Stage)
	}
	o := s.Passes
	o.Verify = true
	return float.Recognize(ctx, g, o)
}

// ReadPlan reads the plan, or returns the default one, under the settings.
func (s Source) ReadPlan() (*plan.Plan, error) {
	if s.Plan == "" {
		return plan.ParseWith("", nil, s.Settings)
	}
	if s.PlanText == nil {
		if err := s.LoadPlan(); err != nil {
			return nil, err
		}
	}
	return plan.ParseWith(filepath.Base(s.Plan), s.PlanText, s.Settings)
}

// LoadPlan reads the plan file, if there is one: all plans of s, whatever the settings, are then of one text.
func (s *Source) LoadPlan() (err error) {
	if s.Plan == "" {
		return nil
	}
	if s.PlanText, err = os.ReadFile(s.Plan); err != nil {
		return diag.New(diag.PlanRead, s.Plan, "cannot read the plan: %v", cause(err))
	}
	return nil
}

// cause strips the path that os errors repeat.
func cause(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}

// Quantized is a model on its way into hardware.
type Quantized struct {
	Plan *plan.Plan
	// From are the graphs that precede Graph: as imported, and as passes left it that come ahead of quantization. Float is
	// the last of them, which was quantized. Both are nil if the model was saved quantized.
	From  []*ir.Graph
	Float *ir.Graph
	Graph *ir.Graph
	// Report is nil if the model was saved quantized.
	Report *quantize.Report
	// Ignored names a choice of formats that came too late for a graph that was saved quantized; "" if there is none.
	Ignored string

	passes pass.Options
}

// Quantize lowers an imported graph to integers under the plan; without outputs of the user's choice, it ends where
// hardware can. A graph that was saved quantized is taken as it is.
func (s Source) Quantize(ctx context.Context, g *ir.Graph) (*Quantized, error) {
	plan, err := s.ReadPlan()
	if err != nil {
		return nil, err
	}
	return s.QuantizeUnder(ctx, g, plan)
}

// QuantizeUnder is Quantize under a plan that did not come from the file.
func (s Source) QuantizeUnder(ctx context.Context, g *ir.Graph, plan *plan.Plan) (*Quantized, error) {
	if g.Stage != ir.StageFloat {
		q := &Quantized{Plan: plan, Graph: g, passes: s.Passes}
		if from := s.requantizes(plan); from != "" {
			q.Ignored = fmt.Sprintf("%s is quantized already, its formats stand: %s has no effect", filepath.Base(s.Model), from)
		}
		return q, nil
	}
	end, ended, err := float.End(ctx, g, s.Outputs != nil, s.Passes)
	if err != nil {
		return nil, err
	}
	p, err := s.prepare(ctx, end, plan, nil)
	if err != nil {
		return nil, err
	}
	if p.filled != "" && s.Note != nil {
		s.Note(p.filled)
	}
	q, err := p.quantize(ctx, plan, quantize.Options{Options: s.Passes, Errors: s.Errors})
	if err != nil {
		return nil, err
	}
	q.Report.Notes = append(q.Report.Notes, ended.Notes...)
	q.From = slices.Compact([]*ir.Graph{g, end, p.graph})
	q.Report.Passes = slices.Concat(ended.Passes, p.passes, q.Report.Passes)
	return q, nil
}

// prepared is a float graph that ends where hardware does, with frames as the plan wants them, and its calibration
// data.
type prepared struct {
	graph       *ir.Graph
	calibration quantize.Calibration
	passes      []pass.Ran // that have run on it
	filled      string     // what calibration samples were filled with, in words; "" where they were complete
}

// prepare reads the calibration file, if there is one, without the samples at the places apart, in ascending order.
func (s Source) prepare(ctx context.Context, g *ir.Graph, plan *plan.Plan, apart []int) (p prepared, err error) {
	if plan.Lengths {
		framed, report, err := float.WithLengths(ctx, g, s.Passes)
		if err != nil {
			return p, err
		}
		g, p.passes = framed, report.Passes
	}
	p.graph = g
	p.calibration, p.filled, err = s.calibration(g, plan, apart)
	return p, err
}

// quantize lowers the graph under a plan that wants such frames.
func (p *prepared) quantize(ctx context.Context, plan *plan.Plan, o quantize.Options) (*Quantized, error) {
	q, report, err := lower.Quantize(ctx, p.graph, plan, p.calibration, o)
	if err != nil {
		return nil, err
	}
	return &Quantized{Plan: plan, From: []*ir.Graph{p.graph}, Float: p.graph, Graph: q, Report: report,
		passes: o.Options}, nil
}

// requantizes names the first choice of number formats that the user made; "" where there is none.
func (s Source) requantizes(p *plan.Plan) string {
	switch q := &p.Quantize; {
	case s.Calibrate != "":
		return "--calibrate " + s.Calibrate
	case len(q.Rules) > 0:
		return q.Rules[0].From
	case len(p.Inputs) > 0:
		return p.Inputs[0].From
	case len(p.Outputs) > 0:
		return p.Outputs[0].From
	default:
		plain := plan.Default().Quantize
		for _, c := range [][2]plan.Choice{{q.Data, plain.Data}, {q.Weight, plain.Weight}, {q.Bias, plain.Bias}} {
			if c[0].From != c[1].From {
				return c[0].From
			}
		}
	}
	return ""
}

// calibration is the calibration data of prepare, and what samples were filled with.
func (s Source) calibration(g *ir.Graph, plan *plan.Plan, apart []int) (c quantize.Calibration, filled string,
	err error) {
	if s.Calibrate == "" {
		return c, "", nil
	}
	read := npz.Read
	if s.Read != nil {
		read = s.Read
	}
	f, err := read(s.Calibrate)
	if err != nil {
		return c, "", err
	}
	f, tokens := Filled(g, plan, f)
	if tokens > 0 {
		filled = FilledNote(f, tokens, g)
	}
	samples, _, err := Samples(g, f)
	if err != nil {
		return c, filled, err
	}
	var use []int
	for k := range samples {
		if _, out := slices.BinarySearch(apart, k); !out {
			use = append(use, k)
		}
	}
	count := len(samples)
	samples = Pick(samples, use)
	c.Samples = make(map[string][]*ir.Tensor, len(g.In))
	for i, n := range g.In {
		for at, v := range samples {
			if k := slices.IndexFunc(v[i].Floats, func(x float32) bool { return x != x }); k >= 0 {
				return c, filled, diag.New(diag.ArrayNotFinite, s.Calibrate,
					"sample %d of input %q holds NaN at flat index %d", use[at], n.Name, k).
					WithHint("take the sample out of the file, or repair it")
			}
			c.Samples[n.Name] = append(c.Samples[n.Name], v[i])
		}
	}
	if s.Labels == "" {
		return c, filled, nil
	}
	labels, err := Labels(s.Labels)
	if err == nil {
		err = CheckLabels(s.Labels, labels, count, g)
	}
	if err == nil {
		c.Labels = Pick(labels, use)
	}
	return c, filled, err
}

// Hardware is a model as hardware.
type Hardware struct {
	*Quantized
	Scheduled *ir.Graph
	Schedule  *schedule.Report
	Design    *emit.Design
	// Progress hears of the vectors of Complete.
	Progress Progress

	units  unit.Cache
	decode *schedule.Decode // of a decoder
}

// Schedule is the report of what each node would get as hardware; nil for a graph that was saved scheduled.
func (q *Quantized) Schedule(ctx context.Context) (*schedule.Report, error) {
	if q.Graph.Stage == ir.StageScheduled {
		return nil, nil
	}
	_, report, err := lower.Schedule(ctx, q.Graph, q.Plan, schedule.Options{Options: q.passes})
	return report, err
}

// Emit schedules a quantized graph and prints the design.
func (q *Quantized) Emit(ctx context.Context, o verilog.Options) (*Hardware, error) {
	hw := &Hardware{Quantized: q, Scheduled: q.Graph}
	o.Units = &hw.units
	if hw.Scheduled.Stage != ir.StageScheduled {
		var err error
		if hw.Scheduled, hw.Schedule, err = lower.Schedule(ctx, q.Graph, q.Plan,
			schedule.Options{Options: q.passes, Units: &hw.units}); err != nil {
			return nil, err
		}
	}
	o.Part, o.ClockMHz, o.StreamMHz = q.Plan.Target.FPGA.Part, q.Plan.Target.ClockMHz, q.Plan.Target.StreamMHz
	o.BadFrame = q.Plan.BadFrame
	if hw.Schedule != nil {
		o.Balance = hw.Schedule.Balance
	}
	var err error
	if q.Plan.Decode {
		if err := hw.decoder(ctx); err != nil {
			return nil, err
		}
		o.Tokens = hw.decode.Tokens
	}
	if hw.Design, err = verilog.Emit(hw.Scheduled, o); err != nil {
		return nil, err
	}
	return hw, nil
}
