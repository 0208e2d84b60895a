// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"lathe/internal/driver"
	"lathe/ir/target"
	"lathe/lower"
	"lathe/lower/plan"
)

// Goal is what a plan must keep: an accuracy, a score of a metric, or without labels an SQNR in dB.
type Goal struct {
	Accuracy *float64 `json:"accuracy,omitempty"`
	Score    *float64 `json:"score,omitempty"`
	SQNR     *float64 `json:"sqnr_db,omitempty"`

	metric *driver.Metric // of the score
}

// Keep is the goal to keep a score of the metric. Without one, nil, half a percent of that of the float model may be
// lost.
func (t *Meter) Keep(score *float64) Goal {
	if score == nil {
		lost := math.Abs(*t.On.Score) * 0.005
		if t.metric.Least {
			lost = -lost
		}
		keep := *t.On.Score - lost
		score = &keep
	}
	return Goal{Score: score, metric: t.metric}
}

// met says that a point keeps enough.
func (g Goal) met(p *Point) bool {
	switch {
	case p.Refused != "":
		return false
	case g.Score != nil && g.metric.Least:
		return p.Score != nil && *p.Score <= *g.Score+1e-9
	case g.Score != nil:
		return p.Score != nil && *p.Score >= *g.Score-1e-9
	case g.Accuracy != nil:
		return p.Accuracy != nil && *p.Accuracy >= *g.Accuracy-1e-9
	}
	return p.SQNR != nil && *p.SQNR >= *g.SQNR
}

// String is the goal in words.
func (g Goal) String() string {
	switch {
	case g.Score != nil && g.metric.Least:
		return fmt.Sprintf("%s of at most %s", g.metric.Name, figure(*g.Score))
	case g.Score != nil:
		return g.metric.Name + " " + figure(*g.Score)
	case g.Accuracy != nil:
		return fmt.Sprintf("accuracy %.4f", *g.Accuracy)
	}
	return fmt.Sprintf("SQNR %.1f dB", *g.SQNR)
}

// Auto is the outcome of a search.
type Auto struct {
	On
	// Float is the accuracy of the float model, and FloatHeld that on the samples held out.
	Float     *float64 `json:"accuracy_float,omitempty"`
	FloatHeld *float64 `json:"accuracy_float_held_out,omitempty"`
	Goal      Goal     `json:"goal"`
	Part      string   `json:"part"`
	// Layers are the names of the layers, in graph order.
	Layers []string `json:"layers"`
	// Separate says that weights and values of a layer may have different formats.
	Separate bool `json:"separate"`
	// Candidates are the plans that were measured: those of the search by predicted loss, then the uniform ones.
	Candidates []Candidate `json:"candidates"`
	// Best is the candidate that takes the least hardware among those that meet the goal and fit the part; -1: none does.
	Best int `json:"best"`
}

// Candidate is a plan that was measured.
type Candidate struct {
	Name string `json:"name"`
	// Formats are those of Layers, in their order; one for all of a uniform plan. Of weights and values in two formats,
	// both: "fixed(3)/fixed(5)".
	Formats []string `json:"formats"`
	Uniform bool     `json:"uniform,omitempty"`
	// Price is that of a digit, where weights are rounded by digits.
	Price *float64 `json:"digit_price,omitempty"`
	Point
	// Share is the largest of its shares of the LUTs, flip-flops, DSPs and block RAMs of the part, and ShareOf whose that
	// is; beyond 1 it does not fit. Met says whether it meets the goal.
	Share   float64 `json:"share"`
	ShareOf string  `json:"share_of,omitempty"`
	Met     bool    `json:"met"`
	Front   bool    `json:"front"`
	// Held is what it keeps of the samples that the search did not see, for plans of the front, uniform ones and the best.
	Held *Point `json:"held_out,omitempty"`
	// Text is the plan, with all formats that calibration chose.
	Text string `json:"-"`
	plan *plan.Plan
	// takes is how much hardware it takes, in one number to compare: see Meter.takes.
	takes float64
}

// fits says that the part has what it takes.
func (c *Candidate) fits() bool { return c.Cost == nil || c.Share <= 1 }

// pick is a choice for one layer: the formats of its weights, "" where it has none, and of its values.
type pick struct{ weight, data string }

// String is the format, or both.
func (p pick) String() string {
	if p.weight == "" || p.weight == p.data {
		return p.data
	}
	return p.weight + "/" + p.data
}

// Auto searches formats for all layers: what each layer loses in each format is measured by itself, what it costs as
// the difference to a plan with one format for all; a knapsack over budgets proposes, and each proposal is measured as
// a whole. separate lets weights and values of a layer have different formats; what both lose counts as the sum. Error
// L0421 where a layer takes none of the formats.
func (t *Meter) Auto(ctx context.Context, formats []string, separate bool, goal Goal, p driver.Progress) (*Auto,
	error) {
	a := &Auto{On: t.On, Float: t.Accuracy, FloatHeld: t.HeldAccuracy, Goal: goal, Part: t.Plan.Target.FPGA.Part,
		Separate: separate, Best: -1}
	for _, l := range t.Layers {
		a.Layers = append(a.Layers, l.Node)
	}
	h := &hunt{meter: t, auto: a, formats: len(formats), shares: map[string]float64{}, seen: map[string]bool{},
		progress: p}
	if err := h.options(ctx, formats); err != nil {
		return nil, err
	}
	for i, f := range formats {
		tell(p, "uniform plans", i, len(formats))
		plan, err := t.Plan.Uniform("auto", f, true, true)
		if err != nil {
			return nil, err
		}
		if err := t.candidate(ctx, a, Candidate{Name: f, Formats: []string{f}, Uniform: true}, plan); err != nil {
			return nil, err
		}
	}
	if err := h.run(ctx); err != nil {
		return nil, err
	}
	if err := t.digits(ctx, a, p); err != nil {
		return nil, err
	}
	a.name()
	a.judge()
	return a, t.heldOut(ctx, a, p)
}

