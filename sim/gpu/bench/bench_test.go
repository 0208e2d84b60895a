// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/sim/gpu"
	"lathe/sim/gpu/bench"
	"lathe/sim/gpu/gputest"
)

// words is a case of n words that the stand-in computes by kernel; offset shifts the output into the guard.
func words(t *testing.T, kernel string, n int, timed bool) cuda.Case {
	t.Helper()
	text := fmt.Sprintf("// %s: moves words.\n//   threads: 256\n//   regs: 40\n"+
		"template <int N> __device__ __forceinline__ void %s(u32* to, const u32* from, u32 n) {\n}\n", kernel, kernel)
	tmpl, err := cuda.ReadTemplate("map/"+kernel+".cu", "// SPDX\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	input := func(into []byte) {
		for i := range into {
			into[i] = byte(i * 7)
		}
	}
	c := cuda.Case{Name: fmt.Sprintf("%s/n=%d", kernel, n), Shape: fmt.Sprintf("n=%d", n), Formats: "u32", Timed: timed,
		Instances: []cuda.Instance{{Template: tmpl, Kernel: kernel, Params: []string{"1"}}},
		Buffers: []cuda.CaseBuffer{{Name: "to", Bytes: int64(4 * n), Output: true},
			{Name: "from", Bytes: int64(4 * n), Fill: input}},
		Launches: []cuda.Launch{gputest.Copy(kernel, n)}, Bytes: int64(8 * n)}
	c.Check = func(outputs [][]byte) cuda.Verdict {
		want := make([]byte, 4*n)
		if input(want); !bytes.Equal(outputs[0], want) {
			return cuda.Verdict{MaxErr: 1, Wrong: "the words differ"}
		}
		return cuda.Verdict{BitEqual: true}
	}
	return c
}

// setup are options for the stand-in; records gather in the returned slice.
func setup(t *testing.T, f *gputest.Fake, cases ...cuda.Case) (bench.Options, *[]bench.Record) {
	t.Helper()
	var got []bench.Record
	return bench.Options{
		Open: func() (gpu.Device, error) {
			return gpu.OpenDriver(gpu.DriverOptions{Library: f.Path, Staging: 4096})
		},
		Program: func(*cuda.Case) (*gpu.Program, error) { return gputest.Words("7.4", 80, 90), nil },
		Cases:   cases, Commit: "c0ffee", Limit: time.Minute, CaseLimit: time.Minute,
		Append:   func(r *bench.Record) error { got = append(got, *r); return nil },
		Clocks:   func() bench.Clocks { return bench.Clocks{SM: 1980, Memory: 3201, Power: 700} },
		Protocol: bench.Protocol{WarmRuns: 2, WarmTime: 40, MinSamples: 3, Samples: 5, SampleTime: 1000},
		Note:     func(line string) { t.Log(line) },
	}, &got
}

// TestRun times what is right, by the clock of the stand-in: 5 us a launch and 1 us for each 4 MB touched.
func TestRun(t *testing.T) {
	f := gputest.New(t)
	f.Set("l2", 64<<10)
	o, got := setup(t, f, words(t, "copy_words", 1<<12, true), words(t, "copy_words", 33, false),
		words(t, "wrong_words", 32, false), words(t, "wrong_words", 1<<12, true), words(t, "copy_words", 40<<12, true))
	sum, err := bench.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if (sum != bench.Summary{OK: 2, Checked: 1, Wrong: 1, Skipped: 1}) {
		t.Errorf("%+v", sum)
	}
	var status []string
	for _, r := range *got {
		status = append(status, r.Case+" "+r.Status)
	}
	want := []string{"copy_words/n=33 checked", "wrong_words/n=32 wrong", "copy_words/n=4096 ok",
		"wrong_words/n=4096 skipped", "copy_words/n=163840 ok"}
	if !slices.Equal(status, want) {
		t.Fatalf("%q", status)
	}
	r := (*got)[2]
	us := 5 + 8*4096/4e6
	if r.Median < us-0.001 || r.Median > us+0.001 || r.P20 > r.Median || r.P80 < r.Median || r.N != 5 || r.Graph != 20 {
		t.Errorf("%g us (%g..%g), %d samples of %d, want %g", r.Median, r.P20, r.P80, r.N, r.Graph, us)
	}
	if r.CopyBW < 3.9e12 || r.CopyBW > 4.1e12 || r.Bytes != 8<<12 || r.PctFloor < 0.1 || r.PctFloor > 0.2 || r.Floor == 0 {
		t.Errorf("floor %g us, %g %%, copy %g bytes/s", r.Floor, r.PctFloor, r.CopyBW)
	}
	if !r.Cold || r.Hot == 0 || r.GPU != "Fake H200" || r.Driver != "CUDA 12.9" || r.SM != "sm_90" ||
		r.Commit != "c0ffee" || r.Registers != 40 || r.Shared != 16 || r.Image != "cubin sm_90" || len(r.Hash) != 64 ||
		!r.Correct.BitEqual || r.Config != "copy_words<1>" || r.Kernel != "copy_words" || r.Clocks[1].SM != 1980 {
		t.Errorf("%+v", r)
	}
	if big := (*got)[4]; big.Hot != 0 || !big.Cold {
		t.Errorf("%d bytes fit into a cache of 64 KiB: %+v", big.Bytes, big)
	}
	if n, what := f.Live(); n != 0 {
		t.Error("left over: " + what)
	}
	starts := 0
	for _, call := range f.Log() {
		if strings.HasPrefix(call, "cuGraphLaunch") {
			starts++
		}
	}
	if starts == 0 {
		t.Error("short launches were not timed as a graph")
	}
}

