// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"context"
	"slices"
	"strings"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/lower"
	"lathe/lower/plan"
	"lathe/lower/schedule"
)

// Trial is what became of a plan that was tried.
type Trial struct {
	Point
	// Measured says that outputs were computed, and not the hardware alone.
	Measured bool
	// Text is the plan, with all formats that calibration chose.
	Text string
	// Graph is the quantized graph, with the weights that it was trained to have; nil where the plan was refused.
	Graph *ir.Graph
	// Quantized is what Graph is of; nil where the plan was refused.
	Quantized *driver.Quantized
}

// Try quantizes the model under a plan, predicts its hardware, and, unless that is all that admit wants of it, runs the
// reference on the samples. A plan whose formats are refused, or have no hardware, is a trial that says so, and no
// error.
func (t *Meter) Try(ctx context.Context, p *plan.Plan, admit func(*Point) bool) (*Trial, error) {
	return t.try(ctx, p, t.subject.Quantize, admit)
}

// TryTrained trains the quantized model as tables of the plan say, and then does as Try.
func (t *Meter) TryTrained(ctx context.Context, p *plan.Plan, admit func(*Point) bool) (*Trial, error) {
	return t.try(ctx, p, t.Train, admit)
}

// elsewhere are the codes of what is no fault of a plan: a model that is gone, an engine that does not start.
var elsewhere = []diag.Code{diag.ModelOpen, diag.PJRTPlugin, diag.PJRTCanary, diag.PJRTWorker, diag.PJRTRun,
	diag.PJRTCancelled}

// Refusal is why something cannot be, where that is the fault of what was chosen; "" for none, and for errors from
// elsewhere.
func Refusal(err error) string {
	if err == nil || slices.Contains(elsewhere, diag.CodeOf(err)) {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

func (t *Meter) try(ctx context.Context, p *plan.Plan,
	quantize func(context.Context, *plan.Plan) (*driver.Quantized, error), admit func(*Point) bool) (*Trial, error) {
	refusal := func(err error) (*Trial, error) {
		if slices.Contains(elsewhere, diag.CodeOf(err)) {
			return nil, err
		}
		point, _, err := refused(ctx, err)
		if err != nil {
			return nil, err
		}
		return &Trial{Point: *point}, nil
	}
	q, err := quantize(ctx, p)
	if err != nil {
		return refusal(err)
	}
	var s *schedule.Report
	if s, err = q.Schedule(ctx); err != nil {
		return refusal(err)
	}
	r := &Trial{Graph: q.Graph, Quantized: q, Point: Point{Size: sizeOf(q), Cost: costOf(s)},
		Text: lower.PlanText(p, t.On.Model, q.Graph, q.Report, s)}
	if !admit(&r.Point) {
		return r, nil
	}
	return r, t.Judge(ctx, r, 0)
}

// Judge runs the reference on the first so many samples, 0 for all of them, and notes what the trial is worth there.
func (t *Meter) Judge(ctx context.Context, r *Trial, most int) error {
	known := t.subject.Known
	if most > 0 && most < len(known.Use) {
		known = known.First(most)
	}
	kept, err := known.Kept(ctx, r.Graph)
	if err != nil {
		return err
	}
	r.SQNR, r.Accuracy, r.Score, r.metric = kept.SQNR, kept.Accuracy, kept.Score, t.metric
	r.Measured = true
	return nil
}

// Job is the verification of a design on the first so many samples.
func (t *Meter) Job(hw *driver.Hardware, most int) (*driver.Job, error) {
	samples, _, err := driver.Samples(hw.Scheduled, t.subject.Known.File)
	if err != nil {
		return nil, err
	}
	use := t.subject.Known.Use
	const stalls = 30 // percent of cycles
	return &driver.Job{HW: hw, Samples: driver.Pick(samples, use[:min(most, len(use))]), Stalls: stalls,
		Seeds: []uint64{1}}, nil
}

// Share is the largest share that a point takes of what the part has of LUTs, flip-flops, DSPs and block RAMs.
func (t *Meter) Share(p *Point) float64 {
	if p.Cost == nil {
		return 0
	}
	return t.largest(p.Cost).part
}
