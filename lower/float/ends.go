// SPDX-License-Identifier: Apache-2.0

package float

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lathe/ir"
	"lathe/ir/op"
	"lathe/ir/op/norm"
	"lathe/ir/op/whole"
	"lathe/lower/float/simplify"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// Ending ends a model where hardware can, ahead of all other passes.
var Ending = pass.Pipeline[*State]{
	pass.New("end_model", "a classifier ends in front of its softmax or its table of labels", pass.Cut, 0, endModel),
}

// End runs Ending. Outputs that the user has chosen stay, and an argmax among them reads what stands in front of a
// softmax. g is not changed; another graph than a float one comes back as it is. The notes of the report say what is
// left out.
func End(ctx context.Context, g *ir.Graph, chosen bool, o pass.Options) (*ir.Graph, *pass.Report, error) {
	report := &pass.Report{}
	if g.Stage != ir.StageFloat {
		return g, report, nil
	}
	c, s := g.Clone(), &State{Chosen: chosen}
	if err := pass.Run(NewRunner(ctx, c, plan.Default(), nil, report, o), s, Ending, c); err != nil {
		return nil, nil, err
	}
	report.Notes = append(report.Notes, s.Notes...)
	return c, report, nil
}

// endModel ends a classifier at the values in front of a softmax, whose largest stands at the same place, or in front
// of a table of labels, at the place of the largest. An output that follows from another one then goes.
func endModel(s *State, c *ir.Graph) error {
	ends, found := make([]ending, len(c.Out)), false
	for i, o := range c.Out {
		ends[i] = endOf(o.Node)
	}
	if slices.ContainsFunc(ends, func(e ending) bool { return e.parts && e.behind == nil }) {
		parts, err := recognized(c)
		if err != nil {
			return err
		}
		for i := range ends {
			if e := endOf(parts.Out[i].Node).in(c); ends[i].behind == nil && e.behind != nil {
				ends[i] = e
			}
		}
	}
	for i, e := range ends {
		if s.Chosen && e.place != c.Out[i].Node {
			ends[i] = ending{}
		}
		found = found || ends[i].behind != nil
	}
	if !found {
		return nil
	}
	var outs []ir.Output
	for i, o := range c.Out {
		e := ends[i]
		if by := follows(ends, i); by >= 0 && !s.Chosen {
			s.Notes = append(s.Notes, fmt.Sprintf("output %q is left out of the hardware: it follows from %q", o.Name,
				c.Out[by].Name))
			continue
		}
		if e.behind != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("hardware ends at %q, in front of %s: output %q %s; "+
				"--outputs NAME ends it elsewhere", e.build().Name, behindText(e.behind), o.Name, e.meaning))
			o = ir.Output{Name: o.Name, Node: e.build()}
		}
		outs = append(outs, o)
	}
	c.Out = outs
	if err := c.Sort(); err != nil {
		return err
	}
	c.DropDead()
	return nil
}

// recognized is a copy of g, with the same outputs, in which softmax is whole where an exporter has decomposed it.
func recognized(g *ir.Graph) (*ir.Graph, error) {
	c := g.Clone()
	return c, recognizing("recognize_softmax").Apply(&State{}, c)
}

// Units is a copy of a float graph, up to the step of lowering that makes attention, norms and lookups the operations
// that hardware has: what is left without hardware is refused. Other graphs come back as they are.
func Units(ctx context.Context, g *ir.Graph) (*ir.Graph, error) {
	if g.Stage != ir.StageFloat {
		return g, nil
	}
	c, s := g.Clone(), &State{}
	if slices.ContainsFunc(c.Nodes, computesWhole) { // masks and positions are found among computed constants
		if err := Constants.Run(s, c); err != nil {
			return nil, err
		}
	}
	if err := simplify.Places(c); err != nil {
		return nil, err
	}
	if err := Wholes.Apply(s, c); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(c.Nodes, func(n *ir.Node) bool { return n.Op.Traits.FloatOnly }) {
		return c, nil // large models are spared the rest
	}
	r := NewRunner(ctx, c, plan.Default(), nil, &pass.Report{}, pass.Options{})
	return c, pass.Run(r, s, slices.Concat(pass.Pipeline[*State]{Constants}, Pipeline.Upto("tokens_first")), c)
}

