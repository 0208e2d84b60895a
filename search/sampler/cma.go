// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"math"
	"slices"

	"lathe/search"
	"lathe/search/mt"
)

// CMAES is the evolution strategy with covariance matrix adaptation (Hansen, "The CMA Evolution Strategy: A Tutorial",
// 2016), over the numbers that all trials have, each from 0 to 1 between its bounds. Choices and what stands under a
// condition are drawn by themselves. Nothing is kept but the generation of each trial: mean, step and covariance follow
// from the trials, in the order of their numbers, so that workers agree. It is as good as Optuna's, and draws other
// numbers: those go through eigenvectors, whose signs depend on the library.
type CMAES struct {
	dims []search.Parameter
	rng  *mt.Generator
	now  *covariance // after the generations of seen
	seen [][]int
}

// cmaKey is the attribute of a trial, of the system, that has its generation.
const cmaKey = "lathe:cma_generation"

// firstStep is the deviation in the beginning, of a range of 1.
const firstStep = 1.0 / 6

// NewCMAES draws from a seed.
func NewCMAES(seed uint32, space search.Space) *CMAES {
	s := &CMAES{rng: mt.New(seed)}
	for _, p := range space {
		if p.When == nil && p.Dist.Kind != search.Categorical && !p.Dist.Single() {
			s.dims = append(s.dims, p)
		}
	}
	return s
}

// Name is "cmaes".
func (s *CMAES) Name() string { return "cmaes" }

// Reseed begins the stream of a seed.
func (s *CMAES) Reseed(seed uint32) { s.rng.Seed(seed) }

// Independent draws a parameter by itself, uniformly.
func (s *CMAES) Independent(h *search.History, d *search.Draft, name string, dist *search.Distribution) float64 {
	return (&Random{s.rng}).Independent(h, d, name, dist)
}

// population is how many trials a generation has.
func (s *CMAES) population() int { return 4 + int(3*math.Log(float64(len(s.dims)))) }

// Relative draws from the distribution of the generation; the first trial of a study, and those of several objectives,
// are drawn one by one.
func (s *CMAES) Relative(h *search.History, d *search.Draft) search.Values {
	if len(s.dims) == 0 || len(h.Directions) > 1 || h.Count(search.Complete) == 0 {
		return nil
	}
	lists := s.generations(h)
	if s.now == nil || !slices.EqualFunc(s.seen, lists[:min(len(s.seen), len(lists))], slices.Equal) { // another study
		s.seen, s.now = nil, newCovariance(len(s.dims))
	}
	for _, trials := range lists[len(s.seen):] {
		points := make([][]float64, len(trials))
		for i, n := range trials {
			points[i] = s.point(h, n)
		}
		s.now.update(points)
		s.seen = append(s.seen, trials)
	}
	generation, c := len(lists), s.now
	d.Trial = append(d.Trial, search.Attr{System: true, Key: cmaKey, Value: search.Encode(generation)})
	out := search.Values{}
	for i, v := range c.draw(s.rng) {
		low, high := s.dims[i].Dist.Bounds()
		out[s.dims[i].Name] = s.dims[i].Dist.Nearest(low + (high-low)*v)
	}
	return out
}

// generations are the complete trials of each generation that is full, the best first.
func (s *CMAES) generations(h *search.History) (out [][]int) {
	for n := range h.Len() {
		var g int
		if h.State(n) != search.Complete || !h.Attribute(n, cmaKey, &g) || g < 0 || g > h.Len() || s.point(h, n) == nil {
			continue
		}
		for len(out) <= g {
			out = append(out, nil)
		}
		if len(out[g]) < s.population() {
			out[g] = append(out[g], n)
		}
	}
	full := slices.IndexFunc(out, func(list []int) bool { return len(list) < s.population() })
	if full >= 0 {
		out = out[:full]
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b int) int {
			va, _ := h.Violation(a)
			vb, _ := h.Violation(b)
			return cmp.Or(cmp.Compare(max(va, 0), max(vb, 0)), cmp.Compare(h.Losses(a)[0], h.Losses(b)[0]))
		})
	}
	return out
}

// point is a trial from 0 to 1; nil where it lacks a number.
func (s *CMAES) point(h *search.History, n int) []float64 {
	out := make([]float64, len(s.dims))
	for i, p := range s.dims {
		v, ok := h.Column(p.Name).Value(n)
		if !ok {
			return nil
		}
		low, high := p.Dist.Bounds()
		out[i] = (p.Dist.Within(v) - low) / (high - low)
	}
	return out
}
