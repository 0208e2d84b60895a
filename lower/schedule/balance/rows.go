// SPDX-License-Identifier: Apache-2.0

package balance

import (
	"maps"
	"math"
	"slices"
)

// Layers of a chain agree on the length of the rows that their beats carry. A layer by itself, or two, can choose lanes
// only for the length that all have; rows lets the whole chain change to another one.

// leastByRow is the least cycles of a layer with each length of rows.
func leastByRow(l Layer) map[int]int {
	least := map[int]int{}
	for _, o := range l.Options {
		if ii, known := least[o.Row]; !known || o.II < ii {
			least[o.Row] = o.II
		}
	}
	return least
}

// slower is the greater number of both for the lengths that both have; a is nil at first.
func slower(a, b map[int]int) map[int]int {
	if a == nil {
		return b
	}
	both := map[int]int{}
	for row, ii := range a {
		if other, known := b[row]; known {
			both[row] = max(ii, other)
		}
	}
	return both
}

// quickest is the length of the fewest cycles, the shortest of them.
func quickest(least map[int]int) (row, cycles int) {
	for _, r := range slices.Sorted(maps.Keys(least)) {
		if cycles == 0 || least[r] < cycles {
			row, cycles = r, least[r]
		}
	}
	return row, cycles
}

// choices are the options of layer i that are fast enough and go with its chain, by weight.
func (c *chooser) choices(i int) []int {
	if c.layers[i].Chain == 0 {
		return c.allowed[i]
	}
	return c.withRow(i, c.layers[i].Options[c.picks[i]].Row)
}

func (c *chooser) withRow(i, row int) (list []int) {
	for _, k := range c.allowed[i] {
		if c.layers[i].Options[k].Row == row {
			list = append(list, k)
		}
	}
	return list
}

// begin gives every chain the length whose cheapest options weigh least together.
func (c *chooser) begin() {
	for _, chain := range c.ordered() {
		least, best := math.Inf(1), 0
		for _, row := range c.lengths(chain) {
			sum := 0.0
			for _, i := range c.chains[chain] {
				sum += c.w.Of(c.layers[i].Options[c.withRow(i, row)[0]].Cost)
			}
			if sum < least {
				least, best = sum, row
			}
		}
		c.change(chain, best)
	}
}

// ordered are the chains in a fixed order.
func (c *chooser) ordered() []int { return slices.Sorted(maps.Keys(c.chains)) }

// lengths are those that all layers of a chain can have within the cycles.
func (c *chooser) lengths(chain int) (rows []int) {
	layers := c.chains[chain]
	for _, k := range c.allowed[layers[0]] {
		row := c.layers[layers[0]].Options[k].Row
		if !slices.ContainsFunc(layers, func(i int) bool { return len(c.withRow(i, row)) == 0 }) {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// change gives a chain another length, with the cheapest options.
func (c *chooser) change(chain, row int) {
	for _, i := range c.chains[chain] {
		c.picks[i] = c.withRow(i, row)[0]
	}
}

// rows lets every chain try all lengths; it says whether one changed.
func (c *chooser) rows() (changed bool) {
	for _, chain := range c.ordered() {
		best, least := slices.Clone(c.picks), c.w.Of(c.total())
		for _, row := range c.lengths(chain) {
			c.change(chain, row)
			c.fit(chain)
			if v := c.w.Of(c.total()); v < least-1e-12 {
				best, least, changed = slices.Clone(c.picks), v, true
			}
		}
		copy(c.picks, best)
	}
	return changed
}

// fit lets the layers of a chain choose anew, one after the other and with what they read.
func (c *chooser) fit(chain int) {
	for range 2 {
		for _, i := range c.chains[chain] {
			for j, a := range c.layers[i].Args {
				c.together(a, reader{i, j})
			}
			for _, k := range c.choices(i) {
				if c.around(i, k) < c.around(i, c.picks[i])-1e-12 {
					c.picks[i] = k
				}
			}
		}
	}
}
