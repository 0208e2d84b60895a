// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"math"

	"lathe/search"
	"lathe/search/mt"
)

// Brute tries every configuration of a space once, in a random order: parameters under conditions count where they are
// there. Trials that failed count as tried. Behind the last one it draws among all.
type Brute struct {
	space search.Space
	size  int
	rng   *mt.Generator
}

// NewBrute is for a space of at most MostPoints configurations, floats without steps excluded; false for others.
func NewBrute(seed uint32, space search.Space) (*Brute, bool) {
	size := math.Round(math.Pow(10, space.Size()))
	if !(size <= MostPoints) {
		return nil, false
	}
	return &Brute{space, int(size), mt.New(seed)}, true
}

// Name is "brute".
func (s *Brute) Name() string { return "brute" }

// Reseed begins the stream of a seed.
func (s *Brute) Reseed(seed uint32) { s.rng.Seed(seed) }

// Relative draws a configuration that no trial has.
func (s *Brute) Relative(h *search.History, _ *search.Draft) search.Values {
	tried, left := s.tried(h)
	at := 0
	if left == 0 {
		at = s.rng.Choice(s.size)
	} else {
		for k := s.rng.Choice(left); ; at++ {
			if !tried[at] {
				if k == 0 {
					break
				}
				k--
			}
		}
	}
	return s.configuration(at)
}

// Exhausted says that trials have all configurations.
func (s *Brute) Exhausted(h *search.History) bool {
	_, left := s.tried(h)
	return left == 0
}

// tried are the configurations that trials have, and how many are left.
func (s *Brute) tried(h *search.History) (tried []bool, left int) {
	tried, left = make([]bool, s.size), s.size
	for n := range h.Len() {
		if h.State(n) == search.Waiting {
			continue
		}
		at, ok := s.place(func(name string) (float64, bool) { return h.Column(name).Value(n) })
		if ok && !tried[at] {
			tried[at] = true
			left--
		}
	}
	return tried, left
}

// branch is how many configurations a parameter has together with all that depends on it, by its value; for one on
// which nothing depends, each value has one.
func (s *Brute) branch(name string, value float64) int {
	n := 1
	for _, p := range s.space {
		if p.When != nil && p.When.Name == name && p.When.Value == value {
			n *= int(p.Dist.Count())
		}
	}
	return n
}

// value is value k of a parameter.
func value(d *search.Distribution, k int) float64 {
	if d.Kind == search.Categorical {
		return float64(k)
	}
	return math.Min(d.High, d.Low+float64(k)*d.Step)
}

// index is which of its values a parameter has; false for one between them.
func index(d *search.Distribution, v float64) (int, bool) {
	step := d.Step
	if d.Kind == search.Categorical {
		step = 1
	}
	if step == 0 {
		return 0, v == d.Low
	}
	k := math.Round((v - d.Low) / step)
	return int(k), k >= 0 && k < d.Count() && math.Abs(value(d, int(k))-v) <= 1e-9*math.Max(1, math.Abs(v))
}

// configuration is the one of a number: a digit for each parameter that stands alone, in which those that depend on it
// are counted along.
func (s *Brute) configuration(at int) search.Values {
	out := search.Values{}
	for _, p := range s.space {
		if p.When != nil {
			continue
		}
		total := 0
		for k := range int(p.Dist.Count()) {
			total += s.branch(p.Name, value(p.Dist, k))
		}
		digit := at % total
		at /= total
		k := 0
		for digit >= s.branch(p.Name, value(p.Dist, k)) {
			digit -= s.branch(p.Name, value(p.Dist, k))
			k++
		}
		out[p.Name] = value(p.Dist, k)
		for _, q := range s.space {
			if q.When != nil && q.When.Name == p.Name && q.When.Value == out[p.Name] {
				out[q.Name] = value(q.Dist, digit%int(q.Dist.Count()))
				digit /= int(q.Dist.Count())
			}
		}
	}
	return out
}

// place is the number of a configuration; false where a value is none of the space.
func (s *Brute) place(of func(name string) (float64, bool)) (int, bool) {
	at, unit := 0, 1
	for _, p := range s.space {
		if p.When != nil {
			continue
		}
		v, has := of(p.Name)
		k, ok := index(p.Dist, v)
		if !has || !ok {
			return 0, false
		}
		digit, total, step := 0, 0, 1
		for i := range int(p.Dist.Count()) {
			if i < k {
				digit += s.branch(p.Name, value(p.Dist, i))
			}
			total += s.branch(p.Name, value(p.Dist, i))
		}
		for _, q := range s.space {
			if q.When == nil || q.When.Name != p.Name || q.When.Value != value(p.Dist, k) {
				continue
			}
			v, has := of(q.Name)
			j, ok := index(q.Dist, v)
			if !has || !ok {
				return 0, false
			}
			digit += j * step
			step *= int(q.Dist.Count())
		}
		at += digit * unit
		unit *= total
	}
	return at, true
}

// Independent draws a parameter that the space does not have.
func (s *Brute) Independent(h *search.History, d *search.Draft, name string, dist *search.Distribution) float64 {
	return (&Random{s.rng}).Independent(h, d, name, dist)
}