// TestTouched has kernels write where they must not: around their output, and into an input.
func TestTouched(t *testing.T) {
	for what, change := range map[string]func(c *cuda.Case){
		"byte 0 after the end of to was written": func(c *cuda.Case) { c.Buffers[0].Bytes -= 4 },
		"4 bytes before to were written":         func(c *cuda.Case) { c.Launches[0].Args[0].Offset = -4 },
		"the input to was written":               func(c *cuda.Case) { c.Buffers[0].Output = false },
	} {
		c := words(t, "copy_words", 100, true)
		if change(&c); !c.Buffers[0].Output {
			c.Buffers[0].Fill = func([]byte) {}
		}
		o, got := setup(t, gputest.New(t), c)
		sum, err := bench.Run(t.Context(), o)
		if err != nil || sum.Wrong != 1 || (*got)[0].Error != what {
			t.Errorf("%s: %+v, %v, %+v", what, sum, err, *got)
		}
	}
}

// TestUnsteady has a kernel that is right the first time only: it adds to its own output.
func TestUnsteady(t *testing.T) {
	c := words(t, "add_words", 64, true)
	c.Launches[0] = gputest.Add(64, 1)
	c.Launches[0].Args[1] = cuda.Buffer(0)
	c.Check = func([][]byte) cuda.Verdict { return cuda.Verdict{BitEqual: true} }
	o, got := setup(t, gputest.New(t), c)
	sum, err := bench.Run(t.Context(), o)
	if err != nil || sum.Wrong != 1 || (*got)[0].Error != "the outputs were others after many launches" {
		t.Errorf("%+v, %v, %+v", sum, err, *got)
	}
}

// TestBroken goes on after a kernel that loses the context, and after one that does not fit the memory.
func TestBroken(t *testing.T) {
	f := gputest.New(t)
	bad := words(t, "fault_words", 8, true)
	bad.Launches[0].Args = nil
	large := words(t, "copy_words", 20<<20, true)
	o, got := setup(t, f, bad, large, words(t, "copy_words", 64, true))
	sum, err := bench.Run(t.Context(), o)
	if err != nil || (sum != bench.Summary{OK: 1, Failed: 1, Skipped: 1}) {
		t.Fatalf("%+v, %v", sum, err)
	}
	if r := (*got)[0]; !strings.Contains(r.Error, "L0980") || !strings.Contains(r.Error, "fault_words") {
		t.Error(r.Error)
	}
	if r := (*got)[1]; !strings.Contains(r.Error, "out of device memory") {
		t.Error(r.Error)
	}
	if n, what := f.Live(); n != 0 {
		t.Error("left over: " + what)
	}
}

// TestNotReopened keeps the record of a kernel after which no device can be had, and ends the run.
func TestNotReopened(t *testing.T) {
	f := gputest.New(t)
	bad := words(t, "fault_words", 8, true)
	bad.Launches[0].Args = nil
	o, got := setup(t, f, bad, words(t, "copy_words", 64, true))
	opened, open := 0, o.Open
	o.Open = func() (gpu.Device, error) {
		if opened++; opened > 1 {
			return nil, diag.New("L0975", "", "gone")
		}
		return open()
	}
	sum, err := bench.Run(t.Context(), o)
	if diag.CodeOf(err) != "L0975" || sum.Failed != 1 || len(*got) != 1 || !strings.Contains((*got)[0].Error, "L0980") {
		t.Errorf("%+v, %v, %+v", sum, err, *got)
	}
}

