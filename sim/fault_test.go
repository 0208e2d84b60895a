// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/rtl"
)

// faulty is a design of one input and one output of 8 bits, with the given body and more ports.
func faulty(t *testing.T, body string) Spec {
	t.Helper()
	text := `module faulty (input wire clk, input wire rst, input wire [7:0] in_data, input wire in_valid,
  output wire in_ready, output wire [7:0] out_data, output wire out_valid, input wire out_ready, output wire out_last);
` + body + "\nendmodule\n"
	return Spec{Top: "faulty", Files: []File{{Name: "faulty.sv", Data: []byte(text)}}, Clock: "clk", Reset: "rst",
		In: []Port{{Name: "in", Width: 8}}, Out: []Port{{Name: "out", Width: 8, Last: "out_last"}},
		CacheDir: tools.CacheDir(t)}
}

// pass is a body that lets beats through; out_valid and in_ready are the given expressions.
func pass(valid, ready, last, data string) string {
	return fmt.Sprintf(`  reg [7:0] count;
  always @(posedge clk) if (rst) count <= 0; else if (out_valid && out_ready) count <= count + 1;
  reg [7:0] age;
  always @(posedge clk) age <= rst ? 0 : age + 1;
  assign out_valid = %s;
  assign in_ready = %s;
  assign out_last = %s;
  assign out_data = %s;`, valid, ready, last, data)
}

const good, goodLast = "in_valid", "count[1:0] == 3"

func faultInput(s Spec) Input {
	return Input{Streams: [][]byte{noise(7, s.In[0], 40)}, Frames: 10, InBeats: []int{4}, OutBeats: []int{4}, Seed: 5,
		Back: []Stall{{Percent: 50}}, Idle: []Stall{{Percent: 30}}, Drain: 20, Strict: true, MaxIdle: 300}
}

func TestFaults(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	for _, c := range []struct {
		name, body string
		code       diag.Code
		text       string
	}{
		{"sound", pass(good, "out_ready", goodLast, "in_data"), "", ""},
		{"last", pass(good, "out_ready", "count[1:0] == 2", "in_data"), "L0706", "last flag is wrong at beat 2"},
		{"no last", pass(good, "out_ready", "0", "in_data"), "L0706", "last flag is wrong at beat 3"},
		{"valid by ready", pass("in_valid && out_ready", "out_ready", goodLast, "in_data"), "L0706",
			"valid depends on ready"},
		{"unstable data", pass(good, "out_ready", goodLast, "in_data ^ age"), "L0706", "changed before the beat was taken"},
		{"unstable valid", pass("in_valid && age[0]", "out_ready && age[0]", goodLast, "in_data"), "L0706",
			"changed before the beat was taken"},
		{"surplus", pass("in_valid || age > 200", "out_ready", goodLast, "in_data"), "L0706", "surplus"},
		{"stuck", pass("in_valid && count < 11", "out_ready && count < 11", goodLast, "in_data"), "L0704",
			"out: valid 0, ready"},
		{"endless", pass("1", "count > 3 ? 0 : out_ready", goodLast, "in_data"), "L0704", "nothing moves any more"},
		{"fatal", pass(good, "out_ready", goodLast, "in_data") +
			"\n always @(posedge clk) if (count == 7) $fatal(1, \"seven is too many\");", "L0705", "seven is too many"},
		{"error", pass(good, "out_ready", goodLast, "in_data") +
			"\n always @(posedge clk) if (count == 7) $error(\"seven again\");", "L0705", "seven again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := faulty(t, c.body)
			model, err := Build(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			in := faultInput(spec)
			if c.name == "surplus" {
				in.Drain = 400
			}
			if c.name == "endless" {
				in.OutBeats = []int{1}
			}
			res, err := model.Run(t.Context(), in)
			if err == nil {
				err = res.Check(&spec)
			}
			if diag.CodeOf(err) != c.code || c.code != "" && !strings.Contains(err.Error(), c.text) {
				t.Errorf("err = %v, want %s %s", err, c.code, c.text)
			}
		})
	}
}

