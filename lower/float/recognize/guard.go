// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
)

// empty says that a condition is is in the rows where the softmax s sees no key, and not is in all others: s is no
// number there, and all its arguments are minus infinity.
func (m *matcher) empty(n, s *ir.Node, is bool, depth int) bool {
	n = spread(n, len(s.Type.Shape))
	if depth > deepest || m.tired() {
		return false
	}
	switch n.Op.Name {
	case "not":
		return m.empty(n.Args[0], s, !is, depth+1)
	case "is_nan":
		return is && m.same(n.Args[0], s)
	case "compare":
		return is && n.Attrs.(*whole.CompareAttrs).Rel == "ne" && m.same(n.Args[0], s) && m.same(n.Args[1], s)
	case "reduce_all", "reduce_any":
		axes, rank := n.Attrs.(*reduce.Attrs).Axes, len(s.Type.Shape)
		return is == (n.Op.Name == "reduce_all") && slices.Equal(axes, []int{rank - 1}) &&
			slices.Equal(n.Args[0].Type.Shape, s.Type.Shape) && m.hidden(n.Args[0], s.Args[0], is, depth+1)
	}
	return false
}

// hidden says that a condition is is for the scores that are minus infinity, and not is for all others.
func (m *matcher) hidden(n, scores *ir.Node, is bool, depth int) bool {
	if depth > deepest || m.tired() {
		return false
	}
	switch n.Op.Name {
	case "not":
		return m.hidden(n.Args[0], scores, !is, depth+1)
	case "compare":
		v, ok := m.scalar(n.Args[1])
		want := "ne"
		if is {
			want = "eq"
		}
		return ok && math.IsInf(v, -1) && m.same(n.Args[0], scores) && n.Attrs.(*whole.CompareAttrs).Rel == want
	}
	return false
}
