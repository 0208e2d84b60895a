// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/formaltest"
	"lathe/sim"
)

// checkBench is what the top of a design puts in front of its core: with DROP 1 the frames that did not come whole wait
// in a queue until that is known.
const checkBench = `module check_bench #(parameter integer BEATS = 4, parameter integer DROP = 0) (
    input wire clk, input wire rst,
    input wire [8:0] in_data, input wire in_valid, output wire in_ready,
    output wire [7:0] out_data, output wire out_valid, input wire out_ready, output wire [16:0] status
);
  wire [7:0] d, q;
  wire v, r, qv, qr, ends, bad, error, room;
  wire [15:0] count;
  assign status = {error, count};
  stream_check #(.WIDTH(8), .BEATS(BEATS)) check (.clk(clk), .rst(rst), .in_data(in_data[7:0]), .in_last(in_data[8]),
      .in_valid(in_valid), .in_ready(in_ready), .out_data(d), .out_valid(v), .out_ready(r), .ends(ends), .bad(bad),
      .error(error), .count(count));
  generate
    if (DROP != 0) begin : g_drop
      stream_fifo #(.WIDTH(8), .DEPTH(BEATS + 8)) held (.clk(clk), .rst(rst), .in_data(d), .in_valid(v), .in_ready(r),
          .out_data(q), .out_valid(qv), .out_ready(qr));
      stream_ungroup #(.WIDTH(8), .BEATS(BEATS)) kept (.clk(clk), .rst(rst), .room(room), .begins(ends), .zeros(bad),
          .in_data(q), .in_valid(qv), .in_ready(qr), .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready));
      always @(posedge clk) if (ends && !rst && !room) $fatal(1, "no room for a verdict");
    end else begin : g_complete
      assign out_data = d;
      assign out_valid = v;
      assign r = out_ready;
    end
  endgenerate
endmodule
`

// checked are frames as they come in, and what must come of them: beats of two bytes in, of one out.
type checked struct {
	beats   int
	drop    bool
	in, out []byte
	status  []byte // at each beat in
	bad     uint32
}

// add is a frame of n beats, of which the last is marked.
func (c *checked) add(r *rand.Rand, n int) {
	var frame []byte
	for i := range n {
		v, last := byte(r.IntN(256)), byte(0)
		if i == n-1 {
			last = 1
		}
		c.in = append(c.in, v, last)
		c.status = binary.LittleEndian.AppendUint32(c.status, min(c.bad, 0xffff)|min(c.bad, 1)<<16)[:len(c.status)+3]
		if frame = append(frame, v); i == c.beats-1 && n > c.beats {
			c.bad++
		}
	}
	if n < c.beats {
		c.bad++
	}
	if !c.drop || n == c.beats {
		c.out = append(c.out, append(frame, make([]byte, c.beats)...)[:c.beats]...)
	}
}

// drawChecked are frames of which a third is too short or too long; TLAST that is missing joins two.
func drawChecked(beats int, drop bool, frames int, seed uint64) *checked {
	c, r := &checked{beats: beats, drop: drop}, rand.New(rand.NewPCG(seed, 7))
	for i := range frames {
		n := beats
		if i < frames-1 && r.IntN(3) == 0 {
			n = 1 + r.IntN(2*beats+2)
		}
		c.add(r, n)
	}
	return c
}

