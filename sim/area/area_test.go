// SPDX-License-Identifier: Apache-2.0

package area

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/diag"
	"lathe/internal/tools"
)

// chip copies the test design and its memory image into a folder of the test.
func chip(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a folder; with # marks")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"chip.sv", "parts.sv"} {
		data, err := os.ReadFile(filepath.Join("testdata", "chip", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, string(data))
	}
	var image strings.Builder
	for i := range 512 {
		fmt.Fprintf(&image, "%09x\n", (i*0x9e3779b97+0x1234567)&0xfffffffff)
	}
	write(t, dir, "chip.mem", image.String())
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCount(t *testing.T) {
	tools.Need(t, "yosys")
	dir := chip(t)
	files, top, err := Sources(dir)
	if err != nil || top != "chip" || strings.Join(files, " ") != "chip.sv parts.sv" {
		t.Fatalf("Sources: %q %q %v", files, top, err)
	}
	logs := t.TempDir()
	r, err := Count(context.Background(), dir, files, top, Options{LogDir: logs})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Cells{
		"chip/wide":         {LUT: 16, FF: 16, Carry4: 4},
		"chip/pair[0].u":    {LUT: 4, FF: 4, Carry4: 1},
		"chip/pair[1].u":    {LUT: 4, FF: 4, Carry4: 1},
		"chip/rom":          {BRAM18: 1},
		"chip/mul":          {DSP: 1, FF: 16},
		"chip/delay":        {LUT: 1, SRL: 1},
		"chip/ram":          {LUT: 16, LUTRAM: 16},
		"chip":              {LUT: 41, SRL: 1, LUTRAM: 16, FF: 40, DSP: 1, BRAM18: 1, Carry4: 6},
		"chip/pair[1].u/in": {},
	}
	for _, i := range r.Instances {
		if w, ok := want[i.Path]; ok && w != i.Cells {
			t.Errorf("%s: %+v, want %+v", i.Path, i.Cells, w)
		}
		delete(want, i.Path)
	}
	if len(want) != 1 { // the entry that names no instance shows that missing ones are noticed
		t.Errorf("no such instances: %v", want)
	}
	if r.Total != r.Instances[0].Cells || r.Top != "chip" || r.Instances[0].Module != "chip" {
		t.Errorf("total %+v of %s", r.Total, r.Top)
	}
	for _, m := range r.Modules {
		if m.Module == "chip_add" && m.Own.FF == 4 && m.Instances != 2 {
			t.Errorf("%s: %d instances, want 2", m.Variant, m.Instances)
		}
	}
	if !strings.HasPrefix(r.Tool, "Yosys 0.") || !strings.Contains(r.Flags, "-nowidelut") {
		t.Errorf("tool %q flags %q", r.Tool, r.Flags)
	}
	if left, err := os.ReadDir(logs); err != nil || len(left) != 0 {
		t.Errorf("a run that succeeded left %v (%v)", left, err)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestOptions(t *testing.T) {
	tools.Need(t, "yosys")
	r, err := Count(context.Background(), chip(t), []string{"parts.sv"}, "chip_mul", Options{NoDSP: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Total.DSP != 0 || r.Total.LUT < 32 {
		t.Errorf("a multiplier without DSP: %+v", r.Total)
	}
	flat, err := Count(context.Background(), chip(t), []string{"chip.sv", "parts.sv"}, "chip", Options{Flatten: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(flat.Instances) != 1 || flat.Total.FF != 40 || flat.Total.BRAM() != 0.5 {
		t.Errorf("flat: %d instances, %+v", len(flat.Instances), flat.Total)
	}
}

func TestFailures(t *testing.T) {
	tools.Need(t, "yosys")
	const implicit = "module sub(input wire c, output reg t); always @(posedge c) t <= !t; endmodule\n" +
		"module top(input wire c, output wire y); wire q; sub u(c, q); assign y = u.t; endmodule\n"
	cases := []struct {
		name, text, top string
		opts            Options
		code            diag.Code
		want            string
	}{
		{"hierarchical name", implicit, "top", Options{}, diag.HierarchicalName, "u.t"},
		{"syntax", "module top(; endmodule\n", "top", Options{}, diag.YosysFailed, "syntax error"},
		{"no module", "module top; nowhere u(); endmodule\n", "top", Options{}, diag.YosysFailed, "nowhere"},
		{"no top", "module other; endmodule\n", "top", Options{}, diag.YosysFailed, "top"},
		{"no image", "module top(input wire a, output wire q); reg m [0:1]; initial $readmemh(\"no.mem\", m);\n" +
			"assign q = m[a]; endmodule\n", "top", Options{}, diag.YosysFailed, "no.mem"},
		{"time", "module top; endmodule\n", "top", Options{Timeout: time.Millisecond}, diag.YosysTimeout, "1ms"},
		{"tool", "module top; endmodule\n", "top", Options{Yosys: "no-such-yosys"}, diag.NoYosys, "scripts/setup"},
		{"not Yosys", "module top; endmodule\n", "top", Options{Yosys: "true"}, diag.NoYosys, "version"},
		{"command in name", "module top; endmodule\n", "top; shell", Options{}, diag.AreaInput, "top; shell"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "in.sv", c.text)
			c.opts.LogDir = t.TempDir()
			_, err := Count(context.Background(), dir, []string{"in.sv"}, c.top, c.opts)
			if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %s with %q", err, c.code, c.want)
			}
			if c.code == diag.YosysFailed || c.code == diag.HierarchicalName {
				keptLog(t, err, c.want)
			}
		})
	}
}

// keptLog demands that the file that the note names holds the message.
func keptLog(t *testing.T, err error, want string) {
	t.Helper()
	_, path, ok := strings.Cut(err.(*diag.Error).Notes[0], "the whole output of Yosys: ")
	log, readErr := os.ReadFile(path)
	if !ok || readErr != nil || !strings.Contains(string(log), want) {
		t.Errorf("log %q: %v, or without %q", path, readErr, want)
	}
}

func TestCancel(t *testing.T) {
	tools.Need(t, "yosys")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Count(ctx, chip(t), []string{"chip.sv", "parts.sv"}, "chip", Options{LogDir: t.TempDir()})
	if err == nil {
		t.Fatal("a count of some seconds ended within 300 ms")
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("stopped only after %v", took)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "a.txt", "-q.sv", "a\".sv", "a\n.sv", "../a.sv", "/a.sv"} {
		_, err := Count(context.Background(), ".", []string{name}, "top", Options{})
		if diag.CodeOf(err) != diag.AreaInput {
			t.Errorf("file name %q: %v", name, err)
		}
	}
	if _, err := Count(context.Background(), ".", nil, "top", Options{}); diag.CodeOf(err) != diag.AreaInput {
		t.Errorf("no files: %v", err)
	}
}
