// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"slices"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
)

// Own is the format that the model itself gives to a constant, nil for none.
func Own(n *ir.Node) *ir.Type {
	if k, ok := n.Attrs.(*ir.Const); ok && k.Own.Format != nil {
		return &k.Own
	}
	return nil
}

// lostAxis marks scales whose axis is no axis any more.
const lostAxis = 15

// Keep hands the format of codes on to a constant n that holds the elements of another one in another order.
func Keep(n *ir.Node, o *ir.Op, attrs any, from *ir.Node) {
	t := Own(from)
	if t == nil || n == from || !n.IsConst() || !o.Traits.KeepsCodes {
		return
	}
	moved := *t
	if axis, ok := format.ScaleAxis(t.Format); ok {
		moved.Format = format.WithScaleAxis(t.Format, movedAxis(axis, o, attrs, from.Type.Shape, n.Type.Shape))
	}
	n.Attrs.(*ir.Const).Own = moved
}

// movedAxis is where an axis of scales lies behind a transpose or a reshape. In reshapes it is counted from the end,
// where they seldom change anything.
func movedAxis(axis int, o *ir.Op, attrs any, from, to []int) int {
	if axis >= len(from) {
		return lostAxis
	}
	if t, ok := attrs.(*move.TransposeAttrs); ok {
		return slices.Index(t.Perm, axis)
	}
	if at := axis + len(to) - len(from); o.Traits.Wire && at >= 0 && at < len(to) && to[at] == from[axis] {
		return at
	}
	return lostAxis
}

// Check refuses constants whose scales do not run along axis 0, that of the output channels.
func Check(n *ir.Node) error {
	t := Own(n)
	if t == nil {
		return nil
	}
	if axis, ok := format.ScaleAxis(t.Format); ok && axis > 0 {
		return diag.New(diag.QuantForm, "", "constant %s has scales along an axis that is not that of output channels",
			source.Quote(n.Name)).WithHint("quantize the weights per tensor or per output channel")
	}
	return nil
}
