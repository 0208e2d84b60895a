// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lathe/emit/verilog"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/rtl"
	"lathe/sim"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

const examples = "../../examples/"

// job compiles an example under a plan (a file of examples/plans, or "") and reads its samples.
func job(t testing.TB, model, file, plan string, samples int) *driver.Job {
	t.Helper()
	j, err := compile(t.Context(), model, file, plan)
	if err != nil {
		t.Fatal(err)
	}
	if samples > 0 {
		j.Samples, j.Floats, j.Labels = j.Samples[:samples], j.Floats[:samples], j.Labels[:samples]
	}
	return j
}

// quantized is a source, imported and quantized.
func quantized(t testing.TB, s driver.Source) *driver.Quantized {
	t.Helper()
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Quantize(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// compile is job with all samples.
func compile(ctx context.Context, model, file, plan string) (*driver.Job, error) {
	dir := examples + model + "/"
	s := driver.Source{Model: dir + file, Calibrate: dir + "calib.npz"}
	if plan != "" {
		s.Plan = examples + "plans/" + plan + ".toml"
	}
	return compileAs(ctx, s, dir)
}

// compileAs is compile with other choices of what to compile of the example in a folder.
func compileAs(ctx context.Context, s driver.Source, dir string) (*driver.Job, error) {
	g, err := s.Import()
	if err != nil {
		return nil, err
	}
	q, err := s.Quantize(ctx, g)
	if err != nil {
		return nil, err
	}
	j, in, err := jobOf(ctx, q, dir)
	if err != nil {
		return nil, err
	}
	if j.Floats, _, err = driver.Samples(g, in); err != nil {
		return nil, err
	}
	j.Labels, err = driver.Labels(dir + "labels.npy")
	return j, err
}

// jobOf is the hardware of a quantized example on the samples of its folder, which come too.
func jobOf(ctx context.Context, q *driver.Quantized, dir string) (*driver.Job, *npz.File, error) {
	hw, err := q.Emit(ctx, verilog.Options{Version: "test"})
	if err != nil {
		return nil, nil, err
	}
	j := &driver.Job{HW: hw, Stalls: 30, Seeds: []uint64{1}}
	in, err := npz.Read(dir + "inputs.npz")
	if err != nil {
		return nil, nil, err
	}
	j.Samples, _, err = driver.Samples(hw.Scheduled, in)
	return j, in, err
}

// engines are those of this machine; tests without them are skipped by name.
func engines(t testing.TB) driver.Engines {
	t.Helper()
	tools.Need(t, "verilator", "g++")
	return driver.Engines{Cache: tools.CacheDir(t), PJRT: pjrttest.Config(t), Now: time.Now}
}

// TestVerify proves the examples: no code may differ, and accuracy stays within half a point of the float model.
func TestVerify(t *testing.T) {
	cases := []struct {
		model, plan string
		outputs     int
	}{
		{"digits-cnn", "", 4500}, {"jets-mlp", "", 7500}, {"digits-mlp", "uneven", 4500}, {"digits-cnn", "mixed", 4500},
		{"digits-resnet", "", 4500}, {"digits-qdq-perchannel", "", 4500}, {"digits-qonnx", "", 4500},
		{"digits-qdq", "w4", 4500}, {"digits-mlp", "pack", 4500}, {"digits-cnn", "chain", 4500},
		{"digits-cnn", "../digits-cnn/pack_chain", 4500}, {"digits-vit", "", 4500},
		{"digits-dscnn", "mxmix", 4500}, {"digits-lstm", "mx", 3000}, {"digits-gru", "b16", 3000},
		{"digits-widths", "", 4500}, {"digits-widths", "unroll", 4500},
		{"digits-mlp", "", 4500}, {"digits-dscnn", "", 4500}, {"digits-resnet", "uneven", 4500},
		{"digits-cnn", "pack", 4500}, {"digits-vit", "mxmix", 4500}, {"digits-mlp", "mx", 4500},
		{"digits-cnn", "mxmix", 4500}, {"jets-mlp", "mx", 7500}, {"digits-qdq-perchannel", "mxmix", 4500},
		{"digits-lstm", "", 3000}, {"digits-gru", "", 3000},
	}
	for _, c := range tools.Few(5, cases) {
		t.Run(c.model+"/"+c.plan, func(t *testing.T) {
			t.Parallel()
			e := engines(t)
			check, err := e.Verify(t.Context(), *job(t, c.model, "model.onnx", c.plan, 0))
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches != 0 || check.Outputs != c.outputs {
				t.Fatalf("%d of %d codes differ: %v", check.Mismatches, check.Outputs, check.First)
			}
			if check.Stalls.Starved == 0 || check.Stalls.Blocked == 0 {
				t.Errorf("a kind of stall never happened: %+v", check.Stalls)
			}
			if a := check.Accuracy; c.plan == "" && a.Quantized < *a.Float-0.005 {
				t.Errorf("accuracy fell from %.4f to %.4f", *a.Float, a.Quantized)
			}
		})
	}
}

// TestVerifyText proves the network that comes as StableHLO text, whose images have their channels last.
func TestVerifyText(t *testing.T) {
	t.Parallel()
	e := engines(t)
	check, err := e.Verify(t.Context(), *job(t, "digits-jax", "model_export.stablehlo.mlir", "", 0))
	if err != nil {
		t.Fatal(err)
	}
	if check.Mismatches != 0 || check.Outputs != 4500 {
		t.Fatalf("%d of %d codes differ: %v", check.Mismatches, check.Outputs, check.First)
	}
	if a := check.Accuracy; a.Quantized < 0.95 {
		t.Errorf("accuracy fell from %.4f to %.4f", *a.Float, a.Quantized)
	}
}

// TestSecond asks the second simulator, which must see a mismatch by itself.
func TestSecond(t *testing.T) {
	tools.Need(t, "iverilog")
	e := engines(t)
	for _, broken := range []bool{false, true} {
		j := job(t, "digits-mlp", "model.onnx", "", 20)
		j.Second = driver.Second{Frames: 3}
		if broken {
			replace(t, j, j.HW.Design.Core+".sv", ".ROUND(0)", ".ROUND(5)")
		}
		check, err := e.Verify(t.Context(), *j)
		if err != nil {
			t.Fatal(err)
		}
		if len(check.Second) != 1 || check.Compared["icarus"] != 30 {
			t.Fatalf("opinions %v, compared %v", check.Second, check.Compared)
		}
		o := check.Second[0]
		if o.Engine != "icarus" || o.Samples != 3 || o.Outputs != 30 || (o.Mismatches > 0) != broken {
			t.Errorf("broken %v: %+v", broken, o)
		}
	}
}

// TestLoopCanFail breaks one thing at a time in an emitted design: verify must turn red and name the node.
func TestLoopCanFail(t *testing.T) {
	e := engines(t)
	for _, c := range tools.Few(2, []struct {
		name  string
		node  string
		crash bool // the memory's own checksum stops the simulation
		edit  func(t *testing.T, j *driver.Job)
	}{
		{"one bit of a weight image", "2", true, func(t *testing.T, j *driver.Job) {
			flipBit(t, j, "n_2_weights.mem", 8, false)
		}},
		{"one bit of a weight image, checksum adapted", "2", false, func(t *testing.T, j *driver.Job) {
			flipBit(t, j, "n_2_weights.mem", 8, true)
		}},
		{"a weight image that is missing", "2", true, func(_ *testing.T, j *driver.Job) {
			d := j.HW.Design
			d.Files = slices.DeleteFunc(slices.Clone(d.Files), func(f rtl.File) bool { return f.Name == "n_2_weights.mem" })
		}},
		{"two weights swapped", "0", false, func(t *testing.T, j *driver.Job) { swapWeights(t, j, "0") }},
		{"floor in place of half-even", "0", false, func(t *testing.T, j *driver.Job) {
			replace(t, j, j.HW.Design.Core+".sv", ".ROUND(0)", ".ROUND(5)")
		}},
	}) {
		t.Run(c.name, func(t *testing.T) {
			j := job(t, "digits-mlp", "model.onnx", "", 60)
			c.edit(t, j)
			check, err := e.Verify(t.Context(), *j)
			if c.crash {
				if err == nil || !strings.Contains(err.Error(), "n_"+c.node) {
					t.Fatalf("the broken image was not named: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches == 0 || len(check.First) == 0 || check.First[0].Node != c.node {
				t.Fatalf("%d mismatches, first %v; node %s is the broken one", check.Mismatches, check.First, c.node)
			}
		})
	}
}

// TestZeroPoints moves zero points by one, where they enter and where they leave: verify must turn red at that node.
func TestZeroPoints(t *testing.T) {
	e := engines(t)
	for _, c := range tools.Few(1, []struct{ node, old, with string }{
		{"bn1", ".ZERO(-128)", ".ZERO(-127)"}, {"bn1", ".PAD(-128)", ".PAD(-127)"}, {"fc", ".ZERO(27)", ".ZERO(28)"},
	}) {
		j := job(t, "digits-qdq", "model.onnx", "", 30)
		replace(t, j, j.HW.Design.Core+".sv", c.old, c.with)
		check, err := e.Verify(t.Context(), *j)
		if err != nil {
			t.Fatal(err)
		}
		if check.Mismatches == 0 || len(check.First) == 0 || check.First[0].Node != c.node {
			t.Errorf("%s: %d mismatches, first %v; want node %s", c.with, check.Mismatches, check.First, c.node)
		}
	}
}

// file finds a file of the design.
func file(t *testing.T, j *driver.Job, name string) *[]byte {
	t.Helper()
	for i := range j.HW.Design.Files {
		if j.HW.Design.Files[i].Name == name {
			return &j.HW.Design.Files[i].Data
		}
	}
	t.Fatalf("the design has no file %s", name)
	return nil
}

func replace(t *testing.T, j *driver.Job, name, old, with string) {
	t.Helper()
	data := file(t, j, name)
	if !bytes.Contains(*data, []byte(old)) {
		t.Fatalf("%s has no %q", name, old)
	}
	*data = bytes.Replace(*data, []byte(old), []byte(with), 1)
}

// flipBit inverts bit 2 of the last digit of a line of an image, and adapts the checksum in the top on request.
func flipBit(t *testing.T, j *driver.Job, name string, line int, adapt bool) {
	t.Helper()
	data := file(t, j, name)
	lines := bytes.Split(bytes.Clone(*data), []byte("\n"))
	l := lines[line]
	const digits = "0123456789abcdef"
	old := strings.IndexByte(digits, l[len(l)-1])
	l[len(l)-1] = digits[old^4]
	*data = bytes.Join(lines, []byte("\n"))
	if !adapt {
		return
	}
	for _, u := range j.HW.Design.Units {
		for _, im := range u.Images {
			if im.File == name {
				sum := parseHex(t, im.Checksum) + uint32(old^4) - uint32(old)
				replace(t, j, j.HW.Design.Core+".sv", "32'h"+im.Checksum, "32'h"+hex8(sum))
			}
		}
	}
}

// swapWeights exchanges two unequal weights of a node in the graph that is printed, not in the one that is the
// reference.
func swapWeights(t *testing.T, j *driver.Job, node string) {
	t.Helper()
	broken := j.HW.Scheduled.Clone()
	n := broken.Find(node)
	w, err := n.Args[1].Value()
	if err != nil {
		t.Fatal(err)
	}
	codes := append([]int64(nil), w.Codes...)
	i, k := 20, 21
	for codes[i] == codes[k] {
		k++
	}
	codes[i], codes[k] = codes[k], codes[i]
	n.Args[1].Attrs.(*ir.Const).Data = ir.CodeBlob(codes)
	d, err := verilog.Emit(broken, verilog.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	j.HW.Design = d
}

// TestDesignsAreClean lints every kind of design, elaborates it in Icarus, synthesizes it in Yosys, and prints it
// twice.
func TestDesignsAreClean(t *testing.T) {
	tools.Need(t, "verilator", "iverilog", "yosys")
	for _, c := range tools.Few(1, [][2]string{{"digits-cnn", ""}, {"digits-mlp", "uneven"}, {"digits-cnn", "serial"}}) {
		t.Run(c[0]+"/"+c[1], func(t *testing.T) {
			t.Parallel()
			j := job(t, c[0], "model.onnx", c[1], 1)
			d := j.HW.Design
			if err := sim.Lint(t.Context(), tools.CacheDir(t), d.Top, d.Files); err != nil {
				t.Error(err)
			}
			if err := sim.Elaborate(t.Context(), tools.CacheDir(t), d.Top, d.Files); err != nil {
				t.Error(err)
			}
			if err := sim.Yosys(t.Context(), sim.DesignSpec(d, tools.CacheDir(t), false, false)); err != nil {
				t.Error(err)
			}
			again := job(t, c[0], "model.onnx", c[1], 1).HW.Design
			first, second := t.TempDir(), t.TempDir()
			for dir, design := range map[string]*driver.Job{first: j, second: {HW: &driver.Hardware{Design: again}}} {
				if err := driver.Write(design.HW.Design, filepath.Join(dir, "out")); err != nil {
					t.Fatal(err)
				}
			}
			sameTree(t, filepath.Join(first, "out"), filepath.Join(second, "out"))
		})
	}
}

func sameTree(t *testing.T, a, b string) {
	t.Helper()
	entries, err := os.ReadDir(a)
	if err != nil || len(entries) < 5 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	for _, e := range entries {
		x, errX := os.ReadFile(filepath.Join(a, e.Name()))
		y, errY := os.ReadFile(filepath.Join(b, e.Name()))
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs (%v, %v)", e.Name(), errX, errY)
		}
	}
}

func parseHex(t *testing.T, s string) uint32 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(v)
}

func hex8(v uint32) string { return fmt.Sprintf("%08x", v) }
