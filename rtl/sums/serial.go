// SPDX-License-Identifier: Apache-2.0

package sums

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"lathe/rtl"
	"lathe/rtl/cmvm"
	"lathe/rtl/netlist"
)

// A serial layer has the sums of digits in place of whole elements: all elements of a vector give a digit of a few bits
// in each cycle, the lowest first, and each row adds what its sum of digits makes to what it has, which moves down by
// a digit (A. Peled and B. Liu, "A new hardware realization of digital filters", 1974, for digits of a bit). So the
// sums have the few bits of digits, and a vector takes as many cycles as its elements have digits.
//
// Digits have no sign: of elements that may be negative the highest bit is inverted, and what that adds is taken from
// the bias, with which rows begin.
type serial struct {
	steps int          // of a vector
	bias  []int64      // with which each row begins
	rows  []cmvm.Range // what each row has, on its way
}

// digitsOf is the digits of an input.
func (l *Layer) digitsOf(i int) int { return (l.Problem.Inputs[i].Bits() + l.Digits - 1) / l.Digits }

// steps is how many digits the longest input has; 0 for layers of whole elements.
func (l *Layer) steps() (n int) {
	if l.Digits == 0 {
		return 0
	}
	for i := range l.Problem.Inputs {
		n = max(n, l.digitsOf(i))
	}
	return n
}

// digits is the problem of sums of digits, of that with what casts add. It is an error if a row has too many bits.
func (l *Layer) digits(p cmvm.Problem) (cmvm.Problem, error) {
	const most = 60
	s := &serial{steps: l.steps()}
	q := p
	q.Bias, q.Inputs = make([]int64, len(p.Matrix)), nil
	for _, r := range p.Inputs {
		q.Inputs = append(q.Inputs, cmvm.Range{Hi: 1<<min(r.Bits(), l.Digits) - 1})
	}
	for o, row := range p.Matrix {
		offset := float64(0)
		start := p.Bias[o]
		for i, r := range p.Inputs {
			if r.Lo < 0 {
				start -= p.Scale[o] * row[i] << (r.Bits() - 1)
				offset += float64(max(row[i], -row[i])) * float64(p.Scale[o]) * float64(int64(1)<<(r.Bits()-1))
			}
		}
		sum, err := q.Range(o)
		if err != nil {
			return q, err
		}
		if offset > 1<<most || max(sum.Bits(), cmvm.Range{Lo: start, Hi: start}.Bits()) > most {
			return q, fmt.Errorf("row %d: sums of more than %d bits, digit by digit", o, most)
		}
		at := cmvm.Range{Lo: start + sum.Lo, Hi: start + sum.Hi}
		all := at
		for range s.steps - 1 {
			at = cmvm.Range{Lo: at.Lo>>l.Digits + sum.Lo, Hi: at.Hi>>l.Digits + sum.Hi}
			all = cmvm.Range{Lo: min(all.Lo, at.Lo), Hi: max(all.Hi, at.Hi)}
		}
		s.bias, s.rows = append(s.bias, start), append(s.rows, all)
	}
	l.serial = s
	return q, nil
}

// below is the bits of a row that have left its sum.
func (l *Layer) below() int { return l.Digits * (l.serial.steps - 1) }

// sums says that row o adds anything.
func (l *Layer) adds(o int) bool { return len(l.graph.Outputs[o].Bits) > 0 }

// serialUnit is Unit of a serial layer.
func (l *Layer) serialUnit(b *rtl.Body) (*rtl.Unit, error) {
	s, rows := l.serial, l.pipe.Rows
	held, kept, muxes, sums := 0, 0, 0, 0
	for i, w := range l.graph.Inputs {
		if len(w.Bits) > 0 {
			held += l.Problem.Inputs[i].Bits()
			muxes += len(w.Bits) * muxLUTs(l.digitsOf(i))
		}
	}
	for o, r := range s.rows {
		if l.adds(o) {
			sums += r.Bits()
			kept += r.Bits() + l.below()
		}
	}
	out := l.held()
	skid := rtl.NewUnit("stream_skid", "WIDTH", max(out, 1))
	facts, err := skid.Facts(nil)
	if err != nil {
		return nil, err
	}
	live := l.pipe.Live(l.graph)
	b.Steps, b.Latency = s.steps, s.steps+rows+2
	b.Sums.LUTs += muxes + sums
	b.Sums.Digits, b.Sums.Stage = l.Digits, short(max(l.pipe.Levels, float64(l.tail)))
	b.Sums.Live = slices.Concat([]int{held, held}, live, []int{kept, out})
	b.Sums.Registers, b.Sums.Rows = held+l.pipe.Registers(l.graph)+kept, len(b.Sums.Live)-1
	counter := bits.Len(uint(s.steps - 1))
	b.Cost = facts.Cost.Add(rtl.Cost{LUT: b.Sums.LUTs + counter + 5,
		FF: b.Sums.Registers + 3*rows + counter + 2})
	b.Module = l.module(len(l.Problem.Inputs)*l.InBits, len(l.casts)*l.OutBits)
	return &rtl.Unit{Body: b}, nil
}

