// SPDX-License-Identifier: Apache-2.0

package predictor

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"lathe/cuda"
)

// Measured is what a GPU took for launches that run one after the other.
type Measured struct {
	Name string
	Work []*Work
	Us   float64
}

// Predicted are the microseconds by a model.
func (s Measured) Predicted(m *Model, a cuda.Arch) float64 {
	seconds := 0.0
	for _, w := range s.Work {
		seconds += m.Seconds(a, w)
	}
	return seconds * 1e6
}

// Halves splits samples by the rule that is always the same: in order of their names, the first of each two fits and
// the second is held out.
func Halves(all []Measured) (fits, held []Measured) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Measured) int { return cmp.Compare(a.Name, b.Name) })
	for i, s := range all {
		if i%2 == 0 {
			fits = append(fits, s)
		} else {
			held = append(held, s)
		}
	}
	return fits, held
}

// Quality is how well a model tells samples.
type Quality struct {
	// Factor is the geometric mean of measured over predicted, or of its inverse where that is below 1: 1 is perfect.
	Factor float64
	// Near is the share of samples within 25 %: measured over predicted from 0.8 to 1.25.
	Near float64
}

// QualityOf is that of a model on samples.
func QualityOf(m *Model, a cuda.Arch, all []Measured) Quality {
	var q Quality
	for _, s := range all {
		off := math.Abs(math.Log(s.Us / s.Predicted(m, a)))
		q.Factor += off / float64(len(all))
		if off <= math.Log(1.25) {
			q.Near += 1 / float64(len(all))
		}
	}
	q.Factor = math.Exp(q.Factor)
	return q
}

// constant is one of a model, with the bounds within which it means what it says, and where the fit begins.
type constant struct {
	of               *float64
	low, start, high float64
}

func (m *Model) list() []constant {
	return []constant{
		{&m.Launch, 1, 1.5, 2.5}, {&m.Fill, 0.2, 0.8, 1.5}, {&m.Latency, 0.5, 0.9, 1.2},
		{&m.Memory, 0.7, 0.88, 0.95}, {&m.Cache, 0.3, 0.5, 0.7}, {&m.Products, 0.3, 0.62, 0.8},
		{&m.Power, 0.6, 0.7, 0.77}, {&m.Half, 0.5, 2, 4}, {&m.Overlap, 0.1, 0.4, 1}, {&m.Straight, 0.5, 0.9, 1.2},
		{&m.Result, 5, 20, 30}, {&m.Curve, 15, 40, 80}, {&m.Windows, 500, 2000, 8000},
		{&m.Requantized, 0.001, 0.008, 0.05}, {&m.Spread, 0.1, 0.4, 0.8}, {&m.Pair, 4, 8, 16},
		{&m.GroupedPair, 8, 17, 25}, {&m.Decode, 0.5, 1, 8}, {&m.Causal, 0.5, 1.5, 4}, {&m.Join, 0.2, 0.7, 1.5},
		{&m.Again, 1, 1.33, 2},
	}
}

// Fit is the model that tells samples best: by steps along each constant, then by turns of three that a generator with
// a fixed seed draws. Equal samples give equal models.
func Fit(a cuda.Arch, samples []Measured) *Model {
	m := &Model{}
	all := m.list()
	for _, c := range all {
		*c.of = c.start
	}
	best := loss(m, a, samples)
	try := func(changed []constant, factor func() float64) bool {
		before := *m
		for _, c := range changed {
			*c.of = min(max(*c.of*factor(), c.low), c.high)
		}
		if l := loss(m, a, samples); l < best-1e-9 {
			best = l
			return true
		}
		*m = before
		return false
	}
	for step := 0.25; step > 0.01; {
		better := false
		for _, c := range all {
			for _, f := range []float64{1 + step, 1 / (1 + step)} {
				better = try([]constant{c}, func() float64 { return f }) || better
			}
		}
		if !better {
			step /= 2
		}
	}
	g := rand.New(rand.NewPCG(1, 1))
	for range 4000 {
		var three []constant
		for _, at := range g.Perm(len(all))[:3] {
			three = append(three, all[at])
		}
		try(three, func() float64 { return math.Exp(0.12 * g.NormFloat64()) })
	}
	for _, c := range all {
		digits := math.Pow(10, 3-math.Floor(math.Log10(*c.of)))
		*c.of = math.Round(*c.of*digits) / digits
	}
	return m
}

// loss weighs by how much predictions are off; from a factor of 2.5 on they all weigh the same.
func loss(m *Model, a cuda.Arch, samples []Measured) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += math.Pow(min(math.Abs(math.Log(s.Us/s.Predicted(m, a))), 0.9), 1.5)
	}
	return sum
}
