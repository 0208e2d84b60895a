// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/lower/loop"
	"lathe/lower/plan"
	"lathe/lower/quantize/calib"
)

// ties has layers that are to share units decided alike: what one layer takes serves the others.
type ties struct {
	// first is, for nodes of later layers, that of the first; chosen is what was decided for that one.
	first  map[*ir.Node]*ir.Node
	chosen map[*ir.Node]plan.Choice
	// entry is what the first layer reads, and gives what each layer gives to the next: both have one format.
	entry, gives *ir.Node
	// consts are the values of a constant argument in all layers.
	consts map[argument]*calib.Values
	// later are the nodes of the other layers, by that of the first; sums is what holds the sums of all of them, as far
	// as that has been decided.
	later map[*ir.Node][]*ir.Node
	sums  map[*ir.Node]format.Fixed
}

type argument struct {
	n *ir.Node
	i int
}

// tie finds the layers that will share units, and has the values of each node, and of its constants, be judged together
// with those of the same node of other layers.
func (q *quantizer) tie() {
	q.ties = ties{first: map[*ir.Node]*ir.Node{}, chosen: map[*ir.Node]plan.Choice{}, consts: map[argument]*calib.Values{},
		later: map[*ir.Node][]*ir.Node{}, sums: map[*ir.Node]format.Fixed{}}
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
		q.ties.later[n] = alike[1:]
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
func (q *quantizer) tied(n *ir.Node) (c plan.Choice, ok bool) {
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
	if c.Pattern.Incomplete() {
		c.Pattern = format.PatternOf(q.complete(c, q.values[gives]))
	}
	c.From = "the format of " + q.ties.gives.Name + ", which the next layer reads"
	return c, true
}

// follow notes what was decided for a node of the first layer.
func (q *quantizer) follow(n *ir.Node, c plan.Choice) {
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

// together is the fixed format of up to width bits that holds what of finds for n and for the same node of all layers
// that share its unit; false where none does, and where the first layer and the next ones read it: what those will get
// is not known yet. n has its constants.
func (q *quantizer) together(n *ir.Node, width int, of found) (all format.Fixed, ok bool) {
	if gives := q.ties.gives; n == q.ties.entry || gives != nil && (n == gives || q.ties.first[n] == gives) {
		return all, false
	}
	if first := q.ties.first[n]; first != nil {
		all, ok = q.ties.sums[first]
		return all, ok
	}
	if all, ok = fixedBy(of, n); !ok {
		return all, false
	}
	for _, m := range q.ties.later[n] {
		f, ok := fixedBy(of, q.twin(n, m))
		if !ok {
			return all, false
		}
		all = hull(all, f)
	}
	if all.W > width {
		return all, false
	}
	q.ties.sums[n] = all
	return all, true
}

// found is what a search finds for a node.
type found func(*ir.Node) (format.Format, bool)

func fixedBy(of found, n *ir.Node) (format.Fixed, bool) {
	f, ok := of(n)
	if !ok {
		return format.Fixed{}, false
	}
	return format.AsFixed(f)
}

// hull is the narrowest format that holds all values of a and of b.
func hull(a, b format.Fixed) format.Fixed {
	top := max(magnitude(a)-a.F, magnitude(b)-b.F)
	a.F, a.Signed = max(a.F, b.F), a.Signed || b.Signed
	a.W = top + a.F
	if a.Signed {
		a.W++
	}
	return a
}

// magnitude is the bits of f besides its sign.
func magnitude(f format.Fixed) int {
	if f.Signed {
		return f.W - 1
	}
	return f.W
}

// twin is what m, the same node of a later layer, will be: it reads what n reads, with constants of its own.
func (q *quantizer) twin(n, m *ir.Node) *ir.Node {
	t := *m
	t.Type = n.Type
	t.Args = slices.Clone(n.Args)
	for i, a := range m.Args {
		if a.IsConst() {
			c := *a
			t.Args[i] = &c
		}
	}
	slots, warnings, errs, faults, loose := q.decided.Slots, q.report.Warnings, q.errs, q.faults, q.loose
	refusals := q.refused
	q.refused = map[refusal]*refused{} // m itself is refused where its turn comes
	q.constants(&t)
	q.decided.Slots, q.report.Warnings, q.errs, q.faults, q.loose = slots, warnings, errs, faults, loose
	q.refused = refusals
	return &t
}
