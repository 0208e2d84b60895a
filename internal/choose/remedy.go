// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/internal/driver"
	"lathe/lower/plan"
)

// Remedy is what may mend a loss, as a flag, and what it was measured to give.
type Remedy struct {
	Flag  string `json:"flag"`
	Point *Point `json:"point"`

	set func(*plan.Settings)
	// overrules says that the plan chooses otherwise.
	overrules bool
}

// Remedies are what was measured: Now without any, those that help, the best one first, and the flags that were not
// tried for want of time.
type Remedies struct {
	Now     *Point   `json:"now"`
	Helping []Remedy `json:"helping,omitempty"`
	Untried []string `json:"untried,omitempty"`
}

const (
	// widest is the width that is tried for all data and weights.
	widest = 12
	// gains is what a remedy has to give, in dB, where accuracy is not known or stays.
	gains = 0.5
	// gainsScore is what it has to give of the score of a metric, in parts of it.
	gainsScore = 0.001
	// tries is how many remedies are measured however long that takes: large models would have none else.
	tries = 2
	// worstLayers is how many layers get more bits together.
	worstLayers = 2
)

// Mend measures remedies for a model that a source quantizes, on the samples of m, each by itself, what helps most
// models first, for as long as there is time, and the first tries ones in any case. worst are the nodes that lose most.
// With taken, only remedies that Apply takes. Of a plan that is refused nothing is measured.
func Mend(ctx context.Context, s driver.Source, m *driver.Subject, worst []string, taken bool, time func() bool) (
	*Remedies, error) {
	given := s.Settings
	r := &Remedies{}
	var err error
	if r.Now, err = r.measured(ctx, s, m); err != nil || r.Now.Refused != "" {
		return r, err
	}
	list := remedies(m.Plan, worst)
	if taken {
		list = slices.DeleteFunc(list, func(r Remedy) bool { return r.overrules })
	}
	for i, remedy := range list {
		if i >= tries && !time() {
			r.Untried = append(r.Untried, remedy.Flag)
			continue
		}
		s.Settings = given
		remedy.set(&s.Settings)
		if remedy.Point, err = r.measured(ctx, s, m); err != nil {
			return nil, err
		}
		if remedy.Point.Refused == "" && better(remedy.Point, r.Now) > 0 {
			r.Helping = append(r.Helping, remedy)
		}
	}
	slices.SortStableFunc(r.Helping, func(a, b Remedy) int {
		return cmp.Or(cmp.Compare(b.Point.quality(), a.Point.quality()), cmp.Compare(decibels(b.Point), decibels(a.Point)))
	})
	return r, nil
}

// measured is what the settings of a source give; of those that do not help, unless they are the first, the hardware is
// left out, which takes most of the time.
func (r *Remedies) measured(ctx context.Context, s driver.Source, m *driver.Subject) (*Point, error) {
	p, err := s.ReadPlan()
	if err != nil {
		return &Point{Refused: err.Error()}, nil
	}
	point, q, err := Measure(ctx, m, m.Known, p, false)
	if err != nil || point.Refused != "" || r.Now != nil && better(point, r.Now) <= 0 {
		return point, err
	}
	schedule, err := q.Schedule(ctx)
	if err != nil {
		point, _, err = refused(ctx, err)
		return point, err
	}
	point.Cost = costOf(schedule)
	return point, nil
}

// remedies are those that a plan does not have, what helps most models first.
func remedies(p *plan.Plan, worst []string) (list []Remedy) {
	yes, half, bits := true, 0.5, widest
	add := func(lacks bool, flag string, set func(*plan.Settings)) {
		if lacks {
			list = append(list, Remedy{Flag: flag, set: set})
		}
	}
	rounding := func(word string) func(*plan.Settings) {
		return func(s *plan.Settings) { s.RoundWeights = &word }
	}
	q := &p.Quantize
	names := strings.Join(worst[:min(len(worst), worstLayers)], ",")
	add(names != "", "--wide "+names, func(s *plan.Settings) { s.Wide = &names })
	f, open := q.Data.Pattern.Open()
	if open && f.W < widest {
		list = append(list, Remedy{Flag: fmt.Sprintf("--bits %d", widest), overrules: q.Data.Given,
			set: func(s *plan.Settings) { s.Bits = &bits }})
	}
	gptq := q.RoundWeights == plan.RoundNearest
	few := open && f.W < 8 // of few bits, the weights lose most
	add(gptq && few, "--round-weights gptq", rounding("gptq"))
	add(q.Equalize == nil && q.Smooth == nil, "--equalize", func(s *plan.Settings) { s.Equalize = &yes })
	add(q.Smooth == nil, "--smooth 0.5", func(s *plan.Settings) { s.Smooth = &half })
	add(gptq && !few, "--round-weights gptq", rounding("gptq"))
	for _, m := range []plan.Method{plan.MSE, plan.MinMax, plan.Percentile} {
		word := m.String()
		add(q.Calibrate != m, "--ranges "+word, func(s *plan.Settings) { s.Ranges = &word })
	}
	add(!q.CorrectBias, "--correct-bias", func(s *plan.Settings) { s.CorrectBias = &yes })
	add(gptq, "--round-weights adaround", rounding("adaround"))
	return list
}

