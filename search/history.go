// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// History is what samplers and pruners know of a study, by columns: what trials were worth, and the values of each
// parameter by the number of the trial. Put feeds it; they only read it.
type History struct {
	// Name is that of the study.
	Name       string
	Directions []Direction
	// System are the attributes of the study where samplers keep what all workers share.
	System Attributes

	records []record
	columns map[string]*Column
	// common and kept are the parameters that all complete trials have alike, and those that all complete and pruned ones
	// have; nil before the first.
	common, kept map[string]*Distribution
	// sets are the different sets of parameters of complete and pruned trials, by the first trial that has them.
	sets []parameterSet
	// ended counts trials by state.
	ended [len("RCPFW")]int
}

// record is a trial without its parameters.
type record struct {
	id        int64
	state     State
	values    []float64
	steps     []Step
	violation float64 // the sum of what breaks limits; NaN where nothing says so
	system    Attributes
}

// Column is one parameter: its value by the number of the trial, NaN where a trial does not have it.
type Column struct {
	Values []float64
	// Dists are the ranges that the parameter had; which one by trial, -1 for none.
	Dists []*Distribution
	which []int32

	sorted, added []int32 // see Sorted: those in order, and those that came since
}

// Sorted are the numbers of the trials that have the parameter, by its value and then by number.
func (c *Column) Sorted() []int32 {
	if len(c.added) == 0 {
		return c.sorted
	}
	before := func(a, b int32) int { return cmp.Or(cmp.Compare(c.Values[a], c.Values[b]), cmp.Compare(a, b)) }
	slices.SortFunc(c.added, before)
	old := c.sorted
	c.sorted = make([]int32, 0, len(old)+len(c.added))
	for _, n := range c.added {
		at, _ := slices.BinarySearchFunc(old, n, before)
		c.sorted, old = append(append(c.sorted, old[:at]...), n), old[at:]
	}
	c.sorted, c.added = append(c.sorted, old...), c.added[:0]
	return c.sorted
}

// Dist is the range of the parameter in a trial; nil where it does not have it.
func (c *Column) Dist(number int) *Distribution {
	if number >= len(c.which) || c.which[number] < 0 {
		return nil
	}
	return c.Dists[c.which[number]]
}

// Value is that of a trial, and whether it has one.
func (c *Column) Value(number int) (float64, bool) {
	if c == nil || number >= len(c.which) || c.which[number] < 0 {
		return 0, false
	}
	return c.Values[number], true
}

func (c *Column) set(number int, p Param) {
	for len(c.Values) <= number {
		c.Values, c.which = append(c.Values, math.NaN()), append(c.which, -1)
	}
	switch {
	case c.which[number] < 0:
		c.added = append(c.added, int32(number))
	case c.Values[number] != p.Value: // somebody has overwritten it
		gone := func(n int32) bool { return n == int32(number) }
		c.sorted, c.added = slices.DeleteFunc(c.sorted, gone), append(slices.DeleteFunc(c.added, gone), int32(number))
	}
	at := slices.IndexFunc(c.Dists, p.Dist.Equal)
	if at < 0 {
		at, c.Dists = len(c.Dists), append(c.Dists, p.Dist)
	}
	c.Values[number], c.which[number] = p.Value, int32(at)
}

// parameterSet is a set of parameters, and the first trial that has it.
type parameterSet struct {
	first int
	names []string
	dists map[string]*Distribution
}

// NewHistory is that of a study without trials.
func NewHistory(name string, directions []Direction) *History {
	return &History{Name: name, Directions: directions, System: Attributes{}, columns: map[string]*Column{}}
}

// Put adds a trial or what has become of it. A finished trial does not change any more.
func (h *History) Put(t *Trial) {
	for len(h.records) <= t.Number {
		h.records = append(h.records, record{state: Waiting, violation: math.NaN()})
		h.ended[Waiting]++
	}
	r := &h.records[t.Number]
	if r.state.Finished() {
		return
	}
	h.ended[r.state]--
	h.ended[t.State]++
	*r = record{id: t.ID, state: t.State, values: t.Values, steps: t.Steps, violation: math.NaN(), system: t.System}
	if list := t.Constraints(); list != nil {
		r.violation = violation(list)
	}
	for _, p := range t.Params {
		c := h.columns[p.Name]
		if c == nil {
			c = &Column{}
			h.columns[p.Name] = c
		}
		c.set(t.Number, p)
	}
	if t.State == Complete {
		h.common = intersect(h.common, t.Params)
	}
	if t.State == Complete || t.State == Pruned {
		h.kept = intersect(h.kept, t.Params)
		h.addSet(t)
	}
}

// violation is the sum of what breaks limits.
func violation(list []float64) (sum float64) {
	for _, c := range list {
		sum += max(0, c)
	}
	return sum
}

