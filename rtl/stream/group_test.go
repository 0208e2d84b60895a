// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/sim"
)

// groupBench is a core of two inputs and two outputs that counts the frames of a group, and adds to each beat which of
// them it is of. in_last of the first input also stands on beats of 255, which are in mid-frame.
const groupBench = `module group_bench #(parameter integer BEATS = 2, parameter integer GROUP = 2) (
    input wire clk, input wire rst,
    input wire [7:0] a_data, input wire a_valid, output wire a_ready, input wire a_last,
    input wire [7:0] b_data, input wire b_valid, output wire b_ready, input wire b_last,
    output wire [7:0] x_data, output wire x_valid, input wire x_ready, output wire x_last,
    output wire [7:0] y_data, output wire y_valid, input wire y_ready, output wire y_last
);
  wire begins, zeros;
  wire [2:0] room;
  wire [7:0] ga, gb, sa, sb, ka, kb;
  wire ga_v, ga_r, gb_v, gb_r, sa_v, sa_r, sb_v, sb_r, ka_v, ka_r, kb_v, kb_r;
  stream_group #(.WIDTH(8), .BEATS(BEATS), .GROUP(GROUP)) group_a (.clk(clk), .rst(rst), .in_data(a_data),
      .in_last(a_last || a_data == 8'd255), .in_valid(a_valid), .in_ready(a_ready), .out_data(ga), .out_valid(ga_v),
      .out_ready(ga_r), .room(&room), .begins(begins), .zeros(zeros));
  stream_follow #(.WIDTH(8), .BEATS(1)) follow_b (.clk(clk), .rst(rst), .room(room[2]), .begins(begins),
      .zeros(zeros), .in_data(b_data), .in_valid(b_valid), .in_ready(b_ready), .out_data(gb), .out_valid(gb_v),
      .out_ready(gb_r));
  reg [15:0] as, bs;
  reg [1:0] tick;  // in one cycle of four the core takes nothing of the first stream
  wire ga_room;
  assign ga_r = ga_room && tick != 2'd3;
  always @(posedge clk) begin
    tick <= rst ? 2'd0 : tick + 2'd1;
    if (ga_v && ga_r) as <= as + 16'd1;
    if (gb_v && gb_r) bs <= bs + 16'd1;
    if (rst) {as, bs} <= 32'd0;
  end
  stream_fifo #(.WIDTH(8), .DEPTH(70 * BEATS)) deep (.clk(clk), .rst(rst), .in_data(ga + 8'(as / BEATS % GROUP)),
      .in_valid(ga_v && tick != 2'd3), .in_ready(ga_room), .out_data(sa), .out_valid(sa_v), .out_ready(sa_r));
  stream_skid #(.WIDTH(8)) skid (.clk(clk), .rst(rst), .in_data(gb + 8'(bs % GROUP)), .in_valid(gb_v),
      .in_ready(gb_r), .out_data(sb), .out_valid(sb_v), .out_ready(sb_r));
  stream_ungroup #(.WIDTH(8), .BEATS(BEATS)) ungroup_a (.clk(clk), .rst(rst), .room(room[0]), .begins(begins),
      .zeros(zeros), .in_data(sa), .in_valid(sa_v), .in_ready(sa_r), .out_data(ka), .out_valid(ka_v), .out_ready(ka_r));
  stream_ungroup #(.WIDTH(8), .BEATS(1)) ungroup_b (.clk(clk), .rst(rst), .room(room[1]), .begins(begins),
      .zeros(zeros), .in_data(sb), .in_valid(sb_v), .in_ready(sb_r), .out_data(kb), .out_valid(kb_v), .out_ready(kb_r));
  stream_last #(.WIDTH(8), .BEATS(BEATS)) last_a (.clk(clk), .rst(rst), .in_data(ka), .in_valid(ka_v), .in_ready(ka_r),
      .out_data(x_data), .out_last(x_last), .out_valid(x_valid), .out_ready(x_ready));
  stream_last #(.WIDTH(8), .BEATS(1)) last_b (.clk(clk), .rst(rst), .in_data(kb), .in_valid(kb_v), .in_ready(kb_r),
      .out_data(y_data), .out_last(y_last), .out_valid(y_valid), .out_ready(y_ready));
endmodule
`

var groupParts = []string{"stream_group", "stream_follow", "stream_ungroup", "stream_fifo", "stream_skid",
	"stream_last"}

// groupRun are frames in groups, some of which end early, and what must come of them.
type groupRun struct {
	beats, group int
	early        int // groups that end before they are full
	kinds        []sim.FrameKind
	a, b, x, y   []byte
}

