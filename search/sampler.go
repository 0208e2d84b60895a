// SPDX-License-Identifier: Apache-2.0

package search

// Draft is a trial for which a sampler draws.
type Draft struct {
	Number int
	// Trial and Study are attributes of the system that the sampler wants kept: of the trial and of the study.
	Trial, Study []Attr
}

// Values are parameters by name.
type Values map[string]float64

// Sampler draws parameters. It keeps nothing but its generators; all else it reads from the history.
type Sampler interface {
	// Name is its name in messages and in the attributes of a study.
	Name() string
	// Reseed begins the streams of its generators anew.
	Reseed(seed uint32)
	// Relative draws, when a trial begins, those parameters that depend on each other; it may draw none.
	Relative(h *History, d *Draft) Values
	// Independent draws a parameter of more than one value by itself.
	Independent(h *History, d *Draft, name string, dist *Distribution) float64
}

// Finite is a sampler that has nothing new to propose at some time.
type Finite interface {
	Sampler
	// Exhausted says that it is so now.
	Exhausted(h *History) bool
}

// Pruner ends trials that promise little.
type Pruner interface {
	// Name is its name in messages and in the attributes of a study.
	Name() string
	// Prune says whether a trial, whose last report h.Steps has, is to end now. attrs are what it wants kept of it.
	Prune(h *History, number int) (end bool, attrs []Attr)
}
