// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/lower/float"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/schedule"
	"lathe/lower/schedule/timing"
)

// RestFormat is what stands for float in a plan in which one layer alone is measured: with it, everything is computed
// by the integers that hardware computes with, and next to nothing is lost. What it loses is measured too.
const RestFormat = "fixed(16)"

// Meter measures plans of one model on one set of samples.
type Meter struct {
	subject *driver.Subject
	// Plan is that of the user, or the default one.
	Plan *plan.Plan
	// Accuracy is that of the float model, and HeldAccuracy that on the samples held out; nil without labels.
	Accuracy, HeldAccuracy *float64
	metric                 *driver.Metric // nil: accuracy
	// Layers are the nodes whose formats a rule can give, in graph order.
	Layers []Layer
	// Prices are those of digits at which Sweep and Auto try weights, beside the rounding of the plan.
	Prices []float64
	// On says what was measured on.
	On On
	// Train quantizes the model under a plan and trains it as its tables [train] and [prune] say; nil where there is
	// nothing to train with.
	Train func(context.Context, *plan.Plan) (*driver.Quantized, error)
	// New makes a new model of the architecture, and trains it in floats for so many epochs; nil where that cannot be.
	New func(ctx context.Context, model source.NewModel, epochs int) (*Meter, error)
}

// On names the data behind the figures.
type On struct {
	Model   string `json:"model"`
	Inputs  string `json:"inputs"`
	Samples int    `json:"samples"`
	// HeldOut is how many samples more were kept back.
	HeldOut   int    `json:"held_out,omitempty"`
	Calibrate string `json:"calibrate"`
	Labels    string `json:"labels,omitempty"`
	// Metric is what takes the place of the accuracy, Least says that less of it is better, and Score and HeldScore are
	// what the float model has, on the samples and on those held out.
	Metric    string   `json:"metric,omitempty"`
	Least     bool     `json:"less_is_better,omitempty"`
	Score     *float64 `json:"score_float,omitempty"`
	HeldScore *float64 `json:"score_float_held_out,omitempty"`
}

// Layer is a node whose formats a rule of a plan can give.
type Layer struct {
	Node string `json:"node"`
	Op   string `json:"op"`
	// Weights is how many weights it has; 0: only its result has a format of its own.
	Weights int `json:"weights,omitempty"`
	// Square says that it is a linear layer of as many outputs as inputs.
	Square bool `json:"-"`
	// Input says that it is an input of the model.
	Input bool `json:"input,omitempty"`
	// Unsigned says that nothing negative comes out, or that nobody reads it; of an input, that calibration saw nothing
	// negative, nor does the plan declare it.
	Unsigned bool `json:"unsigned,omitempty"`
	// Cuts are the nodes behind it that its rounding does with, such as a ReLU: they have its format.
	Cuts []string `json:"cuts,omitempty"`
}

// Point is what a plan keeps and costs.
type Point struct {
	Accuracy *float64 `json:"accuracy,omitempty"`
	// Score is that of the metric, where one takes the place of the accuracy.
	Score *float64 `json:"score,omitempty"`
	// SQNR is that of all outputs together against the float model, in dB, 300 where there is no error; nil where outputs
	// are numbers of classes.
	SQNR *float64 `json:"sqnr_db,omitempty"`
	Size
	Cost *Cost `json:"cost,omitempty"`
	// Refused is why the formats cannot be used; then there is nothing else.
	Refused string `json:"refused,omitempty"`

	metric *driver.Metric
}

// Size is what the numbers of a quantized model take.
type Size struct {
	// WeightBits and DataBits are bits of a weight and of a computed value, on average.
	WeightBits float64 `json:"weight_bits"`
	DataBits   float64 `json:"data_bits"`
	// ModelBits are those of all constants together, shared scales of blocks included.
	ModelBits int `json:"model_bits"`
}

// Cost is what the headers of the modules predict of the hardware, and how many cycles apart samples follow each other.
type Cost struct {
	LUT      int     `json:"lut"`
	FF       int     `json:"ff"`
	DSP      int     `json:"dsp"`
	BRAM     float64 `json:"bram"`
	Interval float64 `json:"interval_cycles"`
}

// NewMeter finds the layers of a model, and how good it is in float. Error L0421 where it has none.
func NewMeter(ctx context.Context, m *driver.Subject) (*Meter, error) {
	t := &Meter{subject: m, Plan: m.Plan, On: On{Model: filepath.Base(m.Model), Inputs: filepath.Base(m.Inputs),
		Calibrate: filepath.Base(m.Calibrate), Samples: len(m.Known.Use)}}
	if m.Labels != "" {
		t.On.Labels = filepath.Base(m.Labels)
	}
	var err error
	if t.metric = m.Known.Metric; t.metric != nil {
		t.On.Metric, t.On.Least = t.metric.Name, t.metric.Least
	}
	if t.Accuracy, t.On.Score, err = judged(m.Known); err != nil {
		return nil, err
	}
	if m.Held != nil {
		t.On.HeldOut = len(m.Held.Use)
		if t.HeldAccuracy, t.On.HeldScore, err = judged(m.Held); err != nil {
			return nil, err
		}
	}
	return t, t.layers(ctx)
}