// run says what is wrong with what comes out.
func (c *checked) run(t *testing.T, files []rtl.File, stall sim.Stall) error {
	t.Helper()
	drop := 0
	if c.drop {
		drop = 1
	}
	m, err := sim.Build(t.Context(), sim.Spec{Top: "check_bench", Clock: "clk", Reset: "rst", CacheDir: tools.CacheDir(t),
		Params: []rtl.Param{{Name: "BEATS", Value: strconv.Itoa(c.beats)}, {Name: "DROP", Value: strconv.Itoa(drop)}},
		Files:  append(files, rtl.File{Name: "check_bench.sv", Data: []byte(checkBench)}),
		In:     []sim.Port{{Name: "in", Width: 9}}, Out: []sim.Port{{Name: "out", Width: 8}},
		Taps: []sim.Port{{Name: "status", Data: "status", Valid: "in_valid", Ready: "in_ready", Width: 17}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Run(t.Context(), sim.Input{Streams: [][]byte{c.in}, Frames: 1, InBeats: []int{len(c.in) / 2},
		OutBeats: []int{len(c.out)}, Idle: []sim.Stall{stall}, Back: []sim.Stall{stall}, Seed: 3, Drain: 60, Strict: true,
		MaxIdle: 2000})
	switch {
	case err != nil:
		return err
	case !bytes.Equal(r.Streams[0], c.out):
		return fmt.Errorf("other beats come out than should")
	case !bytes.Equal(r.Taps[0], c.status):
		return fmt.Errorf("error and count are not what they should be")
	case r.Out[0].Unstable >= 0 || r.Out[0].Surplus > 0 || r.Out[0].ValidByReady >= 0:
		return fmt.Errorf("rules of streams are broken: %+v", r.Out[0])
	}
	return nil
}

func TestCheck(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	files, err := rtl.Files("stream_check", "stream_fifo", "stream_ungroup")
	if err != nil {
		t.Fatal(err)
	}
	frames := tools.Sample(300, 50000)
	for i, beats := range []int{1, 2, 5, 70} {
		for k, stall := range []sim.Stall{{}, {Percent: 50}, {Percent: 80, Burst: 6}} {
			c := drawChecked(beats, (i+k)%2 == 1, frames, uint64(3*i+k))
			if err := c.run(t, files, stall); err != nil {
				t.Errorf("frames of %d beats, stalls %+v, dropped %t: %v", beats, stall, c.drop, err)
			}
		}
	}
	for _, f := range [][2]string{{"(fill || in_last)", "in_last"}, {"!(in_valid && in_last)", "1'b0"},
		{"ends && !fill && !in_last", "ends && !in_last"}, {"fill || !in_last", "!in_last"},
		{"fill ? WIDTH'(0) : in_data", "in_data"}, {"drop || (!fill && out_ready)", "drop || out_ready"}} {
		c := drawChecked(5, true, 60, 9)
		d := drawChecked(5, false, 60, 9)
		bad := mutated(t, files, "stream_check.sv", f[0], f[1])
		if c.run(t, bad, sim.Stall{Percent: 50}) == nil && d.run(t, bad, sim.Stall{Percent: 50}) == nil {
			t.Errorf("%s for %s goes unseen", f[1], f[0])
		}
	}
}

// checkProof follows the frames on both sides: beat f_pos of frame f_in is the next to come, and what passes is the
// beat of that place in the frame of that number. A bad one is known at its TLAST, and counted when its last beat
// leaves.
func checkProof(beats int) formaltest.Proof {
	text := fmt.Sprintf("localparam integer N = %d;", beats) + formaltest.Sender("in", 3) + `
  reg f_last;
  always @(posedge clk) f_last <= in_last;
  always @* if (f_past && f_in_wait) assume (in_last == f_last);
` + formaltest.Receiver("out", "out_valid", "out_ready", "out_data", 3) + `
  reg [7:0] f_in, f_out;
  reg [3:0] f_pos, f_place;
  reg [15:0] f_bad, f_count;
  reg f_error;
  wire f_enters = in_valid && in_ready;
  always @(posedge clk) begin
    if (f_enters) f_pos <= in_last ? 4'd0 : f_pos == 4'd15 ? f_pos : f_pos + 4'd1;
    if (f_enters && in_last) f_in <= f_in + 8'd1;
    if (f_enters && in_last && f_pos != N - 1) f_bad <= f_bad + 16'd1;
    if (out_valid && out_ready) f_place <= f_place == N - 1 ? 4'd0 : f_place + 4'd1;
    if (ends) f_out <= f_out + 8'd1;
    if (rst) {f_in, f_out, f_pos, f_place, f_bad} <= 40'd0;
    f_count <= rst ? 16'd0 : count;
    f_error <= error && !rst;
  end
  always @* if (f_past) begin
    assert (ends == (out_valid && out_ready && f_place == N - 1));
    assert (beat == f_place && !(fill && drop) && f_place < N);
    assert (f_out == f_in + {7'd0, drop} - {7'd0, fill});
    assert (fill ? f_pos == 4'd0 && f_place != 4'd0 : drop ? f_pos >= N && f_place == 4'd0 : f_pos == f_place);
    if (out_valid) assert (fill ? out_data == 3'd0 : in_valid && !drop && out_data == in_data);
    if (out_ready) assert (out_valid || in_ready);
    if (!(&count)) assert (count + {15'd0, fill} == f_bad + {15'd0, drop});
    assert (error == (count != 16'd0) && (&count || !(&f_count)) && count - f_count <= 16'd1);
    if (f_error && !f_rst) assert (error);
  end
  always @* cover (f_past && !f_rst && count == 16'd2 && f_in == 8'd3);
`
	return formaltest.Proof{Module: "stream_check", Params: params("WIDTH", 3, "BEATS", beats), Depth: 16, Induct: 2,
		Properties: text}
}

func TestCheckProof(t *testing.T) {
	checkProof(1).Prove(t)
	checkProof(3).Prove(t)
	for _, m := range [][2]string{{"ends && !fill && !in_last", "1'b0"}, {"fill || in_last", "in_last"},
		{"fill || (in_valid && !drop)", "in_valid && !drop"},
		{"if (ends && bad) error", "if (bad) error"}} {
		checkProof(3).Refute(t, formaltest.Mutant{Module: "stream_check", Old: m[0], New: m[1]})
	}
	full := formaltest.Proof{Module: "stream_check", Params: params("WIDTH", 1, "BEATS", 2), Depth: 12,
		Small: []formaltest.Mutant{{Module: "stream_check", Old: "count <= 16'd0;", New: "count <= 16'hfffe;"}},
		Properties: formaltest.Sender("in", 1) + `
  reg [15:0] f_count;
  always @(posedge clk) f_count <= count;
  always @* if (f_past && !f_rst && &f_count) assert (&count);
  always @* cover (f_past && !f_rst && &f_count);
`}
	full.Prove(t)
	full.Refute(t, formaltest.Mutant{Module: "stream_check", Old: "ends && bad && !(&count)", New: "ends && bad"})
}