// TestSlowReferences: the whole run is bounded, although what the CPU does counts for no case.
func TestSlowReferences(t *testing.T) {
	o, got := setup(t, gputest.New(t), words(t, "copy_words", 8, false), words(t, "copy_words", 9, false))
	o.Limit, o.CaseLimit = 100*time.Millisecond, 400*time.Millisecond
	release := make(chan struct{})
	defer close(release)
	o.Cases[0].Check = func([][]byte) cuda.Verdict {
		<-release
		return cuda.Verdict{}
	}
	sum, err := bench.Run(t.Context(), o)
	if err != nil || (sum != bench.Summary{Left: 2}) || len(*got) != 0 {
		t.Errorf("%+v, %v, %d records", sum, err, len(*got))
	}
}

// TestLimits ends a run in time, and gives up a case that does not answer.
func TestLimits(t *testing.T) {
	f := gputest.New(t)
	o, got := setup(t, f, words(t, "copy_words", 8, false), words(t, "copy_words", 9, false))
	o.Limit = 0
	sum, err := bench.Run(t.Context(), o)
	if err != nil || sum.Left != 2 || len(*got) != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	o.Limit, o.CaseLimit = time.Minute, 400*time.Millisecond
	release := make(chan struct{})
	defer close(release)
	o.Cases[0].Check = func([][]byte) cuda.Verdict { // slow references do not count
		time.Sleep(2 * o.CaseLimit)
		return cuda.Verdict{}
	}
	o.Program = func(c *cuda.Case) (*gpu.Program, error) {
		if c.Name == o.Cases[1].Name {
			<-release
		}
		return gputest.Words("7.4"), nil
	}
	sum, err = bench.Run(t.Context(), o)
	if diag.CodeOf(err) != "L0989" || sum.Checked != 1 || len(*got) != 2 || (*got)[1].Status != "late" {
		t.Errorf("%+v, %v, %+v", sum, err, *got)
	}
}

// TestResults takes a run up again behind a line that was cut off.
func TestResults(t *testing.T) {
	f := gputest.New(t)
	path := filepath.Join(t.TempDir(), "h200.jsonl")
	run := func(commit string, cases ...cuda.Case) bench.Summary {
		o, _ := setup(t, f, cases...)
		res, err := bench.OpenResults(path)
		if err != nil {
			t.Fatal(err)
		}
		o.Append = res.Append
		o.Done = func(device string, c *cuda.Case) bool { return res.Done(commit, device, c) }
		sum, err := bench.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	a, b := words(t, "copy_words", 8, false), words(t, "copy_words", 100, true)
	run("c0ffee", a)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, `{"schema":1,"case":"copy_words/n=100","comm`...), 0o644); err != nil {
		t.Fatal(err)
	}
	if sum := run("c0ffee", a, b); (sum != bench.Summary{OK: 1, Before: 1}) {
		t.Errorf("%+v", sum)
	}
	if sum := run("decaf", a, b); (sum != bench.Summary{OK: 1, Checked: 1}) {
		t.Errorf("another commit: %+v", sum)
	}
	text, err = os.ReadFile(path)
	if err != nil || bytes.Count(text, []byte("\n")) != 4 {
		t.Errorf("%v\n%s", err, text)
	}
	var line map[string]any
	if err := json.Unmarshal(text[:bytes.IndexByte(text, '\n')], &line); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"schema", "commit", "gpu", "driver", "sm", "clocks", "kernel", "config", "shape",
		"formats", "cold", "n", "us_median", "us_p20", "us_p80", "bytes", "flops", "floor_us", "pct_floor", "copy_bw",
		"gemm_tf", "baseline", "correct", "registers", "smem", "cubin_sha256"} {
		if _, ok := line[name]; !ok {
			t.Errorf("no %s in %v", name, line)
		}
	}
	for _, bad := range []string{"x\n", `{"schema":2}` + "\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := bench.OpenResults(path); diag.CodeOf(err) != "L0988" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