// ending is where hardware ends for one output.
type ending struct {
	// at is the value in front of all that is left out; place is the argmax that reads it, nil for none.
	at, place *ir.Node
	// behind are the nodes that are left out, the first in front, without those that hardware could compute; nil for none.
	behind []*ir.Node
	// meaning says what the output gives then.
	meaning string
	// parts says that the way ended at a node that computes from several values, which may be the last part of a softmax.
	parts bool
}

// endOf follows a value to where hardware can end: over operations that keep the order of elements, name their places,
// or compare them with constants.
func endOf(n *ir.Node) ending {
	e := ending{at: n}
	for e.at.Op.Traits.Wire && slices.Equal(e.at.Type.Shape, e.at.Args[0].Type.Shape) { // identities
		e.at = e.at.Args[0]
	}
	for way := []*ir.Node(nil); ; {
		t, from := &n.Op.Traits, n.Streams()
		if len(from) != 1 || from[0].IsInput() {
			e.parts = len(from) > 1
			return e
		}
		next := from[0]
		if t.Positions != nil && n.AxisOf() != nil {
			return e.placed(n, way)
		}
		way = append(way, n)
		switch {
		case norm.KeepsRanks(n.Op):
			e = e.cut(next, way, "gives the values there, of which the same one is the largest")
		case t.Index != nil && n.Args[0].IsConst():
			e = e.cut(next, way, "gives places in that table")
		case t.Elementwise && ir.IsWhole(n.Type.Format) && !ir.IsWhole(next.Type.Format):
			meaning := "gives what is compared"
			if whole.Converts(n.Op) {
				meaning = "gives the numbers that it converts"
			}
			e = e.cut(next, way, meaning)
		case t.KeepsCodes, t.Elementwise && (t.Monotone || ir.IsWhole(next.Type.Format)):
		default:
			return e
		}
		n = next
	}
}

// cut ends at n, behind which stands way, the last first.
func (e ending) cut(n *ir.Node, way []*ir.Node, meaning string) ending {
	e.at, e.meaning, e.behind = n, meaning, nil
	for _, w := range slices.Backward(way) {
		if norm.KeepsRanks(w.Op) || !op.HasHardware(w.Op) {
			e.behind = append(e.behind, w)
		}
	}
	return e
}

// placed ends at argmax n, or at one of the values in front of a softmax that n reads.
func (e ending) placed(n *ir.Node, way []*ir.Node) ending {
	axis, rank := *n.AxisOf(), len(n.Args[0].Type.Shape)
	along := func(a int) bool { return (a+rank)%rank == (axis+rank)%rank }
	x, cut := n.Args[0], e.behind != nil
	for way = append(way, n); norm.KeepsRanks(x.Op) && along(*x.AxisOf()) && !x.Args[0].IsInput(); x = x.Args[0] {
		way, cut = append(way, x), true
	}
	e.place = n
	if !cut {
		e.at = x
		return e
	}
	return e.cut(x, way, "gives the place of the largest value")
}

// in is the same ending in g, where nodes of the same names compute the same values; none where there is no such node.
func (e ending) in(g *ir.Graph) ending {
	at := g.Find(e.at.Name)
	if e.behind == nil || at == nil || !slices.Equal(at.Type.Shape, e.at.Type.Shape) {
		return ending{}
	}
	e.at = at
	if e.place != nil {
		if e.place = g.Find(e.place.Name); e.place == nil || e.place.AxisOf() == nil {
			return ending{}
		}
	}
	return e
}

// build is the node at which hardware ends. Every reader of the argmax may read that of the values in front.
func (e ending) build() *ir.Node {
	if e.place == nil {
		return e.at
	}
	e.place.Args = []*ir.Node{e.at}
	return e.place
}

// follows is the output from which output i can be told, or that is the same one; -1 if there is none.
func follows(ends []ending, i int) int {
	e := &ends[i]
	for k := range ends {
		other := &ends[k]
		if k == i || e.at == nil || other.at != e.at || e.behind == nil && other.behind == nil {
			continue
		}
		better := k < i
		if (e.behind == nil) != (other.behind == nil) {
			better = other.behind == nil
		}
		if other.place == nil && e.place != nil || other.place == e.place && better {
			return k
		}
	}
	return -1
}

// behindText names what is left out.
func behindText(nodes []*ir.Node) string {
	var names []string
	for _, n := range nodes {
		names = append(names, fmt.Sprintf("%s (%q)", n.Op.Name, n.Name))
	}
	if more := len(names) - 3; more > 0 {
		names = append(names[:3], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
