// SPDX-License-Identifier: Apache-2.0

package train

import (
	"fmt"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/channel"
)

// channels are the groups of channels of a model that is pruned by them.
type channels struct {
	*channel.Groups
	free   []int     // groups that can go
	places [][]piece // by group
	notes  []string
}

// piece is what of a leaf belongs to a channel.
type piece struct {
	leaf int
	at   []int
}

// findChannels finds the groups of the model; those with a matrix or kernel that is not trained stay.
func (t *Trainer) findChannels() error {
	c := &channels{Groups: channel.Of(t.model.Graph(), t.options.Prune.Residual)}
	for _, k := range c.Kept {
		c.notes = append(c.notes, fmt.Sprintf("channels of %s stay: %s", k.Node.Name, k.Why))
	}
	stuck := map[string]bool{}
	for i, g := range c.All {
		pieces, fixed := t.pieces(g.Members)
		c.places = append(c.places, pieces)
		if fixed == nil {
			c.free = append(c.free, i)
		} else if name := fixed.Name; !stuck[name] {
			stuck[name] = true
			c.notes = append(c.notes, fmt.Sprintf("channels of %s stay: %s is not trained", g.Opens[0].Name, name))
		}
	}
	if len(c.free) == 0 {
		e := diag.New(diag.NothingToPrune, t.model.Graph().Name, "no channel can be removed")
		e.Notes = c.notes
		return e.WithHint("granularity = \"element\" prunes single weights")
	}
	for _, i := range c.free {
		for _, p := range c.places[i] {
			if l := &t.all[p.leaf]; l.mask == nil {
				l.mask = slices.Repeat([]bool{true}, len(l.Start))
			}
		}
	}
	t.channels = c
	return nil
}

// pieces are what of leaves becomes 0 with members; fixed is a matrix or kernel among them that stays as it is. Biases
// and gains that are not trained go without.
func (t *Trainer) pieces(members []channel.Member) (list []piece, fixed *ir.Node) {
	for _, m := range members {
		if !m.Weight {
			continue
		}
		p, param := t.model.Parameter(m.Node)
		k, direct := t.direct[p]
		if !param || !direct {
			if len(m.Node.Type.Shape) > 1 {
				return nil, m.Node
			}
			continue
		}
		one := piece{leaf: k}
		m.Elements(func(at int) { one.at = append(one.at, at) })
		list = append(list, one)
	}
	return list, nil
}

// gone says which groups are removed: all their weights are masked.
func (t *Trainer) gone() []bool {
	out := make([]bool, len(t.channels.All))
	for _, i := range t.channels.free {
		out[i] = !slices.ContainsFunc(t.channels.places[i], func(p piece) bool {
			return slices.ContainsFunc(p.at, func(at int) bool { return t.all[p.leaf].mask[at] })
		})
	}
	return out
}

// lots are the groups that can go: all together, or those of each layer.
func (c *channels) lots(local bool) (lots [][]int) {
	if !local {
		return [][]int{c.free}
	}
	at := map[*ir.Node]int{}
	for _, i := range c.free {
		layer := c.All[i].Opens[0]
		if _, known := at[layer]; !known {
			at[layer] = len(lots)
			lots = append(lots, nil)
		}
		lots[at[layer]] = append(lots[at[layer]], i)
	}
	return lots
}

// maskChannels masks a share of the groups of each lot, those worth least, but the last one of no layer.
func (t *Trainer) maskChannels(values [][]float32, share float64) {
	c, was, left := t.channels, t.gone(), map[*ir.Node]int{}
	for _, g := range c.All {
		for _, n := range g.Opens {
			left[n]++
		}
	}
	for _, lot := range c.lots(t.options.Prune.Scope == "local") {
		var list []scored
		for _, i := range lot {
			s := scored{at: i, score: t.groupWorth(i, values)}
			if was[i] { // what is gone stays so
				s.score = -1
			}
			list = append(list, s)
		}
		sortLeast(list)
		most := int(math.Round(share * float64(len(list))))
		for _, s := range list {
			opens := c.All[s.at].Opens
			if most == 0 || slices.ContainsFunc(opens, func(n *ir.Node) bool { return left[n] == 1 }) {
				continue
			}
			most--
			for _, n := range opens {
				left[n]--
			}
			for _, p := range c.places[s.at] {
				for _, at := range p.at {
					t.all[p.leaf].mask[at] = false
				}
			}
		}
	}
}

// groupWorth is the sum of magnitudes or squares of values of the weights of group i.
func (t *Trainer) groupWorth(i int, values [][]float32) float64 {
	if t.options.Prune.Method == "random" {
		return float64(word(t.plan.Seed, -1, i) >> 11)
	}
	sum := 0.0
	for _, p := range t.channels.places[i] {
		for _, at := range p.at {
			v := math.Abs(float64(values[p.leaf][at]))
			if t.options.Prune.Method == "l2" {
				v *= v
			}
			sum += v
		}
	}
	return sum
}
