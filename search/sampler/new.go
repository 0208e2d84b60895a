// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/search"
)

// kind is a sampler by its name.
type kind struct {
	name string
	make func(seed uint32, space search.Space) (search.Sampler, error)
}

var kinds = []kind{
	{"tpe", func(seed uint32, space search.Space) (search.Sampler, error) {
		return NewTPE(seed, TPEOptions{Group: conditional(space)}), nil
	}},
	{"optuna4:tpe", func(seed uint32, _ search.Space) (search.Sampler, error) {
		return NewTPE(seed, TPEOptions{Four: true}), nil
	}},
	{"nsga2", func(seed uint32, _ search.Space) (search.Sampler, error) { return NewNSGA2(seed, NSGAOptions{}), nil }},
	{"cmaes", func(seed uint32, space search.Space) (search.Sampler, error) { return NewCMAES(seed, space), nil }},
	{"random", func(seed uint32, _ search.Space) (search.Sampler, error) { return NewRandom(seed), nil }},
	{"qmc", func(seed uint32, space search.Space) (search.Sampler, error) { return NewQMC(seed, space), nil }},
	{"brute", func(seed uint32, space search.Space) (search.Sampler, error) {
		s, ok := NewBrute(seed, space)
		if !ok {
			return nil, tooMany(math.Pow(10, space.Size()))
		}
		return s, nil
	}},
	{"grid", func(seed uint32, space search.Space) (search.Sampler, error) {
		axes, points := Axes(space, 5)
		if points > MostPoints {
			return nil, tooMany(points)
		}
		return NewGrid(seed, axes), nil
	}},
}

// tooMany is error L1102.
func tooMany(points float64) error {
	return diag.New(diag.SpaceSize, "", "every point of the space is to be tried, and it has %.3g; at most %d", points,
		MostPoints).WithHint("narrow the ranges, or take --sampler tpe")
}

// conditional says that some parameters are there under some choices only.
func conditional(space search.Space) bool {
	return slices.ContainsFunc(space, func(p search.Parameter) bool { return p.When != nil })
}

// Names are those that New takes, the usual one first.
func Names() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.name
	}
	return out
}

// New is the sampler of a name, with its usual options; nil for a name that is not in Names. Error L1102 where the
// space is too large for it.
func New(name string, seed uint32, space search.Space) (search.Sampler, error) {
	for _, k := range kinds {
		if k.name == name {
			return k.make(seed, space)
		}
	}
	return nil, nil
}
