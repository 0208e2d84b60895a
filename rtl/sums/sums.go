// SPDX-License-Identifier: Apache-2.0

// Package sums makes layers of sums with constants: carry chains that rtl/cmvm finds, registers and casts, their cost,
// and their text as SystemVerilog.
package sums

import (
	"fmt"
	"slices"
	"strings"

	"lathe/rtl"
	"lathe/rtl/cmvm"
)

// A printer knows where each net is to be found.
type printer struct {
	strings.Builder
	moves  []string // of registers
	nets   []place
	lives  []int
	now    int              // the stage that is printed
	groups map[string]group // the counts that stand in vectors, by their bits
	small  bool             // cells only add two bits
	free   bool             // registers move in every cycle
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
// A chain is one difference, whose bit 0 only makes the carry in. Of a sum, tools may swap the operands, and then the
// function of bits would no longer share a LUT with the adder; chains that are cut are not merged into trees. Where
// cells only add two bits, complements take LUTs of their own: there a chain is a sum unless it adds more of them.
func Module(name string, g *cmvm.Graph, pipe cmvm.Pipeline) string {
	p := newPrinter(g, pipe)
	var ports []string
	if pipe.Rows > 0 {
		ports = []string{"    input  wire clk", "    input  wire en"}
	}
	for i, w := range g.Inputs {
		if len(w.Bits) > 0 {
			ports = append(ports, fmt.Sprintf("    input  wire [%d:0] x%d", len(w.Bits)-1, i))
			p.input(i, w)
		}
	}
	for o, w := range g.Outputs {
		if len(w.Bits) > 0 {
			ports = append(ports, fmt.Sprintf("    output wire [%d:0] y%d", len(w.Bits)-1, o))
		}
	}
	p.chains(g, pipe)
	p.now = pipe.Rows
	for o, w := range g.Outputs {
		if len(w.Bits) > 0 {
			fmt.Fprintf(p, "  assign y%d = %s;\n", o, joined(p.refs(w.Bits)))
		}
	}
	return fmt.Sprintf("`default_nettype none\nmodule %s (\n%s\n);\n%sendmodule\n`default_nettype wire\n", name,
		strings.Join(ports, ",\n"), p.String())
}

func newPrinter(g *cmvm.Graph, pipe cmvm.Pipeline) *printer {
	return &printer{nets: make([]place, g.Nets), lives: pipe.Lives(g), groups: map[string]group{}, small: g.Group == 1}
}

// input says where the bits of input i are, the wire x<i>, and prints its registers.
func (p *printer) input(i int, w cmvm.Word) {
	name := fmt.Sprintf("x%d", i)
	for j, b := range w.Bits {
		p.nets[b.Net] = place{name, j, 0}
	}
	p.registers(name, len(w.Bits), w.Bits[0].Net, len(w.Bits))
}

// chains prints all chains, in order.
func (p *printer) chains(g *cmvm.Graph, pipe cmvm.Pipeline) {
	count := map[string]int{}
	for i := range g.Chains {
		c := &g.Chains[i]
		p.now = pipe.Of[i]
		p.chain(fmt.Sprintf("%s_%d", c.Name, count[c.Name]), c)
		count[c.Name]++
	}
	p.move()
}

// A ref is a bit as text names it: one of a vector or its complement, or, without a vector, a constant.
type ref struct {
	vector string
	bit    int
	not    bool
}

var zero, one = ref{}, ref{bit: 1}

// refs are bits in the stage that is printed.
func (p *printer) refs(bits []cmvm.Bit) []ref {
	list := make([]ref, len(bits))
	for j, b := range bits {
		list[j] = p.bit(b)
	}
	return list
}

func (p *printer) bit(b cmvm.Bit) ref {
	switch {
	case b.Net == cmvm.Zero && b.Not:
		return one
	case b.Net == cmvm.Zero:
		return zero
	}
	at := p.nets[b.Net]
	name := at.vector
	if p.now > at.stage {
		name = fmt.Sprintf("%s_q%d", name, p.now-at.stage)
	}
	return ref{name, at.bit, b.Not}
}

// joined is a vector of bits, the last one first; neighbours of one vector become a slice.
func joined(list []ref) string {
	var parts []string
	for high := len(list) - 1; high >= 0; {
		low := high
		for low > 0 && list[high].above(list[low-1], high-low+1) {
			low--
		}
		parts = append(parts, slice(list[low:high+1]))
		high = low - 1
	}
	if len(parts) == 1 && !strings.HasPrefix(parts[0], "~") {
		return parts[0]
	}
	return "{" + wrap(strings.Join(parts, ", ")) + "}"
}

// above says that b is so many bits below r, or a constant like r.
func (r ref) above(b ref, by int) bool {
	return r.vector == b.vector && r.not == b.not && (r.vector == "" || r.bit == b.bit+by)
}

// slice is the text of bits that follow each other.
func slice(list []ref) string {
	low, high := list[0], list[len(list)-1]
	var text string
	switch {
	case low.vector == "":
		var digits []byte
		for _, r := range list {
			digits = append(digits, "01"[r.bit])
		}
		slices.Reverse(digits)
		return fmt.Sprintf("%d'b%s", len(list), digits)
	case len(list) == 1:
		text = fmt.Sprintf("%s[%d]", low.vector, low.bit)
	default:
		text = fmt.Sprintf("%s[%d:%d]", low.vector, high.bit, low.bit)
	}
	if low.not {
		return "~" + text
	}
	return text
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
	var names []string
	from := vector
	for row := 1; row <= rows; row++ {
		to := fmt.Sprintf("%s_q%d", vector, row)
		names = append(names, to)
		p.moves = append(p.moves, fmt.Sprintf("%s <= %s;\n", to, from))
		from = to
	}
	fmt.Fprintf(p, "  logic [%d:0] %s;\n", width-1, strings.Join(names, ", "))
}

// move prints what all registers take, once no more of them will come.
func (p *printer) move() {
	indent, begin, end := "      ", "\n    if (en) begin", "    end"
	if p.free {
		indent, begin, end = "    ", " begin", "  end"
	}
	if p.moves != nil {
		fmt.Fprintf(p, "  always_ff @(posedge clk)%s\n%s%s%s\n", begin, indent, strings.Join(p.moves, indent), end)
	}
}

// chain prints a chain as a vector: bit j + 1 is the sum of cell j, the top bit the carry.
func (p *printer) chain(name string, c *cmvm.Chain) {
	n := len(c.Cells)
	a := make([]ref, n)
	for j := range a {
		a[j] = p.bit(cmvm.Bit{Net: c.Cells[j].A})
	}
	b := p.added(name, c.Cells)
	low, other := zero, "1'b1"
	if c.CarryIn {
		low, other = one, "1'b0"
	}
	a = append(append([]ref{low}, a...), zero)
	if p.small && plain(c.Cells) {
		fmt.Fprintf(p, "  wire [%d:0] %s = %s + {1'b0, %s, %s};\n", n+1, name, joined(a), b, slice([]ref{low}))
	} else {
		fmt.Fprintf(p, "  wire [%d:0] %s = %s - {1'b1, ~%s, %s};\n", n+1, name, joined(a), b, other)
	}
	for j := range c.Cells {
		p.nets[int(c.Out)+j] = place{name, j + 1, p.now}
	}
	if c.Carry != cmvm.Zero {
		p.nets[c.Carry] = place{name, n + 1, p.now}
		n++
	}
	p.registers(name, len(c.Cells)+2, c.Out, n)
}

// plain says that of the single bits which cells add, at least half are no complements.
func plain(cells []cmvm.Cell) bool {
	n := 0
	for j := range cells {
		if b := &cells[j].B; len(b.Of) == 1 && !b.Plus {
			n += 1 - 2*rtl.Flag(b.Of[0].Not)
		}
	}
	return n >= 0
}

// wrap breaks a list into lines.
func wrap(list string) string {
	const width = 100
	var s strings.Builder
	for len(list) > width {
		at := strings.LastIndex(list[:width], ", ")
		if at < 0 {
			break
		}
		s.WriteString(list[:at+1] + "\n          ")
		list = list[at+2:]
	}
	return s.String() + list
}
