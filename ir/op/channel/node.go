// SPDX-License-Identifier: Apache-2.0

package channel

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/sum"
	"lathe/ir/op/walk"
)

// node ties what n reads, and gives the labels of its result.
func (t *ties) node(n *ir.Node) [][]int {
	traits := &n.Op.Traits
	switch {
	case n.IsInput():
		return whole(n)
	case n.Op == sum.Linear:
		return t.linear(n)
	case n.Op == sum.Conv:
		return t.conv(n)
	case traits.PerChannel && len(n.Args) > 1:
		return t.gains(n)
	case traits.Elementwise && !traits.PerChannel:
		return t.elements(n)
	case n.Op == move.Concat:
		return t.concat(n)
	case n.Op == move.Reshape:
		return t.reshape(n)
	case traits.Perm != nil:
		out := whole(n)
		for i, p := range traits.Perm(n.Attrs) {
			out[i] = t.values[n.Args[0]][p]
		}
		return out
	case len(n.Args) != 1 || len(n.Type.Shape) != len(n.Args[0].Type.Shape):
	case traits.Last != nil:
		axis, _ := n.ChannelAxis()
		return t.along(n, func(i int) bool { return i == axis })
	case traits.Axes != nil:
		return t.along(n, func(i int) bool { return !slices.Contains(n.AxesOf(), i) })
	case traits.Axis != nil:
		return t.along(n, func(i int) bool { return i != *n.AxisOf() })
	}
	return t.other(n)
}

// whole are the labels of a value whose axes all stay.
func whole(n *ir.Node) [][]int { return make([][]int, len(n.Type.Shape)) }

// other keeps the channels of all that n reads.
func (t *ties) other(n *ir.Node) [][]int {
	for _, a := range n.Args {
		if a.IsConst() {
			t.constant(a, whole(a)...)
			continue
		}
		t.keep(t.values[a], across(n))
	}
	return whole(n)
}

// across is why channels that n reads stay.
func across(n *ir.Node) string {
	if slices.Contains([]*ir.Op{norm.LayerNorm, norm.RMSNorm, norm.GroupNorm, norm.Softmax, norm.LogSoftmax}, n.Op) {
		return n.Op.Name + " " + n.Name + " would have other statistics"
	}
	return n.Op.Name + " " + n.Name + " needs all of them"
}

// along is an operation of one value whose result has the channels of its argument along some axes.
func (t *ties) along(n *ir.Node, same func(axis int) bool) [][]int {
	out := whole(n)
	for i, labels := range t.values[n.Args[0]] {
		if same(i) {
			out[i] = labels
		} else {
			t.keepAxis(labels, across(n))
		}
	}
	return out
}

func (t *ties) linear(n *ir.Node) [][]int {
	x := t.values[n.Args[0]]
	last := len(x) - 1
	made := t.open(n, n.Type.Shape[last])
	t.weight(n.Args[1], made, x[last])
	t.bias(n, made)
	out := slices.Clone(x)
	out[last] = made
	return out
}

func (t *ties) bias(n *ir.Node, made []int) {
	if len(n.Args) > 2 {
		t.weight(n.Args[2], made)
	}
}

func (t *ties) conv(n *ir.Node) [][]int {
	a, x, w := n.Attrs.(*sum.ConvAttrs), t.values[n.Args[0]], n.Args[1]
	axis, _ := n.ChannelAxis()
	for i, labels := range x {
		if i != axis {
			t.keepAxis(labels, across(n))
		}
	}
	axes := whole(w)
	g, err := geometry.New(n.Args[0].Type.Shape, &a.Window)
	switch {
	case err == nil && a.Depthwise(g, w.Type.Shape[0]):
		axes[0] = x[axis]
	case a.Groups == 1:
		axes[0] = t.open(n, w.Type.Shape[0])
		axes[contracted(n)] = x[axis]
	default:
		axes[0] = t.open(n, w.Type.Shape[0])
		t.keepAxis(axes[0], "the convolution has groups")
		t.keepAxis(x[axis], "the convolution "+n.Name+" has groups")
	}
	t.weight(w, axes...)
	t.bias(n, axes[0])
	out := whole(n)
	out[axis] = axes[0]
	return out
}

// contracted is the axis of the weights of a convolution along which channels lie.
func contracted(n *ir.Node) int {
	if n.Attrs.(*sum.ConvAttrs).ChannelsLast {
		return len(n.Args[1].Type.Shape) - 1
	}
	return 1
}

// gains is an operation that multiplies and adds by channel.
func (t *ties) gains(n *ir.Node) [][]int {
	x, axis := t.values[n.Args[0]], *n.AxisOf()
	for i, a := range n.Args[1:] {
		if i < 2 { // mean and variance are no weights
			t.weight(a, x[axis])
		} else if a.IsConst() {
			t.constant(a, x[axis])
		}
	}
	return x
}

// elements is an operation whose arguments broadcast, aligned at the last axis.
func (t *ties) elements(n *ir.Node) [][]int {
	out := whole(n)
	axisOf := func(a *ir.Node, i int) int { return i - len(n.Type.Shape) + len(a.Type.Shape) }
	for i, size := range n.Type.Shape {
		var streams [][]int
		for _, a := range n.Streams() {
			if k := axisOf(a, i); k >= 0 && a.Type.Shape[k] == size {
				streams = append(streams, t.values[a][k])
			}
		}
		for k := range streams {
			t.join(streams[0], streams[k], n.Op.Name+" "+n.Name+" meets a value that stays whole")
		}
		if len(streams) > 0 {
			out[i] = streams[0]
		}
	}
	for _, a := range n.Args {
		if !a.IsConst() {
			continue
		}
		axes := whole(a)
		for k := range axes {
			if i := k + len(n.Type.Shape) - len(axes); a.Type.Shape[k] == n.Type.Shape[i] {
				axes[k] = out[i]
			}
		}
		t.constant(a, axes...)
	}
	return out
}

func (t *ties) concat(n *ir.Node) [][]int {
	const why = "they are joined with a value that stays whole"
	if len(n.Streams()) != len(n.Args) {
		return t.other(n)
	}
	out := whole(n)
	for i := range out {
		for _, a := range n.Args {
			labels := t.values[a][i]
			if i != *n.AxisOf() {
				out[i] = t.values[n.Args[0]][i]
				t.join(out[i], labels, why)
				continue
			}
			if labels == nil {
				labels = t.open(n, a.Type.Shape[i])
				t.keepAxis(labels, isOutput)
			}
			out[i] = append(out[i], labels...)
		}
	}
	return out
}

// reshape maps each axis to one of the result whose index alone decides which channel an element is of.
func (t *ties) reshape(n *ir.Node) [][]int {
	out, from, to := whole(n), n.Args[0].Type.Shape, n.Type.Shape
	for i, labels := range t.values[n.Args[0]] {
		if labels == nil {
			continue
		}
		inner, placed := walk.Size(from[i+1:]), false
		for k, size := range to {
			step := walk.Size(to[k+1:])
			if placed || out[k] != nil || size < len(labels) || inner%step != 0 || step*size%(inner*len(labels)) != 0 {
				continue
			}
			placed, out[k] = true, make([]int, size)
			for at := range size {
				out[k][at] = labels[at*step/inner%len(labels)]
			}
		}
		if !placed {
			t.keepAxis(labels, "reshape "+n.Name+" spreads them over axes")
		}
	}
	return out
}
