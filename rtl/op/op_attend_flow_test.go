// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/lower/schedule/tokens/beat"
	"lathe/rtl"
	"lathe/rtl/rtltest"
	"lathe/sim"
)

// heldUp is a module with a width converter at every stream, so that beats come late and leave slowly.
const heldUp = `
module held_up #(parameter A = 1, parameter B = 1, parameter OUT = 1) (
    input wire clk, input wire rst,
    input wire [16/A-1:0] a_data, input wire a_valid, output wire a_ready,
    input wire [16/B-1:0] b_data, input wire b_valid, output wire b_ready,
    output wire [16/OUT-1:0] out_data, output wire out_valid, input wire out_ready
);
  wire [15:0] a, b, y;
  wire av, ar, bv, br, yv, yr;
  stream_widen #(.WIDTH(16 / A), .N(A)) u_a (.clk(clk), .rst(rst), .in_data(a_data), .in_valid(a_valid),
      .in_ready(a_ready), .out_data(a), .out_valid(av), .out_ready(ar));
  stream_widen #(.WIDTH(16 / B), .N(B)) u_b (.clk(clk), .rst(rst), .in_data(b_data), .in_valid(b_valid),
      .in_ready(b_ready), .out_data(b), .out_valid(bv), .out_ready(br));
  $module #($params) u (.clk(clk), .rst(rst), .a_data(a), .a_valid(av), .a_ready(ar), .b_data(b), .b_valid(bv),
      .b_ready(br), .out_data(y), .out_valid(yv), .out_ready(yr));
  stream_narrow #(.WIDTH(16 / OUT), .N(OUT)) u_out (.clk(clk), .rst(rst), .in_data(y), .in_valid(yv), .in_ready(yr),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready));
endmodule
`

// TestAttendHeldUp compares the cycles of the frames with those that the flow line gives where beats come late and
// leave slowly; the bench does so only where nothing stalls.
func TestAttendHeldUp(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	c := attend{queries: 4, keys: 5, heads: 2, groups: 1, size: 4, row: 6, f: 2, r: 2, aW: 8, bW: 8, offset: 1}
	c.cast.Width = 8
	for i, n := range [][3]int{{1, 4, 1}, {4, 1, 2}, {2, 2, 4}, {8, 8, 1}} {
		for _, module := range []string{"op_attend_scores", "op_attend_sum"} {
			d := c
			d.causal = i%2 == 0
			out := d.queries * d.heads * d.row / d.r
			if module == "op_attend_sum" {
				out = d.queries * d.heads * d.size / d.f
			}
			t.Run(fmt.Sprint(module, n), func(t *testing.T) { heldUpAs(t, d.bench(module), out, n) })
		}
	}
}

// TestBlockSumHeldUp does the same with values that wait for their tile.
func TestBlockSumHeldUp(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	p := rtltest.P
	b := rtltest.Bench{Module: "mx_attend_sum", In: []rtltest.Port{{Name: "a", Beats: 24}, {Name: "b", Beats: 12}},
		Params: []rtl.Param{p("QUERIES", 4), p("KEYS", 6), p("HEADS", 2), p("SIZE", 4), p("F", 2), p("R", 2), p("K", 4),
			p("A_W", 4), p("V_W", 8), p("SUM_W", 12), p("OUT_W", 8)}}
	for i, n := range [][3]int{{1, 4, 1}, {4, 1, 2}, {2, 2, 4}, {8, 8, 1}} {
		c := b
		c.Params = append(b.Params[:len(b.Params):len(b.Params)], p("CAUSAL", i%2))
		t.Run(fmt.Sprint(n), func(t *testing.T) { heldUpAs(t, c, 16, n) })
	}
}

