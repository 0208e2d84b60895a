// SPDX-License-Identifier: Apache-2.0

package lowertest

import (
	"fmt"
	"testing"

	"lathe/ir"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
)

// Layers builds a small network of two to five layers that are alike but for their constants, between others that are
// not: on tokens or on images, with short cuts, norms, channels by themselves, constants that are added, and values
// from outside that all of them read.
func Layers(t testing.TB, seed uint64) (g *ir.Graph, layers int) {
	l := &layered{Builder: New(t, seed)}
	layers = 2 + l.r.IntN(4)
	width := 2 * (1 + l.r.IntN(5))
	image, short, normal, side := l.r.IntN(3) == 0, l.r.IntN(2) == 0, l.r.IntN(2) == 0, l.r.IntN(3) == 0
	depth := l.r.IntN(2) == 0
	shape := []int{1, 1 + l.r.IntN(6), width}
	if image {
		shape, normal = []int{1, width, 3 + l.r.IntN(3), 3 + l.r.IntN(3)}, false
	}
	x := l.Input("x", shape...)
	if l.r.IntN(2) == 0 {
		x = l.layer("first", x, image)
	}
	var all *ir.Node
	if side {
		all = l.layer("side", l.Input("s", shape...), image)
	}
	for i := range layers {
		name := func(part string) string { return fmt.Sprintf("l%d.%s", i, part) }
		y := x
		if normal {
			y = l.Add(norm.LayerNorm, name("norm"), &norm.Attrs{Axis: -1, Eps: 1e-5}, y, l.Random(1, width), l.Random(1, width))
		}
		y = l.Add(pointwise.Relu, name("relu"), nil, l.layer(name("a"), y, image))
		if side {
			y = l.Add(pointwise.Add, name("side"), nil, y, all)
		}
		switch {
		case depth && image:
			y = l.Conv(name("depth"), y, width, 3, 1, 1, width, true)
		case depth:
			y = l.Add(pointwise.Add, name("places"), nil, y, l.Random(1, shape...))
		}
		y = l.layer(name("b"), y, image)
		if short {
			y = l.Add(pointwise.Add, name("sum"), nil, x, y)
		}
		x = y
	}
	if l.r.IntN(2) == 0 {
		x = l.Linear("last", l.Flatten("flat", x), 3, true)
	}
	return l.Done(x), layers
}

// layered is a network under construction.
type layered struct{ *Builder }

// layer keeps the shape of x, and about the size of its values.
func (l *layered) layer(name string, x *ir.Node, image bool) *ir.Node {
	width := x.Type.Shape[len(x.Type.Shape)-1]
	if image {
		return l.Conv(name, x, x.Type.Shape[1], 3, 1, 1, 1, true)
	}
	return l.Add(sum.Linear, name, nil, x, l.Random(1/float64(width)+0.3, width, width), l.Random(0.5, width))
}
