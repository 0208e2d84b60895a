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

// sessionBench is a core of two outputs between stream_session and stream_answer: an output gives beats as they come,
// the other one, behind a FIFO, those of every token widened to one. The core counts the tokens since its reset, and
// adds their number to what it takes, so that a beat tells which token of its sequence it is. in_last also stands on
// beats of 255, which are in mid-token.
const sessionBench = `module session_bench #(parameter integer TOKENS = 4, parameter integer BEATS = 2) (
    input wire clk, input wire rst,
    input wire [7:0] in_data, input wire in_valid, output wire in_ready, input wire in_last,
    output wire [7:0] a_data, output wire a_valid, input wire a_ready, output wire a_last,
    output wire [8*BEATS-1:0] b_data, output wire b_valid, input wire b_ready,
    output wire b_last,
    output wire [7:0] position, output wire error
);
  wire core_valid, core_ready, core_rst, token, closing;
  wire [1:0] idle;
  wire [$clog2(TOKENS + 1)-1:0] at;
  assign position = 8'(at);
  stream_session #(.TOKENS(TOKENS), .BEATS(BEATS), .OUTS(2)) session (.clk(clk), .rst(rst),
      .in_last(in_last || in_data == 8'd255),
      .in_valid(in_valid), .in_ready(in_ready), .core_valid(core_valid), .core_ready(core_ready), .core_rst(core_rst),
      .token(token), .closing(closing), .idle(idle), .position(at), .error(error));
  reg [7:0] beats;
  always @(posedge clk) if (core_rst) beats <= 8'd0; else if (core_valid && core_ready) beats <= beats + 8'd1;
  wire [7:0] both;
  wire [1:0] v, r;
  stream_fork #(.WIDTH(8), .N(2)) branches (.clk(clk), .rst(core_rst), .in_data(in_data + beats / BEATS),
      .in_valid(core_valid), .in_ready(core_ready), .out_data(both), .out_valid(v), .out_ready(r));
  wire [7:0] s_data;
  wire s_valid, s_ready;
  stream_skid #(.WIDTH(8)) skid (.clk(clk), .rst(core_rst), .in_data(both), .in_valid(v[0]), .in_ready(r[0]),
      .out_data(s_data), .out_valid(s_valid), .out_ready(s_ready));
  stream_answer #(.WIDTH(8), .BEATS(BEATS), .TOKENS(TOKENS)) answer_a (.clk(clk), .rst(core_rst), .token(token),
      .closing(closing), .idle(idle[0]), .in_data(s_data), .in_valid(s_valid), .in_ready(s_ready), .out_data(a_data),
      .out_last(a_last), .out_valid(a_valid), .out_ready(a_ready));
  wire [7:0] f_data;
  wire f_valid, f_ready;
  stream_fifo #(.WIDTH(8), .DEPTH(4)) fifo (.clk(clk), .rst(core_rst), .in_data(both), .in_valid(v[1]),
      .in_ready(r[1]), .out_data(f_data), .out_valid(f_valid), .out_ready(f_ready));
  wire [8*BEATS-1:0] w_data;
  wire w_valid, w_ready;
  stream_widen #(.WIDTH(8), .N(BEATS)) widen (.clk(clk), .rst(core_rst), .in_data(f_data), .in_valid(f_valid),
      .in_ready(f_ready), .out_data(w_data), .out_valid(w_valid), .out_ready(w_ready));
  stream_answer #(.WIDTH(8*BEATS), .BEATS(1), .TOKENS(TOKENS)) answer_b (.clk(clk), .rst(core_rst), .token(token),
      .closing(closing), .idle(idle[1]), .in_data(w_data), .in_valid(w_valid), .in_ready(w_ready), .out_data(b_data),
      .out_last(b_last), .out_valid(b_valid), .out_ready(b_ready));
endmodule
`

// sessionParts are the modules of sessionBench.
var sessionParts = []string{"stream_session", "stream_answer", "stream_fork", "stream_fifo", "stream_skid",
	"stream_widen"}

// sessions are what a bench is given, and what must come of it.
type sessions struct {
	tokens, beats   int
	kinds           []sim.FrameKind
	in              []byte
	a, b            []byte // b has the bytes of a: beats of a token side by side
	position, error []byte
	wrong           byte
}

// add is a sequence of n tokens; from token step on they wait for the outputs of those before.
func (s *sessions) add(r *rand.Rand, n, step int) {
	for t := range n {
		var kind sim.FrameKind
		if t == n-1 {
			kind |= sim.Closes
		}
		if t == min(n, s.tokens)-1 {
			kind |= sim.Ends
		}
		if t >= s.tokens {
			kind |= sim.Silent
		}
		if t >= step {
			kind |= sim.Waits
		}
		s.kinds = append(s.kinds, kind)
		for b := range s.beats {
			s.position, s.error = append(s.position, byte(min(t, s.tokens))), append(s.error, s.wrong)
			v := byte(r.IntN(255))
			if b < s.beats-1 && r.IntN(20) == 0 {
				v = 255
			}
			if t >= s.tokens || v == 255 {
				s.wrong = 1
			} else if t == 0 && b == 0 {
				s.wrong = 0
			}
			if s.in = append(s.in, v); t < s.tokens {
				s.a, s.b = append(s.a, v+byte(t)), append(s.b, v+byte(t))
			}
		}
	}
}

