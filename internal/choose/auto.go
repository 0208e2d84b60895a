// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir/target"
	"lathe/lower"
)

// Goal is what a plan must keep: an accuracy, or without labels an SQNR in dB.
type Goal struct {
	Accuracy *float64 `json:"accuracy,omitempty"`
	SQNR     *float64 `json:"sqnr_db,omitempty"`
}

// met says that a point keeps enough.
func (g Goal) met(p *Point) bool {
	switch {
	case p.Refused != "":
		return false
	case g.Accuracy != nil:
		return p.Accuracy != nil && *p.Accuracy >= *g.Accuracy-1e-9
	}
	return p.SQNR != nil && *p.SQNR >= *g.SQNR
}

// String is the goal in words.
func (g Goal) String() string {
	if g.Accuracy != nil {
		return fmt.Sprintf("accuracy %.4f", *g.Accuracy)
	}
	return fmt.Sprintf("SQNR %.1f dB", *g.SQNR)
}

// Auto is the outcome of a search.
type Auto struct {
	On
	Float *float64 `json:"accuracy_float,omitempty"`
	Goal  Goal     `json:"goal"`
	Part  string   `json:"part"`
	// Candidates are the plans that were measured: those of the search by predicted loss, then the uniform ones.
	Candidates []Candidate `json:"candidates"`
	// Best is the candidate that takes the smallest share of the part among those that meet the goal; -1: none does.
	Best int `json:"best"`
}

// Candidate is a plan that was measured.
type Candidate struct {
	Name string `json:"name"`
	// Formats are those of the layers, in their order; one for all of a uniform plan.
	Formats []string `json:"formats"`
	Uniform bool     `json:"uniform,omitempty"`
	Point
	// Share is the sum of its shares of the LUTs, DSPs and block RAMs of the part, Met whether it meets the goal.
	Share float64 `json:"share"`
	Met   bool    `json:"met"`
	Front bool    `json:"front"`
	// Text is the plan, with all formats that calibration chose.
	Text string `json:"-"`
}

// candidates is how many solutions of the knapsack are measured at first, and refining how many more around the goal.
const candidates, refining = 14, 6

