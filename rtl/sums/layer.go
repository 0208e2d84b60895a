// SPDX-License-Identifier: Apache-2.0

package sums

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/rtl"
	"lathe/rtl/cmvm"
	"lathe/rtl/netlist"
)

// A Layer is a vector of codes made of another one: products with a constant matrix, and a cast for each sum.
type Layer struct {
	Problem cmvm.Problem // without what casts add
	// InBits is those of an element of the beat that comes in, and InLow, of each, how many of the lowest are always 0;
	// nil: none. The inputs of Problem are what stands above them.
	InBits int
	InLow  []int
	Casts  []Cast // one an output
	// OutBits is those of an element of the result.
	OutBits int
	// Stages is the most cycles that a vector takes; 0: as many as paths of StageLevels levels need. A cycle is a row of
	// registers, the last one a skid; of freeRows and two more, the first takes the inputs, and the last is a memory.
	Stages      int
	StageLevels float64
	// Digits is the bits of the digits by which vectors go into the sums, one a cycle: 1, 2, 4; 0: whole elements do, in
	// one cycle, as where no element has more bits than a digit.
	Digits int
	// Window is a library module that makes vectors of beats of WindowLanes elements; nil: a beat is a vector.
	Window      *rtl.Unit
	WindowLanes int

	serial *serial // nil: whole elements go into the sums
	graph  *cmvm.Graph
	pipe   cmvm.Pipeline
	casts  []Cast       // as they are computed
	sums   []cmvm.Range // with what casts add
	tail   int
}

// rounded is the problem with what casts add to sums and multiply them by, and the casts that are left.
func (l *Layer) rounded() (p cmvm.Problem, casts []Cast, err error) {
	p = l.Problem
	n := len(p.Matrix)
	if p.Bias = slices.Clone(p.Bias); p.Bias == nil {
		p.Bias = make([]int64, n)
	}
	if p.Scale = slices.Clone(p.Scale); p.Scale == nil {
		p.Scale = slices.Repeat([]int64{1}, n)
	}
	for o, c := range l.Casts {
		if c.Bits == 0 {
			casts = append(casts, c)
			continue
		}
		if left := max(-c.Shift, 0); left > 0 {
			longest := max(cmvm.Range{Hi: max(p.Bias[o], -p.Bias[o])}.Bits(), cmvm.Range{Hi: p.Scale[o]}.Bits())
			if longest+left > 61 {
				return p, nil, fmt.Errorf("row %d: sums of %d bits, 61 are the most", o, longest+left)
			}
			p.Bias[o] <<= left
			p.Scale[o] <<= left
		}
		sum, err := p.Range(o)
		if err == nil {
			c, err = c.Of(sum)
		}
		if err != nil {
			return p, nil, err
		}
		if r := c.rounding(); r.positive == r.negative {
			p.Bias[o] += r.positive
		}
		casts = append(casts, c)
	}
	return p, casts, nil
}

// Solve finds the layer's sums and its registers. Errors as cmvm.Solve, and those of sums that are too wide.
func (l *Layer) Solve() error {
	p, casts, err := l.rounded()
	if err != nil {
		return err
	}
	q := p
	if l.steps() > 1 {
		if q, err = l.digits(p); err != nil {
			return err
		}
	}
	if l.graph, err = cmvm.Solve(q); err != nil {
		return err
	}
	l.casts, l.sums, l.tail = casts, make([]cmvm.Range, len(casts)), 0
	for o, c := range casts {
		if l.sums[o], err = p.Range(o); err != nil {
			return err
		}
		_, levels := c.luts(l.sums[o])
		l.tail = max(l.tail, levels)
	}
	if l.serial != nil { // behind the sums a row adds, and casts have a stage of their own
		if l.pipe = l.graph.Pipeline(l.StageLevels, 1); l.Stages > 0 {
			l.pipe = l.graph.Staged(max(l.Stages-2, 0), 1)
		}
		return nil
	}
	switch tail := float64(l.tail); {
	case l.Stages > freeRows+1:
		l.pipe = l.graph.Staged(l.Stages-2, tail)
	case l.Stages > 0:
		l.pipe = l.graph.Staged(min(l.Stages, freeRows)-1, tail)
	default:
		l.pipe = l.graph.Pipeline(l.StageLevels, tail)
	}
	return nil
}

// Layers of freeRows rows of registers inside do without an enable, which would be their slowest path; that is one more
// cycle in six. With mostRows, and one at the inputs, stream_credit has the 64 places of a LUT RAM.
const freeRows, mostRows = 4, 64 - 3

func (l *Layer) free() bool {
	return l.serial == nil && l.pipe.Rows >= freeRows && l.pipe.Rows <= mostRows
}