// drawSessions are sequences of all lengths: short, whole, too long, of one token, at once and step by step.
func drawSessions(tokens, beats int, seed uint64) *sessions {
	s, r := &sessions{tokens: tokens, beats: beats}, rand.New(rand.NewPCG(seed, 3))
	for _, n := range []int{tokens, 1, tokens + 2, tokens, 1 + tokens/2, tokens + 1, 1} {
		s.add(r, n, n)
		s.add(r, n, 1)
	}
	for range 30 {
		n := 1 + r.IntN(tokens+2)
		s.add(r, n, r.IntN(n+1))
	}
	return s
}

func (s *sessions) build(t *testing.T, files []rtl.File) *sim.Model {
	t.Helper()
	spec := sim.Spec{Top: "session_bench", Clock: "clk", Reset: "rst", CacheDir: tools.CacheDir(t),
		Params: []rtl.Param{{Name: "TOKENS", Value: strconv.Itoa(s.tokens)}, {Name: "BEATS", Value: strconv.Itoa(s.beats)}},
		Files:  append(files, rtl.File{Name: "session_bench.sv", Data: []byte(sessionBench)}),
		In:     []sim.Port{{Name: "in", Width: 8, Last: "in_last"}},
		Out:    []sim.Port{{Name: "a", Width: 8, Last: "a_last"}, {Name: "b", Width: 8 * s.beats, Last: "b_last"}},
		Taps: []sim.Port{{Name: "position", Data: "position", Valid: "in_valid", Ready: "in_ready", Width: 8},
			{Name: "error", Data: "error", Valid: "in_valid", Ready: "in_ready", Width: 1}}}
	m, err := sim.Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// run says what is wrong with the outputs of a run.
func (s *sessions) run(t *testing.T, m *sim.Model, in sim.Input) error {
	t.Helper()
	in.Streams, in.Frames, in.Kinds = [][]byte{s.in}, len(s.kinds), s.kinds
	in.InBeats, in.OutBeats = []int{s.beats}, []int{s.beats, 1}
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
	for _, c := range []struct {
		name      string
		got, want []byte
	}{{"a", r.Streams[0], s.a}, {"b", r.Streams[1], s.b}, {"position", r.Taps[0], s.position},
		{"error", r.Taps[1], s.error}} {
		if !bytes.Equal(c.got, c.want) {
			return fmt.Errorf("%s: got %d, want %d", c.name, c.got, c.want)
		}
	}
	return nil
}

// stallsOf are all pairs of idle and back-pressure patterns, and a reset in mid-sequence.
func stallsOf() (list []sim.Input) {
	for _, idle := range []sim.Stall{{}, {Percent: 40}, {Percent: 80, Burst: 5}} {
		for _, back := range []sim.Stall{{}, {Percent: 40}, {Percent: 80, Burst: 7}} {
			list = append(list, sim.Input{Seed: uint64(len(list)), Idle: []sim.Stall{idle}, Back: []sim.Stall{back}})
		}
	}
	list[4].ResetAt, list[4].ResetLen = 57, 1
	return list
}

// TestSession runs sequences of changing lengths through a core with two outputs.
func TestSession(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	files, err := rtl.Files(sessionParts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]int{{5, 3}, {1, 1}, {4, 1}} {
		s := drawSessions(c[0], c[1], uint64(c[0]))
		m := s.build(t, files)
		for _, in := range stallsOf() {
			if err := s.run(t, m, in); err != nil {
				t.Errorf("%v, %+v, %+v: %v", c, in.Idle, in.Back, err)
			}
		}
	}
}

// TestSessionBroken has the bench look at faults.
func TestSessionBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	for _, c := range []struct{ file, old, fault string }{
		{"stream_session.sv", "clear <= ended && &idle;", "clear <= 1'b0;"},                 // never reset
		{"stream_session.sv", "clear <= ended && &idle;", "clear <= ended;"},                // too soon
		{"stream_session.sv", "wire run = !ended && !clear;", "wire run = !clear;"},         // not held
		{"stream_session.sv", "in_valid && run && !full", "in_valid && run"},                // wraps
		{"stream_session.sv", "error <= wrong || (error && !fresh);", "error <= wrong;"},    // not sticky
		{"stream_session.sv", "assign closing = ended || full;", "assign closing = ended;"}, // no last flag when full
		{"stream_session.sv", "(ended && &idle) begin", "(ended) begin"},                    // ends before outputs left
		{"stream_session.sv", "if (beat_last && in_last) ended", "if (in_last) ended"},      // ends in mid-token
		{"stream_session.sv", "full || (in_last && !beat_last)", "full"},                    // says nothing of that
		{"stream_answer.sv", "wire pass = owes || !beat_last;", "wire pass = 1'b1;"},        // before its token
		{"stream_answer.sv", "wire pass = owes || !beat_last;",
			"wire pass = owed > OW'(1) || (owes && closing) || !beat_last;"}, // until the next token comes
		{"stream_answer.sv", "owes <= token || !only;", "owes <= token;"},                      // loses count
		{"stream_answer.sv", "beat_last && closing && only;", "beat_last && closing && owes;"}, // several last flags
	} {
		files, err := rtl.Files(sessionParts...)
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
		s, found := drawSessions(5, 3, 5), false
		m := s.build(t, files)
		for _, in := range stallsOf() {
			if err := s.run(t, m, in); err != nil {
				found = true
				break
			}
		}
		if !found {
			t.Errorf("%s: %q is not found", c.file, c.fault)
		}
	}
}
