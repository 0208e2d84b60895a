// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/lower/schedule/tokens"
	"lathe/rtl"
	"lathe/rtl/rtltest"
	"lathe/sim"
)

// stalled is a norm between a unit that drops beats, so that those it gets come with gaps, and one that repeats runs of
// them, so that it is held up for long.
type stalled struct {
	norm
	every, run, times int // one beat of so many is kept; so many are given so often
}

// units are the three, with their parameters.
func (s *stalled) units() []*rtl.Unit {
	p := rtltest.P
	return []*rtl.Unit{
		{Module: "op_slice", Params: []rtl.Param{p("WIDTH", s.lanes*8), p("BEATS", s.every), p("FIRST", 0), p("EVERY", 1)}},
		{Module: "op_norm", Params: s.bench().Params},
		{Module: "op_repeat", Params: []rtl.Param{p("WIDTH", s.lanes*8), p("BEATS", s.run), p("TIMES", s.times)}},
	}
}

// chain prints a module that holds the units, one behind the other.
func (s *stalled) chain() string {
	var b strings.Builder
	ports := fmt.Sprintf("input clk, rst, input [%d:0] in_data, input in_valid, output in_ready,\n"+
		"output [%[1]d:0] out_data, output out_valid, input out_ready", s.lanes*8-1)
	fmt.Fprintf(&b, "module stalled_norm (%s);\nwire [%d:0] a, b;\nwire a_v, a_r, b_v, b_r;\n", ports, s.lanes*8-1)
	wires := [][3]string{{"in_data", "in_valid", "in_ready"}, {"a", "a_v", "a_r"}, {"b", "b_v", "b_r"},
		{"out_data", "out_valid", "out_ready"}}
	for i, u := range s.units() {
		var set []string
		for _, p := range u.Params {
			set = append(set, fmt.Sprintf(".%s(%s)", p.Name, p.Value))
		}
		from, to := wires[i], wires[i+1]
		fmt.Fprintf(&b, "%s #(%s) u%d (.clk(clk), .rst(rst), .in_data(%s), .in_valid(%s), .in_ready(%s), .out_data(%s),\n"+
			".out_valid(%s), .out_ready(%s));\n", u.Module, strings.Join(set, ", "), i, from[0], from[1], from[2], to[0],
			to[1], to[2])
	}
	return b.String() + "endmodule\n"
}

// frames draws what goes in, and computes what comes out.
func (s *stalled) frames(count int) (in, out []byte) {
	r := rand.New(rand.NewPCG(47, uint64(s.n)))
	for range count {
		var x []int64
		for range s.n / s.lanes {
			for i := range s.every * s.lanes {
				in = append(in, byte(r.Uint32()))
				if i < s.lanes {
					x = append(x, int64(int8(in[len(in)-1])))
				}
			}
		}
		for y := s.row(x); len(y) > 0; y = y[s.run*s.lanes:] {
			for range s.times {
				for _, v := range y[:s.run*s.lanes] {
					out = append(out, byte(v))
				}
			}
		}
	}
	return in, out
}

// TestNormFlow compares rows, and the cycles in which they leave with the flow lines, where beats come with gaps and
// are held up.
func TestNormFlow(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	row := func(n, lanes int) norm {
		return norm{n: n, lanes: lanes, rows: 1, in: fixed8, f: 4, eps: 1e-5, fo: 5, out: fixed8}
	}
	for _, s := range tools.Few(2, []stalled{
		{row(64, 1), 1, 64, 3}, {row(64, 1), 2, 16, 9}, {row(70, 1), 1, 2, 2}, {row(60, 2), 1, 30, 4},
		{row(40, 1), 1, 8, 13}, {row(35, 1), 3, 7, 3}, {row(8, 1), 1, 8, 40}, {row(8, 1), 5, 4, 20}, {row(12, 4), 1, 3, 50},
		{row(4, 4), 1, 1, 130}, {row(4, 4), 9, 1, 31}, {row(4, 4), 1, 1, 28},
	}) {
		t.Run(fmt.Sprintf("%d,%d,%d,%d,%d", s.n, s.lanes, s.every, s.run, s.times), func(t *testing.T) {
			t.Parallel()
			s.compare(t)
		})
	}
}

func (s *stalled) compare(t *testing.T) {
	const frames = 24
	beats := s.n / s.lanes
	files, err := rtl.Files("op_slice", "op_norm", "op_repeat")
	if err != nil {
		t.Fatal(err)
	}
	var flow rtl.Flow
	for _, u := range s.units() {
		u.In = []string{"in"}
		one, err := u.Flow()
		if err != nil {
			t.Fatal(err)
		}
		flow = append(flow, one...)
	}
	in, out := beats*s.every, beats*s.times
	want, err := tokens.Alone(t.Context(), flow, []int{in}, out, 1, frames)
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, rtl.File{Name: "stalled_norm.sv", Data: []byte(s.chain())})
	spec := sim.Spec{Top: "stalled_norm", Files: files,
		Clock: "clk", Reset: "rst", In: []sim.Port{{Name: "in", Width: 8 * s.lanes}},
		Out: []sim.Port{{Name: "out", Width: 8 * s.lanes}}, CacheDir: tools.CacheDir(t)}
	model, err := sim.Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	x, y := s.frames(frames)
	got, err := model.Run(t.Context(), sim.Input{Streams: [][]byte{x}, Frames: frames, InBeats: []int{in},
		OutBeats: []int{out}})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Streams[0], y) {
		t.Error("other rows leave than the definition gives")
	}
	for f := range frames {
		first, last := got.Out[0].First[f]-got.FirstIn[0], got.Out[0].Last[f]-got.FirstIn[0]
		enters := got.FirstIn[f] - got.FirstIn[0]
		if first != want.First[0][f] || last != want.Last[0][f] || enters != want.In[0][f] {
			t.Fatalf("row %d enters in cycle %d and leaves in %d to %d, the flow lines say %d, %d, %d", f, enters, first, last,
				want.In[0][f], want.First[0][f], want.Last[0][f])
		}
	}
}
