// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"lathe/search"
	"lathe/search/front"
	"lathe/search/mt"
)

// NSGAOptions are those of NSGA2; what is 0 is as usual.
type NSGAOptions struct {
	// Population is how many trials a generation has, 50.
	Population int
	// Mutation is the probability that a parameter is drawn anew; 0: one of a trial's, on average.
	Mutation float64
	// Crossover is the probability that a trial has two parents, 0.9; Swapping that a parameter is the second one's, 0.5.
	Crossover, Swapping float64
}

// NSGA2 is the genetic algorithm of Deb et al. (2002): generations of trials, of which those on the best fronts, and
// there the loneliest, become parents. What it knows of generations it keeps as attributes of trials and of the study,
// where Optuna's keeps them too.
type NSGA2 struct {
	options NSGAOptions
	random  *Random
	rng     *mt.Generator
}

// NewNSGA2 draws from a seed.
func NewNSGA2(seed uint32, o NSGAOptions) *NSGA2 {
	if o.Population == 0 {
		o.Population = 50
	}
	if o.Crossover == 0 {
		o.Crossover = 0.9
	}
	if o.Swapping == 0 {
		o.Swapping = 0.5
	}
	return &NSGA2{options: o, random: NewRandom(seed), rng: mt.New(seed)}
}

// Attributes of Optuna.
const generationKey, parentsKey = "NSGAIISampler:generation", "NSGAIISampler:parent:"

// Name is "nsga2".
func (s *NSGA2) Name() string { return "nsga2" }

// Reseed begins both streams of a seed.
func (s *NSGA2) Reseed(seed uint32) {
	s.random.Reseed(seed)
	s.rng.Seed(seed)
}

// Independent draws at random: in the first generation, and what mutates.
func (s *NSGA2) Independent(h *search.History, d *search.Draft, name string, dist *search.Distribution) float64 {
	return s.random.Independent(h, d, name, dist)
}

// Relative draws the child of two parents, or of one, without the parameters that mutate.
func (s *NSGA2) Relative(h *search.History, d *search.Draft) search.Values {
	generation := s.generation(h)
	d.Trial = append(d.Trial, search.Attr{System: true, Key: generationKey, Value: search.Encode(generation)})
	parents := s.parents(h, d, generation)
	space := h.Common(false)
	if len(parents) == 0 {
		return nil
	}
	var child []named
	if s.rng.Float64() < s.options.Crossover {
		child = s.cross(h, space, parents)
	} else {
		parent := parents[s.rng.Choice(len(parents))]
		for _, p := range space {
			child = append(child, named{p.Name, known(h, p.Name, parent)})
		}
	}
	mutation := s.options.Mutation
	if mutation == 0 {
		mutation = 1 / math.Max(1, float64(len(child)))
	}
	out := search.Values{}
	for _, c := range child {
		if s.rng.Float64() >= mutation {
			out[c.name] = c.value
		}
	}
	return out
}

// named is the value of a parameter; the order of a child's decides its draws.
type named struct {
	name  string
	value float64
}

func known(h *search.History, name string, number int) float64 {
	v, _ := h.Column(name).Value(number) // all complete trials have it
	return v
}

// generation is that of a new trial: the last one, until it has all its complete trials.
func (s *NSGA2) generation(h *search.History) int {
	last, count := 0, 0
	for n := range h.Len() {
		g := of(h, n)
		switch {
		case h.State(n) != search.Complete || g < last:
		case g > last:
			last, count = g, 1
		default:
			count++
		}
	}
	if count < s.options.Population {
		return last
	}
	return last + 1
}

// of is the generation of a trial; -1 for none.
func of(h *search.History, number int) int {
	g := -1
	h.Attribute(number, generationKey, &g)
	return g
}

// parents are those of a generation: the elite of the trials of the one before and of their parents. The first trial of
// a generation finds them, in the order of the elite; all others read them, in the order of their numbers.
func (s *NSGA2) parents(h *search.History, d *search.Draft, generation int) []int {
	if generation == 0 {
		return nil
	}
	key := fmt.Sprint(parentsKey, generation)
	if raw, ok := h.System[key]; ok {
		var ids []int64
		if json.Unmarshal(raw, &ids) == nil {
			var out []int
			for _, id := range ids {
				if n, found := h.Number(id); found {
					out = append(out, n)
				}
			}
			slices.Sort(out)
			return out
		}
	}
	var population []int
	for n := range h.Len() {
		if h.State(n) == search.Complete && of(h, n) == generation-1 {
			population = append(population, n)
		}
	}
	population = append(population, s.parents(h, d, generation-1)...)
	elite := s.elite(h, population)
	ids := make([]int64, len(elite))
	for i, n := range elite {
		ids[i] = h.ID(n)
	}
	d.Study = append(d.Study, search.Attr{System: true, Key: key, Value: search.Encode(ids)})
	return elite
}

