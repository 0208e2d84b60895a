// SPDX-License-Identifier: Apache-2.0

package norm

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/composite"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// GroupNormAttrs are the attributes of group_norm.
type GroupNormAttrs struct {
	Groups int
	Eps    float32
}

// GroupNorm normalizes each of Groups runs of channels (axis 1), with all axes behind it, by layer_norm, and then
// multiplies and adds per channel: x [N, C, ...], scale [C], bias [C] (Wu and He, 2018). With a group a channel it is
// instance normalization.
var GroupNorm = composite.New(ir.Op{
	Name: "group_norm", Doc: "(x - mean)/sqrt(var + eps)*scale + bias over groups of channels",
	Attrs: GroupNormAttrs{}, Arity: [2]int{1, 3}, Traits: ir.Traits{FloatOnly: true},
	Infer: groupNormInfer, Expand: groupNormExpand,
	Legal: column.NoInteger, Gen: genGroupNorm,
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
	shape, e := x.Type.Shape, composite.Expand(n)
	rows := e.Reshape("groups", x, shape[0], a.Groups, walk.Size(shape[1:])/a.Groups)
	y := e.Do("normalized", LayerNorm, &Attrs{Axis: 2, Eps: a.Eps}, rows)
	y = e.Reshape("channels", y, shape...)
	column := make([]int, len(shape)-1) // a channel, before the axes behind it
	for i := range column {
		column[i] = 1
	}
	var with []*ir.Node
	for i, arg := range n.Args[1:] {
		column[0] = shape[1]
		with = append(with, e.Reshape([]string{"scale", "bias"}[i], arg, append([]int(nil), column...)...))
	}
	affine(e, y, with...)
	return e.Done()
}

// genGroupNorm draws images, or rows, of several channels a group.
func genGroupNorm(r *rand.Rand, o *ir.Op) *ir.Graph {
	groups, each := draw.Between(r, 1, 3), draw.Between(r, 1, 3)
	shape := append([]int{draw.Between(r, 1, 2), groups * each}, draw.Shape(r, 0, 2)...)
	shape = append(shape, 4)
	args := []*ir.Node{draw.Input("x", ir.Float(shape...))}
	for i := 0; i < 2 && draw.Chance(r, 75); i++ {
		args = append(args, draw.Operand(r, 75, []string{"scale", "bias"}[i], shape[1]))
	}
	a := &GroupNormAttrs{Groups: groups, Eps: []float32{1e-2, 1e-3, 0.5}[r.IntN(3)]}
	return draw.FloatGraph(o, a, args...)
}