// heldOut measures the plans that are offered, and the uniform ones, on the samples that the search did not see.
func (t *Meter) heldOut(ctx context.Context, a *Auto, p driver.Progress) error {
	if t.subject.Held == nil {
		return nil
	}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		tell(p, "samples held out", i, len(a.Candidates))
		if !c.Front && !c.Uniform && i != a.Best {
			continue
		}
		var err error
		if c.Held, _, err = Measure(ctx, t.subject, t.subject.Held, c.plan, false); err != nil {
			return err
		}
	}
	return nil
}

// name puts the mixed plans in the order of what they take of the part, in front of the uniform ones, and numbers them.
func (a *Auto) name() {
	slices.SortStableFunc(a.Candidates, func(x, y Candidate) int {
		switch {
		case x.Uniform != y.Uniform:
			return cmp.Compare(strconv.FormatBool(x.Uniform), strconv.FormatBool(y.Uniform))
		case x.Uniform:
			return 0
		}
		return cmp.Or(cmp.Compare(x.takes, y.takes), slices.Compare(x.Formats, y.Formats))
	})
	for i := range a.Candidates {
		c := &a.Candidates[i]
		if !c.Uniform {
			c.Name = fmt.Sprintf("mix-%02d", i+1)
		}
		c.Name += priceText(c.Price)
	}
}

// judge marks the front, and the best candidate.
func (a *Auto) judge() {
	var points []*Point
	for i := range a.Candidates {
		points = append(points, &a.Candidates[i].Point)
	}
	for i, on := range fitting(points, func(i int) bool { return a.Candidates[i].fits() }) {
		a.Candidates[i].Front = on
	}
	a.Best = a.least((*Candidate).fits)
}

// least is the place of the candidate that takes the least hardware, the first of equals, among those that meet the
// goal and are of a kind; -1 where there is none.
func (a *Auto) least(is func(*Candidate) bool) int {
	best := -1
	for i := range a.Candidates {
		c := &a.Candidates[i]
		if c.Met && is(c) && (best < 0 || c.takes < a.Candidates[best].takes) {
			best = i
		}
	}
	return best
}

// predicted is what some choice takes of the part, without running it; infinite where it is refused.
func (t *Meter) predicted(ctx context.Context, picks []pick) (float64, error) {
	asked, err := t.assigned(picks)
	if err != nil {
		return 0, err
	}
	p := &asked.Quantize // without what takes time, and hardly any hardware
	p.CorrectBias, p.RoundWeights = false, plan.RoundNearest
	if p.Calibrate == plan.CrossEntropy {
		p.Calibrate = plan.MSE
	}
	q, err := t.subject.Quantize(ctx, asked)
	if err != nil {
		return math.Inf(1), ctx.Err()
	}
	schedule, err := q.Schedule(ctx)
	if err != nil {
		return math.Inf(1), ctx.Err()
	}
	return t.takes(&Point{Size: sizeOf(q), Cost: costOf(schedule)}), nil
}

// assigned is the user's plan with the chosen formats for each layer.
func (t *Meter) assigned(picks []pick) (*plan.Plan, error) {
	var list []plan.Assignment
	for i := range t.Layers {
		list = append(list, t.Layers[i].Assign(picks[i].weight, picks[i].data)...)
	}
	return t.Plan.Assigned("auto", list)
}

// takes is how much of a part a point takes, in one number: the sum of the shares of LUTs, DSPs and block RAMs; without
// predictions the megabits of constants.
func (t *Meter) takes(p *Point) float64 {
	if p.Cost == nil {
		return float64(p.ModelBits) / (1 << 20)
	}
	total := 0.0
	for _, s := range sharesOf(p.Cost, &t.Plan.Target.FPGA) {
		if s.of != "FF" { // which a part has plenty of
			total += s.part
		}
	}
	return total
}

// share is a part of what a device has of one kind.
type share struct {
	of   string
	part float64
}

func sharesOf(c *Cost, part *target.Device) []share {
	of := func(has int, most int) float64 { return float64(has) / float64(max(1, most)) }
	return []share{{"LUT", of(c.LUT, part.LUT)}, {"FF", of(c.FF, part.FF)}, {"DSP", of(c.DSP, part.DSP)},
		{"BRAM", c.BRAM / part.RAM36()}}
}

// largest is the share of the part that is largest.
func (t *Meter) largest(c *Cost) share {
	return slices.MaxFunc(sharesOf(c, &t.Plan.Target.FPGA), func(x, y share) int { return cmp.Compare(x.part, y.part) })
}

// candidate measures a plan and adds it, with its text.
func (t *Meter) candidate(ctx context.Context, a *Auto, c Candidate, plan *plan.Plan) error {
	point, q, err := t.Measure(ctx, plan, false)
	if err != nil {
		return err
	}
	c.Point, c.plan = *point, plan
	if q != nil {
		schedule, err := q.Schedule(ctx)
		if err != nil {
			return err
		}
		c.Cost, c.Text = costOf(schedule), lower.PlanText(plan, t.On.Model, q.Graph, q.Report, schedule)
		c.takes, c.Met = t.takes(&c.Point), a.Goal.met(point)
		if c.Cost != nil {
			most := t.largest(c.Cost)
			c.Share, c.ShareOf = most.part, most.of
		}
	}
	a.Candidates = append(a.Candidates, c)
	return nil
}