// constrained says that some of the trials tell of limits.
func constrained(h *search.History, trials []int) bool {
	return slices.ContainsFunc(trials, func(n int) bool { _, ok := h.Violation(n); return ok })
}

// elite are the best trials of a population: front by front, and of the last front the loneliest.
func (s *NSGA2) elite(h *search.History, population []int) []int {
	ranks := rank(h, population)
	var out []int
	for r := 0; len(out) < min(s.options.Population, len(population)); r++ {
		var here []int
		for i, n := range population {
			if ranks[i] == r {
				here = append(here, n)
			}
		}
		if left := s.options.Population - len(out); len(here) >= left {
			crowd(h, here)
			here = here[:left]
		}
		out = append(out, here...)
	}
	return out
}

// rank are the fronts of a population. Trials that break limits come behind all others, by how much they do, and last
// those that do not tell.
func rank(h *search.History, population []int) []int {
	classes := [3][]int{}
	limited := constrained(h, population)
	for i, n := range population {
		switch v, ok := h.Violation(n); {
		case limited && !ok:
			classes[2] = append(classes[2], i)
		case v > 0:
			classes[1] = append(classes[1], i)
		default:
			classes[0] = append(classes[0], i)
		}
	}
	out := make([]int, len(population))
	behind := 0
	for class, places := range classes {
		points := make([][]float64, len(places))
		for k, i := range places {
			points[k] = h.Losses(population[i])
			if class == 1 {
				v, _ := h.Violation(population[i])
				points[k] = []float64{v}
			}
		}
		next := behind
		for k, r := range front.Ranks(points) {
			out[places[k]] = behind + r
			next = max(next, behind+r+1)
		}
		behind = next
	}
	return out
}

// crowd puts the loneliest trials of a front first: those with the largest sum of distances between their neighbours in
// each objective. Each of these orders is stable, and the last one is turned round.
func crowd(h *search.History, trials []int) {
	distance := map[int]float64{}
	n := len(trials)
	for k := range h.Directions {
		at := func(i int) float64 { return h.Values(trials[i])[k] }
		slices.SortStableFunc(trials, func(a, b int) int { return cmp.Compare(h.Values(a)[k], h.Values(b)[k]) })
		if at(0) == at(n-1) {
			continue
		}
		values := make([]float64, n+2)
		values[0], values[n+1] = math.Inf(-1), math.Inf(1)
		low, high := math.Inf(1), math.Inf(-1)
		for i := range n {
			v := at(i)
			values[i+1] = v
			if !math.IsInf(v, 0) {
				low, high = math.Min(low, v), math.Max(high, v)
			}
		}
		width := high - low
		if !(width > 0) {
			width = 1
		}
		for i, number := range trials {
			if values[i] != values[i+2] {
				distance[number] += (values[i+2] - values[i]) / width
			}
		}
	}
	slices.SortStableFunc(trials, func(a, b int) int { return cmp.Compare(distance[a], distance[b]) })
	slices.Reverse(trials)
}

// beats says that trial a is the better parent.
func beats(h *search.History, a, b int, limited bool) bool {
	if !limited {
		return front.Dominates(h.Losses(a), h.Losses(b))
	}
	u, knownA := h.Violation(a)
	v, knownB := h.Violation(b)
	switch {
	case !knownA && !knownB:
		return front.Dominates(h.Losses(a), h.Losses(b))
	case !knownA || !knownB:
		return knownA
	case u > 0 && v > 0:
		return u < v
	case u > 0 || v > 0:
		return v > 0
	}
	return front.Dominates(h.Losses(a), h.Losses(b))
}

// cross makes a child of two parents, each the winner of two that are drawn: choices first, then numbers, by name.
func (s *NSGA2) cross(h *search.History, space []search.Named, population []int) []named {
	limited := constrained(h, population)
	pick := func(from []int) int {
		a, b := from[s.rng.Choice(len(from))], from[s.rng.Choice(len(from))]
		if beats(h, a, b, limited) {
			return a
		}
		return b
	}
	for {
		first := pick(population)
		rest := slices.DeleteFunc(slices.Clone(population), func(n int) bool { return n == first })
		if len(rest) == 0 {
			rest = population
		}
		second := pick(rest)
		var child []named
		inside := true
		for _, choice := range []bool{true, false} {
			for _, p := range space {
				if (p.Dist.Kind == search.Categorical) != choice {
					continue
				}
				from := first
				if s.rng.Float64() >= s.options.Swapping {
					from = second
				}
				v := known(h, p.Name, from)
				if !choice { // there and back, as Optuna does
					v = p.Dist.Nearest(p.Dist.Within(v))
				}
				inside = inside && p.Dist.Contains(v)
				child = append(child, named{p.Name, v})
			}
		}
		if inside || len(population) < 2 {
			return child
		}
	}
}
