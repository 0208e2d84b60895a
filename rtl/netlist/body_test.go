// SPDX-License-Identifier: Apache-2.0

package netlist_test

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/netlist"
	"lathe/rtl/rtltest"
	"lathe/sim/area"
)

// streamPorts are the ports of a body from one stream to another.
func streamPorts(in, out int) []netlist.Port {
	return []netlist.Port{{Name: "clk"}, {Name: "rst"}, {Name: "in_data", Width: in}, {Name: "in_valid"},
		{Name: "in_ready", Output: true}, {Name: "out_data", Output: true, Width: out}, {Name: "out_valid", Output: true},
		{Name: "out_ready"}}
}

func streamOf(port, wires string) []netlist.Connection {
	ref := func(signal string) netlist.Expr { return netlist.Ref(wires + "_" + signal) }
	return netlist.Stream(port, ref("data"), ref("valid"), ref("ready"))
}

func leaf(module, name string, params []rtl.Param, ports ...[]netlist.Connection) *netlist.Instance {
	in := &netlist.Instance{Module: module, Name: name, Params: params}
	for _, p := range ports {
		in.Ports = append(in.Ports, p...)
	}
	return in
}

// adders prints y = M x for integers x of 8 bits out of adders: a sum of shifted terms a row, cut by a register in the
// middle. The first column of M has ones only.
type adders struct {
	m      [][]int
	out    int // bits of a result
	module netlist.Module
}

const xBits = 8

func (a *adders) add(items ...netlist.Item) { a.module.Items = append(a.module.Items, items...) }

// row adds terms from to to-1 of row r to acc, and returns the sum.
func (a *adders) row(r, from, to int, acc netlist.Expr, width int, x func(j int) netlist.Expr) (netlist.Expr, int) {
	for j := from; j < to; j++ {
		w := a.m[r][j]
		for left := uint(max(w, -w)); left != 0; left &= left - 1 {
			shift := bits.TrailingZeros(left)
			next := min(max(width, xBits+shift)+2, a.out)
			name := fmt.Sprintf("y%d_x%d_%d", r, j, shift)
			sub := "0"
			if w < 0 {
				sub = "1"
			}
			a.add(netlist.Wire{Name: name, Width: next}, leaf("num_add", "add_"+name, []rtl.Param{rtltest.P("A_W", width),
				rtltest.P("B_W", xBits), rtltest.P("B_SHIFT", shift), {Name: "SUB", Value: sub}, rtltest.P("OUT_W", next)},
				[]netlist.Connection{{Port: "a", To: acc}, {Port: "b", To: x(j)}, {Port: "out", To: netlist.Ref(name)}}))
			acc, width = netlist.Ref(name), next
		}
	}
	return acc, width
}

// register puts parts behind each other into a skid, whose output is the stream called name, and returns them there.
func (a *adders) register(name, from string, parts []netlist.Expr, widths []int) []netlist.Expr {
	all, out, at := netlist.Concat{}, make([]netlist.Expr, len(parts)), 0
	for i := range parts {
		all = append(all, parts[len(parts)-1-i])
		out[i] = netlist.Slice{Of: name + "_data", High: at + widths[i] - 1, Low: at}
		at += widths[i]
	}
	if name != "out" {
		a.add(netlist.Wire{Name: name + "_data", Width: at}, netlist.Wire{Name: name + "_valid"},
			netlist.Wire{Name: name + "_ready"})
	}
	a.add(leaf("stream_skid", "u_"+name, []rtl.Param{rtltest.P("WIDTH", at)}, netlist.Clocked("clk", "rst"),
		netlist.Stream("in", all, netlist.Ref(from+"_valid"), netlist.Ref(from+"_ready")), streamOf("out", name)))
	return out
}

