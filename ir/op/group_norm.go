// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/ir"
)

// GroupNormAttrs are the attributes of group_norm.
type GroupNormAttrs struct {
	Groups int
	Eps    float32
}

// GroupNorm normalizes each of Groups runs of channels (axis 1), with all axes behind it, as layer_norm does, and then
// multiplies and adds per channel: x [N, C, ...], scale [C], bias [C] (Wu and He, 2018). With a group a channel it is
// instance normalization.
var GroupNorm = composite(ir.Op{
	Name: "group_norm", Doc: "(x - mean)/sqrt(var + eps)*scale + bias over groups of channels",
	Attrs: GroupNormAttrs{}, Arity: [2]int{1, 3}, Traits: ir.Traits{FloatOnly: true, RoundsOnce: true},
	Infer: groupNormInfer, Expand: groupNormExpand,
	Legal: noInteger, Gen: genGroupNorm,
})

func groupNormInfer(n *ir.Node) ([]int, error) {
	x, groups := n.Args[0].Type.Shape, n.Attrs.(*GroupNormAttrs).Groups
	if len(x) < 2 || groups < 1 || x[1]%groups != 0 {
		return nil, fmt.Errorf("%d groups do not divide the channels, axis 1, of %s", groups, ir.ShapeString(x))
	}
	for _, a := range n.Args[1:] {
		if s := a.Type.Shape; len(s) != 1 || s[0] != x[1] {
			return nil, fmt.Errorf("%s has shape %s, %d channels need %d", a.Name, ir.ShapeString(s), x[1], x[1])
		}
	}
	return x, nil
}

func groupNormExpand(n *ir.Node) ([]*ir.Node, error) {
	a, x := n.Attrs.(*GroupNormAttrs), n.Args[0]
	shape, e := x.Type.Shape, expand(n)
	rows := e.reshape("groups", x, shape[0], a.Groups, product(shape[1:])/a.Groups)
	y := e.normalized(e.centered(rows, []int{2}), []int{2}, a.Eps)
	y = e.reshape("channels", y, shape...)
	column := make([]int, len(shape)-1) // a channel, before the axes behind it
	for i := range column {
		column[i] = 1
	}
	var with []*ir.Node
	for i, arg := range n.Args[1:] {
		column[0] = shape[1]
		with = append(with, e.reshape([]string{"scale", "bias"}[i], arg, append([]int(nil), column...)...))
	}
	e.affine(y, with...)
	return e.done()
}
