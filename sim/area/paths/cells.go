// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of cell that a path goes through.
type Kind int

// A chain of CARRY4 is one Carry, however long, as is the adder of a DSP. DSP is a multiplier.
const (
	LUT Kind = iota
	Carry
	DSP
	kinds
)

// Levels counts cells of each kind on a path.
type Levels [kinds]int

// Limit is what a design of Lathe keeps to.
var Limit = Levels{LUT: 6, Carry: 2, DSP: 1}

// Within says whether no count is above its limit.
func (l Levels) Within(limit Levels) bool {
	for k := range l {
		if l[k] > limit[k] {
			return false
		}
	}
	return true
}

func (l Levels) String() string {
	return fmt.Sprintf("%d LUT, %d carry, %d DSP", l[LUT], l[Carry], l[DSP])
}

// arc says through which ports of a cell signals pass without a clock. Ports that no arc names are ends, if they are
// inputs, and beginnings, if they are outputs.
type arc struct {
	from, to []string // ports
	adds     Levels
	upward   bool // bit i of an input reaches bits i and above of the outputs
	lanes    bool // input ADDRx reaches output DOx alone
}

var (
	oneLUT   = arc{from: []string{"I0", "I1", "I2", "I3", "I4", "I5"}, to: []string{"O"}, adds: Levels{LUT: 1}}
	through  = arc{from: []string{"I"}, to: []string{"O"}}
	mux      = arc{from: []string{"I0", "I1", "S"}, to: []string{"O"}}
	tap      = arc{from: []string{"A", "A0", "A1", "A2", "A3"}, to: []string{"Q"}, adds: Levels{LUT: 1}}
	wideRAM  = arc{adds: Levels{LUT: 1}, lanes: true}
	clocked  = []arc{}
	smallRAM = []arc{
		{from: []string{"A", "A0", "A1", "A2", "A3", "A4", "A5"}, to: []string{"O", "SPO"}, adds: Levels{LUT: 1}},
		{from: []string{"DPRA", "DPRA0", "DPRA1", "DPRA2", "DPRA3", "DPRA4", "DPRA5"}, to: []string{"DPO"},
			adds: Levels{LUT: 1}},
	}
	// S and DI are the two inputs of a bit; CI continues a chain that the cell below began, and is not counted again.
	chain = []arc{
		{from: []string{"S", "DI"}, to: []string{"O", "CO"}, adds: Levels{Carry: 1}, upward: true},
		{from: []string{"CYINIT"}, to: []string{"O", "CO"}, adds: Levels{Carry: 1}},
		{from: []string{"CI"}, to: []string{"O", "CO"}},
	}
)

// library holds the cells that synth_xilinx maps to.
var library = map[string][]arc{
	"LUT1": {oneLUT}, "LUT2": {oneLUT}, "LUT3": {oneLUT}, "LUT4": {oneLUT}, "LUT5": {oneLUT}, "LUT6": {oneLUT},
	"INV": {through}, "BUFG": {through}, "IBUF": {through}, "OBUF": {through}, "IBUFG": {through},
	"MUXF7": {mux}, "MUXF8": {mux}, "MUXF9": {mux},
	"CARRY4": chain, "CARRY8": chain,
	"SRL16E": {tap}, "SRLC16E": {tap}, "SRLC32E": {tap},
	"RAM32M": {wideRAM}, "RAM64M": {wideRAM}, "RAM32M16": {wideRAM}, "RAM64M8": {wideRAM},
	"RAM32X1S": smallRAM, "RAM64X1S": smallRAM, "RAM128X1S": smallRAM, "RAM256X1S": smallRAM, "RAM512X1S": smallRAM,
	"RAM32X1D": smallRAM, "RAM64X1D": smallRAM, "RAM128X1D": smallRAM, "RAM256X1D": smallRAM,
	"FDRE": clocked, "FDSE": clocked, "FDCE": clocked, "FDPE": clocked,
	"RAMB18E2": clocked, "RAMB36E2": clocked, "RAMB18E1": clocked, "RAMB36E1": clocked, "URAM288": clocked,
	"DSP48E1": clocked, "DSP48E2": clocked, // their arcs depend on their registers
	"GND": clocked, "VCC": clocked,
}

// arcs are those of a cell.
func (c *cell) arcs() ([]arc, error) {
	if c.isDSP() {
		return c.dspArcs(), nil
	}
	arcs, ok := library[c.Type]
	if !ok {
		return nil, fmt.Errorf("cell type %s is unknown", c.Type)
	}
	return arcs, nil
}

// passes says whether a signal at an input may go through the cell.
func (c *cell) passes(input string) bool {
	arcs, _ := c.arcs()
	return slices.ContainsFunc(arcs, func(a arc) bool {
		return slices.Contains(a.from, input) || a.lanes && strings.HasPrefix(input, "ADDR")
	})
}

// reaches lists the inputs that bit i of an output depends on.
func (a *arc) reaches(c *cell, output string, i int) (in []bit) {
	if a.lanes {
		if lane, ok := strings.CutPrefix(output, "DO"); ok {
			return c.Bits["ADDR"+lane]
		}
		return nil
	}
	for _, to := range a.to {
		if to != output {
			continue
		}
		for _, from := range a.from {
			bits := c.Bits[from]
			if a.upward {
				bits = bits[:min(i+1, len(bits))]
			}
			in = append(in, bits...)
		}
	}
	return in
}
