// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"math"

	"lathe/ir"
	"lathe/ir/op/column"
)

const (
	// beyond stands for values of any size: functions that come to a bound have done so there.
	beyond = 1 << 50
	// bounding is the magnitude up to which a bound counts as one.
	bounding = 1 << 30
)

// Range are the bounds between which all values of a node lie, infinite where nothing is known.
type Range struct{ Min, Max float64 }

// Always bounds the values of a float graph whatever its inputs are: what a relu, a clip, a sigmoid or a softmax
// leaves, and the sums, pools and moves of that. It follows from how operations bound their results.
func Always(g *ir.Graph) map[*ir.Node]Range {
	all := make(map[*ir.Node]Range)
	for _, n := range g.Nodes {
		if n.IsConst() || !n.Type.IsFloat() {
			continue
		}
		all[n] = Range{math.Inf(-1), math.Inf(1)}
		if n.IsInput() || n.Op.Traits.Weighted {
			continue
		}
		if args, err := argumentBounds(n, all); err == nil {
			if b, err := always(n, args); err == nil && b.Lo != nil {
				all[n] = rangeOf(b)
			}
		}
	}
	return all
}

// rangeOf are the bounds of all elements.
func rangeOf(b ir.Bounds) Range {
	r := Range{math.Inf(1), math.Inf(-1)}
	for i, lo := range b.Lo.Floats {
		r.Min, r.Max = min(r.Min, float64(lo)), max(r.Max, float64(b.Hi.Floats[i])) // NaN stays
	}
	if !(r.Min > -bounding) {
		r.Min = math.Inf(-1)
	}
	if !(r.Max < bounding) {
		r.Max = math.Inf(1)
	}
	return r
}

func argumentBounds(n *ir.Node, all map[*ir.Node]Range) ([]ir.Bounds, error) {
	args := make([]ir.Bounds, len(n.Args))
	for i, a := range n.Args {
		if r, known := all[a]; known {
			args[i] = column.Between(a, max(r.Min, -beyond), min(r.Max, beyond))
			continue
		}
		t, err := a.Value()
		if err != nil {
			return nil, err
		}
		args[i] = ir.Bounds{Lo: t, Hi: t}
	}
	return args, nil
}

// always bounds the result of n, which may be infinite; nil where nothing is known of it.
func always(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	switch {
	case n.Op.Bounds != nil:
		return n.Op.Bounds(n, args)
	case n.Op.Traits.Bends != nil:
		return bends(n, args[0])
	case n.Op.Traits.Monotone:
		return monotone(n, args)
	}
	return ir.Bounds{}, nil
}
