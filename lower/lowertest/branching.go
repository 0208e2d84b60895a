// SPDX-License-Identifier: Apache-2.0

package lowertest

import (
	"fmt"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/window"
)

// Branching builds a small network whose values part and meet again, on images of one or two spatial axes or on
// vectors: short cuts, gates, sums and joins of any two values that fit, splits. Values that nobody reads at the end
// are outputs, or meet in a last layer.
func Branching(t testing.TB, seed uint64) *ir.Graph {
	w := &web{Builder: New(t, seed)}
	shape := []int{1, 2 + w.r.IntN(8)}
	if spatial := w.r.IntN(3); spatial > 0 {
		shape = []int{1, 1 + w.r.IntN(4), 4 + w.r.IntN(4), 3 + w.r.IntN(4)}[:2+spatial]
	}
	w.values = append(w.values, w.Input("x", shape...))
	for i := range 4 + w.r.IntN(5) {
		w.grow(fmt.Sprintf("n%d", i))
	}
	ends := w.unread()
	if w.r.IntN(3) == 0 {
		return w.Done(ends...)
	}
	for i, x := range ends {
		if len(x.Type.Shape) > 2 && w.r.IntN(2) == 0 {
			x = w.Add(window.GlobalAvgPool, fmt.Sprint("mean", i), &window.GlobalAttrs{}, x)
		}
		ends[i] = w.Flatten(fmt.Sprint("flat", i), x)
	}
	return w.Done(w.Linear("last", w.concat("all", ends), 1+w.r.IntN(6), true))
}

// web is a network under construction: any of its values may be read again.
type web struct {
	*Builder
	values []*ir.Node
}

// unread are the values that no node reads.
func (w *web) unread() []*ir.Node {
	users := w.g.Users()
	return slices.DeleteFunc(slices.Clone(w.values), func(v *ir.Node) bool { return len(users[v]) > 0 })
}

// grow appends a value, which one or several of those that are there become: mostly of the last ones.
func (w *web) grow(name string) {
	x := w.values[len(w.values)-1]
	if w.r.IntN(2) == 0 {
		x = w.values[w.r.IntN(len(w.values))]
	}
	var y *ir.Node
	switch w.r.IntN(9) {
	case 0, 1:
		y = w.layer(name, x)
	case 2:
		y = w.activation(name, x)
	case 3:
		y = w.resized(name, x)
	case 4: // a short cut
		deep := w.same(name+"_2", w.activation(name+"_act", w.layer(name+"_1", x)), x)
		y = w.combined(name, x, deep)
	case 5:
		y = w.combined(name, x, w.same(name+"_same", w.partner(x), x))
	case 6:
		y = w.concat(name, []*ir.Node{x, w.partner(x), w.aligned(name+"_a", w.layer(name+"_l", x), x)}[:2+w.r.IntN(2)])
	case 7:
		y = w.gate(name, x)
	case 8:
		y = w.split(name, x)
	}
	w.values = append(w.values, y)
}

// layer multiplies by weights: an image keeps its size, or half of it.
func (w *web) layer(name string, x *ir.Node) *ir.Node {
	shape := x.Type.Shape
	if len(shape) == 2 {
		return w.Linear(name, x, 1+w.r.IntN(8), w.r.IntN(2) == 0)
	}
	groups, out, kernel, stride := 1, 1+w.r.IntN(6), 1+2*w.r.IntN(2), 1
	if w.r.IntN(4) == 0 {
		groups, out = shape[1], shape[1]
	}
	if slices.Min(shape[2:]) > 3 && w.r.IntN(4) == 0 {
		stride = 2
	}
	return w.Conv(name, x, out, kernel, stride, kernel/2, groups, true)
}

