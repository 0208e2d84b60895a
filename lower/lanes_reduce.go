// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"lathe/ir"
	"lathe/ir/op"
)

// reduces decides the lanes of a reduction: those that arrive where they divide the elements that it reduces, or, where
// it reduces an outer axis, those behind it. Along the innermost axis one lane goes out.
func (l *laner) reduces(n *ir.Node, a asked) {
	run, _ := op.ReduceRun(n) // what is none is refused by the unit
	size, _ := run.ReduceLanes(1)
	size = max(size, 1)
	in := nearestDivisor(size, arriving(n))
	if run.Inner > 1 && a.in == 0 {
		a.in, a.inFrom = a.out, a.outFrom
	}
	if a.in > 0 {
		in = l.divides(n, "in_lanes", a.in, op.Divisors(size), size, "elements", a.inFrom)
	}
	_, out := run.ReduceLanes(in)
	if a.out > 0 && a.out != out {
		l.fail(n, a.outFrom, "%s gives %d lanes for %d in, not out_lanes %d", n.Op.Name, out, in, a.out)
	}
	n.HW.InLanes, n.HW.OutLanes, n.HW.StreamIn = in, out, in
}
