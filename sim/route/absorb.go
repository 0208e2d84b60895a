// SPDX-License-Identifier: Apache-2.0

package route

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/atomicfile"
)

// absorbing is the multiplier of ECP5. It has registers at both operands and at its product. A block RAM has one
// behind each port, without which its data come six times as late.
const absorbing, storing = "MULT18X18D", "DP16KD"

// absorb fills the registers of multipliers and block RAMs, which Yosys leaves empty: it has none of the patterns that
// it has for other families. Flip-flops move into them where they are all alike: one clock, one enable, no reset, 0 at
// power-up, and nobody else reads what lies between them and the cell. No value changes in any cycle.
func absorb(file, top string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	a := &absorber{}
	var all, modules, module map[string]json.RawMessage
	decode := func(text json.RawMessage, into any) {
		if err == nil {
			err = json.Unmarshal(text, into)
		}
	}
	decode(text, &all)
	decode(all["modules"], &modules)
	decode(modules[top], &module)
	decode(module["cells"], &a.cells)
	decode(module["ports"], &a.ports)
	if err != nil {
		return fmt.Errorf("the netlist of %s: %w", top, err)
	}
	a.index()
	names := slices.Sorted(maps.Keys(a.cells))
	for _, kind := range []struct {
		cell string
		take func(*mapped)
	}{{absorbing, a.product}, {storing, a.stored}, {absorbing, a.operands}} {
		for _, name := range names {
			if c := a.cells[name]; c.Type == kind.cell {
				kind.take(c)
			}
		}
	}
	a.sweep()
	for _, step := range []struct {
		in   map[string]json.RawMessage
		key  string
		from any
	}{{module, "cells", a.cells}, {modules, top, module}, {all, "modules", modules}} {
		if step.in[step.key], err = json.Marshal(step.from); err != nil {
			return err
		}
	}
	return atomicfile.Write(file, func(w io.Writer) error { return json.NewEncoder(w).Encode(all) })
}

// net is a bit as the netlist writes it: a number, or a constant in quotes.
type net string

func (w *net) UnmarshalJSON(text []byte) error { *w = net(text); return nil }

func (w net) MarshalJSON() ([]byte, error) { return []byte(w), nil }

// constant says that no net is behind the bit.
func (w net) constant() bool { return w == "" || w[0] == '"' }

const zero, one net = `"0"`, `"1"`

// mapped is a cell of a mapped netlist.
type mapped struct {
	Hide        int               `json:"hide_name"`
	Type        string            `json:"type"`
	Parameters  map[string]string `json:"parameters"`
	Attributes  map[string]string `json:"attributes"`
	Directions  map[string]string `json:"port_directions"`
	Connections map[string][]net  `json:"connections"`
}

// at is the first bit of a port.
func (c *mapped) at(port string) net {
	if bits := c.Connections[port]; len(bits) > 0 {
		return bits[0]
	}
	return ""
}

func (c *mapped) bind(port string, to net) {
	c.Connections[port], c.Directions[port] = []net{to}, "input"
}

type absorber struct {
	cells map[string]*mapped
	ports map[string]struct {
		Bits []net `json:"bits"`
	}
	register map[net]*mapped // the flip-flop that drives a net
	takes    map[net]*mapped // the flip-flop that takes a net
	readers  map[net]int     // how many read a net
	operand  map[net]bool    // a multiplier without a register of its product reads a net
}

func (a *absorber) index() {
	a.register, a.takes, a.readers = map[net]*mapped{}, map[net]*mapped{}, map[net]int{}
	a.operand = map[net]bool{}
	for _, c := range a.cells {
		for port, bits := range c.Connections {
			for _, b := range bits {
				if c.Directions[port] != "output" {
					a.readers[b]++
				}
			}
		}
		if c.Type == "TRELLIS_FF" {
			a.register[c.at("Q")], a.takes[c.data()] = c, c
		}
	}
	for _, p := range a.ports {
		for _, b := range p.Bits {
			a.readers[b]++
		}
	}
}

// data is what a flip-flop takes.
func (c *mapped) data() net {
	if d := c.at("DI"); d != "" {
		return d
	}
	return c.at("M")
}

// control is by what the registers of a multiplier are driven.
type control struct{ clock, enable net }

// controlled is the control of a flip-flop that a multiplier can have; false for one with a reset and the like.
func (c *mapped) controlled() (control, bool) {
	k := control{c.at("CLK"), one}
	switch strings.TrimSpace(c.Parameters["CEMUX"]) { // Yosys writes "1 " for a text that could be a number
	case "CE":
		k.enable = c.at("CE")
	case "", "1":
	default:
		return k, false
	}
	reset := c.at("LSR")
	plain := (reset == "" || reset == zero) && c.Parameters["GSR"] == "DISABLED" && c.Parameters["REGSET"] != "SET" &&
		(c.Parameters["CLKMUX"] == "CLK" || c.Parameters["CLKMUX"] == "")
	return k, plain && k.enable != ""
}

// alike is the common control of flip-flops; false if they have none.
func alike(registers []*mapped) (control, bool) {
	var common control
	for i, r := range registers {
		k, ok := r.controlled()
		if !ok || i > 0 && k != common {
			return common, false
		}
		common = k
	}
	return common, len(registers) > 0
}