// judged are accuracy and score of the float model on samples; nil without labels, and without a metric.
func judged(k *driver.Known) (accuracy, score *float64, err error) {
	if score, err = k.Score(k.Float, k.Want); err != nil || k.Labels == nil {
		return nil, score, err
	}
	right, err := driver.Accuracy(k.Float, k.Want, k.Labels)
	return &right, score, err
}

// layers finds the nodes whose results calibration gives a format under a plan that leaves all fraction bits open.
func (t *Meter) layers(ctx context.Context) error {
	wide, err := t.wide()
	if err != nil {
		return err
	}
	q, err := t.subject.Quantize(ctx, wide)
	if err != nil {
		return err
	}
	for _, s := range q.Report.Chosen {
		if s.Slot != "data_out" {
			continue
		}
		l := Layer{Node: s.Node, Op: s.Op, Unsigned: strings.HasPrefix(s.Format, "ufixed")}
		if n := q.Graph.Find(s.Node); n != nil {
			l.Weights, l.Input = weights(n), n.IsInput()
			if l.Weights > 0 {
				w := n.Args[1].Type.Shape
				l.Square = len(w) == 2 && w[0] == w[1]
			}
			l.Unsigned = l.Unsigned || l.Input && n.Stats.Known && n.Stats.Min >= 0 && !t.negative(n.Name)
		}
		t.Layers = append(t.Layers, l)
	}
	if err := t.cuts(ctx, q.Graph); err != nil {
		return err
	}
	if len(t.Layers) == 0 {
		return diag.New(diag.NothingToChoose, t.subject.Model, "no node takes its format from the plan").
			WithHint("models that bring formats of their own keep them: their float originals can be measured")
	}
	return nil
}

// negative says that the plan declares a range of an input with values below 0.
func (t *Meter) negative(input string) bool {
	return slices.ContainsFunc(t.Plan.Inputs, func(in plan.Input) bool {
		return in.Name == input && in.Range != nil && in.Range[0] < 0
	})
}

// cuts finds the nodes of the float graph that are part of a layer in the quantized one.
func (t *Meter) cuts(ctx context.Context, q *ir.Graph) error {
	float, err := float.Simplify(ctx, t.subject.Graph, pass.Options{})
	if err != nil {
		return err
	}
	of := map[string]int{} // the layer of a node
	for i := range t.Layers {
		of[t.Layers[i].Node] = i
	}
	for _, n := range float.Nodes {
		if !pointwise.Cuts(n.Op) || q.Find(n.Name) != nil {
			continue
		}
		if i, ok := of[n.Args[0].Name]; ok {
			t.Layers[i].Cuts, of[n.Name] = append(t.Layers[i].Cuts, n.Name), i
		}
	}
	return nil
}

// weights is the number of weights of a layer; those of a state go with its gates, and count as none.
func weights(n *ir.Node) int {
	if n.Op.Traits.Weighted && len(n.Args) > 1 && n.Args[1].IsConst() {
		return n.Args[1].Type.Elems()
	}
	return 0
}

// wide is the default plan with RestFormat everywhere, under the target and folding of the user's plan.
func (t *Meter) wide() (*plan.Plan, error) {
	p := *t.Plan
	quantize := plan.Default().Quantize
	quantize.Calibrate, quantize.CorrectBias = p.Quantize.Calibrate, p.Quantize.CorrectBias
	quantize.RoundWeights, quantize.DigitPrice = p.Quantize.RoundWeights, p.Quantize.DigitPrice
	quantize.Equalize, quantize.Smooth = p.Quantize.Equalize, p.Quantize.Smooth
	quantize.Round, quantize.Over = p.Quantize.Round, p.Quantize.Over
	p.Quantize = quantize
	return p.Uniform("the rest", RestFormat, true, true)
}

