// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"fmt"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
)

// Sharing is a graph whose layers share units.
type Sharing struct {
	// Units has each unit once.
	Units *ir.Graph
	// Copies are, for the nodes of the first layer by name, those of the others.
	Copies map[string][]*ir.Node
	// Layers is how many there are, Nodes how many nodes each has.
	Layers, Nodes int
	First, Last   string // the last nodes of the first and of the last layer
}

// Share has the longest run of equal layers of the quantized graph g share one block of units, with so many samples in
// it at once. g is not changed. Errors L0434 where there is none, which name the first difference of what comes
// closest.
func Share(g *ir.Graph, images int) (*Sharing, error) {
	c := g.Clone()
	b, miss := Find(c, true)
	if b == nil {
		if b, miss = Find(c, false); b == nil {
			return nil, refuse(g, miss)
		}
	}
	if err := b.agree(); err != nil {
		return nil, refuse(g, err)
	}
	s := &Sharing{Copies: map[string][]*ir.Node{}, Layers: len(b.Layers), Nodes: len(b.Layers[0]),
		First: last(b.Layers[0]).Name, Last: last(b.Layers[len(b.Layers)-1]).Name}
	for i, n := range b.Layers[0] {
		for _, layer := range b.Layers[1:] {
			s.Copies[n.Name] = append(s.Copies[n.Name], layer[i])
		}
	}
	if err := b.ring(c, images); err != nil {
		return nil, err
	}
	s.Units = ring.Units(c)
	return s, nil
}

// agree says which nodes of two layers do not have the same format.
func (b *Blocks) agree() error {
	for _, layer := range b.Layers[1:] {
		for i, n := range layer {
			if first := b.Layers[0][i]; first.Type.String() != n.Type.String() {
				return n.Errorf("", "%q is %s, %q is %s", first.Name, first.Type.Format, n.Name, n.Type.Format)
			}
		}
	}
	if end := last(b.Layers[0]); !b.Entry.Type.SameFormat(end.Type) || !slices.Equal(b.Entry.Type.Shape, end.Type.Shape) {
		return end.Errorf("", "the first layer reads %q, which is %s, the next one %q, which is %s", b.Entry.Name,
			b.Entry.Type, end.Name, end.Type)
	}
	return nil
}

// refuse says that no layers can share units.
func refuse(g *ir.Graph, miss error) error {
	e := diag.New(diag.NothingToShare, g.Name, `layers = "loop": no two layers in a row are alike`)
	if d, ok := miss.(*diag.Error); ok {
		e = e.WithNote("what comes closest differs here: %s", d.Msg)
	}
	return e.WithHint(`take layers = "loop" out of the plan; formats agree where the plan that quantizes the model has it`)
}

// ring puts the parts of a ring around the layers of g, and notes which nodes share a unit.
func (b *Blocks) ring(g *ir.Graph, images int) error {
	turns := len(b.Layers)
	part := func(p ir.RingPart, name string, at *ir.Node) *ir.Node {
		return ring.InsertPart(g, p, name, at, ring.Ring{Turns: turns, Images: images})
	}
	replace := func(in []*ir.Node, old, now *ir.Node) {
		for _, n := range in {
			for i, a := range n.Args {
				if a == old {
					n.Args[i] = now
				}
			}
		}
	}
	for _, v := range b.Shared {
		r := part(ir.Replays, v.Name+".replay", v)
		for _, layer := range b.Layers {
			replace(layer, v, r)
		}
	}
	enters := part(ir.Enters, b.Entry.Name+".enter", b.Entry)
	first, returns := enters.Name, ""
	replace(b.Layers[0], b.Entry, enters)
	for t, layer := range b.Layers {
		for i, n := range layer {
			if images > 1 {
				n.HW.Images = images
			}
			if t > 0 {
				n.HW.Unit, n.HW.Turn = b.Layers[0][i].Name, t
			}
		}
		end := last(layer)
		if t == turns-1 {
			l := part(ir.Leaves, end.Name+".leave", end)
			g.Replace(end, l)
			l.Args[0] = end
			continue
		}
		again := part(ir.Returns, end.Name+".again", end)
		again.HW.Back = first
		next := part(ir.Enters, fmt.Sprintf("%s.%d", first, t+2), again)
		next.HW.Unit, next.HW.Turn = first, t+1
		if t == 0 {
			returns = again.Name
		} else {
			again.HW.Unit, again.HW.Turn = returns, t
		}
		replace(b.Layers[t+1], end, next)
	}
	return g.Sort()
}
