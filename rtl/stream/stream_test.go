// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
	"lathe/sim"
)

func same(in []sim.Beat) []sim.Beat { return in }

func TestSkid(t *testing.T) {
	rtltest.Sweep(t, "stream_skid", rtltest.Params{"WIDTH": {1, 8, 97}}, same)
}

func TestFifo(t *testing.T) {
	rtltest.Sweep(t, "stream_fifo", rtltest.Params{"WIDTH": {9}, "DEPTH": {1, 2, 3, 5, 16, 64, 65, 100}}, same)
	rtltest.Sweep(t, "stream_fifo", rtltest.Params{"WIDTH": {1, 130}, "DEPTH": {4, 128}}, same)
}

// TestCredit benches it behind rows of registers, as many as there are places for and fewer.
func TestCredit(t *testing.T) {
	for _, rows := range []int{1, 2, 3, 6, 7, 14} {
		u := rtl.NewUnit("stream_credit", "ROWS", rows)
		flow, err := u.Flow()
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("rows%d", rows)
		text := strings.NewReplacer("$name", name, "$rows", fmt.Sprint(rows), "$latency", fmt.Sprint(rows+1)).Replace(`
// $name: rows of registers that never stop.
//   latency: $latency   ii: 1   order: as it comes
module $name (
    input wire clk, input wire rst, input wire [7:0] in_data, input wire in_valid, output wire in_ready,
    output wire [7:0] out_data, output wire out_valid, input wire out_ready
);
  logic [7:0] rows[0:$rows-1];
  always_ff @(posedge clk) begin
    rows[0] <= in_data;
    for (int i = 1; i < $rows; i++) rows[i] <= rows[i-1];
  end
  stream_credit #(.WIDTH(8), .ROWS($rows)) credit (.clk(clk), .rst(rst), .codes(rows[$rows-1]), .in_valid(in_valid),
      .in_ready(in_ready), .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready));
endmodule
`)
		file := rtl.File{Name: name + ".sv", Data: []byte("// SPDX-License-Identifier: Apache-2.0" + text)}
		rtltest.Run(t, rtltest.Bench{Module: name, Flow: flow, Files: []rtl.File{file},
			In: []rtltest.Port{{Name: "in"}}, Out: []rtltest.Port{{Name: "out"}},
			Model: func(in [][]int64) [][]int64 { return in }})
	}
}

func TestLast(t *testing.T) {
	rtltest.Sweep(t, "stream_last", rtltest.Params{"WIDTH": {8}, "BEATS": {1, 2, 5, 8}}, same, "BEATS")
}

func TestWiden(t *testing.T) {
	rtltest.SweepModel(t, "stream_widen", rtltest.Params{"WIDTH": {1, 13}, "N": {1, 2, 3, 8}},
		func(p map[string]int, in []sim.Beat) []sim.Beat {
			beat := new(big.Int)
			for i, part := range in {
				beat.Or(beat, new(big.Int).Lsh(part, uint(i*p["WIDTH"])))
			}
			return []sim.Beat{beat}
		}, "N")
}

func TestNarrow(t *testing.T) {
	rtltest.SweepModel(t, "stream_narrow", rtltest.Params{"WIDTH": {1, 13}, "N": {1, 2, 3, 8}},
		func(p map[string]int, in []sim.Beat) []sim.Beat {
			var parts []sim.Beat // the bench cuts off the bits above WIDTH
			for i := range p["N"] {
				parts = append(parts, new(big.Int).Rsh(in[0], uint(i*p["WIDTH"])))
			}
			return parts
		})
}

// TestIllegal gives each module a parameter that it cannot be built with; the tool's message must say so.
func TestIllegal(t *testing.T) {
	tools.Need(t, "verilator", "iverilog", "yosys")
	for _, c := range []struct{ module, param, text string }{
		{"stream_fifo", "DEPTH", "DEPTH_must_be_at_least_1"},
		{"stream_widen", "N", "N_must_be_at_least_1"},
		{"stream_credit", "ROWS", "ROWS_must_be_at_least_1"},
		{"stream_narrow", "N", "N_must_be_at_least_1"},
	} {
		files, err := rtl.Files(c.module)
		if err != nil {
			t.Fatal(err)
		}
		top := fmt.Sprintf("module top; wire w; %s #(.%s(0)) u (.clk(w), .rst(w)); endmodule\n", c.module, c.param)
		files = append(files, rtl.File{Name: "top.sv", Data: []byte(top)})
		for tool, ask := range map[string]func() error{
			"verilator": func() error { return sim.Lint(t.Context(), tools.CacheDir(t), "top", files) },
			"icarus":    func() error { return sim.Elaborate(t.Context(), tools.CacheDir(t), "top", files) },
		} {
			err := ask()
			if err == nil {
				t.Errorf("%s takes %s with %s = 0", tool, c.module, c.param)
				continue
			}
			_, log, _ := strings.Cut(err.Error(), "whole output: ")
			text, err := os.ReadFile(log)
			if err != nil || !strings.Contains(string(text), c.text) {
				t.Errorf("%s does not say %s: %s, %v", tool, c.text, text, err)
			}
		}
	}
}