// heldUpAs compares frames of b, which gives out beats of 16 bits a frame, behind width converters of n.
func heldUpAs(t *testing.T, b rtltest.Bench, out int, n [3]int) {
	const frames = 7
	in := []int{b.In[0].Beats * n[0], b.In[1].Beats * n[1]}
	out *= n[2]
	u := &rtl.Unit{Module: b.Module, Params: b.Params, In: []string{"a", "b"}}
	flow, err := u.Flow()
	if err != nil {
		t.Fatal(err)
	}
	counts := counted(t, flow, in, out, frames, n)
	res := simulated(t, b.Module, b.Params, in, out, frames, n)
	for i, p := range append(res.In, res.Out...) {
		have, want := fmt.Sprint(p.First), fmt.Sprint(counts[i].First)
		if i == 2 {
			have, want = have+fmt.Sprint(p.Last), want+fmt.Sprint(counts[i].Last)
		}
		if have != want {
			t.Errorf("stream %d: frames in cycles %s, the flow line says %s", i, have, want)
		}
	}
}

// counted is what the flow lines say of both inputs and the output.
func counted(t *testing.T, flow rtl.Flow, in []int, out, frames int, n [3]int) []*beat.Counter {
	t.Helper()
	net := beat.New(beat.NewTables())
	wide := func(n int) rtl.Stage {
		if n == 1 {
			return rtl.Stage{Kind: rtl.StageSkid}
		}
		return rtl.Stage{Kind: rtl.StageWiden, N: n}
	}
	var counts []*beat.Counter
	var wires []*beat.Wire
	for i, beats := range in {
		w, c := net.Source(beats, frames, nil)
		s, to := wide(n[i]), net.Wire()
		net.Stage(&s, false, []*beat.Wire{w}, to)
		counts, wires = append(counts, c), append(wires, to)
	}
	if n[2] > 1 {
		flow = append(flow[:len(flow):len(flow)], rtl.Stage{Kind: rtl.StageNarrow, N: n[2]})
	}
	flow = append(flow[:len(flow):len(flow)], rtl.Stage{Kind: rtl.StageSkid})
	for i := range flow {
		to := net.Wire()
		if k := flow[i].Before; k > 0 {
			net.Stage(&flow[i], false, wires[k-1:k:k], to)
			wires[k-1] = to
			continue
		}
		net.Stage(&flow[i], false, wires, to)
		wires = []*beat.Wire{to}
	}
	counts = append(counts, net.Sink(wires[0], out, nil))
	if done, err := net.Run(t.Context()); err != nil || !done {
		t.Fatalf("%v, %v", done, err)
	}
	return counts
}

// simulated is what the hardware does.
func simulated(t *testing.T, module string, params []rtl.Param, in []int, out, frames int, n [3]int) *sim.Result {
	t.Helper()
	var set []string
	for _, p := range params {
		set = append(set, fmt.Sprintf(".%s(%s)", p.Name, p.Value))
	}
	files, err := rtl.Files(module, "stream_widen", "stream_narrow")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("$module", module, "$params", strings.Join(set, ", ")).Replace(heldUp)
	spec := sim.Spec{Top: "held_up", Files: append(files, rtl.File{Name: "held_up.sv", Data: []byte(text)}),
		Clock: "clk", Reset: "rst", CacheDir: tools.CacheDir(t),
		In:  []sim.Port{{Name: "a", Width: 16 / n[0]}, {Name: "b", Width: 16 / n[1]}},
		Out: []sim.Port{{Name: "out", Width: 16 / n[2]}}}
	for i, name := range []string{"A", "B", "OUT"} {
		spec.Params = append(spec.Params, rtl.Param{Name: name, Value: fmt.Sprint(n[i])})
	}
	m, err := sim.Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	r, input := rand.New(rand.NewPCG(1, 1)), sim.Input{Frames: frames, InBeats: in, OutBeats: []int{out}}
	for i, p := range spec.In {
		bytes := make([]byte, frames*in[i]*((p.Width+7)/8))
		for k := range bytes {
			bytes[k] = byte(r.IntN(1 << min(p.Width, 8)))
		}
		input.Streams = append(input.Streams, bytes)
	}
	res, err := m.Run(t.Context(), input)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
