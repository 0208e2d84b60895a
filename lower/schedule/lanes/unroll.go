// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"fmt"
	"slices"

	"lathe/ir"
	"lathe/ir/op/dot"
)

// unrolls says whether weights of n are wired into sums. Of a node that keeps multipliers although a rule or the mode
// asks for sums, a note names the cause; lanes beside the wish are a wish of their own.
func (l *laner) unrolls(n *ir.Node, a wishes, d *ir.Lanes, in, out int) bool {
	n.HW.Style = d.StyleOf(a.style, in, out)
	ruled := l.Ruled(n)
	wished := a.style == ir.StyleUnroll || a.shared
	if n.HW.Style == ir.StyleUnroll || !wished || ruled.in > 0 || ruled.out > 0 ||
		!n.Op.Traits.Weighted || n.Op.Traits.PerChannel {
		return n.HW.Style == ir.StyleUnroll
	}
	cause := ""
	switch {
	case a.shared:
		cause = "layers with weights of their own share its unit"
	case dot.KindsOf(n).Window():
		cause = "there is no unrolled unit of sums over blocks"
	case !slices.Contains(d.Styles, ir.StyleUnroll):
		cause = "of convolutions in groups, only depthwise ones have an unrolled unit"
	default:
		return false
	}
	l.notes = append(l.notes, fmt.Sprintf("%s is not unrolled: %s; it multiplies with in_lanes = %d and out_lanes = %d",
		n.Name, cause, n.HW.InLanes, n.HW.OutLanes))
	return false
}
