// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"math"
	"slices"

	"lathe/search"
	"lathe/search/mt"
)

// Axis is one parameter of a grid: the values that are tried.
type Axis struct {
	Name   string
	Dist   *search.Distribution
	Values []float64
}

// Grid tries every point of a grid once, in an order that the seed decides. Trial n takes point n; behind the last one,
// or where some trial before took another, a point that nobody has tried.
type Grid struct {
	axes  []Axis // by name
	order []int
	rng   *mt.Generator
	size  int
}

// MostPoints bounds the points of a grid.
const MostPoints = 1 << 20

// NewGrid is the grid of some axes. It has at most MostPoints points.
func NewGrid(seed uint32, axes []Axis) *Grid {
	s := &Grid{axes: slices.Clone(axes), size: 1}
	slices.SortFunc(s.axes, func(a, b Axis) int { return cmp.Compare(a.Name, b.Name) })
	for _, a := range s.axes {
		s.size *= len(a.Values)
	}
	s.order = make([]int, s.size)
	for i := range s.order {
		s.order[i] = i
	}
	s.rng = mt.New(seed)
	s.rng.Shuffle(s.size, func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
	return s
}

// Axes are all values of the parameters of a space, of a float without a step so many, evenly spread. Points is the
// size of their grid.
func Axes(space search.Space, floats int) (axes []Axis, points float64) {
	points = 1
	for _, p := range space {
		d := p.Dist
		a := Axis{Name: p.Name, Dist: d}
		count := d.Count()
		if count <= MostPoints {
			for i := range int(count) {
				a.Values = append(a.Values, d.Low+float64(i)*max(d.Step, float64(min(1, len(d.Choices)))))
			}
		} else {
			low, high := d.Bounds()
			for i := range floats {
				a.Values = append(a.Values, d.Nearest(low+(high-low)*float64(i)/float64(max(1, floats-1))))
			}
		}
		points *= float64(len(a.Values))
		axes = append(axes, a)
	}
	return axes, points
}

// Name is "grid".
func (s *Grid) Name() string { return "grid" }

// Reseed begins the stream from which points behind the last are drawn; the order stays.
func (s *Grid) Reseed(seed uint32) { s.rng.Seed(seed) }

// Attributes of trials, as Optuna has them.
const pointKey, gridKey = "grid_id", "search_space"

// Relative chooses the point of the trial: all its values.
func (s *Grid) Relative(h *search.History, d *search.Draft) search.Values {
	at := d.Number
	if at >= s.size {
		at = s.unvisited(h, d.Number)
	}
	d.Trial = append(d.Trial, search.Attr{System: true, Key: gridKey, Value: s.axesJSON()},
		search.Attr{System: true, Key: pointKey, Value: search.Encode(at)})
	values := search.Values{}
	rest := s.order[at]
	for i := len(s.axes) - 1; i >= 0; i-- {
		a := &s.axes[i]
		values[a.Name] = a.Values[rest%len(a.Values)]
		rest /= len(a.Values)
	}
	return values
}

// Exhausted says that every point was proposed.
func (s *Grid) Exhausted(h *search.History) bool { return len(s.free(h, h.Len())) == 0 }

// axesJSON are the values of each axis.
func (s *Grid) axesJSON() []byte {
	text := []byte{'{'}
	for i, a := range s.axes {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, search.Encode(a.Name)...), ':', '[')
		for k, v := range a.Values {
			if k > 0 {
				text = append(text, ',')
			}
			text = append(text, a.Dist.JSON(v)...)
		}
		text = append(text, ']')
	}
	return append(text, '}')
}

// unvisited is a point that no trial before has; any of all, where there is none.
func (s *Grid) unvisited(h *search.History, before int) int {
	free := s.free(h, before)
	if len(free) == 0 {
		return s.rng.Choice(s.size)
	}
	return free[s.rng.Choice(len(free))]
}

// free are the points that no trial before a number has.
func (s *Grid) free(h *search.History, before int) (free []int) {
	taken := make([]bool, s.size)
	for n := range min(before, h.Len()) {
		var at int
		if h.Attribute(n, pointKey, &at) && at >= 0 && at < s.size {
			taken[at] = true
		}
	}
	for i, t := range taken {
		if !t {
			free = append(free, i)
		}
	}
	return free
}

// Independent is the middle of a parameter that the grid does not have.
func (s *Grid) Independent(_ *search.History, _ *search.Draft, _ string, d *search.Distribution) float64 {
	low, high := d.Bounds()
	return d.Nearest(math.Floor((low + high) / 2))
}
