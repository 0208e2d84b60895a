// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/choose"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/lower/quantize"
)

const (
	// remedyTime bounds how long remedies are measured where --tune-time does not say so, on remedySamples samples.
	remedyTime    = 4 * time.Second
	remedySamples = 64
	// lostAccuracy is the share that a model may lose without a word of remedies; of a score, in parts of it.
	lostAccuracy = 0.01
)

// judged are the samples and labels, files, that remedies are measured on, what by in place of the accuracy, and how
// long: none but the first few begins later.
type judged struct {
	inputs, labels string
	metric         *driver.Metric
	time           time.Duration
	// tuned says that --tune has taken what it takes.
	tuned bool
}

// addTune adds the flags that have the best remedy taken, and say how long they are looked for.
func addTune(c *cobra.Command, tune *bool, limit *time.Duration) {
	c.Flags().DurationVar(limit, "tune-time", remedyTime, "how long to measure what would keep more; the first two "+
		"are always measured")
	c.Flags().BoolVar(tune, "tune", false, "take what keeps most of correct-bias, round-weights, equalize, smooth, "+
		"ranges, wide and bits, each measured on calibration samples")
}

// mend measures what would keep more of a model than its quantized form q does.
func (a *App) mend(ctx context.Context, s driver.Source, q *driver.Quantized, on judged, taken bool,
	p *progress) (*choose.Remedies, error) {
	p.Report("remedies", 0, 0)
	defer p.finish()
	start := time.Now()
	subject, err := s.Subject(ctx, q.From[0], driver.Data{Inputs: on.inputs, Labels: on.labels, Most: remedySamples,
		Metric: on.metric})
	if err != nil {
		return nil, err
	}
	return choose.Mend(ctx, s, subject, worst(q), taken, func() bool { return time.Since(start) < on.time })
}

// worst are the nodes of a quantized graph that add most to the error, relative to what they compute, the worst first.
func worst(q *driver.Quantized) []string {
	noise := map[string]float64{}
	type loss struct {
		node  string
		added float64
	}
	var all []loss
	for _, v := range q.Report.Nodes {
		noise[v.Name] = choose.Noise(v.SQNR)
		n := q.Graph.Find(v.Name)
		if n == nil || n.IsInput() || n.Op.Traits.KeepsCodes || n.Op.Traits.Casts {
			continue
		}
		before := 0.0
		for _, from := range n.Streams() {
			for from.Op.Traits.Casts {
				from = from.Args[0]
			}
			before = max(before, noise[from.Name])
		}
		all = append(all, loss{v.Name, noise[v.Name] - before})
	}
	slices.SortStableFunc(all, func(a, b loss) int { return cmp.Compare(b.added, a.added) })
	var names []string
	for _, l := range all {
		names = append(names, l.node)
	}
	return names
}

// tuned is a source with the remedy that helps most.
func (a *App) tuned(ctx context.Context, s driver.Source, on judged, p *progress) (driver.Source, error) {
	if s.Calibrate == "" {
		return s, usagef("--tune needs --calibrate")
	}
	g, err := s.Import()
	if err != nil {
		return s, err
	}
	q, err := s.Quantize(ctx, g)
	if err != nil || q.Report == nil {
		return s, err
	}
	r, err := a.mend(ctx, s, q, on, true, p)
	if err != nil {
		return s, err
	}
	if by := r.Apply(&s.Settings); by != "" {
		s.Note("tuned by " + by)
	} else {
		s.Note("nothing to tune: no remedy that was tried keeps more")
	}
	return s, nil
}

// lost says that a model loses more than a user should pass over.
func lost(sqnr []float64, right driver.Right) bool {
	if slices.ContainsFunc(sqnr, func(v float64) bool { return v < driver.LowSQNR }) {
		return true
	}
	if s := right.Score; s != nil && s.Float != nil {
		less := *s.Float - s.Quantized
		if right.Least {
			less = -less
		}
		return *s.Float != 0 && less > lostAccuracy*math.Abs(*s.Float)
	}
	a := right.Accuracy
	return a != nil && a.Float != nil && a.Quantized < *a.Float-lostAccuracy
}

// outputRatios are the ratios of the outputs that are no numbers of classes.
func outputRatios(r *quantize.Report) (out []float64) {
	for _, o := range r.Outputs {
		if !o.Place {
			out = append(out, o.SQNR)
		}
	}
	return out
}

// remediesOf prints remedies for what a check has found to lose much.
func (a *App) remediesOf(ctx context.Context, v *verifyFlags, c *driver.Check, on judged, q *driver.Quantized,
	p *progress) error {
	var ratios []float64
	for _, o := range c.OutputSQNR {
		ratios = append(ratios, o.SQNR)
	}
	if !lost(ratios, c.Right) {
		return nil
	}
	_, err := a.remedies(ctx, v.lowered, q, on, p)
	return err
}

// remedies prints what was measured to help a model that has lost much; nil where there is nothing to measure on.
func (a *App) remedies(ctx context.Context, s driver.Source, q *driver.Quantized, on judged,
	p *progress) (*choose.Remedies, error) {
	if s.Calibrate == "" || len(q.From) == 0 || q.Report == nil || q.From[0].Stage != ir.StageFloat {
		return nil, nil
	}
	r, err := a.mend(ctx, s, q, on, false, p)
	if err != nil {
		return nil, err
	}
	lines := r.Lines()
	takes := r.Takes()
	if on.tuned {
		takes = ""
	}
	if len(r.Helping) == 0 {
		fmt.Fprintln(a.Err, "note: no remedy that was tried keeps more")
	} else {
		fmt.Fprintf(a.Err, "note: measured to keep more, the best first%s:\n", takes)
	}
	for _, l := range lines {
		fmt.Fprintf(a.Err, "  %s\n", l)
	}
	return r, nil
}
