// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"lathe/emit/report"
	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float"
	"lathe/lower/own"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
)

// Data are the samples that plans are measured on.
type Data struct {
	Inputs, Labels string // files; without labels, "", no accuracy
	Most           int    // of the samples, 0: all
	// HoldOut is the percentage of them that a search does not see.
	HoldOut float64
	// Metric is what outputs are judged by in place of the accuracy; it has read Labels. nil: accuracy.
	Metric *Metric
}

// Metric is a figure for all outputs together.
type Metric struct {
	Name string
	// Least says that less is better.
	Least bool
	// Samples is how many samples it has labels for; 0: it does not tell.
	Samples int
	// Of is the figure of what the model gives for the samples at some places of the file: an array for each output, with
	// a leading axis of samples.
	Of func(outputs []npz.Array, use []int) (float64, error)
}

// Labelled is error L0914 where the labels of a file, which the metric has read, are not those of so many samples; nil
// too for no metric.
func (m *Metric) Labelled(samples int, file string) error {
	if m == nil || m.Samples == 0 || m.Samples == samples {
		return nil
	}
	return diag.New(diag.Labels, file, "labels of %d samples for %d samples", m.Samples, samples)
}

// split divides n samples into those that are used and those that are held out, which are drawn the same each time: at
// least one of each where some are to be held out and there are two.
func (d *Data) split(n int) (use, held []int) {
	drawn := rand.New(rand.NewPCG(1, 1)).Perm(n)
	out := int(math.Round(float64(n) * d.HoldOut / 100))
	if d.HoldOut > 0 {
		out = max(1, out)
	}
	most := max(1, n-out)
	use, held = drawn[:most], drawn[most:]
	slices.Sort(use)
	slices.Sort(held)
	return use, held
}

// Subject is a float model with all that plans of it are measured on, read once: what measures reads no file.
type Subject struct {
	// Model, Inputs, Calibrate and Labels are the files that it was read from, for messages; Labels may be "".
	Model, Inputs, Calibrate, Labels string
	// Graph is the model as imported, up to where hardware ends.
	Graph *ir.Graph
	// Plan is that of the user, or the default one.
	Plan *plan.Plan
	// Known is what is measured on, Held the samples that are kept back; nil where there are none.
	Known, Held *Known
	// Verify holds every pass to what it promises.
	Verify bool

	// Calibration is what formats are chosen from.
	Calibration quantize.Calibration

	framed *ir.Graph // Graph, with frames that change in length where the plan asks for them
}

// Subject reads the plan, samples and labels, and evaluates the float graph g on them. Without calibration data of its
// own the source is calibrated on the samples, but for those that are held out. Error L0411 for a graph that is
// quantized already.
func (s Source) Subject(ctx context.Context, g *ir.Graph, d Data) (*Subject, error) {
	if g.Stage != ir.StageFloat {
		return nil, diag.New(diag.WrongStage, s.Model, "the graph is %s already; formats are chosen for float graphs",
			g.Stage)
	}
	if s.Calibrate == "" {
		s.Calibrate = d.Inputs
		if s.Labels = d.Labels; d.Metric != nil {
			s.Labels = "" // they may be no classes
		}
	}
	m := &Subject{Model: s.Model, Inputs: d.Inputs, Calibrate: s.Calibrate, Labels: d.Labels, Verify: s.Passes.Verify}
	var err error
	if m.Plan, err = s.ReadPlan(); err != nil {
		return nil, err
	}
	if m.Graph, _, err = float.End(ctx, g, s.Outputs != nil, s.Passes); err != nil {
		return nil, err
	}
	apart, err := m.measureOn(ctx, d)
	if err != nil {
		return nil, err
	}
	if s.Calibrate != d.Inputs {
		apart = nil
	}
	p, err := s.prepare(ctx, m.Graph, m.Plan, apart)
	m.framed, m.Calibration = p.graph, p.calibration
	return m, err
}

