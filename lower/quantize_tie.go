// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"lathe/ir"
	"lathe/ir/format"
	"lathe/lower/calib"
	"lathe/lower/loop"
)

// ties has layers that are to share units decided alike: what one layer takes serves the others.
type ties struct {
	// first is, for nodes of later layers, that of the first; chosen is what was decided for that one.
	first  map[*ir.Node]*ir.Node
	chosen map[*ir.Node]Choice
	// entry is what the first layer reads, and gives what each layer gives to the next: both have one format.
	entry, gives *ir.Node
	// consts are the values of a constant argument in all layers.
	consts map[argument]*calib.Values
}

type argument struct {
	n *ir.Node
	i int
}

// tie finds the layers that will share units, and has the values of each node, and of its constants, be judged together
// with those of the same node of other layers.
func (q *quantizer) tie() {
	q.ties = ties{first: map[*ir.Node]*ir.Node{}, chosen: map[*ir.Node]Choice{}, consts: map[argument]*calib.Values{}}
	if q.plan.Fold.Layers != "loop" {
		return
	}
	b, _ := loop.Find(q.g, false)
	if b == nil {
		return // which the schedule refuses
	}
	end := len(b.Layers[0]) - 1
	for i, n := range b.Layers[0] {
		alike := []*ir.Node{n}
		for _, layer := range b.Layers[1:] {
			q.ties.first[layer[i]] = n
			alike = append(alike, layer[i])
		}
		for k := range n.Args {
			q.tieConsts(alike, k)
		}
		if i == end {
			alike = append(alike, b.Entry)
		}
		q.tieValues(alike)
	}
	q.ties.entry, q.ties.gives = b.Entry, b.Layers[0][end]
}

// tieValues joins what is known of the values of some nodes.
func (q *quantizer) tieValues(nodes []*ir.Node) {
	for _, values := range []map[*ir.Node]*calib.Values{q.values, q.bounds} {
		var all *calib.Values
		for _, n := range nodes {
			if v := values[n]; v != nil {
				all = join(all, v)
			}
		}
		for _, n := range nodes {
			if all != nil {
				values[n] = all
			}
		}
	}
	all, known := q.always[nodes[0]]
	for _, n := range nodes {
		r, ok := q.always[n]
		all, known = calib.Range{Min: min(all.Min, r.Min), Max: max(all.Max, r.Max)}, known && ok
	}
	for _, n := range nodes {
		if q.always[n] = all; !known {
			delete(q.always, n)
		}
	}
}

// tieConsts notes the values that argument k of some nodes has in all of them, if it is a constant.
func (q *quantizer) tieConsts(nodes []*ir.Node, k int) {
	var all *calib.Values
	for _, n := range nodes {
		t, err := n.Args[k].Value()
		if err != nil || n.Op.Traits.Weighted { // units take weights of any step
			return
		}
		all = join(all, calib.Of(t.Floats))
	}
	for _, n := range nodes {
		q.ties.consts[argument{n, k}] = all
	}
}

// tied is what was decided for the node of the first layer; of what that one reads, what will be decided for what it
// gives. false where nothing is tied.
func (q *quantizer) tied(n *ir.Node) (c Choice, ok bool) {
	if c, ok = q.ties.chosen[q.ties.first[n]]; ok {
		return c, true
	}
	if n != q.ties.entry {
		return c, false
	}
	gives := q.ties.gives
	for gives.Op.Traits.KeepsCodes && q.rule(gives, dataOut) == nil {
		gives = gives.Args[0]
	}
	if gives == n {
		return c, false
	}
	c = q.resultChoice(gives, q.rule(gives, dataOut))
	if _, open := c.Pattern.Open(); open {
		c.Pattern = format.PatternOf(q.complete(c, q.values[gives]))
	}
	c.From = "the format of " + q.ties.gives.Name + ", which the next layer reads"
	return c, true
}

// follow notes what was decided for a node of the first layer.
func (q *quantizer) follow(n *ir.Node, c Choice) {
	if _, open := c.Pattern.Open(); open {
		c.Pattern = format.PatternOf(n.Type.Format)
	}
	c.From = "the format of " + n.Name + ", whose unit it shares"
	q.ties.chosen[n] = c
}

// constValues are the values that decide the format of argument i of n: x, or those of all layers.
func (q *quantizer) constValues(n *ir.Node, i int, x []float32) *calib.Values {
	if v := q.ties.consts[argument{n, i}]; v != nil {
		return v
	}
	return calib.Of(x)
}
