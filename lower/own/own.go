// SPDX-License-Identifier: Apache-2.0

// Package own finds out which formats a model itself gives to its values, by its quant nodes.
package own

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

// Format is a format that the model gives, and the quant node that says so.
type Format struct {
	Format format.Format
	From   *ir.Node
}

// Model is what a graph says of its own quantization.
type Model struct {
	formats map[*ir.Node]Format
	// Quantized says that the model quantizes anything at all.
	Quantized bool
}

// Of reads the graph. Errors are those of quant nodes whose format cannot be read.
func Of(g *ir.Graph) (*Model, error) {
	formats, err := formats(g)
	m := &Model{formats: formats, Quantized: len(formats) > 0}
	for _, n := range g.Nodes {
		if c, ok := n.Attrs.(*ir.Const); ok && c.Own.Format != nil {
			m.Quantized = true
		}
	}
	return m, err
}

// Format is the format that the model gives to the value of n.
func (m *Model) Format(n *ir.Node) (Format, bool) {
	f, ok := m.formats[n]
	return f, ok
}

// Cut is the fixed format that holds all codes of the quantizations that n goes into, where they differ or give
// channels codes of their own; false where something else reads n, such as its sign. What only moves codes or cuts
// values off may stand between.
func (m *Model) Cut(g *ir.Graph, n *ir.Node) (all format.Fixed, ok bool) {
	users := g.Users()
	integer := 0 // bits above the point, without a sign
	for list := slices.Clone(users[n]); len(list) > 0; list = list[1:] {
		u := list[0]
		f, fixed := format.AsFixed(m.formats[u].Format)
		switch {
		case (Encodes(u) || Channels(u)) && fixed:
			above := f.W - f.F
			if f.Signed {
				above--
			}
			if !ok {
				integer, all.F = above, f.F
			}
			integer, all.F, all.Signed, ok = max(integer, above), max(all.F, f.F), all.Signed || f.Signed, true
		case (u.Op.Traits.KeepsCodes || pointwise.Cuts(u.Op)) && !g.IsOutput(u):
			all.Signed = all.Signed || pointwise.Cuts(u.Op) // a bound of a clip may lie below 0
			list = append(list, users[u]...)
		default:
			return all, false
		}
	}
	if all.W = integer + all.F; all.Signed {
		all.W++
	}
	return all, ok && all.W > 0
}

// formats gives every value that the model quantizes its format. A quant node gives it to the value that it reads where
// every reader of that value wants the same codes, and further back through operations that choose among their
// arguments: rounding what relu, clip and max pool leave of v is relu, clip and max pool of v rounded; a pad of v is
// one of v rounded, by a constant that is rounded, too.
func formats(g *ir.Graph) (map[*ir.Node]Format, error) {
	wanted := make(map[*ir.Node]Format)
	users := g.Users()
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		if n.IsConst() {
			continue
		}
		if f, ok, err := asked(n); err != nil {
			return nil, err
		} else if ok {
			wanted[n] = Format{f, n}
			continue
		}
		if Channels(n) {
			e, err := n.Op.Each(n)
			if err != nil {
				return nil, err
			}
			wanted[n] = Format{e.All, n}
			continue
		}
		if f, ok := agreed(g, users[n], wanted, n); ok {
			wanted[n] = f
		}
	}
	return wanted, nil
}

// Quantizes says that n is a quantization that the model itself asks for.
func Quantizes(n *ir.Node) bool { return n.Op == pointwise.Quant || Channels(n) }

// Channels says that n gives channels codes of their own, which it computes: all of them are codes of its own format.
func Channels(n *ir.Node) bool { return n.Op.Each != nil }

// Encodes says that n only rounds its argument to codes; signs are computed.
func Encodes(n *ir.Node) bool {
	return n.Op == pointwise.Quant && !n.Attrs.(*pointwise.QuantAttrs).Bipolar
}

// Signs is the format of a node that makes codes of signs.
func Signs(n *ir.Node) (format.Format, bool) {
	if n.Op != pointwise.Quant || Encodes(n) {
		return nil, false
	}
	f, err := pointwise.QuantFormat(n)
	return f, err == nil
}

// asked is the format of a quant node that is an encoding. Codes of signs are computed by the node itself.
func asked(n *ir.Node) (format.Format, bool, error) {
	if !Encodes(n) {
		return nil, false, nil
	}
	f, err := pointwise.QuantFormat(n)
	return f, err == nil, err
}

// agreed is the format that all readers of n want.
func agreed(g *ir.Graph, readers []*ir.Node, wanted map[*ir.Node]Format, n *ir.Node) (Format, bool) {
	if g.IsOutput(n) || len(readers) == 0 {
		return Format{}, false
	}
	var all Format
	for i, u := range readers {
		f, ok := wanted[u]
		if !ok || !passes(u) || i > 0 && f.Format != all.Format {
			return Format{}, false
		}
		all = f
	}
	return all, true
}

// passes says that what u wants of its result may be made of its arguments instead. Signs are none of a rounded value.
func passes(u *ir.Node) bool {
	_, pads := move.PadsWith(u)
	return Encodes(u) || u.Op.Traits.KeepsCodes || pointwise.Cuts(u.Op) || pads
}

// Limits are the least and the greatest value of a format.
func (f Format) Limits() (lo, hi float64) {
	l, h := f.Format.Limits()
	return l.Float64(), h.Float64()
}

// Inside is the format without what concerns values from outside only: codes are divided by exact scales.
func (f Format) Inside() format.Format { return format.WithExactQuotients(f.Format) }

// Clip makes a quant node cut off what lies beyond its format, and round nothing.
func Clip(n *ir.Node, f Format) {
	lo, hi := f.Format.Limits()
	n.Op, n.Attrs = pointwise.Clip, &pointwise.ClipAttrs{Min: lo.Float32(), Max: hi.Float32()}
}

// Clips makes clips of all quant nodes, for plans that choose the formats of data themselves: the range of a quant
// node may be all that is left of a relu. Where nothing lies beyond the range, since the same range was cut off before,
// or as the inputs of the graph are known to be, the node goes.
func Clips(g *ir.Graph, values func(n *ir.Node) (lo, hi float64)) error {
	for _, n := range g.Nodes {
		f, ok, err := asked(n)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		a := n.Args[0]
		for a.Op.Traits.KeepsCodes {
			a = a.Args[0]
		}
		Clip(n, Format{f, n})
		c := n.Attrs.(*pointwise.ClipAttrs)
		before, cut := a.Attrs.(*pointwise.ClipAttrs)
		known := cut && a.Op == pointwise.Clip && before.Min >= c.Min && before.Max <= c.Max
		if a.IsInput() {
			lo, hi := values(a)
			known = lo >= float64(c.Min) && hi <= float64(c.Max)
		}
		if known {
			g.Replace(n, n.Args[0])
		}
	}
	g.DropDead()
	return nil
}
