// SPDX-License-Identifier: Apache-2.0

package route

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
)

// netlist is the part of a flat netlist that is read, as Yosys and nextpnr write it.
type netlist struct {
	Cells map[string]struct {
		Type       string
		Parameters map[string]any
		Attributes struct {
			Bel string `json:"NEXTPNR_BEL"`
		}
		Directions  map[string]string `json:"port_directions"`
		Connections map[string]wire
	}
	Netnames map[string]struct {
		Bits   wire
		Hidden int `json:"hide_name"`
	}
}

// wire lists bits: numbers, or constants as texts.
type wire []any

// bits are those that are driven.
func (w wire) bits() (out []int) {
	for _, b := range w {
		if n, ok := b.(float64); ok {
			out = append(out, int(n))
		}
	}
	return out
}

func readNetlist(path string) (*netlist, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all struct{ Modules map[string]*netlist }
	if err := json.NewDecoder(f).Decode(&all); err != nil {
		return nil, err
	}
	var best *netlist // the one that is no black box
	for _, name := range slices.Sorted(maps.Keys(all.Modules)) {
		if n := all.Modules[name]; n != nil && (best == nil || len(n.Cells) > len(best.Cells)) {
			best = n
		}
	}
	if best == nil {
		return nil, errors.New("no module in " + path)
	}
	return best, nil
}

// owner is the instance that a cell belongs to, and the signal that it drives, "" where that has no name.
type owner struct{ instance, signal string }

// owners finds the instance of each cell: that of the signal that it drives. One whose signal has no name, since
// mapping made it, belongs to the cell that it feeds, or else to the one that feeds it.
func (d *design) owners(n *netlist) map[string]owner {
	named := map[int]string{} // bit -> signal
	for name, w := range n.Netnames {
		for _, bit := range w.Bits.bits() {
			if signal := d.signals[name]; signal != "" {
				named[bit] = signal
			}
		}
	}
	drivers, readers := map[int]string{}, map[int][]string{}
	found := map[string]owner{}
	cells := slices.Sorted(maps.Keys(n.Cells))
	for _, cell := range cells {
		c := n.Cells[cell]
		for _, port := range slices.Sorted(maps.Keys(c.Connections)) {
			for _, bit := range c.Connections[port].bits() {
				if c.Directions[port] != "output" {
					readers[bit] = append(readers[bit], cell)
					continue
				}
				drivers[bit] = cell
				if signal := named[bit]; signal != "" {
					found[cell] = owner{d.instance(signal), signal}
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, back := range []bool{false, true} {
			for _, cell := range cells {
				if _, ok := found[cell]; ok {
					continue
				}
				if o, ok := n.beside(cell, back, found, drivers, readers); ok {
					found[cell], changed = owner{instance: o.instance}, true
				}
			}
			if changed {
				break
			}
		}
	}
	return found
}

// beside is the owner of a cell that reads what the given one drives, or (back) that drives what it reads.
func (n *netlist) beside(cell string, back bool, found map[string]owner, drivers map[int]string,
	readers map[int][]string) (owner, bool) {
	c := n.Cells[cell]
	for _, port := range slices.Sorted(maps.Keys(c.Connections)) {
		if (c.Directions[port] == "output") == back {
			continue
		}
		for _, bit := range c.Connections[port].bits() {
			next := readers[bit]
			if back {
				next = []string{drivers[bit]}
			}
			for _, other := range next {
				if o, ok := found[other]; ok {
					return o, true
				}
			}
		}
	}
	return owner{}, false
}