func TestJoin(t *testing.T) {
	rtltest.Run(t, rtltest.Bench{
		Module: "stream_join",
		Params: []rtl.Param{rtltest.P("A_WIDTH", 5), rtltest.P("B_WIDTH", 11)},
		Model:  func(in [][]int64) [][]int64 { return [][]int64{{in[1][0]<<5 | in[0][0]}} },
	})
}

// TestFork runs the fork between named ports, and once more into a join: branches that meet again must not deadlock.
func TestFork(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		var ports, pins []string
		for i := range n {
			ports = append(ports, fmt.Sprintf(forkBranch, i, i, i))
			pins = append([]string{fmt.Sprint(i)}, pins...)
		}
		gather := func(signal string) string { return "{o" + strings.Join(pins, signal+", o") + signal + "}" }
		text := fmt.Sprintf(forkBench, n, strings.Join(ports, ""), gather("_valid"), gather("_ready"))
		for i := range n {
			text = strings.Replace(text, "endmodule", fmt.Sprintf("  assign o%d_data = data;\nendmodule", i), 1)
		}
		rtltest.Run(t, rtltest.Bench{
			Module: "fork_bench",
			Params: []rtl.Param{rtltest.P("N", n)},
			Files:  []rtl.File{{Name: "fork_bench.sv", Data: []byte(text)}},
			Model: func(in [][]int64) [][]int64 {
				out := make([][]int64, n)
				for i := range out {
					out[i] = in[0]
				}
				return out
			},
		})
	}
	rtltest.Run(t, rtltest.Bench{
		Module: "diamond_bench",
		Files:  []rtl.File{{Name: "diamond_bench.sv", Data: []byte(diamondBench)}},
		Model:  func(in [][]int64) [][]int64 { return [][]int64{{in[0][0]<<8 | in[0][0]}} },
	})
}

const forkBranch = `,
    output wire [7:0] o%d_data,
    output wire o%d_valid,
    input wire o%d_ready`

const forkBench = `// fork_bench: a fork with its branches as ports of their own.
//   latency: 0   ii: 1   order: as it comes
module fork_bench #(
    parameter integer N = %d
) (
    input wire clk,
    input wire rst,
    input wire [7:0] in_data,
    input wire in_valid,
    output wire in_ready%s
);
  wire [7:0] data;
  stream_fork #(.WIDTH(8), .N(N)) u_fork (.clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid),
      .in_ready(in_ready), .out_data(data), .out_valid(%s), .out_ready(%s));
endmodule
`

const diamondBench = `// diamond_bench: fork, a register slice in one branch only, join.
//   latency: 1   ii: 1   order: as it comes
module diamond_bench (
    input wire clk,
    input wire rst,
    input wire [7:0] in_data,
    input wire in_valid,
    output wire in_ready,
    output wire [15:0] out_data,
    output wire out_valid,
    input wire out_ready
);
  wire [7:0] data, late, early;
  wire valid0, valid1, ready0, ready1, late_valid, late_ready, early_valid, early_ready;
  stream_fork #(.WIDTH(8), .N(2)) u_fork (.clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid),
      .in_ready(in_ready), .out_data(data), .out_valid({valid1, valid0}), .out_ready({ready1, ready0}));
  stream_skid #(.WIDTH(8)) u_late (.clk(clk), .rst(rst), .in_data(data), .in_valid(valid0),
      .in_ready(ready0), .out_data(late), .out_valid(late_valid), .out_ready(late_ready));
  stream_fifo #(.WIDTH(8), .DEPTH(3)) u_early (.clk(clk), .rst(rst), .in_data(data), .in_valid(valid1),
      .in_ready(ready1), .out_data(early), .out_valid(early_valid), .out_ready(early_ready));
  stream_join u_join (.a_data(late), .a_valid(late_valid), .a_ready(late_ready), .b_data(early),
      .b_valid(early_valid), .b_ready(early_ready), .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready));
endmodule
`
