// SPDX-License-Identifier: Apache-2.0

package space

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/choose"
	"lathe/internal/diag"
	"lathe/lower/plan"
	"lathe/search/pruner"
)

// rung is how well a trial is known at a step that the pruner hears of.
type rung struct {
	step int
	text string
	// samples are those that are measured on; 0: all.
	samples int
	// trains says that the quantized model is trained before, for so many steps, 0 for the epochs of [train].
	trains bool
	steps  int
}

// Report hears what a trial is worth at a step, and says whether it is to end.
type Report func(step int, value float64) (end bool, err error)

// proxySamples is on how many samples a proxy is measured that does not say.
const proxySamples = 64

// rungWords are what a rung may be.
var rungWords = []string{"proxy", "ptq", "qat"}

// readRung reads "proxy:64", "ptq", "qat:200" or "qat:full".
func readRung(key, text string) (r rung, err error) {
	word, more, given := strings.Cut(text, ":")
	n, wrong := strconv.Atoi(more)
	r.text = text
	if r.step, err = strconv.Atoi(key); err != nil || r.step < 1 {
		return r, fmt.Errorf("rung %q is no step: write 1 = \"ptq\", 3 = \"qat:200\"", key)
	}
	switch {
	case !slices.Contains(rungWords, word):
		return r, unknown("rung", word, rungWords)
	case word == "proxy" && !given:
		r.samples = proxySamples
	case word == "proxy" && wrong == nil && n > 0:
		r.samples = n
	case word == "ptq" && !given:
	case word == "qat" && more == "full":
		r.trains = true
	case word == "qat" && wrong == nil && n > 0:
		r.trains, r.steps = true, n
	default:
		return r, fmt.Errorf("rung %d = %q: write \"proxy:64\" with a number of samples, \"ptq\", or \"qat:200\" with a "+
			"number of steps, or \"qat:full\"", r.step, text)
	}
	return r, nil
}

// climbs reads the table [rung], and the name of the pruner.
func (r *reader) climbs(f *file) {
	if f.Study.Pruner != "" && !slices.Contains(pruner.Names(), f.Study.Pruner) {
		r.fail("study.pruner", unknown("pruner", f.Study.Pruner, pruner.Names()))
	}
	s := r.space
	full := false
	for key, text := range f.Rung {
		one, err := readRung(key, text)
		if err == nil && one.trains && r.meter.Train == nil {
			err = diag.New(diag.SpaceText, "", "trials that are trained need labels of the samples of --data").
				WithHint("add --labels Y.npy")
		}
		if err != nil {
			r.fail("rung."+key, err)
		}
		full = full || one.trains && one.steps == 0
		s.rungs = append(s.rungs, one)
	}
	slices.SortFunc(s.rungs, func(a, b rung) int { return cmp.Compare(a.step, b.step) })
	switch measured := len(s.Objectives) == 1 && !s.Objectives[0].hardware; {
	case len(f.Rung) == 0 && f.Study.Pruner != "":
		r.fail("study.pruner", fmt.Errorf("a pruner compares trials on rungs, and there are none: add a table [rung]"))
	case len(f.Rung) == 0:
	case !measured:
		r.fail("rung", fmt.Errorf("rungs are for one objective that is measured, such as accuracy; hardware may be a limit"))
	case full && s.epochs == 0:
		r.fail("rung", fmt.Errorf("qat:full trains for the epochs of [train], and there are none: add epochs = 3 there"))
	case !full && s.epochs > 0:
		r.fail("train.epochs", fmt.Errorf("the epochs of [train] are those of a rung \"qat:full\", which [rung] lacks"))
	}
}

// Climbs says that trials are measured in several steps, which a pruner compares.
func (s *Space) Climbs() bool { return len(s.rungs) > 0 }

// Fidelity says in words how trials are measured, beside what Epochs says; "" for what is usual.
func (s *Space) Fidelity() string {
	var words []string
	if s.model != nil {
		words = append(words, fmt.Sprintf("new models of %s", diag.Amount(s.model.epochs, "epoch")))
	}
	for _, r := range s.rungs {
		words = append(words, fmt.Sprintf("%d = %s", r.step, r.text))
	}
	return strings.Join(words, ", ")
}

// hardware admits no plan to more than a prediction.
func hardware(*choose.Point) bool { return false }

// climb measures a plan: its hardware, and where that breaks no limit what it is worth, from rung to rung. ended says
// that it is not known further.
func (s *Space) climb(ctx context.Context, t *choose.Meter, p *plan.Plan, report Report) (r *choose.Trial, ended bool,
	err error) {
	try := t.Try
	if s.compresses() {
		try = t.TryTrained
	}
	rungs := s.rungs
	if len(rungs) == 0 {
		rungs = []rung{{trains: s.epochs > 0}}
	}
	if s.compresses() && !s.pruned { // formats decide what it costs, and not training
		if r, err = t.Try(ctx, p, hardware); err != nil || r.Refused != "" || broken(s.violations(t, &r.Point, true)) {
			return r, false, err
		}
		r = nil
	}
	for i, g := range rungs {
		if r == nil || g.trains {
			under := *p
			if under.Train.Steps = g.steps; !g.trains {
				under.Train.Epochs = 0
			}
			if r, err = try(ctx, &under, hardware); err != nil || r.Refused != "" || broken(s.violations(t, &r.Point, true)) {
				return r, false, err
			}
		}
		if err := t.Judge(ctx, r, g.samples); err != nil {
			return nil, false, err
		}
		if len(s.rungs) == 0 || report == nil {
			continue
		}
		v, ok := s.Objectives[0].of(t, &r.Point)
		if !ok || math.IsNaN(v) {
			return r, false, nil
		}
		if ended, err = report(g.step, v); err != nil || ended && i < len(rungs)-1 { // the last one is what it is worth
			return r, ended, err
		}
	}
	return r, false, nil
}
