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
	"lathe/rtl/rtltest"
	"lathe/sim"
)

// TestMark joins tokens and their bits.
func TestMark(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {8, 3}, {5, 4}, {33, 1}} {
		width, beats := c[0], c[1]
		rtltest.Run(t, rtltest.Bench{Module: "stream_mark",
			Params: []rtl.Param{rtltest.P("WIDTH", width), rtltest.P("BEATS", beats)},
			In:     []rtltest.Port{{Name: "a", Beats: beats}, {Name: "b"}}, Out: []rtltest.Port{{Name: "out"}},
			Model: func(in [][]int64) [][]int64 {
				out := append([]int64(nil), in[0]...)
				out[beats-1] |= in[1][0] << width
				return [][]int64{out}
			}})
	}
}

// TestCount counts the tokens of frames as long as the header says, and of shorter ones.
func TestCount(t *testing.T) {
	for _, tokens := range []int{1, 2, 5, 16} {
		for _, frames := range []int{1, 3} { // in tokens that are a frame of the bench
			size := tokens
			if frames > 1 {
				size = max(tokens, frames)
			}
			if size > tokens {
				continue
			}
			rtltest.Run(t, rtltest.Bench{Module: "stream_count", Params: []rtl.Param{rtltest.P("TOKENS", tokens)},
				In: []rtltest.Port{{Name: "in", Beats: size}}, Out: []rtltest.Port{{Name: "out"}}, Untimed: frames > 1,
				Frames: 40, Seed: uint64(frames),
				Gen: func(r *rand.Rand, _, _ int) []int64 {
					bits := make([]int64, size)
					for _, at := range r.Perm(size - 1)[:frames-1] {
						bits[at] = 1
					}
					bits[size-1] = 1
					return bits
				},
				Model: func(in [][]int64) [][]int64 {
					var out []int64
					n := int64(0)
					for _, last := range in[0] {
						if n++; last == 1 {
							out, n = append(out, n), 0
						}
					}
					return [][]int64{out}
				}})
		}
	}
}

// framesBench marks the beats that stream_frames lets through with the ends that it tells.
const framesBench = `module frames_bench #(parameter integer TOKENS = 4, parameter integer BEATS = 2) (
    input wire clk, input wire rst,
    input wire [8:0] in_data, input wire in_valid, output wire in_ready,
    output wire [8:0] out_data, output wire out_valid, input wire out_ready, output wire error
);
  wire [7:0] d;
  wire v, r, e, ev, er;
  stream_frames #(.WIDTH(8), .BEATS(BEATS), .TOKENS(TOKENS)) frames (.clk(clk), .rst(rst), .in_data(in_data[7:0]),
      .in_last(in_data[8]), .in_valid(in_valid), .in_ready(in_ready), .out_data(d), .out_valid(v), .out_ready(r),
      .ends_data(e), .ends_valid(ev), .ends_ready(er), .error(error));
  stream_mark #(.WIDTH(8), .BEATS(BEATS)) mark (.clk(clk), .rst(rst), .a_data(d), .a_valid(v), .a_ready(r),
      .b_data(e), .b_valid(ev), .b_ready(er), .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready));
endmodule
`

// packets are frames as they come in, and what must come of them: beats of two bytes, the flag in the upper one.
type packets struct {
	tokens, beats int
	in, out       []byte
	error         []byte // at each beat
	wrong         byte
}

// add is a frame of n beats, the last of which is marked.
func (p *packets) add(r *rand.Rand, n int) {
	most := p.tokens * p.beats
	for i := range n {
		v, last := byte(r.IntN(256)), byte(0)
		if i == n-1 {
			last = 1
		}
		p.in, p.error = append(p.in, v, last), append(p.error, p.wrong)
		if i < most {
			end := byte(0)
			if (i == n-1 || i == most-1) && (i+1)%p.beats == 0 {
				end = 1
			}
			p.out = append(p.out, v, end)
		}
		if i == most-1 && n > most || i == n-1 && n < most && n%p.beats != 0 {
			p.wrong = 1
		}
	}
	for i := n; i < most && i%p.beats != 0; i++ { // zeros up to the end of the token
		end := byte(0)
		if (i+1)%p.beats == 0 {
			end = 1
		}
		p.out = append(p.out, 0, end)
	}
}

