// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"slices"

	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/unit"
	"lathe/lower/balance"
	"lathe/lower/tokens"
	"lathe/rtl"
)

// folding is what the balance mode chooses for a node, in the words of a plan: in_lanes and out_lanes, and the lanes of
// the stream into it. Rules of the plan win over it.
type folding struct{ in, out, stream int }

// foldingOf is the folding that n has.
func foldingOf(n *ir.Node) folding {
	out := n.HW.OutLanes
	if n.HW.Rows > 0 { // a sum over blocks: out_lanes are its rows
		out = n.HW.Rows
	}
	return folding{n.HW.InLanes, out, n.HW.StreamIn}
}

// foldings are the choices of a graph, by the names of its nodes.
type foldings map[string]folding

// fill puts the choice where the rules say nothing.
func (f foldings) fill(n *ir.Node, a *asked) {
	c, ok := f[n.Name]
	if !ok {
		return
	}
	if a.in == 0 {
		a.in = c.in
	}
	if a.out == 0 {
		a.out = c.out
	}
}

// tried is a table of the layers of a graph with all their foldings, and what units they could not be weighed by.
type tried struct {
	layers  []balance.Layer
	nodes   []*ir.Node
	units   *unit.Cache // of one node at a time: most foldings are never asked for again
	unknown []string    // modules that do not state what they cost
}

// tryFoldings evaluates every folding of every node, of a graph with forks. Wires and forks are no layers, since they
// have the lanes that arrive: who reads one reads what is behind it.
func tryFoldings(ctx context.Context, plan *FoldPlan, g *ir.Graph) (*tried, error) {
	l := newLaner(plan, g)
	for _, n := range g.Nodes { // something legal everywhere first: nodes look at what arrives
		if !n.IsConst() {
			l.node(n)
		}
	}
	if err := l.errs.Err(); err != nil {
		return nil, err
	}
	t := &tried{}
	at := map[*ir.Node]int{}
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := op.LanesOf(n)
		if err != nil {
			return nil, err
		}
		if d.Follows() {
			at[n] = at[n.Args[0]]
			continue
		}
		layer := balance.Layer{}
		if n.Type.Elems() > 0 {
			layer.Bits = n.Type.BeatWidth(1)
		}
		for _, a := range streams(n) {
			layer.Args = append(layer.Args, at[a])
		}
		if layer.Options, err = t.options(l, n); err != nil {
			return nil, err
		}
		at[n] = len(t.layers)
		t.layers, t.nodes = append(t.layers, layer), append(t.nodes, n)
	}
	slices.Sort(t.unknown)
	t.unknown = slices.Compact(t.unknown)
	return t, nil
}

// guessed is the LUTs of a product in a unit that does not state its cost. It orders the foldings of such a unit, and
// is in no figure that anybody sees.
const guessed = 64

// options are the foldings of one node that are legal, evaluated.
func (t *tried) options(l *laner, n *ir.Node) ([]balance.Option, error) {
	kept := n.HW
	defer func() { n.HW = kept }()
	t.units = &unit.Cache{}
	var list []balance.Option
	var first error
	seen := map[folding]bool{}
	all, err := proposals(n)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		l.chosen = foldings{n.Name: f}
		l.errs = nil
		l.node(n)
		f = foldingOf(n)
		if len(l.errs) > 0 || seen[f] {
			continue
		}
		seen[f] = true
		var u UnitReport
		if err := unitTime(t.units, n, &u); err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		if !u.Costed && u.Module != "" {
			t.unknown = append(t.unknown, u.Module)
			u.Cost = rtl.Cost{LUT: guessed * f.in * f.out}
		}
		list = append(list, balance.Option{Stream: f.stream, In: f.in, Out: n.HW.OutLanes, Asked: f.out, II: u.II,
			Cost: u.Cost.Add(t.buffer(n))})
	}
	l.chosen, l.errs = nil, nil
	if len(list) == 0 {
		return nil, first
	}
	return list, nil
}

// buffer is the FIFO of a vector that a folded unit gets in front.
func (t *tried) buffer(n *ir.Node) rtl.Cost {
	beats, err := tokens.Front(t.units, n)
	if err == nil && beats > 1 && !producer(n.Args[0]).Op.Traits.Source {
		return balance.Fifo(n.Args[0].Type.BeatWidth(n.HW.StreamIn), beats)
	}
	return rtl.Cost{}
}

// proposals are the foldings of n. What it has is the first, so that it comes first among equals.
func proposals(n *ir.Node) ([]folding, error) {
	d, err := op.LanesOf(n)
	if err != nil {
		return nil, err
	}
	list := []folding{foldingOf(n)}
	for _, out := range append([]int{0}, d.Out.Legal...) {
		if d.Product() == (out == 0) {
			continue
		}
		for _, lanes := range d.In.Legal {
			in, results := lanes, out
			if !d.Product() {
				in, results = d.Tied(lanes)
			}
			for _, s := range d.Streams(in) {
				list = append(list, folding{in, results, s})
			}
		}
	}
	return list, nil
}
