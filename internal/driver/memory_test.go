// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"lathe/emit"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/sim"
)

// outside is a job by a plan of this package's, with weights outside.
func outside(t *testing.T, model, plan string, samples int) *driver.Job {
	t.Helper()
	return job(t, model, "model.onnx", "../../internal/driver/testdata/"+plan, samples)
}

// ways counts the units of a design by where their weights lie.
func ways(d *emit.Design) (streamed, held int) {
	for _, u := range d.Units {
		switch {
		case u.Weights == nil:
		case u.Weights.Way == "hold":
			held++
		default:
			streamed++
		}
	}
	return streamed, held
}

// TestMemory proves designs whose weights lie outside: a memory that never stalls keeps the cycles of ROMs or shows
// itself as the bottleneck, one that stalls changes no code.
func TestMemory(t *testing.T) {
	for _, c := range tools.Few(2, []struct {
		model, plan    string
		streamed, held int
		port           bool // sets the pace
	}{
		{"digits-mlp", "external", 3, 0, true}, {"digits-mlp", "streamed", 3, 0, false},
		{"jets-mlp", "streamed", 4, 0, false}, {"digits-cnn", "external", 1, 2, false},
		{"digits-cnn", "external_mx", 1, 1, false}, {"digits-resnet", "external", 1, 6, false},
	}) {
		t.Run(c.model+"/"+c.plan, func(t *testing.T) {
			t.Parallel()
			e := engines(t)
			j := outside(t, c.model, c.plan, 40)
			j.Seeds, j.Second = []uint64{1, 2, 3}, driver.Second{Frames: 1, Optional: true}
			check, err := e.Verify(t.Context(), *j)
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches != 0 {
				t.Fatalf("%d of %d codes differ: %v", check.Mismatches, check.Outputs, check.First)
			}
			d := j.HW.Design
			if s, h := ways(d); s != c.streamed || h != c.held {
				t.Errorf("%d units stream, %d hold their weights", s, h)
			}
			if paced := d.Traffic() > driver.Slowest(d).Cycles; paced != c.port || float64(d.Traffic()) > j.HW.Interval() {
				t.Errorf("%d beats a sample, the slowest unit takes %d cycles, a sample %v", d.Traffic(),
					driver.Slowest(d).Cycles, j.HW.Interval())
			}
			for _, w := range check.Warnings {
				t.Error(w)
			}
			if d.Memory.KeepsUp() && check.II != j.HW.Interval() {
				t.Errorf("a sample takes %v cycles, %v were predicted", check.II, j.HW.Interval())
			}
		})
	}
}

// TestMemoryClean lints a design with a memory port and elaborates it.
func TestMemoryClean(t *testing.T) {
	tools.Need(t, "verilator", "iverilog")
	j := outside(t, "digits-cnn", "external", 1)
	d := j.HW.Design
	files := slices.DeleteFunc(slices.Clone(d.Files), func(f rtl.File) bool { return f.Name == d.Memory.File })
	if err := sim.Lint(t.Context(), tools.CacheDir(t), d.Top, files); err != nil {
		t.Error(err)
	}
	if err := sim.Elaborate(t.Context(), tools.CacheDir(t), d.Top, files); err != nil {
		t.Error(err)
	}
}

// TestMemoryFaults spoils what stands in memory and where: each fault ends the simulation by its name.
func TestMemoryFaults(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	j := outside(t, "digits-mlp", "external", 2)
	good := sim.DesignSpec(j.HW.Design, tools.CacheDir(t), false, false)
	data := good.Memory.Files[3].Bytes()
	for name, c := range map[string]struct {
		spoil func(m *sim.Memory, file *sim.File)
		want  string
	}{
		"truncated": {func(_ *sim.Memory, f *sim.File) { f.Data = data[:len(data)-4096] }, "weights.bin has"},
		"longer":    {func(_ *sim.Memory, f *sim.File) { f.Data = append(bytes.Clone(data), 0) }, "more than"},
		"changed": {func(_ *sim.Memory, f *sim.File) { f.Data = append([]byte{data[0] ^ 1}, data[1:]...) },
			"weights from memory have checksum"},
		"moved": {func(_ *sim.Memory, f *sim.File) { f.Data = append(data[4096:len(data):len(data)], data[:4096]...) },
			"weights from memory have checksum"},
		"smaller": {func(m *sim.Memory, f *sim.File) { m.Bytes, f.Data = 4096, data[:4096] }, "outside of weights.bin"},
	} {
		t.Run(name, func(t *testing.T) {
			spec, memory := good, *good.Memory
			memory.Files = slices.Clone(memory.Files)
			file := sim.File{Name: memory.Files[3].Name}
			c.spoil(&memory, &file)
			memory.Files[3], spec.Memory = file, &memory
			model, err := sim.Build(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			_, err = sim.RunDesign(t.Context(), model, j.HW.Scheduled, j.HW.Design, j.Samples, sim.Input{MaxIdle: 20_000})
			if diag.CodeOf(err) != "L0705" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}
