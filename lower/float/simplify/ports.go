// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"slices"

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
// conversions to real numbers, moves and choices among them: hardware takes them as they come, and what only moves
// them gives them as they are. In a model with formats of its own, and in one that does nothing but move them, they
// are marked with the format of their type; else calibration finds it.
func Ports(g *ir.Graph) error {
	model, err := own.Of(g)
	if err != nil {
		return err
	}
	codes := shortCodes(g)
	moves := !slices.ContainsFunc(g.Out, func(o ir.Output) bool { return codes[o.Node] == nil })
	for _, n := range slices.Clone(g.Nodes) {
		f := codes[n]
		if f == nil {
			continue
		}
		if n.Op == whole.Convert {
			n.Op, n.Attrs = move.Identity, nil
		}
		for i, a := range n.Args {
			if a.IsConst() && ir.IsWhole(a.Type.Format) {
				n.Args[i] = asFloats(g, n, a)
			}
		}
		n.Type.Format = format.FP32
		if (model.Quantized || moves) && (n.IsInput() || n.Op.Traits.Joins) {
			q := &ir.Node{Name: g.FreshName(n.Name + ".codes"), Op: pointwise.Quant, Pos: n.Pos, Type: n.Type,
				Attrs: &pointwise.QuantAttrs{Format: format.Fixed{W: f.W, Signed: f.Signed}.String()}}
			g.InsertAfter(n, q)
			g.Replace(n, q)
			q.Args = []*ir.Node{n}
		}
	}
	return nil
}

// asFloats is a, a constant of whole numbers that n reads, in fp32.
func asFloats(g *ir.Graph, n, a *ir.Node) *ir.Node {
	var list []float32
	for _, v := range wholes(a) {
		list = append(list, float32(v))
	}
	c := &ir.Node{Name: g.FreshName(a.Name + ".float"), Op: a.Op, Pos: a.Pos, Attrs: &ir.Const{Data: ir.FloatBlob(list)},
		Type: ir.Type{Shape: a.Type.Shape, Format: format.FP32}}
	g.InsertBefore(n, c)
	return c
}

// shortCodes gives the values whose elements are those of short inputs, or constants among them, the integers that
// these are. None of them is read as a whole number by anything else.
func shortCodes(g *ir.Graph) map[*ir.Node]*format.Fixed {
	barred := map[*ir.Node]bool{} // where whole numbers begin that something else reads
	for users := g.Users(); ; {
		codes := map[*ir.Node]*format.Fixed{}
		for _, n := range g.Nodes {
			if f := codesAt(n, codes); f != nil && !barred[n] {
				codes[n] = f
			}
		}
		found := len(barred)
		for n := range codes {
			if ir.IsWhole(n.Type.Format) && (len(users[n]) == 0 && n.IsInput() || n.IsInput() && g.IsOutput(n) ||
				slices.ContainsFunc(users[n], func(u *ir.Node) bool { return codes[u] == nil })) {
				bar(n, barred)
			}
		}
		if len(barred) == found {
			return codes
		}
	}
}

// bar marks where the whole numbers of n begin: inputs and conversions of real numbers.
func bar(n *ir.Node, barred map[*ir.Node]bool) {
	if n.IsInput() || !ir.IsWhole(n.Args[0].Type.Format) {
		barred[n] = true
		return
	}
	for _, a := range n.Args {
		if !a.IsConst() {
			bar(a, barred)
		}
	}
}

// codesAt is what elements of n are, where they are those of short inputs; nil where they are something else.
func codesAt(n *ir.Node, codes map[*ir.Node]*format.Fixed) *format.Fixed {
	if n.IsInput() {
		if f, is := ir.WholeOf(n.Type.Format); is && f.W >= 2 && f.W <= portBits {
			return &f
		}
		return nil
	}
	t := &n.Op.Traits
	if len(n.Args) == 0 || !(t.KeepsCodes || t.Joins || n.Op == whole.Convert) {
		return nil
	}
	var f *format.Fixed
	for _, a := range n.Args {
		if c := codes[a]; c != nil && f == nil {
			f = c
		} else if !a.IsConst() && (c == nil || *c != *f) {
			return nil
		}
	}
	if f == nil {
		return nil
	}
	for _, a := range n.Args {
		if a.IsConst() && !among(wholes(a), f) {
			return nil
		}
	}
	if v, pads := move.PadsWith(n); pads && (v != float32(int64(v)) || !among([]int64{int64(v)}, f)) {
		return nil
	}
	if to, is := ir.WholeOf(n.Type.Format); is && !among([]int64{f.Min(), f.Max()}, &to) {
		return nil
	}
	return f
}

// wholes are the elements of a constant of whole numbers, or of floats that are some; nil where they are something
// else.
func wholes(n *ir.Node) (list []int64) {
	v, err := n.Value()
	if err != nil {
		return nil
	}
	if list = v.Codes; n.Type.IsFloat() {
		for _, x := range v.Floats {
			if x != float32(int64(x)) {
				return nil
			}
			list = append(list, int64(x))
		}
	}
	return list
}

// among says that all of list are integers of f, and that there are any.
func among(list []int64, f *format.Fixed) bool {
	return len(list) > 0 && slices.Min(list) >= f.Min() && slices.Max(list) <= f.Max()
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