// intersect keeps what a trial has too, with the same range.
func intersect(have map[string]*Distribution, params []Param) map[string]*Distribution {
	if have == nil {
		have = map[string]*Distribution{}
		for _, p := range params {
			have[p.Name] = p.Dist
		}
		return have
	}
	maps.DeleteFunc(have, func(name string, d *Distribution) bool {
		return !slices.ContainsFunc(params, func(p Param) bool { return p.Name == name && p.Dist.Equal(d) })
	})
	return have
}

func (h *History) addSet(t *Trial) {
	set := parameterSet{first: t.Number, dists: map[string]*Distribution{}}
	for _, p := range t.Params {
		set.names, set.dists[p.Name] = append(set.names, p.Name), p.Dist
	}
	slices.Sort(set.names)
	for i := range h.sets {
		if slices.Equal(h.sets[i].names, set.names) {
			h.sets[i].first = min(h.sets[i].first, set.first)
			return
		}
	}
	h.sets = append(h.sets, set)
}

// Groups divides the parameters of complete and pruned trials into sub-spaces, so that each trial has all of a group or
// nothing of it: every trial, in order, splits the groups that it has some of.
func (h *History) Groups() [][]Named {
	sets := slices.SortedStableFunc(slices.Values(h.sets), func(a, b parameterSet) int { return a.first - b.first })
	var groups []map[string]*Distribution
	for _, s := range sets {
		rest := maps.Clone(s.dists)
		var next []map[string]*Distribution
		add := func(g map[string]*Distribution) {
			if len(g) > 0 {
				next = append(next, g)
			}
		}
		for _, g := range groups {
			in, out := map[string]*Distribution{}, map[string]*Distribution{}
			for name, d := range g {
				if _, has := s.dists[name]; has {
					in[name] = d
				} else {
					out[name] = d
				}
				delete(rest, name)
			}
			add(in)
			add(out)
		}
		add(rest)
		groups = next
	}
	out := make([][]Named, len(groups))
	for i, g := range groups {
		out[i] = sorted(g)
	}
	return out
}

// Named is a parameter with its range.
type Named struct {
	Name string
	Dist *Distribution
}

// Common are the parameters that all complete trials have alike, and with pruned those that all pruned ones have too:
// by name, without those of one value.
func (h *History) Common(pruned bool) []Named {
	if pruned {
		return sorted(h.kept)
	}
	return sorted(h.common)
}

func sorted(space map[string]*Distribution) []Named {
	var out []Named
	for _, name := range slices.Sorted(maps.Keys(space)) {
		if d := space[name]; !d.Single() {
			out = append(out, Named{name, d})
		}
	}
	return out
}

// Len is one more than the largest number of a trial.
func (h *History) Len() int { return len(h.records) }

// Count is the number of trials in some states.
func (h *History) Count(states ...State) int {
	n := 0
	for _, s := range states {
		n += h.ended[s]
	}
	return n
}

// State is that of a trial.
func (h *History) State(number int) State { return h.records[number].state }

// ID is that of a trial in its storage.
func (h *History) ID(number int) int64 { return h.records[number].id }

// Number is the trial of an ID; false where there is none.
func (h *History) Number(id int64) (int, bool) {
	// Numbers rise with IDs.
	return slices.BinarySearchFunc(h.records, id, func(r record, id int64) int { return int(r.id - id) })
}

// Values are those of a trial, one for each objective; nil unless it is Complete.
func (h *History) Values(number int) []float64 { return h.records[number].values }

// Losses are Values with the sign by which less is better.
func (h *History) Losses(number int) []float64 {
	out := slices.Clone(h.records[number].values)
	for i := range out {
		if h.Directions[i] == Maximize {
			out[i] = -out[i]
		}
	}
	return out
}

// Violation is by how much a trial breaks limits, in sum, and whether it tells.
func (h *History) Violation(number int) (float64, bool) {
	v := h.records[number].violation
	return v, !math.IsNaN(v)
}

// Infeasible says that a trial breaks limits.
func (h *History) Infeasible(number int) bool { return h.records[number].violation > 0 }

// Steps are what a trial reported on its way, rising.
func (h *History) Steps(number int) []Step { return h.records[number].steps }

// Attribute reads one that a sampler or a pruner gave a trial into to; false where there is none.
func (h *History) Attribute(number int, key string, to any) bool {
	raw, ok := h.records[number].system[key]
	return ok && json.Unmarshal(raw, to) == nil
}

// Column is a parameter; nil before any trial has it.
func (h *History) Column(name string) *Column { return h.columns[name] }

// Better says that a value of objective 0 is better than another one.
func (h *History) Better(a, b float64) bool {
	if h.Directions[0] == Maximize {
		return a > b
	}
	return a < b
}

// String tells how many trials are in which state: "3 COMPLETE, 1 RUNNING".
func (h *History) String() string {
	var parts []string
	for _, s := range []State{Complete, Pruned, Fail, Running, Waiting} {
		if n := h.ended[s]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+s.String())
		}
	}
	return strings.Join(parts, ", ")
}
