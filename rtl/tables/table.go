// SPDX-License-Identifier: Apache-2.0

// Package tables prints functions of few bits as logic, in modules of their own. A memory would take more LUTs, and two
// more cycles.
package tables

import (
	"fmt"
	"slices"
	"strings"

	"lathe/rtl"
	"lathe/rtl/netlist"
)

// MostBits are those of an argument: a fifth LUT of six inputs takes one of four.
const MostBits = 8

// A Table is a function of one element, computed for all lanes of a beat.
type Table struct {
	Lanes, Beats int     // of a frame
	In, Out      int     // bits of argument and result; In is 1 to MostBits
	Codes        []int64 // 2^In, of arguments as numbers without a sign; of each, the lowest Out bits count
}

// Unit is the table as hardware: logic in front of the registers at the output. Errors as rtl.Lookup.
func (t *Table) Unit() (*rtl.Unit, error) {
	width := t.Lanes * t.Out
	skid, err := rtl.NewUnit("stream_skid", "WIDTH", width).Facts(nil)
	if err != nil {
		return nil, err
	}
	m := &netlist.Module{Ports: []netlist.Port{{Name: "clk"}, {Name: "rst"},
		{Name: "in_data", Width: t.Lanes * t.In}, {Name: "in_valid"}, {Name: "in_ready", Output: true},
		{Name: "out_data", Output: true, Width: width}, {Name: "out_valid", Output: true}, {Name: "out_ready"}}}
	m.Items = []netlist.Item{netlist.Wire{Name: "codes", Width: width},
		netlist.Text{Lines: t.text(), Drives: []string{"codes"}},
		&netlist.Instance{Module: "stream_skid", Name: "skid", Params: []netlist.Param{{Name: "WIDTH",
			Value: fmt.Sprint(width)}}, Ports: slices.Concat(netlist.Clocked("clk", "rst"), netlist.Stream("in",
			netlist.Ref("codes"), netlist.Ref("in_valid"), netlist.Ref("in_ready")), netlist.Stream("out",
			netlist.Ref("out_data"), netlist.Ref("out_valid"), netlist.Ref("out_ready")))}}
	return &rtl.Unit{Body: &rtl.Body{Module: m, Latency: skid.Latency, Beats: t.Beats,
		Cost: skid.Cost.Add(rtl.Cost{LUT: t.Lanes * t.LUTs()})}}, nil
}

// leafBits are the inputs of a LUT: a table of more bits is made of some of so many, of which the others choose.
const leafBits = 6

// leaves are those tables.
func (t *Table) leaves() [][]int64 {
	return slices.Collect(slices.Chunk(t.Codes, min(len(t.Codes), 1<<leafBits)))
}

// text is the functions, and their results for all lanes.
func (t *Table) text() string {
	var b strings.Builder
	leaves, low := t.leaves(), min(t.In, leafBits)
	b.WriteString("  // Codes of arguments, all as numbers without a sign")
	if len(leaves) > 1 {
		b.WriteString(": a function of the lowest bits for each value of the others")
	}
	b.WriteString(".\n")
	for i, codes := range leaves {
		function := fmt.Sprintf("code%d", i)
		fmt.Fprintf(&b, "  function automatic [%d:0] %s(input [%d:0] x);\n    case (x)\n", t.Out-1, function, low-1)
		for x, c := range codes {
			arg := fmt.Sprintf("%d'd%d", low, x)
			if x == len(codes)-1 {
				arg = "default"
			}
			fmt.Fprintf(&b, "      %s: %s = %d'd%d;\n", arg, function, t.Out, t.word(c))
		}
		b.WriteString("    endcase\n  endfunction\n")
	}
	if len(leaves) > 1 {
		b.WriteString("  // What is kept is a LUT for each bit. Yosys would mix the functions, and take more of them.\n")
	}
	for lane := range t.Lanes {
		from, to := lane*t.In, lane*t.Out
		all := make([]string, len(leaves))
		for i := range leaves {
			all[i] = fmt.Sprintf("code%d(in_data[%d:%d])", i, from+low-1, from)
			if len(leaves) > 1 {
				wire := fmt.Sprintf("y%d_%d", lane, i)
				fmt.Fprintf(&b, "  (* keep = \"true\" *) wire [%d:0] %s = %s;\n", t.Out-1, wire, all[i])
				all[i] = wire
			}
		}
		fmt.Fprintf(&b, "  assign codes[%d:%d] = %s;\n", to+t.Out-1, to, choose(all, from+low))
	}
	return b.String()
}

// choose takes one of a power of two of expressions, by bits of the argument from the given one on.
func choose(all []string, bit int) string {
	if len(all) == 1 {
		return all[0]
	}
	var pairs []string
	for p := range slices.Chunk(all, 2) {
		pair := fmt.Sprintf("in_data[%d] ? %s : %s", bit, p[1], p[0])
		if len(all) > 2 {
			pair = "(" + pair + ")"
		}
		pairs = append(pairs, pair)
	}
	return choose(pairs, bit+1)
}

// word is a code as a number without a sign.
func (t *Table) word(code int64) uint64 { return uint64(code) & (1<<t.Out - 1) }

// LUTs predicts those of a lane: for each bit of the result one for each leaf that is a function of its own, and one
// that chooses among leaves.
func (t *Table) LUTs() (n int) {
	for bit := range t.Out {
		of := func(codes []int64) []uint64 {
			list := make([]uint64, len(codes))
			for x, c := range codes {
				list[x] = t.word(c) >> bit & 1
			}
			return list
		}
		if wire(of(t.Codes)) {
			continue
		}
		var known [][]uint64
		for _, codes := range t.leaves() {
			leaf := of(codes)
			if slices.ContainsFunc(known, func(k []uint64) bool { return slices.Equal(k, leaf) }) {
				continue
			}
			known = append(known, leaf)
			n += rtl.Flag(!wire(leaf))
		}
		n += rtl.Flag(len(known) > 1)
	}
	return n
}

// wire says that a function is constant, or one of its arguments' bits.
func wire(of []uint64) bool {
	if !slices.Contains(of, 0) || !slices.Contains(of, 1) {
		return true
	}
	for bit := 0; 1<<bit < len(of); bit++ {
		same := true
		for x, v := range of {
			same = same && v == uint64(x)>>bit&1
		}
		if same {
			return true
		}
	}
	return false
}