func TestDeadlockTable(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	spec := faulty(t, pass("in_valid && count < 11", "out_ready && count < 11", goodLast, "in_data"))
	spec.Taps = []Port{{Name: "age", Data: "age", Valid: "in_valid", Ready: "in_ready", Width: 8}}
	model, err := Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	in := faultInput(spec)
	in.Back = nil
	_, err = model.Run(t.Context(), in)
	for _, want := range []string{"in: valid 1, ready 0, 11 of 40 beats", "out: valid 0, ready 1, 11 of 40 beats",
		"age: valid 1, ready 0, 11 beats"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
}

func TestCancel(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	spec := faulty(t, pass("0", "0", goodLast, "in_data"))
	model, err := Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	in := faultInput(spec)
	in.MaxIdle = 1 << 60
	if _, err := model.Run(ctx, in); err != context.DeadlineExceeded {
		t.Errorf("err = %v", err)
	}
}

func TestTapsTraceAndLog(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	spec := skid(t, "8", 8)
	spec.Taps = []Port{{Name: "spare", Data: "spare_data", Valid: "spare_valid", Ready: "out_ready", Width: 8}}
	spec.Trace = true
	spec.Files = append([]File(nil), spec.Files...)
	spec.Files[0].Data = []byte(strings.Replace(string(spec.Files[0].Data), "endmodule",
		"final $display(\"the end\");\nendmodule", 1))
	model, err := Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	fst := filepath.Join(t.TempDir(), "x.fst")
	in := Input{Streams: [][]byte{noise(1, spec.In[0], 100)}, Frames: 100, InBeats: []int{1}, OutBeats: []int{1},
		Back: []Stall{{Percent: 50}}, FSTFile: fst}
	res, err := model.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(res.Taps[0]); n < 10 || n > 60 {
		t.Errorf("the tap saw %d beats", n)
	}
	if !strings.Contains(res.Log, "the end") {
		t.Errorf("log is %q", res.Log)
	}
	if info, err := os.Stat(fst); err != nil || info.Size() < 200 {
		t.Errorf("waveform: %v", err)
	}
}

// TestOccupancy fills a queue behind a blocked output.
func TestOccupancy(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	files, err := rtl.Files("stream_fifo")
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{Top: "stream_fifo", Files: files, Params: []rtl.Param{{Name: "DEPTH", Value: "9"}}, Clock: "clk",
		Reset: "rst", In: []Port{{Name: "in", Width: 8}}, Out: []Port{{Name: "out", Width: 8}}, CacheDir: tools.CacheDir(t)}
	model, err := Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Streams: [][]byte{noise(1, spec.In[0], 50)}, Frames: 50, InBeats: []int{1}, OutBeats: []int{1},
		Back: []Stall{{Percent: 80}}}
	for _, in.Occupancy = range []bool{false, true} {
		res, err := model.Run(t.Context(), in)
		if err != nil || strings.Contains(res.Log, "dut 9 of 9\n") != in.Occupancy {
			t.Errorf("asked %v: %v, %q", in.Occupancy, err, res.Log)
		}
	}
}

// TestWrapped runs a module without handshake behind the wrapper's.
func TestWrapped(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog")
	text := `module mac #(parameter integer PIPE = 0) (input wire clk, input wire en, input wire [7:0] a,
  input wire [7:0] b, input wire [15:0] c, output wire [15:0] y);
  reg [15:0] p, s;
  always @(posedge clk) if (en) begin p <= a * b; s <= p + c; end
  assign y = PIPE != 0 ? s : a * b + c;
endmodule
`
	for pipe := range 3 {
		spec := Spec{Top: "mac", Files: []File{{Name: "mac.sv", Data: []byte(text)}}, Clock: "clk", Enable: "en",
			Params: []rtl.Param{{Name: "PIPE", Value: fmt.Sprint(pipe)}}, Handshake: ByWrapper, Pipe: pipe,
			Ties: []rtl.Param{{Name: "c", Value: "16'd7"}}, In: []Port{{Name: "a", Width: 8}, {Name: "b", Width: 8}},
			Out: []Port{{Name: "y", Width: 16}}, CacheDir: tools.CacheDir(t)}
		model, err := Build(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		a, b := noise(1, spec.In[0], 50), noise(2, spec.In[1], 50)
		in := Input{Streams: [][]byte{a, b}, Frames: 50, InBeats: []int{1, 1}, OutBeats: []int{1}, Strict: true,
			Idle: []Stall{{Percent: 20}, {Percent: 60}}, Back: []Stall{{Percent: 40}}, Seed: 2}
		res, err := model.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Check(&spec); err != nil {
			t.Error(err)
		}
		wrong := 0
		for i, y := range Unpack(res.Streams[0], 1, 16, false) {
			if y != (int64(a[i])*int64(b[i])+7)&0xffff {
				wrong++
			}
		}
		// with one register too few said, the sums belong to the beat before
		if (wrong == 0) != (pipe != 1) {
			t.Errorf("pipe %d: %d wrong", pipe, wrong)
		}
	}
}

// TestRunAll runs inputs in one process: each from power-up, as if alone, up to the first that ends early.
func TestRunAll(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	// total has what power-up gave it, and no reset; a frame that begins with 255 is never taken
	spec := faulty(t, `  reg [7:0] total;
  always @(posedge clk) if (out_valid && out_ready) total <= 3 * total + in_data;
  reg [1:0] count;
  always @(posedge clk) if (rst) count <= 0; else if (out_valid && out_ready) count <= count + 1;
  assign out_valid = in_valid && in_data != 255;
  assign in_ready = out_ready && in_data != 255;
  assign out_last = count == 3;
  assign out_data = in_data ^ total;`)
	model, err := Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	in := faultInput(spec)
	in.Streams[0] = bytes.ReplaceAll(in.Streams[0], []byte{255}, []byte{254})
	other, stuck := in, in
	other.Seed++
	stuck.Streams = [][]byte{bytes.Repeat([]byte{255}, 40)}
	var alone []*Result
	for _, in := range []Input{in, other, in} {
		res, err := model.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		alone = append(alone, res)
	}
	if bytes.Equal(alone[0].Streams[0], alone[1].Streams[0]) {
		t.Error("another seed, and the same state at power-up")
	}
	together, err := model.RunAll(t.Context(), []Input{in, other, in, stuck, in})
	if diag.CodeOf(err) != diag.Stuck || len(together) != len(alone) {
		t.Fatalf("%d results, then %v", len(together), err)
	}
	for i, res := range together {
		if !reflect.DeepEqual(res.Streams, alone[i].Streams) || res.Cycles != alone[i].Cycles {
			t.Errorf("input %d has other results alone", i)
		}
	}
}
