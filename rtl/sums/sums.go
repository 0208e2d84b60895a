// SPDX-License-Identifier: Apache-2.0

// Package sums prints graphs of carry chains (rtl/cmvm) as SystemVerilog.
package sums

import (
	"fmt"
	"strings"

	"lathe/rtl/cmvm"
)

// A printer knows where each net is to be found.
type printer struct {
	strings.Builder
	nets  []place
	lives []int
	now   int     // the stage that is printed
	used  [3]bool // functions of a place
}

// A place is a bit of a vector, and the stage in which it is made. Behind it, registers are called as the vector and
// the rows that it has passed.
type place struct {
	vector     string
	bit, stage int
}

// Module prints g as a module: inputs x0, x1, ..., outputs y0, y1, ..., each as wide as its range needs. Its registers
// are those of the pipeline, which move if en; a pipeline of no rows makes a module without clock.
//
// A chain is one difference, with a bit below that the slice leaves out. Of a sum, tools may swap the operands, and
// then the function of bits would no longer share a LUT with the adder; chains that are cut are not merged into trees.
func Module(name string, g *cmvm.Graph, pipe cmvm.Pipeline) string {
	p := &printer{nets: make([]place, g.Nets), lives: pipe.Lives(g)}
	var ports []string
	if pipe.Rows > 0 {
		ports = []string{"    input  wire clk", "    input  wire en"}
	}
	for i, w := range g.Inputs {
		if len(w.Bits) == 0 {
			continue
		}
		ports = append(ports, fmt.Sprintf("    input  wire [%d:0] x%d", len(w.Bits)-1, i))
		for j, b := range w.Bits {
			p.nets[b.Net] = place{fmt.Sprintf("x%d", i), j, 0}
		}
		p.registers(fmt.Sprintf("x%d", i), len(w.Bits), w.Bits[0].Net, len(w.Bits))
	}
	for o, w := range g.Outputs {
		if len(w.Bits) > 0 {
			ports = append(ports, fmt.Sprintf("    output wire [%d:0] y%d", len(w.Bits)-1, o))
		}
	}
	count := map[string]int{}
	for i := range g.Chains {
		c := &g.Chains[i]
		p.now = pipe.Of[i]
		p.chain(fmt.Sprintf("%s_%d", c.Name, count[c.Name]), c)
		count[c.Name]++
	}
	p.now = pipe.Rows
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
	}
	at := p.nets[b.Net]
	name := at.vector
	if p.now > at.stage {
		name = fmt.Sprintf("%s_q%d", name, p.now-at.stage)
	}
	return fmt.Sprintf("%s%s[%d]", map[bool]string{true: "~"}[b.Not], name, at.bit)
}

// registers prints as many rows of registers behind a vector as the longest life of n nets of it asks for.
func (p *printer) registers(vector string, width int, first cmvm.Net, n int) {
	rows := 0
	for i := range n {
		rows = max(rows, p.lives[int(first)+i])
	}
	if rows == 0 {
		return
	}
	var names, moves []string
	from := vector
	for row := 1; row <= rows; row++ {
		to := fmt.Sprintf("%s_q%d", vector, row)
		names, moves = append(names, to), append(moves, fmt.Sprintf("      %s <= %s;\n", to, from))
		from = to
	}
	fmt.Fprintf(p, "  logic [%d:0] %s;\n  always_ff @(posedge clk)\n    if (en) begin\n%s    end\n", width-1,
		strings.Join(names, ", "), strings.Join(moves, ""))
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
		p.nets[int(c.Out)+j] = place{name, j + 1, p.now}
	}
	if c.Carry != cmvm.Zero {
		p.nets[c.Carry] = place{name, n + 1, p.now}
		n++
	}
	p.registers(name, len(c.Cells)+2, c.Out, n)
}

// without is the complement of a count's bit.
func (p *printer) without(c *cmvm.Count) string {
	if len(c.Of) == 0 {
		return map[bool]string{true: "1'b0", false: "1'b1"}[c.Plus]
	}
	if c.Place == 0 {
		if len(c.Of) == 1 {
			return p.bit(cmvm.Bit{Net: c.Of[0].Net, Not: c.Of[0].Not == c.Plus})
		}
		var s []string
		for _, b := range c.Of {
			s = append(s, p.bit(b))
		}
		text := strings.Join(s, " ^ ")
		if c.Plus {
			return text
		}
		return "~(" + text + ")"
	}
	p.used[c.Place] = true
	args := p.list(c.Of)
	for i := len(c.Of); i < 5; i++ {
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
