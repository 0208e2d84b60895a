// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
	"lathe/lower/own"
)

// portBits is how many bits whole numbers of an input may have that become values.
const portBits = 8

// Ports makes inputs of short whole numbers, images of bytes or codes, values in fp32, where all that reads them are
// conversions to real numbers: hardware takes them as they come. In a model with formats of its own they are marked
// with that of their type; else calibration finds it.
func Ports(g *ir.Graph) error {
	model, err := own.Of(g)
	if err != nil {
		return err
	}
	users := g.Users()
	for _, in := range g.In {
		f, fixed := format.AsFixed(in.Type.Format)
		if !ir.IsWhole(in.Type.Format) || !fixed || f.W < 2 || f.W > portBits {
			continue
		}
		way, ok := Moved(g, users, in, toFloat)
		if !ok {
			continue
		}
		for _, n := range way {
			n.Type.Format = format.FP32
			for _, u := range users[n] {
				if u.Op == whole.Convert {
					u.Op, u.Attrs = move.Identity, nil
				}
			}
		}
		if model.Quantized {
			q := &ir.Node{Name: g.FreshName(in.Name + ".codes"), Op: pointwise.Quant, Pos: in.Pos, Type: in.Type,
				Attrs: &pointwise.QuantAttrs{Format: format.Fixed{W: f.W, Signed: f.Signed}.String()}}
			g.InsertAfter(in, q)
			g.Replace(in, q)
			q.Args = []*ir.Node{in}
		}
	}
	return nil
}

// toFloat says that n is a conversion to float.
func toFloat(n, _ *ir.Node) bool {
	a, converts := n.Attrs.(*whole.ConvertAttrs)
	return converts && ir.FormatOf(a.To) == format.FP32
}

// Moved lists n and what moves its elements on the way to readers of a kind; false where others read them.
func Moved(g *ir.Graph, users map[*ir.Node][]*ir.Node, n *ir.Node, reads func(u, n *ir.Node) bool) (way []*ir.Node,
	ok bool) {
	if g.IsOutput(n) {
		return nil, false
	}
	way = []*ir.Node{n}
	for _, u := range users[n] {
		if u.Op.Traits.KeepsCodes {
			more, ok := Moved(g, users, u, reads)
			if !ok {
				return nil, false
			}
			way = append(way, more...)
		} else if !reads(u, n) {
			return nil, false
		}
	}
	return way, len(users[n]) > 0
}
