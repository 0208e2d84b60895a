// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bufio"
	le "encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/sum"
	"lathe/sim"
	"lathe/sim/area"
)

// binary builds the real command.
func binary(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "lathe")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", path, "../../cmd/lathe").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return path
}

// timeCommand runs a command b.N times and reports its shortest wall time in seconds and its largest resident set.
func timeCommand(b *testing.B, name string, args ...string) {
	b.Helper()
	best, resident := time.Hour, int64(0)
	for b.Loop() {
		c := exec.Command(name, args...)
		start := time.Now()
		out, err := c.CombinedOutput()
		best = min(best, time.Since(start))
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		resident = max(resident, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	b.ReportMetric(best.Seconds(), "s-best")
	b.ReportMetric(float64(resident)/1024, "MiB-resident")
}

// BenchmarkInspect440MB opens a model of 440 MB with the real command. What is resident includes the heap.
func BenchmarkInspect440MB(b *testing.B) {
	lathe, model := binary(b), filepath.Join(b.TempDir(), "big.onnx")
	if err := writeBig(model, 105); err != nil {
		b.Fatal(err)
	}
	timeCommand(b, lathe, "inspect", model)
}

// BenchmarkVerify proves an example on its 450 stored samples, on two processors, with the simulation built before.
func BenchmarkVerify(b *testing.B) {
	engines(b)
	lathe, dir := binary(b), examples+"digits-cnn/"
	args := []string{"-c", "0,1", lathe, "verify", dir + "model.onnx", "--calibrate", dir + "calib.npz", "--inputs",
		dir + "inputs.npz", "--labels", dir + "labels.npy"}
	if out, err := exec.Command("taskset", args...).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	timeCommand(b, "taskset", args...)
}

// BenchmarkSimulate simulates an example without stalls; busy is the share of its cycles in which the multipliers of
// the slowest layer multiply.
func BenchmarkSimulate(b *testing.B) {
	j := job(b, "digits-cnn", "model.onnx", "", 0)
	model, err := sim.Build(b.Context(), sim.DesignSpec(j.HW.Design, engines(b).Cache, false, false))
	if err != nil {
		b.Fatal(err)
	}
	best, cycles, ii := time.Hour, 0, 0.0
	for b.Loop() {
		start := time.Now()
		run, err := sim.RunDesign(b.Context(), model, j.HW.Scheduled, j.HW.Design, j.Samples, sim.Input{})
		if err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(start))
		cycles, ii = run.Result.Cycles, run.Result.IICycles
	}
	b.ReportMetric(float64(len(j.Samples))/best.Seconds(), "samples/s")
	b.ReportMetric(float64(cycles)/best.Seconds()/1e6, "Mcycles/s")
	macs, multipliers := bottleneck(j.HW.Scheduled)
	b.ReportMetric(100*float64(macs)/float64(multipliers)/ii, "%-busy")
}

// BenchmarkBalanced simulates an example balanced for a rate: busy as in BenchmarkSimulate.
func BenchmarkBalanced(b *testing.B) {
	j := job(b, "digits-cnn", "model.onnx", "fps", 0)
	model, err := sim.Build(b.Context(), sim.DesignSpec(j.HW.Design, engines(b).Cache, false, false))
	if err != nil {
		b.Fatal(err)
	}
	ii := 0.0
	for b.Loop() {
		run, err := sim.RunDesign(b.Context(), model, j.HW.Scheduled, j.HW.Design, j.Samples, sim.Input{})
		if err != nil {
			b.Fatal(err)
		}
		ii = run.Result.IICycles
	}
	macs, multipliers := bottleneck(j.HW.Scheduled)
	b.ReportMetric(100*float64(macs)/float64(multipliers)/ii, "%-busy")
}

// BenchmarkBlockLUT counts the linear layers of an example with Yosys, under blocks of 8 bits and under plain 8 bits,
// of the same shapes and lanes: LUTs of blocks over plain ones, all layers and the worst.
func BenchmarkBlockLUT(b *testing.B) {
	tools.Need(b, "yosys")
	layers := [2][]int{}
	for b.Loop() {
		for i, plan := range []string{"mx", ""} {
			layers[i] = linearLUT(b, job(b, "digits-mlp", "model.onnx", plan, 0))
		}
	}
	blocks, plain, worst := 0, 0, 0.0
	for i, lut := range layers[0] {
		blocks, plain = blocks+lut, plain+layers[1][i]
		worst = max(worst, float64(lut)/float64(layers[1][i]))
	}
	b.ReportMetric(float64(blocks)/float64(plain), "x-plain")
	b.ReportMetric(worst, "x-plain-worst")
}

// linearLUT are the LUTs of each linear layer, all with as many multipliers as the plan has without rules.
func linearLUT(b *testing.B, j *driver.Job) (lut []int) {
	dir := b.TempDir() + "/design"
	if err := driver.Write(j.HW.Design, dir); err != nil {
		b.Fatal(err)
	}
	files, top, err := area.Sources(dir)
	if err != nil {
		b.Fatal(err)
	}
	r, err := area.Count(b.Context(), dir, files, top, area.Options{Timeout: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	dsp := 0
	for _, i := range r.Instances {
		if i.Module == "op_linear" || i.Module == "mx_linear" {
			lut, dsp = append(lut, i.Cells.LUT), dsp+i.Cells.DSP
		}
	}
	if len(lut) != 3 || dsp != 80 {
		b.Fatalf("%d layers, %d multipliers", len(lut), dsp)
	}
	return lut
}

// BenchmarkEmit440MB compiles a model of 105 million parameters with the real command.
func BenchmarkEmit440MB(b *testing.B) {
	lathe, dir := binary(b), b.TempDir()
	model := filepath.Join(dir, "big.onnx")
	if err := writeBig(model, 105); err != nil {
		b.Fatal(err)
	}
	timeCommand(b, lathe, "emit-verilog", model, "-o", filepath.Join(dir, "design"))
}

// bottleneck finds the layer whose multipliers need the most cycles: products of a sample, and multipliers.
func bottleneck(g *ir.Graph) (macs, multipliers int) {
	multipliers = 1
	for _, n := range g.Nodes {
		if n.Op != sum.Linear && n.Op != sum.Conv {
			continue
		}
		weights := n.Args[1].Type
		m := n.Type.Elems() * weights.Elems() / weights.Shape[0]
		if lanes := n.HW.InLanes * n.HW.OutLanes; m*multipliers > macs*lanes {
			macs, multipliers = m, lanes
		}
	}
	return macs, multipliers
}

// writeBig writes an ONNX model of linear layers with 1024 x 1024 weights, 4 MiB each.
func writeBig(path string, layers int) error {
	const size = 1024
	weights := make([]byte, 4*size*size)
	for i := range size * size { // what a generator of Lehmer draws, between -1/32 and 1/32
		v := float32(uint32(i+1)*2654435761>>8)/(1<<28) - 1.0/32
		le.LittleEndian.PutUint32(weights[4*i:], math.Float32bits(v))
	}
	value := func(name string) []byte { // ValueInfoProto of a float [1, size]
		dims := slices.Concat(sub(1, number(1, 1)), sub(1, number(1, size)))
		return slices.Concat(sub(1, []byte(name)), sub(2, sub(1, slices.Concat(number(1, 1), sub(2, dims)))))
	}
	graph := slices.Concat(sub(11, value("v0")), sub(12, value(fmt.Sprintf("v%d", layers))))
	var heads [][]byte
	total := 0
	for i := range layers {
		transposed := slices.Concat(sub(1, []byte("transB")), number(3, 1), number(20, 2))
		graph = append(graph, sub(1, slices.Concat(sub(1, fmt.Appendf(nil, "v%d", i)), sub(1, fmt.Appendf(nil, "w%d", i)),
			sub(2, fmt.Appendf(nil, "v%d", i+1)), sub(4, []byte("Gemm")), sub(5, transposed)))...)
		tensor := slices.Concat(number(1, size), number(1, size), number(2, 1),
			sub(8, fmt.Appendf(nil, "w%d", i)), head(9, len(weights)))
		heads = append(heads, slices.Concat(head(5, len(tensor)+len(weights)), tensor))
		total += len(heads[i]) + len(weights)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f) // keeps the first error
	w.Write(slices.Concat(number(1, 8), sub(8, number(2, 18)), head(7, len(graph)+total), graph))
	for _, h := range heads {
		w.Write(h)
		w.Write(weights)
	}
	return w.Flush()
}

// number, head and sub are protobuf fields: an integer, the start of a nested message, a nested message.
func number(field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), v)
}

func head(field protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.BytesType), uint64(size))
}

func sub(field protowire.Number, data []byte) []byte { return append(head(field, len(data)), data...) }
