// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"lathe/ir"
	"lathe/ir/op/column"
)

// Intervals bounds the values of every node of a float graph by interval arithmetic, element by element, from the range
// of each input. Bounds are those of real arithmetic up to float32 rounding.
func Intervals(g *ir.Graph, ranges func(input *ir.Node) (lo, hi float64)) (map[*ir.Node]*Values, error) {
	all := make(map[*ir.Node]ir.Bounds, len(g.Nodes))
	out := make(map[*ir.Node]*Values, len(g.Nodes))
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue // read where it is needed: all weights at once are as large as the model
		}
		b, err := intervalOf(n, all, ranges)
		if err != nil {
			return nil, err
		}
		all[n] = b
		lo, hi := Of(b.Lo.Floats), Of(b.Hi.Floats)
		out[n] = &Values{Min: lo.Min, Max: hi.Max}
	}
	return out, nil
}

func intervalOf(n *ir.Node, all map[*ir.Node]ir.Bounds, ranges func(*ir.Node) (lo, hi float64)) (ir.Bounds, error) {
	args := make([]ir.Bounds, len(n.Args))
	for i, a := range n.Args {
		args[i] = all[a]
		if a.IsConst() && !(n.Op.Traits.Weighted && i > 0) {
			t, err := a.Value()
			if err != nil {
				return ir.Bounds{}, err
			}
			args[i] = ir.Bounds{Lo: t, Hi: t}
		}
	}
	switch {
	case n.IsConst(): // of an expansion
		t, err := n.Value()
		return ir.Bounds{Lo: t, Hi: t}, err
	case n.IsInput():
		lo, hi := ranges(n)
		return column.Between(n, lo, hi), nil
	case n.Op.Bounds != nil:
		return n.Op.Bounds(n, args)
	case n.Op.Traits.Bends != nil:
		return bending(n, args[0])
	case n.Op.Traits.Monotone:
		b, err := monotone(n, args)
		if err == nil {
			err = bounded(n, b)
		}
		return b, err
	case n.Op.Expand != nil:
		return expanded(n, all, ranges)
	}
	return ir.Bounds{}, unknown(n)
}

// expanded bounds the operations that n consists of, one after the other.
func expanded(n *ir.Node, all map[*ir.Node]ir.Bounds, ranges func(*ir.Node) (lo, hi float64)) (ir.Bounds, error) {
	parts, err := n.Op.Expand(n)
	if err != nil {
		return ir.Bounds{}, err
	}
	inside := make(map[*ir.Node]ir.Bounds, len(parts)+1)
	for _, a := range n.Args {
		inside[a] = all[a]
	}
	for _, p := range parts {
		if inside[p], err = intervalOf(p, inside, ranges); err != nil {
			return ir.Bounds{}, err
		}
	}
	return inside[parts[len(parts)-1]], nil
}

// monotone handles operations that grow with every argument: both bounds are evaluated.
func monotone(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	lo, hi := make([]*ir.Tensor, len(args)), make([]*ir.Tensor, len(args))
	for i, a := range args {
		lo[i], hi[i] = a.Lo, a.Hi
	}
	l, err := column.Apply(n, lo...)
	if err != nil {
		return ir.Bounds{}, err
	}
	h, err := column.Apply(n, hi...)
	return ir.Bounds{Lo: l, Hi: h}, err
}