// Assign is what puts a layer into formats: its weights and its result, without a sign where it needs none. "" leaves
// what is there; nil where nothing is left.
func (l *Layer) Assign(weight, data string) []plan.Assignment {
	a := plan.Assignment{Node: l.Node, Data: data}
	if l.Weights > 0 {
		a.Weight = weight
	}
	if l.Unsigned && strings.HasPrefix(data, "fixed(") && !strings.Contains(data, "over=wrap") &&
		strings.Count(data, ",") == strings.Count(data, "=") { // no fraction bits are given
		a.Data = "u" + data
	}
	if a.Weight == "" && a.Data == "" {
		return nil
	}
	out := []plan.Assignment{a}
	for _, name := range l.Cuts {
		if data != "" {
			out = append(out, plan.Assignment{Node: name, Data: a.Data})
		}
	}
	return out
}

// Measure is Measure of the model on the samples that are not held out.
func (t *Meter) Measure(ctx context.Context, plan *plan.Plan, cost bool) (*Point, *driver.Quantized, error) {
	return Measure(ctx, t.subject, t.subject.Known, plan, cost)
}

// Measure quantizes a model under a plan and runs the reference on samples; cost asks for hardware too. It depends on
// nothing else. A plan whose formats are refused, or have no hardware where that is asked for, is a point that says so,
// and no error.
func Measure(ctx context.Context, m *driver.Subject, on *driver.Known, plan *plan.Plan, cost bool) (*Point,
	*driver.Quantized, error) {
	q, err := m.Quantize(ctx, plan)
	if err != nil {
		return refused(ctx, err)
	}
	kept, err := on.Kept(ctx, q.Graph)
	if err != nil {
		return nil, nil, err
	}
	p := &Point{SQNR: kept.SQNR, Accuracy: kept.Accuracy, Score: kept.Score, Size: sizeOf(q), metric: on.Metric}
	if cost {
		schedule, err := q.Schedule(ctx)
		if err != nil {
			return refused(ctx, err)
		}
		p.Cost = costOf(schedule)
	}
	return p, q, nil
}

// refused is a point that says why it has no numbers.
func refused(ctx context.Context, err error) (*Point, *driver.Quantized, error) {
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return &Point{Refused: first}, nil, nil
}

// costOf is what a schedule takes; nil where a header states no cost.
func costOf(r *schedule.Report) *Cost {
	if slices.ContainsFunc(r.Units, func(u timing.Unit) bool { return u.Module != "" && !u.Costed }) {
		return nil
	}
	c := r.Cost()
	return &Cost{LUT: c.LUT, FF: c.FF, DSP: c.DSP, BRAM: float64(c.BRAM) / 2, Interval: r.Interval()}
}

// noise is the power of the output error relative to that of the float outputs; NaN where it is not known.
func (p *Point) noise() float64 {
	switch {
	case p.SQNR == nil:
		return math.NaN()
	case *p.SQNR >= driver.SQNRLimit:
		return 0
	}
	return Noise(*p.SQNR)
}

// Noise is the power of an error relative to that of what it is an error of, at a ratio in dB.
func Noise(decibels float64) float64 { return math.Pow(10, -decibels/10) }

// Facts are the lines that tell what figures were measured on.
func (t *Meter) Facts() []string {
	samples := "samples"
	if t.On.Samples == 1 {
		samples = "sample"
	}
	if t.On.HeldOut > 0 {
		samples += fmt.Sprintf(", and %d held out,", t.On.HeldOut)
	}
	lines := []string{fmt.Sprintf("%d %s of %s, calibrated on %s", t.On.Samples, samples, t.On.Inputs, t.On.Calibrate)}
	if t.On.Calibrate == t.On.Inputs {
		lines[0] += ": the same, so figures are those of known samples (--calibrate names others)"
	}
	if t.On.HeldOut > 0 {
		lines = append(lines, fmt.Sprintf("%d samples more of %s are held out: neither the search nor calibration reads them",
			t.On.HeldOut, t.On.Inputs))
	}
	for _, l := range t.Layers {
		if l.Input && l.Unsigned {
			lines = append(lines, fmt.Sprintf("input %s is never negative in the calibration data: alone it gets formats "+
				"without a sign ([[input]] range in a plan declares other values)", l.Node))
		}
	}
	if t.On.Score != nil {
		line := fmt.Sprintf("%s of the float model: %s", t.On.Metric, figure(*t.On.Score))
		if t.On.HeldScore != nil {
			line += fmt.Sprintf(", and %s on the samples held out", figure(*t.On.HeldScore))
		}
		return append(lines, line)
	}
	if t.Accuracy == nil {
		return append(lines, "no labels: accuracy is not measured, only the ratio of outputs to their error (SQNR)")
	}
	if t.New != nil {
		return append(lines, "each trial makes a new model, and trains it in floats")
	}
	line := fmt.Sprintf("accuracy of the float model: %.4f", *t.Accuracy)
	if t.HeldAccuracy != nil {
		line += fmt.Sprintf(", and %.4f on the samples held out", *t.HeldAccuracy)
	}
	return append(lines, line)
}
