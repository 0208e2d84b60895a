// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir/ref"
	"lathe/sim"
)

// cocotbSeconds is what the bench in testdata/cocotb prints.
var cocotbSeconds = regexp.MustCompile(`(?m)^seconds ([0-9.]+)$`)

// BenchmarkCocotb runs the same samples of digits-mlp through the same design, by sim and by a bench in cocotb, and
// both compare the results. cocotb runs on Verilator too, so that the ratio is that of the benches. scripts/setup bench
// installs cocotb; without it this is skipped.
func BenchmarkCocotb(b *testing.B) {
	tools.Need(b, "verilator", "g++", "make")
	bin := tools.NeedCocotb(b)
	j := job(b, "digits-mlp", "model.onnx", "", 0)
	program, err := ref.New(j.HW.Scheduled)
	if err != nil {
		b.Fatal(err)
	}
	want, err := program.Run(b.Context(), j.Samples)
	if err != nil {
		b.Fatal(err)
	}
	model, err := sim.Build(b.Context(), sim.DesignSpec(j.HW.Design, engines(b).Cache, false, false))
	if err != nil {
		b.Fatal(err)
	}
	other := time.Duration(cocotb(b, bin, j, want) * float64(time.Second))
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		run, err := sim.RunDesign(b.Context(), model, j.HW.Scheduled, j.HW.Design, j.Samples, sim.Input{})
		if err != nil {
			b.Fatal(err)
		}
		for i := range want {
			if !slices.Equal(want[i][0].Codes, run.Outputs[i][0].Codes) {
				b.Fatalf("sample %d differs", i)
			}
		}
		best = min(best, time.Since(start))
	}
	n := float64(len(j.Samples))
	b.ReportMetric(n/best.Seconds(), "samples/s")
	b.ReportMetric(n/other.Seconds(), "cocotb-samples/s")
	b.ReportMetric(other.Seconds()/best.Seconds(), "x-cocotb")
}

// cocotb builds and runs the bench in testdata/cocotb on the design and returns the seconds that
// its streams took, the best of three times.
func cocotb(b *testing.B, bin string, j *driver.Job, want []ref.Sample) float64 {
	b.Helper()
	dir := b.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/cocotb")); err != nil {
		b.Fatal(err)
	}
	put := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for _, f := range j.HW.Design.Files {
		put(f.Name, f.Bytes())
	}
	for _, p := range j.HW.Design.Ports {
		name, samples := "want.txt", want
		if p.Input {
			name, samples = "beats.txt", j.Samples
		}
		var codes []int64
		for _, s := range samples {
			codes = append(codes, s[0].Codes...)
		}
		put(name, hexBeats(sim.Pack(codes, p.Lanes, p.Type.Format.Width()), p.TData/8))
	}
	cmd := exec.CommandContext(b.Context(), "make")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	found := cocotbSeconds.FindSubmatch(out)
	if err != nil || found == nil || !strings.Contains(string(out), "FAIL=0") {
		b.Fatalf("%v\n%s", err, out)
	}
	seconds, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return seconds
}

// hexBeats prints one beat of size bytes a line, most significant byte first.
func hexBeats(stream []byte, size int) []byte {
	var out []byte
	for beat := range slices.Chunk(stream, size) {
		slices.Reverse(beat)
		out = fmt.Appendf(out, "%x\n", beat)
	}
	return out
}
