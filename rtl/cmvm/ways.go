// SPDX-License-Identifier: Apache-2.0

package cmvm

import (
	"cmp"
	"fmt"
	"lathe/internal/workers"
	"math/bits"
	"slices"
)

// A solver turns what a sharer found into chains.
type solver struct {
	*Problem
	*sharer
	effort  int
	members []member  // of the outputs
	unique  [][]int64 // rows
	users   []int     // outputs of a row
	whole   []bool    // rows that are summed by themselves, for several outputs or to be scaled
	sums    [][]term  // of the nodes that are sums
	uses    []int
	words   []Word // of nodes
	at      []float64
	bits    []Bit // of cells
	graph   *Graph
}

// Ways of sharing are compared by heaps of little effort; the best of them are built again with all of it.
const (
	quick  = 8
	finals = 3
)

// Solve finds a small graph. Two calls give the same one. It is an error if no graph keeps to p.Levels, or if sums may
// have more than 62 bits.
func Solve(p Problem) (*Graph, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := &solver{Problem: &p, effort: min(quick, p.Effort), graph: &Graph{Nets: 1, Group: p.Group}, at: []float64{0}}
	inputs, bias := s.wire()
	s.distinct()
	base := newSharer(s.unique, inputs)
	ways := base.ways(p.Levels > 0, p.Effort/4)
	sharers, costs := make([]*sharer, len(ways)), make([]Cost, len(ways))
	workers.Each(len(ways), func(i int) {
		sharers[i] = base.shared(ways[i])
		if len(ways) > 1 {
			costs[i] = s.with(sharers[i], bias).Cost()
		}
	})
	order := make([]int, len(ways))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.price(costs[i]), p.price(costs[j])) })
	s.effort = p.Effort
	var best *Graph
	var cost Cost
	for _, i := range order[:min(len(order), finals)] {
		g := s.with(sharers[i], bias)
		if c := g.Cost(); best == nil || p.price(c) < p.price(cost) {
			best, cost = g, c
		}
	}
	if first := order[0]; len(ways) > 1 && p.price(costs[first]) < p.price(cost) { // more effort found worse
		s.effort = min(quick, p.Effort)
		best, cost = s.with(sharers[first], bias), costs[first]
	}
	if p.Levels > 0 && cost.Levels > p.Levels {
		return nil, fmt.Errorf("no sum of %.4g levels was found; the shortest has %.4g", p.Levels, cost.Levels)
	}
	return best, nil
}

// price orders graphs: those within the bound, by their cells, of which bare ones count half; then those that are not,
// by their depth.
func (p *Problem) price(c Cost) float64 {
	if p.Levels > 0 && c.Levels > p.Levels {
		return 1e9 * c.Levels
	}
	return float64(c.Cells+c.LUTs) / 2
}

// ways are those of sharing that are tried, most at most: the fewer, the larger the matrix.
func (s *sharer) ways(bounded bool, most int) []sharing {
	work := 0
	for _, row := range s.rows {
		n := 0
		for _, at := range row {
			n += bits.OnesCount64(at.plus | at.minus)
		}
		work += n * n
	}
	all := []sharing{{0.65, sharedLevels, 0}, {0.85, sharedLevels, 0}}
	if bounded {
		all = append(all, sharing{0.65, 1, 0})
	}
	for i := uint64(1); i < 16; i++ {
		all = append(all, sharing{[]float64{0.65, 0.75, 0.85}[i%3], sharedLevels, i * 0x9e3779b97f4a7c15 >> 3})
	}
	return all[:max(1, min(len(all), most, 4_000_000/max(1, work)))]
}

// with makes a graph of what a sharer found. Rows of too many levels do without shared sums, by and by.
func (s *solver) with(found *sharer, bias []int64) *Graph {
	deep := make([]int, len(found.rows))
	for o := range deep {
		deep[o] = found.levels
	}
	for {
		t := *s
		graph := *s.graph
		t.sharer, t.graph, t.at, t.words = found, &graph, slices.Clone(s.at), slices.Clone(s.words)
		t.assemble(t.inline(deep), bias)
		if s.Levels == 0 || !t.shallower(deep) {
			return t.graph
		}
	}
}

// shallower lowers the levels of the shared sums in rows that take too long, and says whether there are any left.
func (s *solver) shallower(deep []int) (some bool) {
	late := make([]bool, len(deep))
	for o, w := range s.graph.Outputs {
		for _, b := range w.Bits {
			late[s.members[o].row] = late[s.members[o].row] || s.at[b.Net] > s.Levels
		}
	}
	for o := range deep {
		if late[o] && deep[o] > 0 {
			deep[o]--
			some = true
		}
	}
	return some
}
