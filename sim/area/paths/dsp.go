// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"maps"
	"slices"
	"strings"
)

// A DSP48 has registers behind its operands (AREG, BREG and so on), its multiplier (MREG) and its adder (PREG), each of
// which an attribute leaves out. What a signal goes through between two of them counts: the multiplier as one DSP,
// whether or not an adder follows without a register, the adder alone as a carry chain.

// operands and addends are the inputs before the multiplier and before the adder, and the attribute of the register
// behind each; cascades of sums have none.
var (
	operands = map[string]string{"A": "AREG", "B": "BREG", "D": "DREG", "ACIN": "AREG", "BCIN": "BREG"}
	addends  = map[string]string{"C": "CREG", "PCIN": "", "OPMODE": "OPMODEREG", "ALUMODE": "ALUMODEREG",
		"CARRYIN": "CARRYINREG"}
	results = []string{"P", "PCOUT"}
)

// has says whether the registers of an attribute are there; an attribute that is not given is not 0.
func (c *cell) has(register string) bool {
	value, given := c.Parameters[register]
	return register != "" && (!given || strings.Contains(value, "1"))
}

// isDSP says whether the cell is a multiplier with an adder.
func (c *cell) isDSP() bool { return strings.HasPrefix(c.Type, "DSP48") }

// into is what a signal at an input of a DSP goes through up to the first register or output; ok is false where a
// register stands at the input itself, or where the input is no data.
func (c *cell) into(input string) (l Levels, ok bool) {
	if register, is := operands[input]; is {
		return Levels{DSP: 1}, !c.has(register)
	}
	register, is := addends[input]
	return Levels{Carry: 1}, is && !c.has(register)
}

// dspArcs are the arcs of a DSP: those of inputs without any register up to the outputs.
func (c *cell) dspArcs() (arcs []arc) {
	if c.has("PREG") {
		return nil
	}
	for _, input := range slices.Sorted(maps.Keys(c.Bits)) {
		adds, ok := c.into(input)
		if ok && (adds[DSP] == 0 || !c.has("MREG")) {
			arcs = append(arcs, arc{from: []string{input}, to: results, adds: adds})
		}
	}
	return arcs
}

// end is what a signal goes through behind an input at which its path ends.
func (c *cell) end(input string) Levels {
	if l, ok := c.into(input); c.isDSP() && ok {
		return l
	}
	return Levels{}
}

// begin is what lies between the last register inside a cell and its output.
func (c *cell) begin(output string) Levels {
	switch {
	case !c.isDSP() || c.has("PREG") || !slices.Contains(results, output):
		return Levels{}
	case c.has("MREG"):
		return Levels{Carry: 1}
	case c.has("AREG") || c.has("BREG"):
		return Levels{DSP: 1}
	}
	return Levels{}
}
