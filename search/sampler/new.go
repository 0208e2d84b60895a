// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"lathe/internal/diag"
	"lathe/search"
)

// kind is a sampler by its name.
type kind struct {
	name string
	make func(seed uint32, space search.Space) (search.Sampler, error)
}

var kinds = []kind{
	{"random", func(seed uint32, _ search.Space) (search.Sampler, error) { return NewRandom(seed), nil }},
	{"grid", func(seed uint32, space search.Space) (search.Sampler, error) {
		axes, points := Axes(space, 5)
		if points > MostPoints {
			return nil, diag.New(diag.SpaceSize, "", "the grid of the space has %.3g points, more than %d", points,
				MostPoints).WithHint("narrow the ranges, or take --sampler random")
		}
		return NewGrid(seed, axes), nil
	}},
}

// Names are those that New takes.
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