// muxLUTs is the LUTs that choose one of n bits.
func muxLUTs(n int) int {
	switch {
	case n < 2:
		return 1
	case n <= 4:
		return 1
	}
	return (n+3)/4 + 1
}

// feed prints what holds a vector and gives its digits.
func (l *Layer) feed(p *printer, words string) {
	s, d := l.serial, l.Digits
	counter := bits.Len(uint(s.steps - 1))
	fmt.Fprintf(p, "  // A vector is held while its digits of %d bits go into the sums, the lowest first.\n", d)
	fmt.Fprintf(p, "  logic busy, done_q;\n  logic [%d:0] step;\n  wire ends = step == %d'd%d;\n", counter-1, counter,
		s.steps-1)
	fmt.Fprintf(p, "  assign done = done_q;\n  assign en = room || !done;\n  assign takes = !busy || (en && ends);\n"+
		"  wire taken = %s_valid && takes;\n  always_ff @(posedge clk) begin\n    if (taken) begin\n      busy <= 1'b1;\n"+
		"      step <= %d'd0;\n    end else if (busy && en) begin\n      busy <= !ends;\n      step <= step + %[2]d'd1;\n"+
		"    end\n    if (rst) busy <= 1'b0;\n  end\n", words, counter)
	var holds []string
	for i, w := range l.graph.Inputs {
		r := l.Problem.Inputs[i]
		n := r.Bits()
		if len(w.Bits) == 0 {
			continue
		}
		from := i * l.InBits
		if l.InLow != nil {
			from += l.InLow[i]
		}
		text := fmt.Sprintf("%s_data[%d:%d]", words, from+n-1, from)
		if r.Lo < 0 {
			text += fmt.Sprintf(" ^ %d'd%d", n, uint64(1)<<(n-1))
		}
		holds = append(holds, fmt.Sprintf("held%d <= %s;\n", i, text))
		all := d << counter
		fmt.Fprintf(p, "  logic [%d:0] held%d;\n", n-1, i)
		digits := fmt.Sprintf("held%d", i)
		if all > n {
			digits = fmt.Sprintf("{%d'd0, held%d}", all-n, i)
		}
		at := "step"
		if d > 1 {
			at = fmt.Sprintf("{step, %d'd0}", bits.Len(uint(d))-1)
		}
		fmt.Fprintf(p, "  wire [%d:0] digits%d = %s;\n", all-1, i, digits)
		fmt.Fprintf(p, "  wire [%d:0] x%d = digits%[2]d[%s+:%d];\n", len(w.Bits)-1, i, at, len(w.Bits))
		p.input(i, w)
	}
	fmt.Fprintf(p, "  always_ff @(posedge clk)\n    if (taken) begin\n      %s    end\n", strings.Join(holds, "      "))
}

// flags prints, for each row of registers, whether a digit is there, and whether it is the first or the last one.
func (l *Layer) flags(p *printer) {
	rows := l.pipe.Rows
	if rows == 0 {
		p.WriteString("  wire goes = busy, begins = step == '0, closes = ends;\n")
		return
	}
	next := func(name, first string) string {
		if rows == 1 {
			return fmt.Sprintf("      %s <= %s;\n", name, first)
		}
		return fmt.Sprintf("      %s <= {%[1]s[%d:0], %s};\n", name, rows-2, first)
	}
	fmt.Fprintf(p, "  logic [%d:0] go_q, first_q, last_q;\n  always_ff @(posedge clk) begin\n    if (en) begin\n%s%s%s"+
		"    end\n    if (rst) go_q <= %d'd0;\n  end\n", rows-1, next("go_q", "busy"), next("first_q", "step == '0"),
		next("last_q", "ends"), rows)
	fmt.Fprintf(p, "  wire goes = go_q[%d], begins = first_q[%[1]d], closes = last_q[%[1]d];\n", rows-1)
}

