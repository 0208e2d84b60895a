// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"math"

	"lathe/ir"
	"lathe/ir/op/pointwise"
)

// Clips makes one clip of clips and ReLUs in a row.
func Clips(g *ir.Graph) error {
	for _, n := range g.Nodes {
		outer, ok := boundsOf(n)
		if !ok {
			continue
		}
		for {
			x := n.Args[0]
			inner, ok := boundsOf(x)
			if !ok {
				break
			}
			n.Args = []*ir.Node{x.Args[0]}
			if n.Op == pointwise.Relu && x.Op == pointwise.Relu {
				continue
			}
			outer = &pointwise.ClipAttrs{Min: within(outer, inner.Min), Max: within(outer, inner.Max)}
			n.Op, n.Attrs = pointwise.Clip, outer
		}
	}
	g.DropDead()
	return nil
}

// boundsOf are the bounds between which n holds its argument; ok is false where it does something else.
func boundsOf(n *ir.Node) (a *pointwise.ClipAttrs, ok bool) {
	if !n.Type.IsFloat() {
		return nil, false
	}
	if n.Op == pointwise.Relu {
		return &pointwise.ClipAttrs{Max: float32(math.Inf(1))}, true
	}
	a, ok = n.Attrs.(*pointwise.ClipAttrs)
	return a, ok
}

// within is clip of x.
func within(a *pointwise.ClipAttrs, x float32) float32 { return min(max(x, a.Min), a.Max) }
