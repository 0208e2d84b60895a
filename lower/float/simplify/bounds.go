// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"math"

	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
)

// Bounds turns the minimum or maximum of a value and one number into clip.
func Bounds(g *ir.Graph) error {
	for _, n := range g.Nodes {
		if n.Op != pointwise.Min && n.Op != pointwise.Max || n.Args[0].IsConst() == n.Args[1].IsConst() || !n.Type.IsFloat() {
			continue
		}
		x, c := n.Args[0], n.Args[1]
		if x.IsConst() {
			x, c = c, x
		}
		if c.Type.Elems() != 1 || len(c.Type.Shape) > len(x.Type.Shape) {
			continue
		}
		t, err := c.Value()
		if err != nil {
			return err
		}
		a := &pointwise.ClipAttrs{Min: float32(math.Inf(-1)), Max: float32(math.Inf(1))}
		if n.Op == pointwise.Max {
			a.Min = t.Floats[0]
		} else {
			a.Max = t.Floats[0]
		}
		n.Op, n.Attrs, n.Args = pointwise.Clip, a, []*ir.Node{x}
	}
	g.DropDead()
	return nil
}

// Pads moves pads of zeros into the convolutions and averages behind them, and pads of -inf into max pools: they pad by
// themselves.
func Pads(g *ir.Graph) error {
	for _, n := range g.Nodes {
		for w := padded(n); w != nil && moveInto(n, w); {
			if a, ok := n.Attrs.(*window.AvgAttrs); ok {
				a.IncludePad = true // the zeros were elements like others
			}
		}
	}
	g.DropDead()
	return nil
}

// padded is the window of an operation to which padding is a value, see padsAs; nil for others.
func padded(n *ir.Node) *geometry.Window {
	switch a := n.Attrs.(type) {
	case *sum.ConvAttrs:
		return &a.Window
	case *geometry.Window:
		if n.Op == window.MaxPool && !a.CeilMode {
			return a
		}
	case *window.AvgAttrs:
		plain := a.IncludePad
		if !plain {
			plain = true
			for _, p := range a.Pads {
				plain = plain && p == 0
			}
		}
		if plain && !a.CeilMode {
			return &a.Window
		}
	}
	return nil
}

// moveInto takes the pad before n, if there is one along a spatial axis, into its window: zeros before sums, and before
// a maximum what is never the greatest.
func moveInto(n *ir.Node, w *geometry.Window) bool {
	x := n.Args[0]
	p, ok := x.Attrs.(*move.PadAttrs)
	axis, rank := 0, len(w.Kernel)
	if ok {
		if axis = p.Axis - 2; w.ChannelsLast {
			axis++
		}
	}
	if !ok || p.Each || !padsAs(n, p.Value) || axis < 0 || axis >= rank {
		return false
	}
	// Windows that lie in the padding as a whole are the pad's business, not the window's.
	reach := (w.Kernel[axis] - 1) * w.Dilations[axis]
	if w.Pads[axis]+p.Before > reach || w.Pads[axis+rank]+p.After > reach {
		return false
	}
	w.Pads[axis] += p.Before
	w.Pads[axis+rank] += p.After
	n.Args[0] = x.Args[0]
	return true
}

// padsAs says that elements outside of the image count for n as if they were v.
func padsAs(n *ir.Node, v float32) bool {
	if n.Op == window.MaxPool {
		return v <= -math.MaxFloat32
	}
	return v == 0
}

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