// measureOn evaluates the float model, and says which samples are held out.
func (m *Subject) measureOn(ctx context.Context, d Data) (held []int, err error) {
	file, err := npz.Read(d.Inputs)
	if err != nil {
		return nil, err
	}
	samples, _, err := Samples(m.Graph, file)
	if err != nil {
		return nil, err
	}
	var labels [][]int64
	if err := d.Metric.Labelled(len(samples), d.Labels); err != nil {
		return nil, err
	}
	if d.Labels != "" && d.Metric == nil {
		if labels, err = Labels(d.Labels); err != nil {
			return nil, err
		}
		if err := CheckLabels(d.Labels, labels, len(samples), m.Graph); err != nil {
			return nil, err
		}
	}
	n := len(samples)
	if d.Most > 0 {
		n = min(n, d.Most)
	}
	use, held := d.split(n)
	if m.Known, err = Know(ctx, m.Graph, file, use, labels); err != nil {
		return nil, err
	}
	m.Known.Metric = d.Metric
	if len(held) == 0 {
		return nil, nil
	}
	if m.Held, err = Know(ctx, m.Graph, file, held, labels); err == nil {
		m.Held.Metric = d.Metric
	}
	return held, err
}

// Quantize lowers the model to integers under a plan that differs from that of the subject in formats alone. Errors of
// values are not measured.
func (m *Subject) Quantize(ctx context.Context, p *plan.Plan) (*Quantized, error) {
	from := prepared{graph: m.framed, calibration: m.Calibration}
	return from.quantize(ctx, p, quantize.Options{Options: pass.Options{Verify: m.Verify},
		Errors: quantize.Unmeasured})
}

// trialWidths are the widths of data and weights that Precision tries.
var trialWidths = []int{3, 4, 5, 6, 7, 8, 10, 12, 16}

// trialWork bounds the multiplications of Precision.
const trialWork = 1 << 30

// Precision measures what a float model keeps at several widths of data and weights, the rest of the plan being as it
// is: on the samples of Arrays, or else of Calibrate, and with the labels of Arrays, unless they are nil, also its
// accuracy, or with their metric, unless it is nil, the score of that. on says in words which samples those are, and
// the accuracy or the score of the float model on them. There is no point
// for a width that the plan does not allow, and none at all for a model that brings its own formats, without samples,
// or where it is too large.
func (s Source) Precision(ctx context.Context, g *ir.Graph, labels [][]int64, metric *Metric,
	p Progress) (points []report.Precision, on string, err error) {
	path := cmp.Or(s.Arrays, s.Calibrate)
	if g == nil || path == "" || slices.ContainsFunc(g.Nodes, own.Quantizes) {
		return nil, "", nil
	}
	file, err := npz.Read(path)
	if err != nil {
		return nil, "", err
	}
	plan, err := s.ReadPlan()
	if err != nil {
		return nil, "", err
	}
	file, _ = Filled(g, plan, file)
	floats, _, err := Samples(g, file)
	if err != nil {
		return nil, "", err
	}
	n := min(len(floats), trialWork/len(trialWidths)/multiplications(g))
	if n == 0 {
		return nil, "", nil
	}
	if labels != nil {
		n = min(n, len(labels))
	}
	first := make([]int, n)
	for i := range first {
		first[i] = i
	}
	known, err := Know(ctx, g, file, first, labels)
	if err != nil {
		return nil, "", err
	}
	known.Metric, s.Errors = metric, quantize.Unmeasured
	for i, bits := range trialWidths {
		p.report("widths", i, len(trialWidths))
		s.Settings.Bits = &bits
		q, err := s.Quantize(ctx, g)
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if err != nil {
			continue
		}
		point := report.Precision{Bits: bits}
		kept, err := known.Kept(ctx, q.Graph)
		if err != nil {
			return nil, "", err
		}
		point.SQNR, point.Accuracy, point.Score = kept.SQNR, kept.Accuracy, kept.Score
		points = append(points, point)
	}
	on, err = known.described(len(floats), filepath.Base(path))
	return points, on, err
}