// matrixVector is the body for a matrix.
func matrixVector(m [][]int, out int) *netlist.Module {
	columns := len(m[0])
	a := &adders{m: m, out: out}
	a.module.Ports = streamPorts(columns*xBits, len(m)*out)
	x := func(j int) netlist.Expr {
		return netlist.Slice{Of: "in_data", High: (j+1)*xBits - 1, Low: j * xBits}
	}
	var parts []netlist.Expr
	var widths []int
	for r := range m {
		sum, width := a.row(r, 1, columns/2, x(0), xBits, x)
		parts, widths = append(parts, sum), append(widths, width)
	}
	for j := columns / 2; j < columns; j++ {
		parts, widths = append(parts, x(j)), append(widths, xBits)
	}
	parts = a.register("half", "in", parts, widths)
	var sums []netlist.Expr
	for r := range m {
		sum, width := a.row(r, columns/2, columns, parts[r], widths[r],
			func(j int) netlist.Expr { return parts[len(m)+j-columns/2] })
		if width != out {
			panic(fmt.Sprintf("row %d has %d bits", r, width))
		}
		sums = append(sums, sum)
	}
	same := make([]int, len(m))
	for r := range same {
		same[r] = out
	}
	a.register("out", "half", sums, same)
	return &a.module
}

var matrix = [][]int{{1, 5, -3, 12, 7, -1}, {1, -2, 9, 1, -6, 31}, {1, 3, 3, -20, 2, 2}}

// chain is a relu, and behind it a unit that joins two beats.
func chain() *netlist.Module {
	relu := []rtl.Param{rtltest.P("LANES", 2), rtltest.P("IN_W", 6), rtltest.P("OUT_W", 6), rtltest.P("BEATS", 4)}
	return &netlist.Module{Ports: streamPorts(12, 24), Items: []netlist.Item{
		netlist.Wire{Name: "positive_data", Width: 12}, netlist.Wire{Name: "positive_valid"},
		netlist.Wire{Name: "positive_ready"},
		leaf("op_relu", "relu", relu, netlist.Clocked("clk", "rst"), streamOf("in", "in"), streamOf("out", "positive")),
		leaf("stream_widen", "joined", []rtl.Param{rtltest.P("WIDTH", 12), rtltest.P("N", 2)}, netlist.Clocked("clk", "rst"),
			streamOf("in", "positive"), streamOf("out", "out")),
	}}
}

// file prints a body under a name, with what is predicted in its header, which the bench holds it to.
func file(t *testing.T, name string, body *netlist.Module) (rtl.File, rtl.Facts) {
	t.Helper()
	facts, err := (&rtl.Unit{Body: body}).Facts()
	if err != nil {
		t.Fatal(err)
	}
	m := *body
	m.Name, m.Comment = name, []string{name + ": a body.",
		fmt.Sprintf("  latency: %d   ii: %d   order: as it comes", facts.Latency, facts.II)}
	return rtl.File{Name: name + ".sv", Data: m.Print()}, facts
}

// TestMatrixVector simulates the product under all stalls against Go, in Verilator and Icarus, and measures its times.
func TestMatrixVector(t *testing.T) {
	f, _ := file(t, "body_matvec", matrixVector(matrix, 16))
	rtltest.Run(t, rtltest.Bench{Module: "body_matvec", Files: []rtl.File{f},
		In:  []rtltest.Port{{Name: "in", Lanes: 6, Signed: true}},
		Out: []rtltest.Port{{Name: "out", Lanes: 3, Signed: true}},
		Model: func(in [][]int64) [][]int64 {
			y := make([]int64, len(matrix))
			for r, row := range matrix {
				for j, w := range row {
					y[r] += int64(w) * in[0][j]
				}
			}
			return [][]int64{y}
		}})
}

