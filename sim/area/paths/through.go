// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"maps"
	"slices"
)

// Through lists, for each output of the design, the inputs that reach it without a register between, both sorted.
// Outputs that no input reaches so are left out.
func (n *Netlist) Through() (map[string][]string, error) {
	drivers := map[bit]driver{}
	for _, name := range slices.Sorted(maps.Keys(n.cells)) {
		c := n.cells[name]
		for p, direction := range c.Directions {
			if direction != "output" {
				continue
			}
			for i, b := range c.Bits[p] {
				drivers[b] = driver{&c, p, i}
			}
		}
	}
	inputs := map[bit]string{}
	for name, p := range n.ports {
		if p.Direction == "input" {
			for _, b := range p.Bits {
				inputs[b] = name
			}
		}
	}
	out := map[string][]string{}
	for name, p := range n.ports {
		if p.Direction == "input" {
			continue
		}
		reached, err := reach(p.Bits, drivers, inputs)
		if err != nil {
			return nil, err
		}
		if len(reached) > 0 {
			out[name] = slices.Sorted(maps.Keys(reached))
		}
	}
	return out, nil
}

// reach walks from nets to the inputs before them.
func reach(from []bit, drivers map[bit]driver, inputs map[bit]string) (map[string]bool, error) {
	reached, seen, next := map[string]bool{}, map[bit]bool{0: true}, slices.Clone(from)
	for len(next) > 0 {
		b := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[b] {
			continue
		}
		seen[b] = true
		if name, ok := inputs[b]; ok {
			reached[name] = true
		}
		d, ok := drivers[b]
		if !ok {
			continue
		}
		arcs, err := d.cell.arcs()
		if err != nil {
			return nil, err
		}
		for i := range arcs {
			next = append(next, arcs[i].reaches(d.cell, d.port, d.index)...)
		}
	}
	return reached, nil
}
