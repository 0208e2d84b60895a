// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/reduce"
	"lathe/ir/op/window"
)

// spread looks through what only repeats a value along axes, and adds and drops axes of one element: n broadcasts to a
// shape of the given rank as the value that it returns does.
func spread(n *ir.Node, rank int) *ir.Node {
	base, labels := peel(n)
	for i, l := range labels {
		if l >= 0 && i+rank-len(labels) != l+rank-len(base.Type.Shape) {
			return n
		}
	}
	if len(base.Type.Shape) > rank {
		return n
	}
	return base
}

// peel is the value that n repeats, and the axis of it that each axis of n runs along, -1 for none.
func peel(n *ir.Node) (base *ir.Node, labels []int) {
	shape := n.Type.Shape
	switch {
	case n.Op == move.Repeat:
		inner := n.Args[0].Type.Shape
		base, labels = peel(n.Args[0])
		for len(labels) < len(shape) {
			labels = slices.Insert(labels, 0, -1)
		}
		for i := range shape {
			if k := i - len(shape) + len(inner); k < 0 || inner[k] == 1 {
				labels[i] = -1
			}
		}
		return base, labels
	case n.Op == move.Reshape && slices.Equal(withoutOnes(shape), withoutOnes(n.Args[0].Type.Shape)):
		var kept []int
		base, kept = peel(n.Args[0])
		inner := n.Args[0].Type.Shape
		labels = slices.Repeat([]int{-1}, len(shape))
		k := 0
		for i, d := range shape {
			if d == 1 {
				continue
			}
			for inner[k] == 1 {
				k++
			}
			labels[i] = kept[k]
			k++
		}
		return base, labels
	}
	labels = make([]int, len(shape))
	for i, d := range shape {
		labels[i] = i
		if d == 1 {
			labels[i] = -1
		}
	}
	return n, labels
}

func withoutOnes(shape []int) []int {
	return slices.DeleteFunc(slices.Clone(shape), func(d int) bool { return d == 1 })
}

// reduction sees n as a mean or a sum along axes: which value, which axes, and what the sum is multiplied by.
type reduction struct {
	of    *ir.Node
	axes  []int
	scale float64 // of the sum
}

// reduced sees n, which may be repeated along the axes that are gone, as a sum along axes.
func (m *matcher) reduced(n *ir.Node, rank int) (r reduction, ok bool) {
	n = spread(n, rank)
	p := m.product(n, nil)
	if len(p.factors) != 1 || p.factors[0].exp != 1 {
		return r, false
	}
	n = spread(p.factors[0].n, rank)
	if a, is := n.Attrs.(*window.GlobalAttrs); is && len(n.Args[0].Type.Shape) == rank { // the mean over all but channels
		r = reduction{of: n.Args[0], scale: p.coef}
		for axis := 2; axis < rank; axis++ {
			at := axis
			if a.ChannelsLast {
				at--
			}
			r.axes = append(r.axes, at)
		}
		r.scale /= float64(r.count())
		return r, n.Op == window.GlobalAvgPool
	}
	a, is := n.Attrs.(*reduce.Attrs)
	if !is || n.Op != reduce.Sum && n.Op != reduce.Mean || len(n.Args[0].Type.Shape) != rank {
		return r, false
	}
	r = reduction{n.Args[0], a.Axes, p.coef}
	if n.Op == reduce.Mean {
		r.scale /= float64(r.count())
	}
	return r, true
}

// count is how many elements are summed.
func (r reduction) count() int {
	n := 1
	for _, a := range r.axes {
		n *= r.of.Type.Shape[a]
	}
	return n
}

// mean says that r is the mean of its elements.
func (r reduction) mean() bool { return near(r.scale*float64(r.count()), 1) }

// tail is the first of the axes if they are the last ones of the shape, -1 if not.
func (r reduction) tail() int {
	rank := len(r.of.Type.Shape)
	axes := slices.Sorted(slices.Values(r.axes))
	for i, a := range axes {
		if a != rank-len(axes)+i {
			return -1
		}
	}
	return rank - len(axes)
}