// Unit is the layer as hardware; Solve was called. Errors as rtl.Lookup.
func (l *Layer) Unit() (*rtl.Unit, error) {
	in, out := len(l.Problem.Inputs)*l.InBits, len(l.casts)*l.OutBits
	held := l.held()
	cost := l.graph.Cost()
	b := &rtl.Body{Window: l.Window, Latency: l.pipe.Rows + 1, Sums: &rtl.Sums{
		Chains: len(l.graph.Chains), Shared: l.graph.Shared, Cells: cost.Cells, LUTs: cost.LUTs + cost.Not,
		Levels: short(cost.Levels), Stage: short(l.pipe.Levels), Registers: l.pipe.Registers(l.graph), Free: l.free()}}
	for _, row := range l.Problem.Matrix {
		for _, w := range row {
			b.Sums.Products += rtl.Flag(w != 0)
		}
	}
	for o, c := range l.casts {
		n, _ := c.luts(l.sums[o])
		b.Sums.LUTs += n
	}
	if l.serial != nil {
		return l.serialUnit(b)
	}
	b.Sums.Live = l.live(held)
	end, own := rtl.NewUnit("stream_skid", "WIDTH", max(held, 1)), rtl.Cost{LUT: l.pipe.Rows, FF: l.pipe.Rows}
	if l.free() {
		end, own = rtl.NewUnit("stream_credit", "WIDTH", max(held, 1), "ROWS", l.pipe.Rows+1), rtl.Cost{}
		b.End, b.Latency, b.Sums.Registers = end, 0, b.Sums.Registers+b.Sums.Live[0]
		b.Sums.Live = slices.Insert(b.Sums.Live, 0, b.Sums.Live[0]) // the registers of the input
	}
	facts, err := end.Facts(nil)
	if err != nil {
		return nil, err
	}
	b.Sums.Rows = len(b.Sums.Live) - 1
	b.Cost = facts.Cost.Add(own).Add(rtl.Cost{LUT: b.Sums.LUTs, FF: b.Sums.Registers})
	b.Module = l.module(in, out)
	return &rtl.Unit{Body: b}, nil
}

// short leaves out digits that say nothing.
func short(levels float64) float64 { return math.Round(levels*100) / 100 }

// live counts the bits of the inputs, in each row of registers, and at the output.
func (l *Layer) live(out int) []int {
	in := 0
	for _, w := range l.graph.Inputs {
		in += len(w.Bits)
	}
	return slices.Concat([]int{in}, l.pipe.Live(l.graph), []int{out})
}

// module is the text of a layer, which gets its name and comment later.
func (l *Layer) module(in, out int) *netlist.Module {
	words, rows := "in", l.pipe.Rows
	m := &netlist.Module{Ports: []netlist.Port{{Name: "clk"}, {Name: "rst"}}}
	beat := in
	if l.Window != nil {
		words, beat = "window", l.WindowLanes*l.InBits
		m.Items = append(m.Items, netlist.Wire{Name: "window_data", Width: in}, netlist.Wire{Name: "window_valid"},
			netlist.Wire{Name: "window_ready"}, &netlist.Instance{Module: l.Window.Module, Name: "window",
				Params: l.Window.Params, Ports: slices.Concat(netlist.Clocked("clk", "rst"), stream("in", "in"),
					stream("out", "window"))})
	}
	m.Ports = append(m.Ports, netlist.Port{Name: "in_data", Width: beat}, netlist.Port{Name: "in_valid"},
		netlist.Port{Name: "in_ready", Output: true}, netlist.Port{Name: "out_data", Output: true, Width: out},
		netlist.Port{Name: "out_valid", Output: true}, netlist.Port{Name: "out_ready"})
	if l.free() {
		m.Items = append(m.Items, l.credited(words)...)
		return m
	}
	m.Items = append(m.Items, netlist.Wire{Name: "codes", Width: out}, netlist.Wire{Name: "done"},
		netlist.Wire{Name: "room"})
	skid := &netlist.Instance{Module: "stream_skid", Name: "skid", Params: []netlist.Param{{Name: "WIDTH",
		Value: fmt.Sprint(out)}}, Ports: slices.Concat(netlist.Clocked("clk", "rst"), netlist.Stream("in",
		netlist.Ref("codes"), netlist.Ref("done"), netlist.Ref("room")), stream("out", "out"))}
	if l.serial != nil {
		m.Items = append(append(m.Items, l.serialItems(words)...), skid)
		return m
	}
	drives := []string{"codes", "done"}
	lines := fmt.Sprintf("  assign done = %s_valid;\n", words)
	ready := netlist.Expr(netlist.Ref("room"))
	if rows > 0 {
		m.Items = append(m.Items, netlist.Wire{Name: "en"})
		drives, ready = append(drives, "en"), netlist.Ref("en")
		lines = moving(words, rows)
	}
	to := netlist.Ref(words + "_ready")
	m.Items = append(m.Items, netlist.Text{Lines: lines + l.text(words), Drives: drives},
		netlist.Assign{To: to, From: ready}, skid)
	return m
}