func TestChain(t *testing.T) {
	f, _ := file(t, "body_chain", chain())
	rtltest.Run(t, rtltest.Bench{Module: "body_chain", Files: []rtl.File{f},
		In:  []rtltest.Port{{Name: "in", Lanes: 2, Signed: true, Beats: 4}},
		Out: []rtltest.Port{{Name: "out", Lanes: 4, Signed: true}},
		Model: func(in [][]int64) [][]int64 {
			y := make([]int64, len(in[0]))
			for i, x := range in[0] {
				y[i] = max(x, 0)
			}
			return [][]int64{y}
		}})
}

// TestBodyFacts compares the sums of leaves with counts of Yosys, and the times with those that the leaves add up to.
func TestBodyFacts(t *testing.T) {
	tools.Need(t, "yosys")
	for _, c := range []struct {
		name        string
		body        *netlist.Module
		latency, ii int
	}{{"body_matvec", matrixVector(matrix, 16), 2, 1}, {"body_chain", chain(), 3, 4}} {
		f, facts := file(t, c.name, c.body)
		if facts.Latency != c.latency || facts.II != c.ii || !facts.Costed {
			t.Errorf("%s: %+v, want latency %d, ii %d", c.name, facts, c.latency, c.ii)
		}
		var modules, names []string
		for _, in := range c.body.Instances() {
			modules = append(modules, in.Module)
		}
		files, err := rtl.Files(modules...)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, f := range append(files, f) {
			names = append(names, f.Name)
			if err := os.WriteFile(filepath.Join(dir, f.Name), f.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r, err := area.Count(t.Context(), dir, names, c.name, area.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: predicted %+v, counted %+v", c.name, facts.Cost, r.Total)
		near := func(what string, predicted, counted int) {
			if d := predicted - counted; 100*max(d, -d) > 15*counted {
				t.Errorf("%s: %d %s predicted, %d counted", c.name, predicted, what, counted)
			}
		}
		near("LUT", facts.Cost.LUT, r.Total.LUT)
		near("FF", facts.Cost.FF, r.Total.FF)
	}
}

// TestArrival refuses bodies whose values do not come together, and those that run in circles.
func TestArrival(t *testing.T) {
	delay := func(name, from, to string, depth int) *netlist.Instance {
		return leaf("num_delay", name, []rtl.Param{rtltest.P("WIDTH", 8), rtltest.P("DEPTH", depth)},
			[]netlist.Connection{{Port: "clk", To: netlist.Ref("clk")}, {Port: "en", To: netlist.Const{Width: 1, Value: 1}},
				{Port: "in", To: netlist.Ref(from)}, {Port: "out", To: netlist.Ref(to)}})
	}
	pair := func(a, b string, depthA, depthB int) *netlist.Module {
		return &netlist.Module{Name: "m", Ports: []netlist.Port{{Name: "clk"}, {Name: "a", Width: 8}, {Name: "b", Width: 8},
			{Name: "y", Output: true, Width: 10}}, Items: []netlist.Item{
			netlist.Wire{Name: "p", Width: 8}, netlist.Wire{Name: "q", Width: 8},
			delay("d", a, "p", depthA), delay("e", b, "q", depthB),
			leaf("num_add", "sum", []rtl.Param{rtltest.P("OUT_W", 10)}, []netlist.Connection{{Port: "a", To: netlist.Ref("p")},
				{Port: "b", To: netlist.Ref("q")}, {Port: "out", To: netlist.Ref("y")}})}}
	}
	facts := func(m *netlist.Module) (rtl.Facts, error) { return (&rtl.Unit{Body: m}).Facts() }
	if f, err := facts(pair("a", "b", 3, 3)); err != nil || f.Latency != 3 {
		t.Errorf("%+v, %v: a balanced pair has latency 3", f, err)
	}
	for want, m := range map[string]*netlist.Module{
		"instance sum, port b comes in cycle 2, the other inputs in cycle 3": pair("a", "b", 3, 2),
		"runs in a circle": pair("a", "q", 1, 1),
	} {
		if _, err := facts(m); diag.CodeOf(err) != "L0623" || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