// drawPackets are sound frames, and with broken ones among them those that are too long or end within a token.
func drawPackets(tokens, beats int, seed uint64, broken bool) *packets {
	p, r := &packets{tokens: tokens, beats: beats}, rand.New(rand.NewPCG(seed, 5))
	for i := range 60 {
		n := (1 + r.IntN(tokens)) * beats
		if broken && i > 20 && r.IntN(3) == 0 {
			n = 1 + r.IntN((tokens+2)*beats)
		}
		p.add(r, n)
	}
	return p
}

// run says what is wrong with what comes out.
func (p *packets) run(t *testing.T, files []rtl.File, stall sim.Stall) error {
	t.Helper()
	m, err := sim.Build(t.Context(), sim.Spec{Top: "frames_bench", Clock: "clk", Reset: "rst", CacheDir: tools.CacheDir(t),
		Params: []rtl.Param{{Name: "TOKENS", Value: strconv.Itoa(p.tokens)}, {Name: "BEATS", Value: strconv.Itoa(p.beats)}},
		Files:  append(files, rtl.File{Name: "frames_bench.sv", Data: []byte(framesBench)}),
		In:     []sim.Port{{Name: "in", Width: 9}}, Out: []sim.Port{{Name: "out", Width: 9}},
		Taps: []sim.Port{{Name: "error", Data: "error", Valid: "in_valid", Ready: "in_ready", Width: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Run(t.Context(), sim.Input{Streams: [][]byte{p.in}, Frames: 1, InBeats: []int{len(p.in) / 2},
		OutBeats: []int{len(p.out) / 2}, Idle: []sim.Stall{stall}, Back: []sim.Stall{stall}, Seed: 3, Drain: 60, Strict: true,
		MaxIdle: 2000})
	switch {
	case err != nil:
		return err
	case !bytes.Equal(r.Streams[0], p.out):
		return fmt.Errorf("other beats come out than should")
	case !bytes.Equal(r.Taps[0], p.error):
		return fmt.Errorf("error is not what it should be")
	case r.Out[0].Unstable >= 0 || r.Out[0].Surplus > 0 || r.Out[0].ValidByReady >= 0:
		return fmt.Errorf("rules of streams are broken: %+v", r.Out[0])
	}
	return nil
}

func TestFrames(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	files, err := rtl.Files("stream_frames", "stream_mark")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range [][2]int{{4, 2}, {1, 3}, {5, 1}, {7, 4}} {
		for k, stall := range []sim.Stall{{}, {Percent: 50}, {Percent: 80, Burst: 6}} {
			p := drawPackets(c[0], c[1], uint64(3*i+k), k > 0)
			if err := p.run(t, files, stall); err != nil {
				t.Errorf("%v, stalls %+v: %v", c, stall, err)
			}
		}
	}
	for _, f := range [][2]string{{"full && !in_last", "full"}, {"fill <= in_last", "fill <= 1'b0"},
		{"last ? TW'(0)", "in_last ? TW'(0)"}, {"drop && in_valid && in_last", "drop && in_valid"}} {
		p := drawPackets(5, 2, 9, true)
		if err := p.run(t, mutated(t, files, "stream_frames.sv", f[0], f[1]), sim.Stall{Percent: 50}); err == nil {
			t.Errorf("%s for %s goes unseen", f[1], f[0])
		}
	}
}

// mutated are files with a fault in one of them.
func mutated(t *testing.T, files []rtl.File, name, old, fault string) []rtl.File {
	t.Helper()
	list := append([]rtl.File(nil), files...)
	for i, f := range list {
		if text := string(f.Bytes()); f.Name == name {
			if strings.Count(text, old) != 1 {
				t.Fatalf("%s has not one %q", name, old)
			}
			list[i].Data = []byte(strings.Replace(text, old, fault, 1))
		}
	}
	return list
}
