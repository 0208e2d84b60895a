// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"lathe/search"
	"lathe/search/searchtest"
)

// folder is where recorded studies lie: those of the project, or of whoever has more.
func folder() string {
	return cmp.Or(os.Getenv("LATHE_OPTUNA_TRACES"), filepath.Join("..", "searchtest", "testdata"))
}

// tally counts draws of one sampler.
type tally struct{ traces, draws, near, differ, unknown int }

// TestTraces has every sampler draw what Optuna drew, with the trials before as they were recorded. Only where the best
// two candidates are nearly equal may a draw differ, and that in one draw of a hundred at most.
func TestTraces(t *testing.T) {
	files, err := searchtest.Read(folder())
	if err != nil {
		t.Fatal(err)
	}
	tallies := map[string]*tally{}
	for _, f := range files {
		for i := range f.Traces {
			tr := &f.Traces[i]
			name := fmt.Sprintf("%s/%s/%d-%s", f.Optuna, tr.Sampler, i, f.Spaces[tr.Space].Name)
			key := tr.Sampler
			if tallies[key] == nil {
				tallies[key] = &tally{}
			}
			t.Run(name, func(t *testing.T) { replay(t, f, tr, tallies[key]) })
		}
	}
	for key, c := range tallies {
		t.Logf("%s: %d traces, %d draws, %d in near ties, %d of those differ", key, c.traces, c.draws, c.near, c.differ)
		if c.differ*100 > c.draws {
			t.Errorf("%s: %d of %d draws differ in near ties, more than one of a hundred", key, c.differ, c.draws)
		}
		if c.unknown == 0 && c.draws == 0 {
			t.Errorf("%s: nothing was drawn", key)
		}
	}
}

// replay draws the trials of one trace.
func replay(t *testing.T, f *searchtest.File, tr *searchtest.Trace, c *tally) {
	space := &f.Spaces[tr.Space]
	s := made(f, tr)
	if s == nil {
		c.unknown++
		return
	}
	c.traces++
	ties := map[int]int{}
	for _, tie := range tr.Tie {
		ties[tie[0]]++
		c.near++
	}
	h := search.NewHistory("t", tr.Directions())
	batch := max(1, tr.Options.Batch)
	wrong := 0
	for k := 0; k < len(tr.Trials); k += batch {
		var open []*search.Trial
		for n := k; n < min(k+batch, len(tr.Trials)); n++ {
			row, err := tr.Row(n, len(space.Params))
			if err != nil {
				t.Fatal(err)
			}
			trial, missed := draw(h, s, space, n, row, c)
			switch {
			case len(missed) > 0 && ties[n] > 0:
				c.differ += len(missed)
			case len(missed) > 0:
				wrong += len(missed)
				if wrong <= 3 {
					t.Errorf("trial %d: %v", n, missed)
				}
			}
			h.Put(trial)
			finish(trial, row)
			open = append(open, trial)
		}
		for _, trial := range open {
			h.Put(trial)
		}
	}
	if wrong > 3 {
		t.Errorf("%d draws differ", wrong)
	}
}

// draw has the sampler draw a trial, and returns it with the recorded values, and what was drawn otherwise.
func draw(h *search.History, s search.Sampler, space *searchtest.Space, n int, row searchtest.Row, c *tally) (
	trial *search.Trial, missed []string) {
	d := search.Draft{Number: n}
	relative := s.Relative(h, &d)
	trial = &search.Trial{ID: int64(n), Number: n}
	for i, p := range space.Params {
		want, dist := row.Params[i], space.Parsed[i]
		if want == nil {
			continue
		}
		if !dist.Single() {
			got, ok := relative[p.Name]
			if !ok || !dist.Contains(got) {
				got = s.Independent(h, &d, p.Name, dist)
			}
			c.draws++
			if math.Abs(got-*want) > 1e-9*math.Abs(*want)+1e-12 {
				missed = append(missed, fmt.Sprintf("%s is %.12g, want %.12g", p.Name, got, *want))
			}
		}
		trial.Params = append(trial.Params, search.Param{Name: p.Name, Dist: dist, Value: *want})
	}
	for _, a := range d.Trial {
		trial.Set(a)
	}
	for _, a := range d.Study {
		h.System[a.Key] = a.Value
	}
	return trial, missed
}

// finish gives a trial its recorded end: of a pruned one, what it reported before.
func finish(t *search.Trial, row searchtest.Row) {
	*t = *t.Clone() // the history has the trial as it ran
	t.State = row.State
	switch row.State {
	case search.Pruned:
		t.Steps = []search.Step{{Step: t.Number % 3, Value: row.Values[0] + 0.1}}
	case search.Complete:
		t.Values = row.Values
	}
	if row.Constraints != nil {
		t.Set(search.ConstraintAttr(row.Constraints))
	}
}

// made is the sampler of a trace; nil for those that nothing repeats.
func made(f *searchtest.File, tr *searchtest.Trace) search.Sampler {
	space := &f.Spaces[tr.Space]
	switch tr.Sampler {
	case "random":
		return NewRandom(tr.Seed)
	case "grid":
		var axes []Axis
		for i, p := range space.Params {
			axes = append(axes, Axis{p.Name, space.Parsed[i], gridValues(space.Parsed[i])})
		}
		return NewGrid(tr.Seed, axes)
	case "nsgaii":
		return NewNSGA2(tr.Seed, NSGAOptions{Population: int(searchtest.Number(tr.Kwargs, "population_size", 0)),
			Mutation: searchtest.Number(tr.Kwargs, "mutation_prob", 0),
			Swapping: searchtest.Number(tr.Kwargs, "swapping_prob", 0)})
	case "tpe":
		o := TPEOptions{Four: f.Optuna < "5", Group: searchtest.Truth(tr.Kwargs, "group", false),
			Startup:    int(searchtest.Number(tr.Kwargs, "n_startup_trials", 0)),
			Candidates: int(searchtest.Number(tr.Kwargs, "n_ei_candidates", 0))}
		for name, to := range map[string]**bool{"multivariate": &o.Multivariate, "constant_liar": &o.Liar} {
			if v, ok := tr.Kwargs[name].(bool); ok {
				*to = &v
			}
		}
		return NewTPE(tr.Seed, o)
	}
	return nil
}

// gridValues are those that the recording gave Optuna's grid: the first six.
func gridValues(d *search.Distribution) []float64 {
	step, n := d.Step, 6
	switch {
	case d.Kind == search.Categorical:
		step, n = 1, min(n, len(d.Choices))
	case step == 0:
		step = (d.High - d.Low) / 3
	}
	if d.Kind != search.Categorical {
		n = min(n, int(math.Round((d.High-d.Low)/step))+1)
	}
	var out []float64
	for i := range n {
		out = append(out, d.Low+float64(i)*step)
	}
	return out
}
