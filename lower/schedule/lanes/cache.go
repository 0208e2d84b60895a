// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/unit"
)

// cache decides where the keys or values of n live.
func (l *laner) cache(n *ir.Node) {
	n.HW.Cache = ""
	if l.plan.Memory.Cache == "external" && n.HW.Decode && n.Op.Traits.Meets != 0 {
		n.HW.Cache, n.HW.Port, n.HW.Burst = "external", l.plan.Memory.AXIBits, l.plan.Memory.BurstOf()
	}
}

// settleCaches refuses units whose keys or values cannot lie outside although the plan says so: error L0436.
func (l *laner) settleCaches(units *unit.Cache, g *ir.Graph) {
	for _, n := range g.Nodes {
		if n.HW.Cache == "" {
			continue
		}
		u, err := units.Of(n)
		if err != nil || u.Cache != nil {
			continue // an error of the unit is time_units' to tell
		}
		e := n.Errorf(diag.CacheOutside, "cache = \"external\": the unit %s cannot have its tokens in a memory outside",
			u.Kind())
		l.Errs = append(l.Errs, e.WithNote("set by %s", l.plan.Memory.CacheFrom).WithHint(
			"leave cache = \"external\" out, or have each query see all tokens up to its own"))
	}
}
