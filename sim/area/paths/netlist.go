// SPDX-License-Identifier: Apache-2.0

// Package paths counts what lies between the registers of a design that Yosys has mapped: on the longest paths, the
// LUTs in a row, the carry chains and the multipliers. Paths begin and end at registers, memories and ports.
//
// These are counts, not times: they need no model of a chip, and hold for every speed grade and placement.
package paths

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Netlist is a flat netlist of primitives.
type Netlist struct {
	cells map[string]cell
	ports map[string]port
	names map[int]string // of nets, as the source has them
}

type cell struct {
	Type       string            `json:"type"`
	Parameters map[string]string `json:"parameters"`
	Directions map[string]string `json:"port_directions"`
	Bits       map[string][]bit  `json:"connections"`
}

type port struct {
	Direction string `json:"direction"`
	Bits      []bit  `json:"bits"`
}

// bit is the number of a net; constants have none and are 0, which Yosys gives to no net.
type bit int

func (b *bit) UnmarshalJSON(data []byte) error {
	*b = 0
	if len(data) > 0 && data[0] == '"' {
		return nil
	}
	return json.Unmarshal(data, (*int)(b))
}

// Read takes what write_json of Yosys prints, and of it the module top, which must be flat.
func Read(r io.Reader, top string) (*Netlist, error) {
	var file struct {
		Modules map[string]struct {
			Ports map[string]port `json:"ports"`
			Cells map[string]cell `json:"cells"`
			Nets  map[string]struct {
				Hide int   `json:"hide_name"`
				Bits []bit `json:"bits"`
			} `json:"netnames"`
		} `json:"modules"`
	}
	if err := json.NewDecoder(r).Decode(&file); err != nil {
		return nil, fmt.Errorf("the netlist cannot be read: %w", err)
	}
	m, ok := file.Modules[top]
	if !ok {
		return nil, fmt.Errorf("the netlist has no module %s", top)
	}
	n := &Netlist{cells: m.Cells, ports: m.Ports, names: map[int]string{}}
	for _, name := range slices.Sorted(maps.Keys(m.Nets)) {
		net := m.Nets[name]
		if net.Hide != 0 {
			continue
		}
		for i, b := range net.Bits {
			label := name
			if len(net.Bits) > 1 {
				label = fmt.Sprintf("%s[%d]", name, i)
			}
			// Of several names the one with the fewest instances in it is what a reader knows.
			if old, ok := n.names[int(b)]; !ok || strings.Count(label, ".") < strings.Count(old, ".") {
				n.names[int(b)] = label
			}
		}
	}
	return n, nil
}

// name is what the source calls a net.
func (n *Netlist) name(b bit) string {
	if s, ok := n.names[int(b)]; ok {
		return s
	}
	return fmt.Sprintf("net %d", int(b))
}
