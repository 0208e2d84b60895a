// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"math"

	"lathe/search"
	"lathe/search/mt"
)

// TPEOptions are those of TPE; what is 0 is as usual.
type TPEOptions struct {
	// Four draws as Optuna 4 did.
	Four bool
	// Multivariate draws parameters together; nil: with one objective, and not in version 4.
	Multivariate *bool
	// Group divides them into groups that trials have all of, or nothing.
	Group bool
	// Liar counts trials that run among the bad ones, so that several workers keep apart; nil: not in version 4.
	Liar *bool
	// Startup is how many trials are drawn at random first, 10; Candidates how many are drawn each time, 24.
	Startup, Candidates int
}

// TPE is the tree-structured Parzen estimator (Bergstra et al., 2011; Watanabe, 2023): trials are divided into good and
// bad ones, both become densities, and of some points drawn from the good one the best ratio of both is taken.
type TPE struct {
	options TPEOptions
	start   *Random
	rng     *mt.Generator
	// what was divided last: trials of one draft
	draft *search.Draft
	split split
}

// NewTPE draws from a seed.
func NewTPE(seed uint32, o TPEOptions) *TPE {
	if o.Startup == 0 {
		o.Startup = 10
	}
	if o.Candidates == 0 {
		o.Candidates = 24
	}
	return &TPE{options: o, start: NewRandom(seed), rng: mt.New(seed)}
}

// Name is "tpe", or "optuna4:tpe".
func (s *TPE) Name() string {
	if s.options.Four {
		return "optuna4:tpe"
	}
	return "tpe"
}

// Reseed begins both streams of a seed.
func (s *TPE) Reseed(seed uint32) {
	s.start.Reseed(seed)
	s.rng.Seed(seed)
}

func (s *TPE) multivariate(h *search.History) bool {
	if s.options.Multivariate != nil {
		return *s.options.Multivariate
	}
	return !s.options.Four && len(h.Directions) == 1
}

func (s *TPE) liar() bool {
	if s.options.Liar != nil {
		return *s.options.Liar
	}
	return !s.options.Four
}

// begun says that there are trials enough to learn from.
func (s *TPE) begun(h *search.History) bool {
	return h.Count(search.Complete, search.Pruned) >= s.options.Startup
}

// Relative draws the parameters that all trials have together, or those of each group.
func (s *TPE) Relative(h *search.History, d *search.Draft) search.Values {
	if !s.multivariate(h) || !s.begun(h) {
		return nil
	}
	spaces := [][]search.Named{h.Common(true)}
	if s.options.Group {
		spaces = h.Groups()
	}
	out := search.Values{}
	for _, space := range spaces {
		if len(space) == 0 {
			continue
		}
		for i, v := range s.draw(h, d, space) {
			out[space[i].Name] = v
		}
	}
	return out
}

// Independent draws one parameter.
func (s *TPE) Independent(h *search.History, d *search.Draft, name string, dist *search.Distribution) float64 {
	if !s.begun(h) {
		return s.start.Independent(h, d, name, dist)
	}
	return s.draw(h, d, []search.Named{{Name: name, Dist: dist}})[0]
}

// draw draws candidates of a space from the good trials, and returns the one whose ratio to the bad ones is best.
func (s *TPE) draw(h *search.History, d *search.Draft, space []search.Named) []float64 {
	if s.draft != d {
		s.draft, s.split = d, divide(h, s.options.Four, s.liar())
	}
	w := widths{scott: s.options.Four && s.multivariate(h), params: len(space)}
	below := s.density(h, space, s.split.below, s.split.weights, w)
	above := s.density(h, space, s.split.above, nil, w)
	points := below.sample(s.rng, s.options.Candidates)
	good, bad := below.score(points), above.score(points)
	best, most := 0, math.Inf(-1)
	for k := range good {
		if r := good[k] - bad[k]; r > most {
			best, most = k, r
		}
	}
	out := make([]float64, len(space))
	for i := range space {
		out[i] = points[i][best]
	}
	return out
}

// density is that of the trials which have all parameters of a space. weights are those of the trials; nil: as usual.
func (s *TPE) density(h *search.History, space []search.Named, trials []int, weights []float64, w widths) *parzen {
	columns, from := make([][]float64, len(space)), make([]*search.Column, len(space))
	for i, p := range space {
		columns[i], from[i] = make([]float64, 0, len(trials)), h.Column(p.Name)
	}
	kept := []float64{}
	places := make([]int32, h.Len()) // of a trial among those that have all, from 1; 0: it is not among them
	n := 0
next:
	for t, number := range trials {
		for i, p := range space {
			v, ok := from[i].Value(number)
			if !ok {
				for k := range columns[:i] {
					columns[k] = columns[k][:n]
				}
				continue next
			}
			columns[i] = append(columns[i], p.Dist.Within(v))
		}
		n++
		places[number] = int32(n)
		if weights != nil {
			kept = append(kept, weights[t])
		}
	}
	if weights == nil {
		kept = fading(n)
	}
	order := func(i int) []int32 { return placed(from[i], places, n) }
	return newParzen(space, columns, order, kept, w)
}

// placed are the places of trials by the value of a parameter, from 0.
func placed(c *search.Column, places []int32, n int) []int32 {
	out := make([]int32, 0, n)
	if c == nil || n == 0 {
		return out
	}
	for _, number := range c.Sorted() {
		if k := places[number]; k > 0 {
			out = append(out, k-1)
		}
	}
	return out
}
