// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/emit"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir/ref"
	"lathe/rtl"
	"lathe/sim"
)

// flagBench makes TLAST a bit of the data, as a frame may then end anywhere, and joins what tells of bad frames.
const flagBench = `module flag_bench (
    input wire clk, input wire rst,
    input wire [%[1]d:0] in_data, input wire in_valid, output wire in_ready,
    output wire [%[2]d:0] out_data, output wire out_valid, input wire out_ready,
    output wire [16:0] status
);
  wire error;
  wire [15:0] bad_frames;
  assign status = {error, bad_frames};
  %[3]s dut (.ap_clk(clk), .ap_rst_n(!rst), .s_axis_tdata(in_data[%[1]d-1:0]), .s_axis_tvalid(in_valid),
      .s_axis_tready(in_ready), .s_axis_tlast(in_data[%[1]d]), .m_axis_tdata(out_data[%[2]d-1:0]),
      .m_axis_tvalid(out_valid), .m_axis_tready(out_ready), .m_axis_tlast(out_data[%[2]d]), .error(error),
      .bad_frames(bad_frames));
endmodule
`

// checkedJob is an example whose frames are checked.
func checkedJob(t *testing.T, model, bad string) *driver.Job {
	t.Helper()
	return plannedJob(t, model, "[stream]\nbad_frame = \""+bad+"\"\n")
}

// plannedJob is an example under the text of a plan.
func plannedJob(t *testing.T, model, text string) *driver.Job {
	t.Helper()
	plan := filepath.Join(t.TempDir(), "plan.toml")
	if err := os.WriteFile(plan, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := examples + model + "/"
	s := driver.Source{Model: dir + "model.onnx", Calibrate: dir + "calib.npz", Plan: plan}
	j, err := compileAs(t.Context(), s, dir)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// frames are what goes into a design and comes out of it, with TLAST as a bit of its own above TDATA.
type frames struct {
	in   []byte
	want []ref.Sample
	bad  uint32
}

// drawFrames takes samples, of which a third gets another number of beats.
func drawFrames(t *testing.T, j *driver.Job, count int, seed uint64) (f frames) {
	t.Helper()
	d := j.HW.Design
	p, r := d.Ports[0], rand.New(rand.NewPCG(seed, 3))
	var whole []ref.Sample
	for i := range count {
		beats := sim.PackStream(p, j.Samples[i%len(j.Samples):][:1], 0)
		size := len(beats) / p.Beats
		n := p.Beats
		if i < count-1 && r.IntN(3) == 0 {
			n = 1 + r.IntN(2*p.Beats)
		}
		for k := range n {
			beat := beats[k%p.Beats*size:][:size]
			last := byte(0)
			if k == n-1 {
				last = 1
			}
			f.in = append(append(f.in, beat...), last)
		}
		if n != p.Beats {
			f.bad++
		}
		if n == p.Beats || d.BadFrame == emit.Completes {
			v := *j.Samples[i%len(j.Samples)][0]
			v.Codes = slices.Clone(v.Codes)
			if n < p.Beats {
				clear(v.Codes[n*p.Lanes:])
			}
			whole = append(whole, ref.Sample{&v})
		}
	}
	want, err := driver.Evaluate(t.Context(), j.HW.Scheduled, whole)
	if err != nil {
		t.Fatal(err)
	}
	f.want = want
	return f
}

// run says what is wrong with what comes out of the design.
func (f frames) run(t *testing.T, d *emit.Design, stall sim.Stall) error {
	t.Helper()
	in, out := d.Ports[0], d.Ports[1]
	bench := fmt.Sprintf(flagBench, in.TData, out.TData, d.Top)
	files := append(slices.Clone(d.Files), rtl.File{Name: "flag_bench.sv", Data: []byte(bench)})
	m, err := sim.Build(t.Context(), sim.Spec{Top: "flag_bench", Clock: "clk", Reset: "rst", CacheDir: tools.CacheDir(t),
		Files: files, In: []sim.Port{{Name: "in", Width: in.TData + 1}},
		Out:  []sim.Port{{Name: "out", Width: out.TData + 1}},
		Taps: []sim.Port{{Name: "status", Data: "status", Valid: "out_valid", Ready: "out_ready", Width: 17}}})
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for i, beat := range slices.Collect(slices.Chunk(sim.PackStream(out, f.want, 0), out.TData/8)) {
		last := byte(0)
		if i%out.Beats == out.Beats-1 {
			last = 1
		}
		want = append(append(want, beat...), last)
	}
	r, err := m.Run(t.Context(), sim.Input{Streams: [][]byte{f.in}, Frames: 1,
		InBeats: []int{len(f.in) / (in.TData/8 + 1)}, OutBeats: []int{out.Beats * len(f.want)},
		Idle: []sim.Stall{stall}, Back: []sim.Stall{stall}, Seed: 5, Drain: 200, Strict: true, MaxIdle: 20000})
	if err != nil {
		return err
	}
	status := r.Taps[0]
	told := status[len(status)-3:] // with the last beat
	switch {
	case !bytes.Equal(r.Streams[0], want):
		return fmt.Errorf("results differ")
	case !bytes.Equal(told, []byte{byte(f.bad), byte(f.bad >> 8), 1}):
		return fmt.Errorf("count and error are %v after %d bad frames", told, f.bad)
	case r.Out[0].Unstable >= 0 || r.Out[0].Surplus > 0:
		return fmt.Errorf("the output breaks rules: %+v", r.Out[0])
	}
	return nil
}

// TestBadFrames has samples come with TLAST too early, too late and not at all: those that came whole are right.
func TestBadFrames(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	for i, bad := range tools.Few(1, []string{emit.Completes, emit.Drops}) {
		j := checkedJob(t, "digits-mlp", bad)
		f := drawFrames(t, j, tools.Sample(60, 20000), uint64(i))
		if f.bad == 0 {
			t.Fatal("no frame is bad")
		}
		for _, stall := range []sim.Stall{{}, {Percent: 40}} {
			if err := f.run(t, j.HW.Design, stall); err != nil {
				t.Errorf("%s, stalls %+v: %v", bad, stall, err)
			}
		}
		d := *j.HW.Design
		d.Files = slices.Clone(d.Files)
		at := slices.IndexFunc(d.Files, func(f rtl.File) bool { return f.Name == "stream_check.sv" })
		text := string(d.Files[at].Bytes())
		d.Files[at].Data = []byte(strings.Replace(text, "ends && !fill && !in_last", "1'b0", 1))
		if text == string(d.Files[at].Bytes()) || f.run(t, &d, sim.Stall{}) == nil {
			t.Errorf("%s: surplus beats that pass go unseen", bad)
		}
	}
}