// described says which of all samples of a file are known, and how accurate the float model is on them.
func (k *Known) described(all int, file string) (string, error) {
	on := fmt.Sprintf("%d samples of %s", len(k.Use), file)
	if len(k.Use) < all {
		on = fmt.Sprintf("the first %d of %d samples of %s", len(k.Use), all, file)
	}
	if score, err := k.Score(k.Float, k.Want); score != nil || err != nil {
		return fmt.Sprintf("%s, on which %s of the float model is %s", on, k.Metric.Name, diag.Number(*score, 4)), err
	}
	if k.Labels == nil {
		return on, nil
	}
	right, err := Accuracy(k.Float, k.Want, k.Labels)
	return fmt.Sprintf("%s, on which the float model has an accuracy of %.4f", on, right), err
}

// Known is what the float graph gives for some samples of a file.
type Known struct {
	Float *ir.Graph
	File  *npz.File
	// Use are the places of the samples in the file, Want what Float gives for them, Labels their classes, if known.
	Use    []int
	Want   []ref.Sample
	Labels [][]int64
	// Metric is what outputs are judged by beside; nil for nothing.
	Metric *Metric
}

// Kept is what a quantized graph keeps of the float graph.
type Kept struct {
	// SQNR is that of all outputs, see SQNR; Accuracy is nil without labels, Score without a metric.
	SQNR, Accuracy, Score *float64
}

// Know evaluates the float graph g on the samples of a file at some places; labels are those of the whole file, or nil.
func Know(ctx context.Context, g *ir.Graph, file *npz.File, use []int, labels [][]int64) (*Known, error) {
	k := &Known{Float: g, File: file, Use: use}
	samples, _, err := Samples(g, file)
	if err != nil {
		return nil, err
	}
	if labels != nil {
		k.Labels = Pick(labels, use)
	}
	k.Want, err = Evaluate(ctx, g, Pick(samples, use))
	return k, err
}

// Kept says what the quantized graph q keeps of the float graph.
func (k *Known) Kept(ctx context.Context, q *ir.Graph) (kept Kept, err error) {
	samples, _, err := Samples(q, k.File)
	if err != nil {
		return kept, err
	}
	got, err := Evaluate(ctx, q, Pick(samples, k.Use))
	if err != nil {
		return kept, err
	}
	if kept.SQNR, _, err = SQNR(k.Float, k.Want, q, got); err != nil {
		return kept, err
	}
	if kept.Score, err = k.Score(q, got); err != nil || k.Labels == nil {
		return kept, err
	}
	right, err := Accuracy(q, got, k.Labels)
	kept.Accuracy = &right
	return kept, err
}

// First is what is known of the first so many samples.
func (k *Known) First(n int) *Known {
	first := *k
	first.Use, first.Want = k.Use[:n], k.Want[:n]
	if k.Labels != nil {
		first.Labels = k.Labels[:n]
	}
	return &first
}

// Score is the figure of the metric for what a graph gives; nil without one.
func (k *Known) Score(g *ir.Graph, outputs []ref.Sample) (*float64, error) {
	if k.Metric == nil {
		return nil, nil
	}
	arrays, err := Arrays(g, outputs, Batch{len(outputs), replaced}, false)
	if err != nil {
		return nil, err
	}
	score, err := k.Metric.Of(arrays, k.Use)
	if err == nil && (math.IsNaN(score) || math.IsInf(score, 0)) {
		err = diag.New(diag.Labels, g.Name, "%s of the outputs is %v, which is no finite number", k.Metric.Name, score)
	}
	if err != nil {
		return nil, err
	}
	return &score, nil
}

// Pick are the elements of a list at some places.
func Pick[T any](list []T, places []int) []T {
	out := make([]T, len(places))
	for i, at := range places {
		out[i] = list[at]
	}
	return out
}

// Evaluate runs a graph in the reference engine.
func Evaluate(ctx context.Context, g *ir.Graph, samples []ref.Sample) ([]ref.Sample, error) {
	program, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	return program.Run(ctx, samples)
}

// multiplications of one sample, about: each weight meets every position of the result.
func multiplications(g *ir.Graph) int {
	work := 1
	for _, n := range g.Nodes {
		for _, a := range n.Args {
			if a.IsConst() && len(a.Type.Shape) > 1 {
				channels := max(1, n.Type.Shape[len(n.Type.Shape)-1])
				work += a.Type.Elems() * (n.Type.Elems() / channels)
			}
		}
	}
	return work
}
