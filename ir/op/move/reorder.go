// SPDX-License-Identifier: Apache-2.0

package move

import (
	"fmt"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/hardware"
	"lathe/rtl"
)

// strided is one axis of a reordered frame: its size and the distance of neighbours in the frame that came, in
// elements.
type strided struct{ size, stride int }

// wheels is the number of axes that op_reorder has.
const wheels = 6

// reorderAxes lists the axes of the result of a transpose with their strides, those of size 1 left out and neighbours
// that lie in the argument as they lie in the result taken as one.
func reorderAxes(n *ir.Node) []strided {
	in := n.Args[0].Type.Shape
	strides := make([]int, len(in))
	for i, s := len(in)-1, 1; i >= 0; i-- {
		strides[i] = s
		s *= in[i]
	}
	var axes []strided
	for _, p := range n.Attrs.(*TransposeAttrs).Perm {
		if in[p] == 1 {
			continue
		}
		if k := len(axes) - 1; k >= 0 && axes[k].stride == strides[p]*in[p] {
			axes[k] = strided{axes[k].size * in[p], strides[p]}
			continue
		}
		axes = append(axes, strided{in[p], strides[p]})
	}
	return axes
}

// keptRun is the number of neighbouring elements of the argument of a transpose that stay neighbours.
func keptRun(n *ir.Node) int {
	axes := reorderAxes(n)
	if k := len(axes) - 1; k >= 0 && axes[k].stride == 1 {
		return axes[k].size
	}
	return 1
}

// reorderRTL keeps a frame in memory and reads it in the new order. Leading axes that stay where they are make small
// frames of one large one.
func reorderRTL(n *ir.Node) (*rtl.Unit, error) {
	if KeepsOrder(n) {
		return &rtl.Unit{}, nil
	}
	if err := checkMove(n); err != nil {
		return nil, err
	}
	axes, lanes := reorderAxes(n), n.HW.OutLanes
	groups, frame := 1, n.Type.Elems()
	if axes[0].stride*axes[0].size == frame { // the outermost axis stays
		groups, frame = axes[0].size, axes[0].stride
		axes = axes[1:]
	}
	last := &axes[len(axes)-1]
	if last.stride == 1 { // in whole beats
		last.size, last.stride = last.size/lanes, lanes
	}
	if len(axes) > wheels {
		return nil, n.Errorf(diag.TransposeAxes, "transpose %v of %s moves %d separate axes; hardware moves %d",
			n.Attrs.(*TransposeAttrs).Perm, ir.ShapeString(n.Args[0].Type.Shape), len(axes), wheels)
	}
	for len(axes) < wheels {
		axes = append([]strided{{1, 0}}, axes...)
	}
	u := rtl.NewUnit("op_reorder", "WIDTH", n.Type.BeatWidth(lanes), "BEATS", frame/lanes, "GROUPS", groups)
	for i, a := range axes {
		u.With(fmt.Sprintf("D%d", i), a.size, fmt.Sprintf("S%d", i), a.stride/lanes)
	}
	return u.With("STYLE", hardware.MemStyle(n)), nil
}