// row prints what adds up the digits of row o, and gives the bits of its sum. The sum of digits stands where a carry
// chain takes a plain bit.
func (l *Layer) row(p *printer, o int) (word cmvm.Word, moves string) {
	d, r, sum := l.Digits, l.serial.rows[o], l.sums[o]
	word.Signed = sum.Lo < 0
	if !l.adds(o) { // a constant
		for j := range sum.Bits() {
			word.Bits = append(word.Bits, cmvm.Bit{Net: cmvm.Zero, Not: l.serial.bias[o]>>j&1 != 0})
		}
		return word, ""
	}
	n, w := r.Bits(), l.graph.Outputs[o]
	add, sign := p.refs(w.Bits), zero
	if w.Signed {
		sign = add[len(add)-1]
	}
	for len(add) < n {
		add = append(add, sign)
	}
	above := "1'b0"
	if r.Lo < 0 {
		above = fmt.Sprintf("acc%d[%d]", o, n-1)
	}
	bit := func(j int) string {
		if j < n {
			return fmt.Sprintf("acc%d[%d]", o, j)
		}
		return above
	}
	var moved, left []string // from the top
	for j := n - 1; j >= 0; j-- {
		moved = append(moved, bit(j+d))
	}
	for j := d - 1; j >= 0; j-- {
		left = append(left, bit(j))
	}
	fmt.Fprintf(p, "  logic [%d:0] acc%d;\n  logic [%d:0] low%[2]d;\n", n-1, o, l.below()-1)
	fmt.Fprintf(p, "  wire [%d:0] from%d = begins ? %s : {%s};\n", n-1, o, literal(n, l.serial.bias[o]),
		wrap(strings.Join(moved, ", ")))
	fmt.Fprintf(p, "  wire [%d:0] next%d = {%s, 1'b0} - {~from%[2]d, 1'b1};\n", n, o, joined(add[:n]))
	moves = fmt.Sprintf("      acc%d <= next%[1]d[%d:1];\n", o, n)
	if l.below() > d {
		left = append(left, fmt.Sprintf("low%d[%d:%d]", o, l.below()-1, d))
	}
	moves += fmt.Sprintf("      low%d <= {%s};\n", o, strings.Join(left, ", "))
	for j := range sum.Bits() {
		at := place{fmt.Sprintf("low%d", o), j, p.now}
		if j >= l.below() {
			at = place{fmt.Sprintf("acc%d", o), min(j-l.below(), n-1), p.now}
		}
		word.Bits = append(word.Bits, cmvm.Bit{Net: cmvm.Net(len(p.nets))})
		p.nets = append(p.nets, at)
	}
	return word, moves
}

// serialText is text of a serial layer.
func (l *Layer) serialText(words string) string {
	p := newPrinter(l.graph, l.pipe)
	l.feed(p, words)
	p.chains(l.graph, l.pipe)
	p.now = l.pipe.Rows
	l.flags(p)
	var moves strings.Builder
	list := make([]cmvm.Word, len(l.casts))
	for o, c := range l.casts {
		if c.Bits > 0 {
			var text string
			list[o], text = l.row(p, o)
			moves.WriteString(text)
		}
	}
	fmt.Fprintf(p, "  always_ff @(posedge clk) begin\n    if (en && goes) begin\n%s    end\n"+
		"    if (en) done_q <= goes && closes;\n    if (rst) done_q <= 1'b0;\n  end\n", moves.String())
	return l.codes(p, words, list)
}

// serialItems is what stands in a serial layer in front of its skid.
func (l *Layer) serialItems(words string) []netlist.Item {
	return []netlist.Item{netlist.Wire{Name: "en"}, netlist.Wire{Name: "takes"},
		netlist.Text{Lines: l.serialText(words), Drives: []string{"codes", "done", "en", "takes"}},
		netlist.Assign{To: netlist.Ref(words + "_ready"), From: netlist.Ref("takes")}}
}
