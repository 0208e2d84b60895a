// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"math"

	"lathe/search"
	"lathe/search/mt"
)

// QMC fills the space evenly: trial n takes point n of a Halton sequence whose digits are permuted at random (Owen,
// "A randomized Halton algorithm in R", 2017). The seed alone decides the sequence, so that workers share it.
type QMC struct {
	space search.Space
	seed  uint32
	base  []int // of each parameter: the primes
	rng   *mt.Generator
}

// NewQMC draws from a seed.
func NewQMC(seed uint32, space search.Space) *QMC {
	s := &QMC{space: space, seed: seed, rng: mt.New(seed)}
	for p := 2; len(s.base) < len(space); p++ {
		prime := true
		for _, q := range s.base {
			prime = prime && p%q != 0
		}
		if prime {
			s.base = append(s.base, p)
		}
	}
	return s
}

// Name is "qmc".
func (s *QMC) Name() string { return "qmc" }

// Reseed leaves the sequence as it is; parameters outside of the space are drawn from the seed.
func (s *QMC) Reseed(seed uint32) { s.rng.Seed(seed) }

// Relative is the point of the trial's number.
func (s *QMC) Relative(_ *search.History, d *search.Draft) search.Values {
	out := search.Values{}
	for i, p := range s.space {
		u := s.point(i, d.Number)
		if p.Dist.Kind == search.Categorical {
			out[p.Name] = math.Floor(u * float64(len(p.Dist.Choices)))
			continue
		}
		low, high := p.Dist.Bounds()
		out[p.Name] = p.Dist.Nearest(low + (high-low)*u)
	}
	return out
}

// point is coordinate i of point n: the digits of n in a prime base, each permuted, behind the point; in [0, 1).
func (s *QMC) point(i, n int) float64 {
	g := mt.New(s.seed + uint32(i)*0x9e3779b9)
	base, scale, u := s.base[i], 1.0, 0.0
	digits := make([]int, base)
	for scale > 1e-9 { // zeros in front of n are permuted too
		for k := range digits {
			digits[k] = k
		}
		g.Shuffle(base, func(a, b int) { digits[a], digits[b] = digits[b], digits[a] })
		scale /= float64(base)
		u += scale * float64(digits[n%base])
		n /= base
	}
	return math.Min(u, math.Nextafter(1, 0))
}

// Independent draws a parameter that the space does not have.
func (s *QMC) Independent(h *search.History, d *search.Draft, name string, dist *search.Distribution) float64 {
	return (&Random{s.rng}).Independent(h, d, name, dist)
}
