// SPDX-License-Identifier: Apache-2.0

package channel

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/sum"
)

// Remove takes the groups that are gone out of h: the graph that s was found in, or a copy with other constants. Types
// of all values, constants and attributes follow.
func (s *Groups) Remove(h *ir.Graph, gone []bool) error {
	for at, n := range h.Nodes {
		axes := s.axes[at]
		if n.IsConst() {
			if err := shrink(n, axes, gone); err != nil {
				return err
			}
			continue
		}
		shape := slices.Clone(n.Type.Shape)
		for axis, labels := range axes {
			if labels != nil {
				shape[axis] = len(stays(labels, gone))
			}
		}
		n.Type.Shape = shape
		s.attributes(h, n)
	}
	return h.Check()
}

// attributes follow the shape of n and of its weights, both of which have changed.
func (s *Groups) attributes(h *ir.Graph, n *ir.Node) {
	switch a := n.Attrs.(type) {
	case *move.ReshapeAttrs:
		n.Attrs = &move.ReshapeAttrs{Shape: n.Type.Shape}
	case *sum.ConvAttrs:
		w := n.Args[1]
		labels := s.axes[slices.Index(h.Nodes, w)][0]
		if a.Groups > 1 && labels != nil && w.Type.Shape[0] != len(labels) { // depthwise: its groups are channels
			c := *a
			c.Groups = w.Type.Shape[0]
			n.Attrs = &c
		}
	}
}

// stays are the indices of an axis whose groups are not gone.
func stays(labels []int, gone []bool) (list []int) {
	for i, at := range labels {
		if at < 0 || !gone[at] {
			list = append(list, i)
		}
	}
	return list
}

// shrink takes indices of its axes out of a constant.
func shrink(n *ir.Node, axes [][]int, gone []bool) error {
	v, err := n.Value()
	if err != nil {
		return err
	}
	was, cut := n.Type, false
	for axis, labels := range axes {
		kept := stays(labels, gone)
		if labels == nil || len(kept) == len(labels) {
			continue
		}
		cut = true
		v = take(v, axis, kept)
		if _, along, ok := format.ScaledAlong(was.Format); ok && along == axis {
			v.Type.Scales = pick(v.Type.Scales, kept)
		}
	}
	if !cut {
		return nil
	}
	put(n, v)
	return nil
}

func pick[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = list[k]
	}
	return out
}

// take is v with the indices kept of an axis.
func take(v *ir.Tensor, axis int, kept []int) *ir.Tensor {
	from := v.Type.Shape
	shape := slices.Clone(from)
	shape[axis] = len(kept)
	inner := 1
	for _, d := range from[axis+1:] {
		inner *= d
	}
	out := &ir.Tensor{Type: v.Type.WithShape(shape)}
	for block := 0; block < v.Type.Elems(); block += from[axis] * inner {
		for _, k := range kept {
			at := block + k*inner
			if v.Codes != nil {
				out.Codes = append(out.Codes, v.Codes[at:at+inner]...)
			} else {
				out.Floats = append(out.Floats, v.Floats[at:at+inner]...)
			}
		}
	}
	return out
}
