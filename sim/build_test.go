// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/rtl"
)

func TestCachedOnce(t *testing.T) {
	root := t.TempDir()
	var fills atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			dir, err := cached(t.Context(), root, "x", func(dir string) error {
				fills.Add(1)
				return os.WriteFile(filepath.Join(dir, "f"), []byte("1"), 0o644)
			})
			if _, statErr := os.Stat(filepath.Join(dir, "f")); err != nil || statErr != nil {
				t.Errorf("%v, %v", err, statErr)
			}
		})
	}
	wg.Wait()
	if fills.Load() != 1 {
		t.Errorf("filled %d times", fills.Load())
	}
}

func TestCachedFailure(t *testing.T) {
	root := t.TempDir()
	fail := func(dir string) error {
		return tool(t.Context(), dir, "L0702", "sh", "-c", "echo one; echo ERROR two >&2; exit 1")
	}
	_, err := cached(t.Context(), root, "x", fail)
	if diag.CodeOf(err) != "L0702" || !strings.Contains(err.Error(), "sh: ERROR two") {
		t.Fatalf("err = %v", err)
	}
	_, path, _ := strings.Cut(err.Error(), "whole output: ")
	log, readErr := os.ReadFile(path)
	if readErr != nil || !strings.Contains(string(log), "one\nERROR two\n") {
		t.Errorf("log %q, %v", log, readErr)
	}
	if _, err := cached(t.Context(), root, "x", fail); diag.CodeOf(err) != "L0702" {
		t.Errorf("a failure was cached: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = cached(t.Context(), root, "y", func(string) error {
		cancel()
		_, err := cached(ctx, root, "y", func(string) error { return nil })
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for the lock was not cancelled: %v", err)
	}
	if _, err := cached(t.Context(), "", "x", fail); diag.CodeOf(err) != "L0708" {
		t.Errorf("no cache folder: %v", err)
	}
}

// TestToolEnds cancels a tool whose child would hold the output open.
func TestToolEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	err := tool(ctx, t.TempDir(), "L0702", "sh", "-c", "sleep 20 & wait")
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

func TestMissingTools(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := newToolchain()
	if diag.CodeOf(err) != "L0701" || !strings.Contains(err.Error(), "verilator is not in PATH") {
		t.Errorf("err = %v", err)
	}
	_, err = cached(t.Context(), t.TempDir(), "x", func(dir string) error {
		return tool(t.Context(), dir, "L0709", "yosys")
	})
	if diag.CodeOf(err) != "L0701" {
		t.Errorf("err = %v", err)
	}
}

func TestBuildErrors(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	for name, c := range map[string]struct {
		change func(*Spec)
		code   diag.Code
		text   string
	}{
		"syntax":    {func(s *Spec) { s.Files[0].Data = []byte("module stream_skid (") }, "L0702", "syntax error"},
		"parameter": {func(s *Spec) { s.Params[0].Name = "WITH" }, "L0702", "WITH"},
		"width":     {func(s *Spec) { s.In[0].Width = 7 }, "L0702", "WIDTH"},
		"port":      {func(s *Spec) { s.In[0].Name = "im" }, "L0702", "im_data"},
		"no output": {func(s *Spec) { s.Out = nil }, "L0708", "output"},
		"no width":  {func(s *Spec) { s.Out[0].Width = 0 }, "L0708", "width 0"},
		"no cache":  {func(s *Spec) { s.CacheDir = "" }, "L0708", "cache"},
		"path":      {func(s *Spec) { s.Files[0].Name = "a/b.sv" }, "L0708", "bare"},
		"twice":     {func(s *Spec) { s.Files = append(s.Files, s.Files[0]) }, "L0708", "once"},
		"no enable": {func(s *Spec) { s.Handshake, s.Pipe = ByWrapper, 1 }, "L0708", "enable"},
	} {
		spec := skid(t, "8", 8)
		spec.Files = append([]File(nil), spec.Files...)
		c.change(&spec)
		_, err := Build(t.Context(), spec)
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: err = %v, want %s %s", name, err, c.code, c.text)
		}
	}
}