// resized is an image of another size, of a vector a scaled one.
func (w *web) resized(name string, x *ir.Node) *ir.Node {
	shape := x.Type.Shape
	smallest := slices.Min(shape[1:])
	switch {
	case len(shape) == 2:
		return w.Add(pointwise.Mul, name, nil, x, w.Random(1, shape[1]))
	case len(shape) > 2 && slices.Max(shape[2:]) < 5: // twice as large
		for axis := 2; axis < len(shape); axis++ {
			x = w.Add(move.Stretch, fmt.Sprint(name, "_", axis), &move.StretchAttrs{Axis: axis, Size: 2 * shape[axis], Step: 1,
				Of: 2}, x)
		}
		return x
	case smallest == 1:
		return w.activation(name, x)
	}
	win := Window(len(shape)-2, 2, 1+w.r.IntN(2), 0)
	if w.r.IntN(2) == 0 {
		return w.Add(window.MaxPool, name, &win, x)
	}
	return w.Add(window.AvgPool, name, &window.AvgAttrs{Window: win}, x)
}

// partner is any other value with the spatial axes of x, or x.
func (w *web) partner(x *ir.Node) *ir.Node {
	var fit []*ir.Node
	for _, v := range w.values {
		if v != x && slices.Equal(v.Type.Shape[2:], x.Type.Shape[2:]) && len(v.Type.Shape) == len(x.Type.Shape) {
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 {
		return x
	}
	return fit[w.r.IntN(len(fit))]
}

// aligned is v, whose image is no larger than that of x, with the spatial axes of x.
func (w *web) aligned(name string, v, x *ir.Node) *ir.Node {
	for axis := 2; axis < len(x.Type.Shape); axis++ {
		have, want := v.Type.Shape[axis], x.Type.Shape[axis]
		if have != want {
			v = w.Add(move.Stretch, fmt.Sprint(name, "_to", axis), &move.StretchAttrs{Axis: axis, Size: want, Step: have,
				Of: want}, v)
		}
	}
	return v
}

// same is v with the shape of x: behind a layer where it has other channels.
func (w *web) same(name string, v, x *ir.Node) *ir.Node {
	channels := x.Type.Shape[1]
	if v.Type.Shape[1] != channels || w.r.IntN(2) == 0 {
		if len(v.Type.Shape) == 2 {
			v = w.Linear(name, v, channels, true)
		} else {
			v = w.Conv(name, v, channels, 1, 1, 0, 1, true)
		}
	}
	return w.aligned(name, v, x)
}

// combined is a sum, a difference or a product of two values of one shape.
func (w *web) combined(name string, x, y *ir.Node) *ir.Node {
	if w.r.IntN(2) == 0 {
		x, y = y, x
	}
	return w.Add([]*ir.Op{pointwise.Add, pointwise.Add, pointwise.Sub, pointwise.Mul}[w.r.IntN(4)], name, nil, x, y)
}

// concat joins values along their channels.
func (w *web) concat(name string, values []*ir.Node) *ir.Node {
	if len(values) == 1 {
		return values[0]
	}
	return w.Add(move.Concat, name, &move.ConcatAttrs{Axis: 1}, values...)
}

// gate scales each channel by what a small network makes of the means.
func (w *web) gate(name string, x *ir.Node) *ir.Node {
	channels := x.Type.Shape[1]
	if len(x.Type.Shape) == 2 {
		g := w.Linear(name+"_g", x, channels, true)
		return w.Add(pointwise.Mul, name, nil, x, w.Add(curve.Sigmoid, name+"_s", nil, g))
	}
	mean := w.Add(window.GlobalAvgPool, name+"_mean", &window.GlobalAttrs{}, x)
	g := w.Add(curve.Sigmoid, name+"_s", nil, w.Conv(name+"_g", mean, channels, 1, 1, 0, 1, true))
	return w.Add(pointwise.Mul, name, nil, x, g)
}

// split sends one part of the channels through a layer, and joins them in the other order.
func (w *web) split(name string, x *ir.Node) *ir.Node {
	channels := x.Type.Shape[1]
	if channels < 2 {
		return w.layer(name, x)
	}
	at := 1 + w.r.IntN(channels-1)
	first := w.Add(move.Slice, name+"_p", &move.SliceAttrs{Axis: 1, Count: at, Step: 1}, x)
	rest := w.Add(move.Slice, name+"_q", &move.SliceAttrs{Axis: 1, Start: at, Count: channels - at, Step: 1}, x)
	return w.concat(name, []*ir.Node{rest, w.same(name+"_l", first, first)})
}
