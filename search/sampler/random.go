// SPDX-License-Identifier: Apache-2.0

// Package sampler draws the parameters of trials, each sampler in one file. With the same seed and the same trials they
// draw what Optuna's samplers draw, number by number: recorded studies hold them to it.
package sampler

import (
	"lathe/search"
	"lathe/search/mt"
)

// Random draws each parameter by itself, uniformly: numbers between the bounds of their range, or of its logarithm.
type Random struct{ rng *mt.Generator }

// NewRandom draws from a seed.
func NewRandom(seed uint32) *Random { return &Random{mt.New(seed)} }

// Name is "random".
func (s *Random) Name() string { return "random" }

// Reseed begins the stream of a seed.
func (s *Random) Reseed(seed uint32) { s.rng.Seed(seed) }

// Relative draws nothing.
func (s *Random) Relative(*search.History, *search.Draft) search.Values { return nil }

// Independent draws one double for a number; of a choice, one for each of its values, the largest of which wins.
func (s *Random) Independent(_ *search.History, _ *search.Draft, _ string, d *search.Distribution) float64 {
	if d.Kind != search.Categorical {
		low, high := d.Bounds()
		return d.Nearest(s.rng.Uniform(low, high))
	}
	best, most := 0, -1.0
	for i := range d.Choices {
		if u := s.rng.Float64(); u > most {
			best, most = i, u
		}
	}
	return float64(best)
}
