// SPDX-License-Identifier: Apache-2.0

// Package sums prints graphs of carry chains (lower/cmvm) as SystemVerilog.
package sums

import (
	"fmt"
	"strings"

	"lathe/lower/cmvm"
)

// A printer knows what each net is called.
type printer struct {
	strings.Builder
	names []string
	used  [3]bool // functions of a place
}

// Module prints g as a module without registers: inputs x0, x1, ..., outputs y0, y1, ..., each as wide as its range
// needs.
//
// A chain is one difference, with a bit below that the slice leaves out. Of a sum, tools may swap the operands, and
// then the function of bits would no longer share a LUT with the adder; chains that are cut are not merged into trees.
func Module(name string, g *cmvm.Graph) string {
	p := &printer{names: make([]string, g.Nets)}
	var ports []string
	for i, w := range g.Inputs {
		if len(w.Bits) == 0 {
			continue
		}
		ports = append(ports, fmt.Sprintf("    input  wire [%d:0] x%d", len(w.Bits)-1, i))
		for j, b := range w.Bits {
			p.names[b.Net] = fmt.Sprintf("x%d[%d]", i, j)
		}
	}
	for o, w := range g.Outputs {
		if len(w.Bits) > 0 {
			ports = append(ports, fmt.Sprintf("    output wire [%d:0] y%d", len(w.Bits)-1, o))
		}
	}
	count := map[string]int{}
	for i := range g.Chains {
		c := &g.Chains[i]
		p.chain(fmt.Sprintf("%s_%d", c.Name, count[c.Name]), c)
		count[c.Name]++
	}
	for o, w := range g.Outputs {
		if len(w.Bits) > 0 {
			fmt.Fprintf(p, "  assign y%d = {%s};\n", o, p.list(w.Bits))
		}
	}
	return fmt.Sprintf("`default_nettype none\nmodule %s (\n%s\n);\n%s%sendmodule\n`default_nettype wire\n", name,
		strings.Join(ports, ",\n"), p.functions(), p.String())
}

// list joins bits, the last one first.
func (p *printer) list(bits []cmvm.Bit) string {
	var s []string
	for i := len(bits) - 1; i >= 0; i-- {
		s = append(s, p.bit(bits[i]))
	}
	return strings.Join(s, ", ")
}

func (p *printer) bit(b cmvm.Bit) string {
	switch {
	case b.Net == cmvm.Zero && b.Not:
		return "1'b1"
	case b.Net == cmvm.Zero:
		return "1'b0"
	case b.Not:
		return "~" + p.names[b.Net]
	}
	return p.names[b.Net]
}

// chain prints a chain as a vector: bit j + 1 is the sum of cell j, the top bit the carry.
func (p *printer) chain(name string, c *cmvm.Chain) {
	n := len(c.Cells)
	var a, b []string
	for j := n - 1; j >= 0; j-- {
		a = append(a, p.bit(cmvm.Bit{Net: c.Cells[j].A}))
		b = append(b, p.without(&c.Cells[j].B))
	}
	low := [2]string{"1'b0", "1'b1"}
	if c.CarryIn {
		low = [2]string{"1'b1", "1'b0"}
	}
	fmt.Fprintf(p, "  wire [%d:0] %s = {1'b0, %s, %s} -\n      {1'b1, %s, %s};\n", n+1, name,
		strings.Join(a, ", "), low[0], strings.Join(b, ", "), low[1])
	for j := range c.Cells {
		p.names[int(c.Out)+j] = fmt.Sprintf("%s[%d]", name, j+1)
	}
	if c.Carry != cmvm.Zero {
		p.names[c.Carry] = fmt.Sprintf("%s[%d]", name, n+1)
	}
}

// without is the complement of a count's bit.
func (p *printer) without(c *cmvm.Count) string {
	if len(c.Of) == 0 {
		return map[bool]string{true: "1'b0", false: "1'b1"}[c.Plus]
	}
	if c.Place == 0 {
		var s []string
		for _, b := range c.Of {
			s = append(s, p.bit(b))
		}
		text := strings.Join(s, " ^ ")
		if c.Plus {
			return text
		}
		if len(s) > 1 {
			text = "(" + text + ")"
		}
		if len(s) == 1 && c.Of[0].Not {
			return p.bit(cmvm.Bit{Net: c.Of[0].Net})
		}
		return "~" + text
	}
	p.used[c.Place] = true
	bits := c.Of
	args := p.list(bits)
	for i := len(bits); i < 5; i++ {
		args = "1'b0, " + args
	}
	return fmt.Sprintf("~count%d(%s, 1'b%d)", c.Place, args, map[bool]int{true: 1}[c.Plus])
}

// functions are bits 1 and 2 of the number of ones among six.
func (p *printer) functions() string {
	var s strings.Builder
	for place := 1; place < 3; place++ {
		if !p.used[place] {
			continue
		}
		fmt.Fprintf(&s, "  function automatic count%d(input e, input d, input c, input b, input a, input one);\n"+
			"    logic s1, c1, s2, c2, c3;\n    begin\n"+
			"      s1 = a ^ b ^ c;\n      c1 = (a & b) | (c & (a ^ b));\n"+
			"      s2 = s1 ^ d ^ e;\n      c2 = (s1 & d) | (e & (s1 ^ d));\n      c3 = s2 & one;\n", place)
		fmt.Fprintf(&s, "      count%d = %s;\n    end\n  endfunction\n", place,
			[]string{1: "c1 ^ c2 ^ c3", 2: "(c1 & c2) | (c3 & (c1 ^ c2))"}[place])
	}
	return s.String()
}
