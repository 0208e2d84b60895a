// SPDX-License-Identifier: Apache-2.0

package timing

import (
	"lathe/ir"
	"lathe/ir/unit"
	"lathe/rtl"
)

// Port is what the port to a memory outside takes; nothing where no unit of g reads from there.
func Port(units *unit.Cache, g *ir.Graph) (rtl.Cost, error) {
	bits, weights, caches, file, cache := 0, 0, 0, 0, 0
	for _, n := range g.Nodes {
		if n.HW.Weights == "" && n.HW.Cache == "" {
			continue
		}
		u, err := units.Of(n)
		if err != nil {
			return rtl.Cost{}, err
		}
		if u.Weights != nil && !u.Weights.Checked() {
			bits, weights, file = u.Weights.Port, weights+1, file+u.Weights.Bytes()
		}
		if u.Cache != nil {
			bits, caches, cache = u.Cache.Port, caches+1, cache+u.Cache.Bytes()
		}
	}
	if weights+caches == 0 {
		return rtl.Cost{}, nil
	}
	reads, err := rtl.ReadPort(weights, caches, bits, max(file, cache)).Facts(units.Part.Technology())
	if err != nil || caches == 0 {
		return reads.Cost, err
	}
	writes, err := rtl.WritePort(caches, bits, max(file, cache)).Facts(units.Part.Technology())
	return reads.Cost.Add(writes.Cost), err
}