func TestInputErrors(t *testing.T) {
	m := &Model{spec: Spec{Top: "x", In: []Port{{Width: 9}}, Out: []Port{{Width: 9}}}}
	for name, in := range map[string]Input{
		"streams": {Frames: 1, InBeats: []int{1}, OutBeats: []int{1}},
		"beats":   {Frames: 1, InBeats: []int{1}, Streams: [][]byte{{1, 2}}},
		"length":  {Frames: 1, InBeats: []int{1}, OutBeats: []int{1}, Streams: [][]byte{{1, 2, 3}}},
		"stalls":  {Frames: 1, InBeats: []int{1}, OutBeats: []int{1}, Streams: [][]byte{{1, 2}}, Idle: make([]Stall, 3)},
		"none":    {Frames: 1, InBeats: []int{1}, OutBeats: []int{0}, Streams: [][]byte{{1, 2}}},
		"trace":   {Frames: 1, InBeats: []int{1}, OutBeats: []int{1}, Streams: [][]byte{{1, 2}}, FSTFile: "x"},
	} {
		if _, err := m.Run(t.Context(), in); diag.CodeOf(err) != "L0708" {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestSecondOpinions(t *testing.T) {
	tools.Need(t, "verilator", "iverilog", "yosys")
	ctx, cache := t.Context(), tools.CacheDir(t)
	sound := pass(good, "out_ready", goodLast, "in_data")
	unknown := strings.Replace(sound, "assign out_data = in_data", "reg [7:0] never; assign out_data = in_data & never", 1)
	icarus := func(body string) error {
		spec := faulty(t, body)
		streams, err := Icarus(ctx, spec, faultInput(spec))
		if err == nil && string(streams[0]) != string(faultInput(spec).Streams[0]) {
			t.Error("Icarus: data changed on the way")
		}
		return err
	}
	yosys := func(body string) error { return Yosys(ctx, faulty(t, body)) }
	lint := func(body string) error { return Lint(ctx, cache, "faulty", faulty(t, body).Files) }
	elaborate := func(body string) error { return Elaborate(ctx, cache, "faulty", faulty(t, body).Files) }
	for _, c := range []struct {
		name string
		ask  func(string) error
		body string
		code diag.Code
		text string
	}{
		{"icarus", icarus, sound, "", ""},
		{"icarus: unknown bits", icarus, unknown, "L0712", "unknown bits"},
		{"icarus: stuck", icarus, pass("count < 5", "out_ready", goodLast, "in_data"), "L0704", "deadlock"},
		{"icarus: fatal", icarus, sound + "\ninitial $fatal(1, \"never\");", "L0705", "never"},
		{"icarus: syntax", icarus, "wire;", "L0709", "syntax error"},
		{"elaborate", elaborate, sound, "", ""},
		{"elaborate: module", elaborate, sound + "\nnowhere u ();", "L0709", "nowhere"},
		{"yosys", yosys, sound, "", ""},
		{"yosys: latch", yosys, sound + "\nreg l; always @* if (in_valid) l = rst; assign out_last = l;", "L0709", ""},
		{"yosys: loop", yosys, sound + "\nwire w = !(w && rst); assign out_last = w;", "L0709", ""},
		{"yosys: name", yosys, sound + "\nnum u (); assign out_last = u.t;", "L0709", ""},
		{"lint", lint, "assign in_ready = 1, out_data = {7'd0, clk ^ rst ^ ^in_data ^ in_valid ^ out_ready};" +
			"assign out_valid = 1, out_last = 1;", "", ""},
		{"lint: unused", lint, sound + "\nwire nobody = rst;", "L0710", "nobody"},
	} {
		err := c.ask(c.body)
		if diag.CodeOf(err) != c.code || c.code != "" && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: err = %v, want %s %s", c.name, err, c.code, c.text)
		}
	}
}

// TestIcarusAgrees compares the two simulators on the same stimulus of a library module.
func TestIcarusAgrees(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog")
	files, err := rtl.Files("stream_fifo")
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{Top: "stream_fifo", Files: files, Params: []rtl.Param{{Name: "WIDTH", Value: "33"}}, Clock: "clk",
		Reset: "rst", In: []Port{{Name: "in", Width: 33}}, Out: []Port{{Name: "out", Width: 33}}, CacheDir: tools.CacheDir(t)}
	in := Input{Streams: [][]byte{noise(4, spec.In[0], 30)}, Frames: 30, InBeats: []int{1}, OutBeats: []int{1}}
	model, err := Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	res, err := model.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	streams, err := Icarus(t.Context(), spec, in)
	if err != nil || string(streams[0]) != string(res.Streams[0]) {
		t.Errorf("Icarus gives %x, Verilator %x, %v", streams, res.Streams, err)
	}
}

// TestParts looks at how files are shared out: whole, balanced, no more parts than the size asks for.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	whole, half := partBytes, partBytes/2
	sizes := map[string]int64{"a.cpp": whole, "b.cpp": half, "c.cpp": half, "d.cpp": 10, "d.h": whole}
	for name, size := range sizes {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for cpus, want := range map[int]string{1: "[[a.cpp b.cpp c.cpp d.cpp]]", 9: "[[a.cpp d.cpp] [b.cpp c.cpp]]"} {
		parts, err := split(dir, []string{"."}, cpus)
		var files [][]string
		for _, p := range parts {
			files = append(files, p.files)
		}
		if got := fmt.Sprint(files); err != nil || got != want {
			t.Errorf("%d processors: %s, %v; want %s", cpus, got, err, want)
		}
	}
}

// TestLarge runs a model that is compiled in parts.
func TestLarge(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	whole := partBytes
	partBytes = 3000
	t.Cleanup(func() { partBytes = whole })
	spec := skid(t, "8", 8)
	spec.Files = append([]File(nil), spec.Files...)
	spec.Files[0].Data = append([]byte("// in parts\n"), spec.Files[0].Data...) // not the key of the small model
	model, err := Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(model.Dir(), "tool.log"))
	if err != nil || !strings.Contains(string(log), "part1.cc") || !strings.Contains(string(log), "-Og") {
		t.Errorf("compiled otherwise: %s, %v", log, err)
	}
	data := noise(1, spec.In[0], 50)
	res, err := model.Run(t.Context(), Input{Streams: [][]byte{data}, Frames: 50, InBeats: []int{1}, OutBeats: []int{1}})
	if err != nil || string(res.Streams[0]) != string(data) {
		t.Errorf("%v", err)
	}
}
