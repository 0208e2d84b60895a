// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"lathe/emit"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/sim"
)

// checkStart has weights in ROMs checked.
const checkStart = "[memory]\ncheck = \"start\"\n"

// sealedJob is an example whose weights are checked.
func sealedJob(t *testing.T, model string, samples int) *driver.Job {
	t.Helper()
	j := plannedJob(t, model, checkStart)
	j.Samples, j.Floats, j.Labels = j.Samples[:samples], j.Floats[:samples], j.Labels[:samples]
	return j
}

// TestCheckedWeights proves designs that check their weights first: the same codes, a sample in the same cycles; of
// layers that share units, and of decoders too.
func TestCheckedWeights(t *testing.T) {
	for name, made := range tools.Few(2, []func() *driver.Job{
		func() *driver.Job { return sealedJob(t, "digits-cnn", 20) },
		func() *driver.Job { j := layered(t, 3, loopPlan(t, "lean", checkStart)); return &j },
	}) {
		t.Run(fmt.Sprint(name), func(t *testing.T) {
			e, j := engines(t), made()
			j.Seeds = []uint64{1, 2}
			check, err := e.Verify(t.Context(), *j)
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches != 0 || check.II != j.HW.Interval() || len(check.Warnings) > 0 {
				t.Errorf("%d of %d codes differ, %v cycles a sample, %v predicted; %q", check.Mismatches, check.Outputs, check.II,
					j.HW.Interval(), check.Warnings)
			}
			if !j.HW.Design.ChecksWeights() {
				t.Error("nothing is checked")
			}
		})
	}
	if tools.Sample(0, 1) == 0 {
		return
	}
	j := decoderJob(t, smallDecoder, fifths+checkStart, 12, 37, true)
	check, err := engines(t).Verify(t.Context(), *j)
	if err != nil || check.Mismatches != 0 || !j.HW.Design.ChecksWeights() {
		t.Errorf("a decoder: %+v, %v", check, err)
	}
}

// sealBench offers a beat in each cycle, whether it is taken or not, and tells of memory_error and of results so far.
const sealBench = `module seal_bench (
    input wire clk, input wire rst,
    input wire [%[1]d:0] in_data, input wire in_valid, output wire in_ready,
    output wire [1:0] out_data, output wire out_valid, input wire out_ready
);
  wire error, comes;
  reg came;
  assign in_ready = out_ready;
  assign out_valid = in_valid;
  assign out_data = {error, came || comes};
  always @(posedge clk) begin
    if (comes) came <= 1'b1;
    if (rst) came <= 1'b0;
  end
  %[2]s dut (.ap_clk(clk), .ap_rst_n(!rst), .s_axis_tdata(in_data), .s_axis_tvalid(in_valid), .s_axis_tready(),
      .s_axis_tlast(1'b0), .m_axis_tdata(), .m_axis_tvalid(comes), .m_axis_tready(1'b1), .m_axis_tlast(),
      .memory_error(error));
endmodule
`

// told is what the bench says in the end of a design with these files, which runs as hardware does: without what stops
// a simulation. In the cycles that it runs, many samples pass.
func told(t *testing.T, d *emit.Design, files []rtl.File) byte {
	t.Helper()
	in := d.Ports[0]
	files = append(slices.Clone(files), rtl.File{Name: "seal_bench.sv",
		Data: fmt.Appendf(nil, sealBench, in.TData-1, d.Top)})
	files[0].Data = append([]byte("`define SYNTHESIS\n"), files[0].Data...)
	m, err := sim.Build(t.Context(), sim.Spec{Top: "seal_bench", Clock: "clk", Reset: "rst", CacheDir: tools.CacheDir(t),
		Files: files, In: []sim.Port{{Name: "in", Width: in.TData}}, Out: []sim.Port{{Name: "out", Width: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	const cycles = 8000
	r, err := m.Run(t.Context(), sim.Input{Streams: [][]byte{make([]byte, cycles*in.TData/8)}, Frames: 1,
		InBeats: []int{cycles}, OutBeats: []int{cycles}, Idle: []sim.Stall{{}}, Back: []sim.Stall{{}}, Seed: 1,
		MaxIdle: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return r.Streams[0][cycles-1]
}

// TestWrongWeights spoils one bit of the weights of a layer: memory_error is high, and no result comes out.
func TestWrongWeights(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	d := sealedJob(t, "jets-mlp", 1).HW.Design
	if got := told(t, d, d.Files); got != 1 {
		t.Errorf("right weights: error and results are %02b", got)
	}
	seed := 0
	for i, f := range d.Files {
		if !bytes.HasSuffix([]byte(f.Name), []byte("_weights.mem")) || seed >= tools.Sample(1, 4) {
			continue
		}
		seed++
		files := slices.Clone(d.Files)
		text := bytes.Clone(f.Bytes())
		at := bytes.IndexByte(text, '\n') * 2 / 3 // a digit of the first word
		digit := bytes.IndexByte([]byte("0123456789abcdef"), text[at])
		text[at] = "0123456789abcdef"[digit^1]
		files[i].Data = text
		if got := told(t, d, files); got != 2 {
			t.Errorf("%s: error and results are %02b", f.Name, got)
		}
	}
	if seed == 0 {
		t.Error("no file has weights")
	}
}