// decibels is the ratio of a point; 0 where it has none.
func decibels(p *Point) float64 {
	if p.SQNR == nil {
		return 0
	}
	return *p.SQNR
}

// better is above 0 where a keeps more than b: accuracy or the score in its place, and if that is the same or unknown,
// the ratio.
func better(a, b *Point) int {
	if a.Score != nil && b.Score != nil && math.Abs(*a.Score-*b.Score) > gainsScore*math.Abs(*b.Score) {
		return cmp.Compare(a.quality(), b.quality())
	}
	if a.Accuracy != nil && b.Accuracy != nil && *a.Accuracy != *b.Accuracy {
		if *a.Accuracy > *b.Accuracy {
			return 1
		}
		return -1
	}
	if a.SQNR == nil || b.SQNR == nil || math.Abs(*a.SQNR-*b.SQNR) < gains {
		return 0
	}
	if *a.SQNR > *b.SQNR {
		return 1
	}
	return -1
}

// Takes says what --tune takes of those that help, behind a semicolon; "" where it takes none.
func (r *Remedies) Takes() string {
	i := slices.IndexFunc(r.Helping, func(h Remedy) bool { return !h.overrules })
	switch i {
	case -1:
		return ""
	case 0:
		return "; --tune takes it"
	}
	return "; --tune takes the best one that keeps the width that was asked for"
}

// Lines say what helps, one a line, with what it costs.
func (r *Remedies) Lines() (lines []string) {
	for _, h := range r.Helping {
		lines = append(lines, r.line(&h))
	}
	if len(r.Untried) > 0 {
		lines = append(lines, "not tried, for want of time (--tune-time): "+strings.Join(r.Untried, "; "))
	}
	return lines
}

func (r *Remedies) line(h *Remedy) string {
	kept := func(p *Point) string {
		var has []string
		if p.Accuracy != nil {
			has = append(has, fmt.Sprintf("accuracy %.4f", *p.Accuracy))
		}
		if p.Score != nil {
			has = append(has, p.metric.Name+" "+figure(*p.Score))
		}
		if p.SQNR != nil {
			has = append(has, ratio(p.SQNR)+" dB")
		}
		return strings.Join(has, ", ")
	}
	return fmt.Sprintf("%s: %s where there is %s; %s", h.Flag, kept(h.Point), kept(r.Now), extra(h.Point.Cost, r.Now.Cost))
}

// extra is what one design takes more than another.
func extra(a, b *Cost) string {
	if a == nil || b == nil {
		return "hardware unknown"
	}
	if a.LUT == b.LUT && a.FF == b.FF && a.DSP == b.DSP && a.BRAM == b.BRAM && a.Interval == b.Interval {
		return "no hardware"
	}
	var text []string
	for _, part := range []struct {
		more float64
		what string
	}{{float64(a.LUT - b.LUT), "LUT"}, {float64(a.FF - b.FF), "FF"}, {float64(a.DSP - b.DSP), "DSP"},
		{a.BRAM - b.BRAM, "block RAM"}, {a.Interval - b.Interval, "cycles a sample"}} {
		if part.more != 0 {
			text = append(text, fmt.Sprintf("%+g %s", part.more, part.what))
		}
	}
	return strings.Join(text, ", ")
}

// Apply puts the best remedy into settings that does not overrule what the plan chooses, and says what it gives; ""
// where there is none.
func (r *Remedies) Apply(s *plan.Settings) string {
	i := slices.IndexFunc(r.Helping, func(h Remedy) bool { return !h.overrules })
	if i < 0 {
		return ""
	}
	r.Helping[i].set(s)
	return r.line(&r.Helping[i])
}
