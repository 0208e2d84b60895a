// SPDX-License-Identifier: Apache-2.0

package rtl

import "lathe/rtl/netlist"

// Signature is the ports of a library module under parameters; it is what netlists are checked with. Errors as Lookup,
// Values and Eval.
func Signature(module string, params []Param) ([]netlist.Port, error) {
	h, err := Lookup(module)
	if err != nil {
		return nil, err
	}
	values, err := h.Values(params)
	if err != nil {
		return nil, err
	}
	ports := make([]netlist.Port, len(h.Ports))
	for i, p := range h.Ports {
		width := 0
		if p.Msb != "" {
			if width, err = h.Width(p.Name, values); err != nil {
				return nil, err
			}
		}
		ports[i] = netlist.Port{Name: p.Name, Output: p.Output, Width: width}
	}
	return ports, nil
}