func drawGroups(beats, group, frames int) *groupRun {
	g, r, at := &groupRun{beats: beats, group: group}, rand.New(rand.NewPCG(uint64(beats), uint64(group))), 0
	for f := range frames {
		kind, place := sim.Ends, byte(at)
		at = (at + 1) % group
		if f == frames-1 || r.IntN(group+1) == 0 {
			if at != 0 {
				g.early++
			}
			kind, at = kind|sim.Closes, 0
		}
		g.kinds = append(g.kinds, kind)
		for b := range beats {
			v := byte(r.IntN(255))
			if b < beats-1 && r.IntN(8) == 0 {
				v = 255
			}
			g.a, g.x = append(g.a, v), append(g.x, v+place)
		}
		v := byte(r.IntN(256))
		g.b, g.y = append(g.b, v), append(g.y, v+place)
	}
	return g
}

// check runs the frames under all stalls, and says what is wrong.
func (g *groupRun) check(t *testing.T, files []rtl.File) error {
	t.Helper()
	port := func(name string) sim.Port { return sim.Port{Name: name, Width: 8, Last: name + "_last"} }
	m, err := sim.Build(t.Context(), sim.Spec{Top: "group_bench", Clock: "clk", Reset: "rst", CacheDir: tools.CacheDir(t),
		Params: []rtl.Param{{Name: "BEATS", Value: strconv.Itoa(g.beats)}, {Name: "GROUP", Value: strconv.Itoa(g.group)}},
		Files:  append(files, rtl.File{Name: "group_bench.sv", Data: []byte(groupBench)}),
		In:     []sim.Port{port("a"), port("b")}, Out: []sim.Port{port("x"), port("y")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range stallsOf() {
		in.Streams, in.Frames, in.Kinds = [][]byte{g.a, g.b}, len(g.kinds), g.kinds
		in.InBeats, in.OutBeats = []int{g.beats, 1}, []int{g.beats, 1}
		in.Drain, in.Strict, in.MaxIdle = 50, true, 2000
		r, err := m.Run(t.Context(), in)
		if err != nil {
			return err
		}
		for i, p := range r.Out {
			if p.Unstable >= 0 || p.WrongLast >= 0 || p.ValidByReady >= 0 || p.Surplus > 0 {
				return fmt.Errorf("output %d: %+v", i, p)
			}
		}
		if !bytes.Equal(r.Streams[0], g.x) || !bytes.Equal(r.Streams[1], g.y) {
			return fmt.Errorf("%+v, %+v: got %d, %d, want %d, %d", in.Idle, in.Back, r.Streams[0], r.Streams[1], g.x, g.y)
		}
	}
	return nil
}

// TestGroup runs groups that are whole and groups that end early. Without outputs, more frames begin than
// stream_ungroup remembers.
func TestGroup(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	files, err := rtl.Files(groupParts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]int{{3, 2}, {1, 3}, {2, 5}, {2, 1}} {
		g := drawGroups(c[0], c[1], 300)
		if g.early == 0 && g.group > 1 {
			t.Errorf("%v: no group ends early", c)
		}
		if err := g.check(t, files); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// TestGroupBroken has the bench look at faults.
func TestGroupBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	for _, c := range []struct{ file, old, fault string }{
		{"stream_group.sv", "(zeros || in_last) && !frame_last", "zeros || in_last"},
		{"stream_group.sv", "(zeros || in_last) && !frame_last", "in_last && !frame_last"},
		{"stream_group.sv", "if (moves && beat_last) begin", "if (moves && (beat_last || in_last)) begin"},
		{"stream_group.sv", "out_ready && pass && !zeros", "out_ready && pass"},
		{"stream_group.sv", "room || begun || !first", "room || !first || 1'b1"},
		{"stream_group.sv", "out_valid && first && !begun", "out_valid && first"},
		{"stream_group.sv", "out_valid && first && !moves", "out_valid && first"},
		{"stream_follow.sv", "waits ? kind : zeros", "zeros"},
		{"stream_follow.sv", "begins && (waits || !ends)", "begins"},
		{"stream_follow.sv", "known && !fill && out_ready", "known && out_ready"},
		{"stream_ungroup.sv", "known && (drop || out_ready)", "known && (drop && out_ready)"},
		{"stream_ungroup.sv", "in_valid && known && !drop", "in_valid && known"},
		{"stream_ungroup.sv", ".out_ready(moves && beat_last)", ".out_ready(moves)"},
	} {
		files, err := rtl.Files(groupParts...)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			if f.Name == c.file {
				text := strings.Replace(string(f.Bytes()), c.old, c.fault, 1)
				if text == string(f.Bytes()) {
					t.Fatalf("%s has no %q", c.file, c.old)
				}
				files[i] = rtl.File{Name: f.Name, Data: []byte(text)}
			}
		}
		if drawGroups(3, 3, 300).check(t, files) == nil && drawGroups(1, 3, 300).check(t, files) == nil {
			t.Errorf("%s: %q is not found", c.file, c.fault)
		}
	}
}