// Auto searches formats for all layers: what each layer loses in each format is measured by itself, what it costs as
// the difference to a plan with one format for all; a knapsack over budgets proposes, and each proposal is measured as
// a whole. Error L0421 where a layer takes none of the formats.
func (t *Study) Auto(ctx context.Context, formats []string, goal Goal, p driver.Progress) (*Auto, error) {
	a := &Auto{On: t.On, Float: t.Accuracy, Goal: goal, Part: t.Plan.Target.FPGA.Part, Best: -1}
	items, err := t.options(ctx, formats, p)
	if err != nil {
		return nil, err
	}
	choices := knapsack(items)
	if choices == nil {
		return nil, diag.New("L0421", t.source.Model, "a layer takes none of these formats, or its loss is not known")
	}
	if err := t.measureAll(ctx, a, formats, choices, p); err != nil {
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
	a.judge()
	return a, nil
}

// judge marks the front, and the best candidate.
func (a *Auto) judge() {
	var points []*Point
	for i := range a.Candidates {
		points = append(points, &a.Candidates[i].Point)
	}
	for i, on := range front(points) {
		c := &a.Candidates[i]
		c.Front = on
		if c.Met && (a.Best < 0 || c.Share < a.Candidates[a.Best].Share) {
			a.Best = i
		}
	}
}

// options are, for each layer and format, what the layer adds to the output error, and what the design then takes more
// than with the middle one of the formats for all layers.
func (t *Study) options(ctx context.Context, formats []string, p driver.Progress) ([][]option, error) {
	s, err := t.Sensitivity(ctx, formats, Parts{true, true}, false, p)
	if err != nil {
		return nil, err
	}
	middle := make([]int, len(t.Layers))
	for i := range middle {
		middle[i] = len(formats) / 2
	}
	items := make([][]option, len(t.Layers))
	for i := range t.Layers {
		for k := range formats {
			tell(p, "costs", i*len(formats)+k, len(formats)*len(t.Layers))
			o := option{loss: math.Inf(1)}
			if r := &s.Rows[i*len(formats)+k]; r.Noise != nil {
				one := slices.Clone(middle)
				one[i] = k
				share, err := t.predicted(ctx, formats, one)
				if err != nil {
					return nil, err
				}
				o = option{cost: share, loss: max(0, *r.Noise)}
				if math.IsInf(share, 1) {
					o.loss = math.Inf(1)
				}
			}
			items[i] = append(items[i], o)
		}
	}
	return items, nil
}

// predicted is the share of the part that a choice takes, without running it; infinite where it is refused.
func (t *Study) predicted(ctx context.Context, formats []string, choice []int) (float64, error) {
	plan, err := t.assigned(formats, choice)
	if err != nil {
		return 0, err
	}
	q, err := t.source.QuantizeUnder(ctx, t.graph, plan)
	if err != nil {
		return math.Inf(1), ctx.Err()
	}
	schedule, err := q.Schedule(ctx)
	if err != nil {
		return 0, err
	}
	return t.share(&Point{Size: sizeOf(q.Graph), Cost: costOf(schedule)}), nil
}

// assigned is the user's plan with the chosen format for each layer.
func (t *Study) assigned(formats []string, choice []int) (*lower.Plan, error) {
	var list []lower.Assignment
	for i := range t.Layers {
		list = append(list, t.Layers[i].Assign(formats[choice[i]], true, true)...)
	}
	return t.Plan.Assigned("auto", list)
}

// share is the sum of the shares of a part; without predictions the megabits of constants take its place.
func (t *Study) share(p *Point) float64 {
	if p.Cost == nil {
		return float64(p.ModelBits) / (1 << 20)
	}
	return shareOf(p.Cost, &t.Plan.Target.FPGA)
}

func shareOf(c *Cost, part *target.FPGA) float64 {
	return float64(c.LUT)/float64(max(1, part.LUT)) + float64(c.DSP)/float64(max(1, part.DSP)) +
		c.BRAM/float64(max(1, part.BRAM))
}

// measureAll measures solutions of the knapsack: some over the whole range, then some between the cheapest that meets
// the goal and the next cheaper one.
func (t *Study) measureAll(ctx context.Context, a *Auto, formats []string, choices [][]int, p driver.Progress) error {
	met := map[int]bool{}
	measure := func(i int) error {
		if _, done := met[i]; done {
			return nil
		}
		tell(p, "candidates", len(met), candidates+refining)
		plan, err := t.assigned(formats, choices[i])
		if err != nil {
			return err
		}
		c := Candidate{Name: fmt.Sprintf("mix-%04d", i)}
		for _, k := range choices[i] {
			c.Formats = append(c.Formats, formats[k])
		}
		err = t.candidate(ctx, a, c, plan)
		met[i] = err == nil && a.Candidates[len(a.Candidates)-1].Met
		return err
	}
	last := len(choices) - 1
	for k := range candidates {
		if err := measure(k * last / max(1, candidates-1)); err != nil {
			return err
		}
	}
	for range refining {
		low, high := -1, last+1 // the dearest that fails below the cheapest that meets the goal
		for i := 0; i <= last; i++ {
			if ok, done := met[i]; done && ok {
				high = i
				break
			} else if done {
				low = i
			}
		}
		if high > last || high-low < 2 {
			break
		}
		if err := measure((low + high) / 2); err != nil {
			return err
		}
	}
	slices.SortFunc(a.Candidates, func(x, y Candidate) int { return cmp.Compare(x.Name, y.Name) })
	return nil
}

// candidate measures a plan and adds it, with its text.
func (t *Study) candidate(ctx context.Context, a *Auto, c Candidate, plan *lower.Plan) error {
	point, q, err := t.Measure(ctx, plan, false)
	if err != nil {
		return err
	}
	c.Point = *point
	if q != nil {
		schedule, err := q.Schedule(ctx)
		if err != nil {
			return err
		}
		c.Cost, c.Text = costOf(schedule), plan.Text(t.On.Model, q.Graph, q.Report, schedule)
		c.Share, c.Met = t.share(&c.Point), a.Goal.met(point)
	}
	a.Candidates = append(a.Candidates, c)
	return nil
}