// credited is what stands in a layer whose rows always move. The memory holds codes without what fills their lanes.
func (l *Layer) credited(words string) []netlist.Item {
	width := max(l.held(), 1)
	to := stream("out", "out")
	to[0].To = netlist.Ref("kept")
	var lanes []string
	from := 0
	for _, c := range l.casts {
		code := fmt.Sprintf("kept[%d:%d]", from+c.Bits-1, from)
		lanes = append(lanes, c.lane(code, "kept", from, l.OutBits))
		from += c.Bits
	}
	slices.Reverse(lanes)
	return []netlist.Item{netlist.Wire{Name: "codes", Width: width}, netlist.Wire{Name: "kept", Width: width},
		netlist.Text{Lines: l.text(words), Drives: []string{"codes"}},
		&netlist.Instance{Module: "stream_credit", Name: "credit", Params: []netlist.Param{{Name: "WIDTH",
			Value: fmt.Sprint(width)}, {Name: "ROWS", Value: fmt.Sprint(l.pipe.Rows + 1)}},
			Ports: slices.Concat(netlist.Clocked("clk", "rst"), []netlist.Connection{{Port: "codes",
				To: netlist.Ref("codes")}}, stream("in", words)[1:], to)},
		netlist.Text{Lines: fmt.Sprintf("  assign out_data = {%s};\n", wrap(strings.Join(lanes, ", "))),
			Drives: []string{"out_data"}}}
}

// held is the bits of the result that may change.
func (l *Layer) held() (bits int) {
	for _, c := range l.casts {
		bits += c.Bits
	}
	return bits
}

func stream(port, wires string) []netlist.Connection {
	return netlist.Stream(port, netlist.Ref(wires+"_data"), netlist.Ref(wires+"_valid"), netlist.Ref(wires+"_ready"))
}

// moving says which rows of registers hold a vector. All of them move together, unless the last one is full and waits.
func moving(words string, rows int) string {
	next := words + "_valid"
	if rows > 1 {
		next = fmt.Sprintf("{valid_q[%d:0], %s}", rows-2, next)
	}
	return fmt.Sprintf("  logic [%d:0] valid_q;\n  assign done = valid_q[%d];\n  assign en = room || !done;\n"+
		"  always_ff @(posedge clk) begin\n    if (en) valid_q <= %s;\n    if (rst) valid_q <= %d'd0;\n  end\n",
		rows-1, rows-1, next, rows)
}

// text is the sums and casts of a layer.
func (l *Layer) text(words string) string {
	p := newPrinter(l.graph, l.pipe)
	p.free = l.free() // then an element goes through a register first
	for i, w := range l.graph.Inputs {
		if n := len(w.Bits); n > 0 {
			from := i * l.InBits
			if l.InLow != nil {
				from += l.InLow[i]
			}
			bits := fmt.Sprintf("%s_data[%d:%d]", words, from+n-1, from)
			if p.free {
				fmt.Fprintf(p, "  logic [%d:0] x%d;\n", n-1, i)
				p.moves = append(p.moves, fmt.Sprintf("x%d <= %s;\n", i, bits))
			} else {
				fmt.Fprintf(p, "  wire [%d:0] x%d = %s;\n", n-1, i, bits)
			}
			p.input(i, w)
		}
	}
	p.chains(l.graph, l.pipe)
	p.now = l.pipe.Rows
	return l.codes(p, words, l.graph.Outputs)
}

// codes prints the casts of sums, the wire codes, and what nobody reads, and gives the whole text.
func (l *Layer) codes(p *printer, words string, list []cmvm.Word) string {
	var codes []string
	for o, c := range l.casts {
		name := fmt.Sprintf("code%d", o)
		if c.Bits > 0 {
			p.cast(o, c, list[o], l.sums[o])
		}
		switch {
		case !p.free:
			codes = append(codes, c.lane(name, name, 0, l.OutBits))
		case c.Bits > 0:
			codes = append(codes, name)
		}
	}
	if codes == nil {
		codes = []string{"1'b0"}
	}
	slices.Reverse(codes)
	fmt.Fprintf(p, "  assign codes = {%s};\n", wrap(strings.Join(codes, ", ")))
	fmt.Fprintf(p, "  wire unused = &{1'b0, %s_data};  // where ranges are narrower than codes\n", words)
	head := "  // Most sums have bits that nothing reads.\n  /* verilator lint_off UNUSEDSIGNAL */\n"
	return head + p.String() + "  /* verilator lint_on UNUSEDSIGNAL */\n"
}
