// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/composite"
	"lathe/ir/op/dot"
	"lathe/ir/op/draw"
	"lathe/ir/op/pointwise"
	"lathe/rtl"
)

// Sums whose rows have codes of their own are sums and quant_each in one unit, which rounds each row as soon as it is
// known. They exist only in scheduled graphs, and only with weights that are wired into sums.

// LinearEachAttrs are the codes of the rows.
type LinearEachAttrs struct{ pointwise.QuantEachAttrs }

// ConvEachAttrs are a convolution and the codes of its channels.
type ConvEachAttrs struct {
	ConvAttrs
	pointwise.QuantEachAttrs
}

// LinearEach is quant_each of linear.
var LinearEach = each(Linear, LinearEachAttrs{}, linearUnitEach)

// ConvEach is quant_each of conv.
var ConvEach = each(Conv, ConvEachAttrs{}, convRTLEach)

// Each makes a quant_each node and the sum that it reads one node; false where that sum has no such operation.
func Each(s, q *ir.Node) (*ir.Node, bool) {
	o, ok := map[*ir.Op]*ir.Op{Linear: LinearEach, Conv: ConvEach}[s.Op]
	if !ok {
		return nil, false
	}
	n := *s
	n.Op, n.Type, n.Stats = o, q.Type, q.Stats
	n.Attrs = joined(s.Attrs, q.Attrs.(*pointwise.QuantEachAttrs))
	return &n, true
}

// joined are the attributes of a sum and of its rounding.
func joined(sum any, codes *pointwise.QuantEachAttrs) any {
	if c, conv := sum.(*ConvAttrs); conv {
		return &ConvEachAttrs{*c, *codes}
	}
	return &LinearEachAttrs{*codes}
}

// parts are what joined has joined.
func parts(attrs any) (sum any, codes *pointwise.QuantEachAttrs) {
	if c, conv := attrs.(*ConvEachAttrs); conv {
		return &c.ConvAttrs, &c.QuantEachAttrs
	}
	return nil, &attrs.(*LinearEachAttrs).QuantEachAttrs
}

// each is the operation of sums o whose rows have codes of their own; unit is that of such a sum.
func each(o *ir.Op, attrs any, unit func(*ir.Node, *format.Each) (*rtl.Unit, error)) *ir.Op {
	sum := func(n *ir.Node) *ir.Node {
		s := *n
		s.Op = o
		s.Attrs, _ = parts(n.Attrs)
		return &s
	}
	codes := func(n *ir.Node) (*format.Each, error) {
		_, a := parts(n.Attrs)
		return a.Each(n)
	}
	e := ir.Op{Name: o.Name + "_each", Doc: "quant_each of " + o.Name, Attrs: attrs, Arity: o.Arity,
		Traits: ir.Traits{Weighted: true, Windows: o.Traits.Windows}, Each: codes,
		Infer: func(n *ir.Node) ([]int, error) { return o.Infer(sum(n)) },
		Expand: func(n *ir.Node) ([]*ir.Node, error) {
			var exact, to format.Format // nil: float
			s, x := sum(n), composite.Expand(n)
			if !n.Type.IsFloat() {
				f, err := dot.ExactSum(s)
				if err != nil {
					return nil, err
				}
				exact, to = f, n.Type.Format
			}
			_, a := parts(n.Attrs)
			x.DoAs(to, "codes", pointwise.QuantEach, a, x.DoAs(exact, "sum", o, s.Attrs, n.Args...))
			return x.Parts, x.Err
		},
		RTL: func(n *ir.Node) (*rtl.Unit, error) {
			c, err := codes(n)
			if err != nil {
				return nil, err
			}
			if n.HW.Style != ir.StyleUnroll {
				return nil, n.Errorf(diag.LanesDivide, "%s has a unit with weights wired into sums alone", n.Op.Name)
			}
			return unit(sum(n), c)
		},
		Lanes: func(n *ir.Node) (*ir.Lanes, error) { return unrolledLanes(o, sum(n)) },
		Legal: func(n *ir.Node) error {
			c, err := codes(n)
			if err != nil {
				return err
			}
			return eachLegal(o, sum(n), c)
		},
		Gen: func(r *rand.Rand, e *ir.Op) *ir.Graph { return genEach(r, e, o) },
	}
	if o.Traits.Last != nil {
		e.Traits.Last = func(attrs any) *bool {
			s, _ := parts(attrs)
			return o.Traits.Last(s)
		}
	}
	return composite.New(e)
}

// unrolledLanes are the lanes of the unrolled unit of sum s.
func unrolledLanes(o *ir.Op, s *ir.Node) (*ir.Lanes, error) {
	l, err := o.Lanes(s)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(l.Styles, ir.StyleUnroll) {
		return nil, s.Errorf(diag.LanesDivide, "%s has no unrolled unit", s.Name)
	}
	l.Styles = []ir.Style{ir.StyleUnroll}
	return l, nil
}

// eachLegal: the result of sum s has the codes c, and s has an unrolled unit.
func eachLegal(o *ir.Op, s *ir.Node, c *format.Each) error {
	if !format.SameType(s.Type.Format, c.All) {
		return fmt.Errorf("the codes are those of %s, not of %s", c.All, s.Type.Format)
	}
	if err := o.Legal(s); err != nil {
		return err
	}
	_, err := unrolledLanes(o, s)
	return err
}

// genEach draws a sum, and codes for its rows.
func genEach(r *rand.Rand, e, o *ir.Op) *ir.Graph {
	for {
		g := o.Gen(r, o)
		s := g.Out[0].Node
		f, err := dot.ExactSum(s)
		if err != nil || len(s.Type.Shape) == 0 || !s.Args[1].IsConst() {
			continue
		}
		exact, _ := format.AsFixed(f)
		codes := pointwise.DrawEach(r, exact, s.Type.Shape)
		n := *s
		n.Op, n.Attrs = e, joined(s.Attrs, codes)
		c, err := codes.Each(&n)
		if err != nil {
			continue
		}
		if n.Type = (ir.Type{Shape: s.Type.Shape, Format: c.All}); e.Legal(&n) == nil {
			return draw.Graph(e, n.Attrs, n.Type, n.Args...)
		}
	}
}
