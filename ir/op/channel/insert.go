// SPDX-License-Identifier: Apache-2.0

package channel

import (
	"fmt"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
)

// Layer is a node that computes channels from others.
type Layer struct {
	Node *ir.Node
	// Channels is how many it computes. Last is the group of the last of them, behind which dead ones can be inserted,
	// and -1 where none can: Why says why.
	Channels, Last int
	Why            string
}

// Layers lists the layers that compute channels, in the order of the graph.
func (s *Groups) Layers() []Layer { return s.layers }

// room says why nothing can be inserted behind the last of the channels that a layer opens; before remembers the group
// in front of the last one.
func (s *Groups) room(l *Layer, opened []int) {
	distinct := slices.Compact(slices.Sorted(slices.Values(opened)))
	switch last := len(opened) - 1; {
	case l.Last < 0:
	case last < 1 || len(distinct) <= last || opened[last-1] < 0:
		l.Last, l.Why = -1, "they are single or tied to each other"
	default:
		s.before[l.Last] = opened[last-1]
	}
}

// Insert puts dead channels into h, the graph that s was found in or a copy of it: extra[g] of them behind each channel
// of group g, the Last of a layer. Nobody reads what they hold, as their weights are 0; h computes what it computed
// before. Constants that are no weights hold for a dead channel what they hold for the one in front of it. It is an
// error if the format of a weight has no 0, or if channels of a layer do not lie side by side; h is then spoilt.
func (s *Groups) Insert(h *ir.Graph, extra []int) error {
	weights := map[*ir.Node]bool{}
	for _, g := range s.All {
		for _, m := range g.Members {
			weights[m.Node] = m.Weight
		}
	}
	for at, n := range h.Nodes {
		from := make([][]int, len(s.axes[at]))
		for axis, labels := range s.axes[at] {
			var ok bool
			if from[axis], ok = s.spread(labels, n.Type.Shape[axis], extra); !ok {
				return fmt.Errorf("the channels of %s do not lie side by side", n.Name)
			}
		}
		if n.IsConst() {
			if err := grow(n, from, weights[s.nodes[at]]); err != nil {
				return err
			}
			continue
		}
		s.reshape(h, n, from)
	}
	return h.Check()
}

// spread lists, for each index of an axis with dead channels, the index that it was before; that of the channel in
// front of a dead one is -1 - index. A flattened axis may have a channel several times in a row, and then as often a
// dead one; the channel in front of it tells such rows from channels that are alike.
func (s *Groups) spread(labels []int, size int, extra []int) (from []int, ok bool) {
	for i := range size {
		from = append(from, i)
		if labels == nil || labels[i] < 0 || extra[labels[i]] == 0 || i+1 < size && labels[i+1] == labels[i] {
			continue
		}
		g, run := labels[i], 1
		for i >= run && labels[i-run] == g {
			run++
		}
		for k := range run {
			if i < run+k || labels[i-run-k] != s.before[g] {
				return nil, false
			}
		}
		if i >= 2*run && labels[i-2*run] == s.before[g] {
			return nil, false
		}
		for range extra[g] * run {
			from = append(from, -1-i)
		}
	}
	return from, true
}

// grow puts dead indices into a constant, of zeros where it is a weight.
func grow(n *ir.Node, from [][]int, weight bool) error {
	var v *ir.Tensor
	for axis, list := range from {
		if len(list) == n.Type.Shape[axis] {
			continue
		}
		if v == nil {
			var err error
			if v, err = n.Value(); err != nil {
				return err
			}
		}
		kept := make([]int, len(list))
		for i, k := range list {
			kept[i] = max(k, -1-k)
		}
		v = take(v, axis, kept)
		if _, along, ok := format.ScaledAlong(n.Type.Format); ok && along == axis {
			v.Type.Scales = pick(v.Type.Scales, kept)
		}
		if !weight {
			continue
		}
		zero, err := zeroOf(n)
		if err != nil {
			return err
		}
		clearDead(v, axis, list, zero)
	}
	if v != nil {
		put(n, v)
	}
	return nil
}

// clearDead sets the elements of v at dead indices of an axis to 0.
func clearDead(v *ir.Tensor, axis int, from []int, zero int64) {
	n := &ir.Node{Type: v.Type}
	for i, k := range from {
		if k >= 0 {
			continue
		}
		m := Member{Node: n, Axis: axis, At: i}
		m.Elements(func(at int) {
			if v.Codes != nil {
				v.Codes[at] = zero
			} else {
				v.Floats[at] = 0
			}
		})
	}
}

// zeroOf is the code of 0 in the format of n, whatever its scales.
func zeroOf(n *ir.Node) (int64, error) {
	f := n.Type.Format
	if n.Type.IsFloat() {
		return 0, nil
	}
	code := f.Encode(format.Exact{})
	if v := f.Decode(code); !v.IsZero() {
		return 0, fmt.Errorf("%s of its weights has no 0", f)
	}
	return code, nil
}

// put makes v the value of a constant.
func put(n *ir.Node, v *ir.Tensor) {
	if n.Type = v.Type; v.Codes != nil {
		n.Attrs = ir.Computed(ir.CodeBlob(v.Codes), n)
	} else {
		n.Attrs = ir.Computed(ir.FloatBlob(v.Floats), n)
	}
}

// reshape gives n, whose constants have been changed, as many indices along its axes as are listed.
func (s *Groups) reshape(h *ir.Graph, n *ir.Node, kept [][]int) {
	shape := slices.Clone(n.Type.Shape)
	for axis, list := range kept {
		shape[axis] = len(list)
	}
	n.Type.Shape = shape
	s.attributes(h, n)
}
