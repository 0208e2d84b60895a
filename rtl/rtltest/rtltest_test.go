// SPDX-License-Identifier: Apache-2.0

package rtltest

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/rtl"
)

// skid is the text of the library's register slice with some places changed: pairs of old and new text.
func skid(t *testing.T, changes ...string) []rtl.File {
	t.Helper()
	files, err := rtl.Files("stream_skid")
	if err != nil {
		t.Fatal(err)
	}
	text := string(files[0].Data)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("%q does not occur", changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	return []rtl.File{{Name: files[0].Name, Data: []byte(text)}}
}

// TestMutants breaks a module in one place each and demands the check that must notice.
func TestMutants(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, m := range []struct {
		name, text string
		changes    []string
	}{
		{"none", "", nil},
		{"forgets its spare beat", "back-pressure {Percent:10", []string{"spare_valid || in_valid", "in_valid"}},
		{"swaps beats", "the model says", []string{"? spare_data : in_data", "? in_data : spare_data"}},
		{"one wrong code", "the model says", []string{": in_data;", ": in_data ^ {7'd0, in_data == 8'h80};"}},
		{"overwrites its output", "changed before the beat was taken", []string{"|| !out_valid)",
			"|| !out_valid || in_data == 255)"}},
		{"valid follows ready", "valid depends on ready", []string{"output reg              out_valid",
			"output wire             out_valid", "out_valid   <=", "held <=", "!out_valid)", "!held)", "  assign",
			"  reg held;\n  assign out_valid = held && out_ready;\n  assign"}},
		{"half rate", "initiation interval is 2 cycles, the header says 1", []string{"in_ready = !spare_valid",
			"in_ready = !spare_valid && !out_valid", "spare_valid || in_valid", "spare_valid || (in_valid && in_ready)"}},
		{"a promise of less latency", "latency is 1 cycles, the header says 0", []string{"latency: 1", "latency: 0"}},
		{"a promise of a longer interval", "initiation interval is 1 cycles, the header says 2", []string{"ii: 1", "ii: 2"}},
		{"output not reset", "reset at cycle", []string{"1'b0;\n      spare_valid <= 1'b0;\n    end\n  end",
			"out_valid === 1'b1;\n      spare_valid <= 1'b0;\n    end\n  end"}},
		{"spare not reset", "", []string{"spare_valid <= 1'b0;\n    end\n  end", "end\n  end"}},
		{"stops at a code", "L0704", []string{"in_ready = !spare_valid", "in_ready = !spare_valid && !(&in_data)"}},
		{"a warning", "UNUSED", []string{"  assign", "  wire nobody = in_valid;\n  assign"}},
		{"a latch", "yosys", []string{"assign in_ready = !spare_valid;",
			"reg open; assign in_ready = open;\n  /* verilator lint_off LATCH */\n  always @* if (!clk) open = !spare_valid;"}},
	} {
		t.Run(m.name, func(t *testing.T) {
			b := Bench{Module: "stream_skid", Files: skid(t, m.changes...), Model: func(in [][]int64) [][]int64 { return in }}
			err := b.Check(t.Context(), tools.CacheDir(t))
			switch {
			case m.changes == nil && err != nil:
				t.Error(err)
			case m.changes != nil && (err == nil || !strings.Contains(err.Error(), m.text)):
				t.Errorf("err = %v, want %q", err, m.text)
			}
		})
	}
}

// TestMissed: a bench that passes, or a design that does not compile, is no fault found.
func TestMissed(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, "does not see"},
		{diag.New(diag.VerilatorFailed, "", "unused signal"), "does not compile"},
		{diag.New(diag.StreamRules, "", "surplus"), ""},
		{errors.New("the model says 3"), ""},
	} {
		if got := missed(c.err); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

func TestBenchErrors(t *testing.T) {
	same := func(in [][]int64) [][]int64 { return in }
	for name, c := range map[string]struct {
		b    Bench
		text string
	}{
		"no model":      {Bench{Module: "stream_skid"}, "one of Model and BigModel"},
		"no module":     {Bench{Module: "stream_skit", Model: same}, "did you mean stream_skid"},
		"no parameter":  {Bench{Module: "stream_skid", Model: same, Params: []rtl.Param{P("WITH", 3)}}, "WITH"},
		"wrong width":   {Bench{Module: "stream_skid", Model: same, In: []Port{{Name: "in", Width: 7}}}, "has 8 bits"},
		"wrong outputs": {Bench{Module: "stream_skid", Model: func([][]int64) [][]int64 { return nil }}, "returns 0 outputs"},
		"no codes": {Bench{Module: "stream_skid", Model: func([][]int64) [][]int64 { return [][]int64{{}} }},
			"returns 0 codes"},
		"wrong Gen": {Bench{Module: "stream_skid", Model: same,
			Gen: func(*rand.Rand, int, int) []int64 { return []int64{1, 2} }}, "Gen gives 2 codes"},
		"too few frames": {Bench{Module: "stream_fifo", Model: same, Frames: 4}, "more frames needed"},
	} {
		if strings.Contains(name, "few") {
			tools.Need(t, "verilator", "g++")
		}
		if err := c.b.Check(t.Context(), tools.CacheDir(t)); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: err = %v, want %q", name, err, c.text)
		}
	}
}

// TestCodes looks at what the generator tries: both limits, zero and one-hot frames, and nothing outside the limits.
func TestCodes(t *testing.T) {
	for _, p := range []Port{{Lanes: 3, Width: 5, Signed: true, Beats: 2}, {Lanes: 2, Width: 70, Beats: 1},
		{Lanes: 1, Width: 8, Beats: 4, Min: 3, Max: 9}, {Lanes: 1, Width: 1, Beats: 1}} {
		b := Bench{In: []Port{p}}
		low, high := p.limits()
		r := rand.New(rand.NewPCG(1, 2))
		seen := map[string]bool{}
		for frame := range 300 {
			for _, c := range b.codes(r, 0, frame) {
				if c.Cmp(low) < 0 || c.Cmp(high) > 0 {
					t.Fatalf("%+v: code %s", p, c)
				}
				seen[c.String()] = true
			}
		}
		if !seen[low.String()] || !seen[high.String()] || len(seen) < 2 || p.Width > 8 && len(seen) < 300 {
			t.Errorf("%+v: %d different codes", p, len(seen))
		}
	}
}