// alike is the common control of flip-flops; false if they have another than the multiplier has already.
func (c *mapped) alike(registers []*mapped) (control, bool) {
	k, ok := alike(registers)
	taken := c.at("CLK0") != "" && !c.at("CLK0").constant()
	return k, ok && (!taken || k == control{c.at("CLK0"), c.at("CE0")})
}

// product moves the flip-flops behind a multiplier into it.
func (a *absorber) product(c *mapped) {
	registers, ports := a.behind(c, 36, "P")
	if k, ok := c.alike(registers); ok {
		a.replace(c, registers, ports)
		c.clocked("OUTPUT", k)
		return
	}
	for i := range 18 {
		a.operand[c.at(fmt.Sprint("A", i))], a.operand[c.at(fmt.Sprint("B", i))] = true, true
	}
}

// stored moves the flip-flops behind a block RAM into it, port by port. Words of 36 bits, which are read at port B,
// leave through both ports; port A of a ROM then needs a clock for its register. Operands of a multiplier without a
// register of its product keep theirs: it needs them more.
func (a *absorber) stored(c *mapped) {
	if width, _ := strconv.ParseInt(c.Parameters["DATA_WIDTH_B"], 2, 32); width != 36 {
		a.word(c, "A")
		a.word(c, "B")
		return
	}
	if c.at("CEA") == zero && c.at("CLKA").constant() {
		c.bind("CLKA", c.at("CLKB"))
	}
	a.word(c, "A", "B")
}

// word moves the flip-flops behind the ports through which a word leaves into a block RAM.
func (a *absorber) word(c *mapped, sides ...string) {
	prefixes := make([]string, len(sides))
	for i, side := range sides {
		prefixes[i] = "DO" + side
	}
	registers, ports := a.behind(c, 18, prefixes...)
	k, ok := alike(registers)
	for _, side := range sides {
		ok = ok && k.clock == c.at("CLK"+side)
	}
	if !ok || slices.ContainsFunc(registers, a.slow) {
		return
	}
	a.replace(c, registers, ports)
	for _, side := range sides {
		c.Parameters["REGMODE_"+side] = "OUTREG"
		c.bind("OCE"+side, k.enable)
		a.readers[k.enable]++
	}
}

// slow says that a flip-flop drives an operand of a multiplier whose product has no register.
func (a *absorber) slow(r *mapped) bool { return a.operand[r.at("Q")] }

// behind lists the flip-flops that take the outputs of a cell, with its ports: none if anything else reads one.
func (a *absorber) behind(c *mapped, n int, prefixes ...string) (registers []*mapped, ports []string) {
	for i := range n * len(prefixes) {
		port := fmt.Sprint(prefixes[i/n], i%n)
		p := c.at(port)
		if p.constant() || a.readers[p] == 0 {
			continue
		}
		r := a.takes[p]
		if r == nil || a.readers[p] > 1 {
			return nil, nil
		}
		registers, ports = append(registers, r), append(ports, port)
	}
	return registers, ports
}

// replace lets a cell drive what flip-flops behind it drove.
func (a *absorber) replace(c *mapped, registers []*mapped, ports []string) {
	for i, port := range ports {
		c.Connections[port] = []net{registers[i].at("Q")}
		delete(a.register, registers[i].at("Q"))
		registers[i].Type = "" // swept
	}
}

// operands moves the flip-flops in front of a multiplier into it: those of both operands or none, since nextpnr times
// an operand as if it had no register where the other has none. They stay where others read them, too.
func (a *absorber) operands(c *mapped) {
	var registers []*mapped
	var ports []string
	for _, side := range []string{"A", "B"} {
		for i := range 18 {
			port := fmt.Sprint(side, i)
			bit := c.at(port)
			if bit == zero || bit == "" {
				continue // as the register is before its first enable
			}
			r := a.register[bit]
			if r == nil {
				return
			}
			registers, ports = append(registers, r), append(ports, port)
		}
	}
	k, ok := c.alike(registers)
	if !ok {
		return
	}
	for i, port := range ports {
		a.readers[c.at(port)]--
		c.Connections[port] = []net{registers[i].data()}
		a.readers[registers[i].data()]++
	}
	c.clocked("INPUTA", k)
	c.clocked("INPUTB", k)
}

// clocked switches a register of the multiplier on.
func (c *mapped) clocked(register string, k control) {
	prefix := "REG_" + register + "_"
	c.Parameters[prefix+"CLK"], c.Parameters[prefix+"CE"], c.Parameters[prefix+"RST"] = "CLK0", "CE0", "RST0"
	c.Parameters["GSR"] = "DISABLED"
	c.bind("CLK0", k.clock)
	c.bind("CE0", k.enable)
	c.bind("RST0", zero)
}

// sweep drops the flip-flops that nobody reads any more.
func (a *absorber) sweep() {
	for name, c := range a.cells {
		if c.Type == "" || c.Type == "TRELLIS_FF" && a.register[c.at("Q")] == c && a.readers[c.at("Q")] == 0 {
			delete(a.cells, name)
		}
	}
}
