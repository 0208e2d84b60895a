// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower"
	"lathe/lower/kernels"
	"lathe/sim/gpu/gputest"
	"lathe/sim/nvrtc"
)

// strict are the flags under which the programs compile without a word.
const strict = "-O1 -Wall -Wextra -Werror -pedantic"

// drivers is the folder of the emulated driver, which all tests share.
var drivers string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lathe-drivers-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	drivers = dir
	return m.Run()
}

// samples is how many run from Python.
const samples = 4

// model is an example and how it is emitted: in float, quantized under a plan ("default" is the default one), or with
// values of 16 bits.
type model struct {
	example, plan string
	act, weight   string
	kv            string // caches, if not as act
	archs         []string
	most          int // samples of a launch, if not 0
}

// graph imports the model.
func (m model) graph(t *testing.T) *ir.Graph {
	t.Helper()
	s := driver.Source{Model: m.file("model.onnx")}
	g, err := s.Import()
	if err == nil && m.plan != "" {
		s.Calibrate = m.file("calib.npz")
		if m.plan != "default" {
			s.Plan = filepath.Join("..", "..", "..", "examples", "plans", m.plan+".toml")
		}
		var q *driver.Quantized
		if q, err = s.Quantize(t.Context(), g); err == nil {
			return q.Graph
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (m model) file(name string) string {
	return filepath.Join("..", "..", "..", "examples", m.example, name)
}

// built is an emitted folder that make has built.
type built struct {
	model    model
	dir      string
	emulated string // folder of the emulated driver
	want     string // file of the reference's outputs
	samples  int    // of the inputs
	part     float64
}

// kernels compiles the kernels of a graph, and returns the graph that they compute.
func (m model) kernels(t *testing.T, g *ir.Graph) (*ir.Graph, *cuda.Design, []cuda.Binary) {
	t.Helper()
	toolchain := tools.NeedNVRTC(t)
	compiler, err := nvrtc.Open(toolchain, filepath.Join(toolchain, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	var precision kernels.Precision
	if m.act != "" {
		if precision, err = kernels.ParsePrecision(m.act, m.weight); err != nil {
			t.Fatal(err)
		}
	}
	if g, _, err = lower.Kernels(t.Context(), g, precision, library.Portable(), kernels.Options{}); err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Emit(g, cuda.Options{AllowSlow: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Units {
		if m.most > 0 {
			d.Units[i].MaxSamples = m.most + i%3 // kernels differ
		}
	}
	binaries, err := driver.CompileCUDA(t.Context(), compiler, d, m.archs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g, d, binaries
}

// build emits the model and builds its folder as its users do.
func (m model) build(t *testing.T, emulated string) *built {
	t.Helper()
	tools.Need(t, "gcc", "make")
	g, d, binaries := m.kernels(t, m.graph(t))
	file, err := npz.Read(m.file("inputs.npz"))
	if err != nil {
		t.Fatal(err)
	}
	given, batch, err := driver.Samples(g, file)
	if err != nil {
		t.Fatal(err)
	}
	given = given[:min(len(given), samples)]
	demo, err := driver.DemoSamples(t.Context(), g, given)
	if err != nil {
		t.Fatal(err)
	}
	b := &built{model: m, dir: filepath.Join(t.TempDir(), "out"), emulated: emulated, samples: len(given), part: demo.Part}
	if err := driver.WriteCUDA(d, binaries, "", demo, b.dir); err != nil {
		t.Fatal(err)
	}
	b.expect(t, g, given, batch)
	b.run(t, "make", "CC=gcc", "CFLAGS="+strict)
	return b
}

// expect writes what Python must return.
func (b *built) expect(t *testing.T, g *ir.Graph, given []ref.Sample, batch driver.Batch) {
	t.Helper()
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(t.Context(), given)
	if err != nil {
		t.Fatal(err)
	}
	batch.Samples = len(given)
	want, err := driver.Arrays(g, out, batch, false)
	if err != nil {
		t.Fatal(err)
	}
	b.want = filepath.Join(filepath.Dir(b.dir), "want.npz")
	if err := npz.Write(b.want, want); err != nil {
		t.Fatal(err)
	}
}

// command runs a program in the folder with the emulated driver, and returns what it prints.
func (b *built) command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Env = b.dir, append(os.Environ(), "LD_LIBRARY_PATH="+b.emulated+":"+b.dir)
	text, err := c.CombinedOutput()
	return string(text), err
}

// run is command, and demands that it ends well.
func (b *built) run(t *testing.T, args ...string) string {
	t.Helper()
	text, err := b.command(t, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return text
}

// agrees runs the folder from C and from Python, which must return what the reference computes.
func (b *built) agrees(t *testing.T) {
	text := b.run(t, "./demo")
	if !strings.HasPrefix(text, "PTX sm_80\n") || !strings.Contains(text, fmt.Sprintf("  %d samples: ", b.samples)) {
		t.Errorf("the demo prints\n%s", text)
	}
	python := tools.NeedNumPy(t)
	script, err := filepath.Abs(filepath.Join("testdata", "check.py"))
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := filepath.Abs(b.model.file("inputs.npz"))
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, python, "-B", script, inputs, b.want, fmt.Sprint(b.samples), fmt.Sprint(b.part))
}

// TestFolders runs emitted folders on the emulated driver.
func TestFolders(t *testing.T) {
	emulated := gputest.Emulated(t, drivers)
	for _, m := range folders() {
		t.Run(strings.Join([]string{m.example, m.plan, m.act, m.weight}, " "), func(t *testing.T) {
			b := m.build(t, emulated)
			b.agrees(t)
			if m.example == "digits-mlp" && m.plan == "" && m.act == "" {
				t.Run("calls", b.calls)
				t.Run("lacking", b.lacking)
			}
		})
	}
}

// calls provokes what the library refuses, on one thread and on two.
func (b *built) calls(t *testing.T) {
	tables, err := os.ReadFile(filepath.Join(b.dir, "tables.bin"))
	if err != nil {
		t.Fatal(err)
	}
	tables[len(tables)/2] ^= 1
	for name, data := range map[string][]byte{"short.bin": tables[:100], "other.bin": tables} {
		if err := os.WriteFile(filepath.Join(b.dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.provoke(t, "calls", "model")
}

// provoke compiles a program of testdata with the library of a name, and demands that it prints the lines beside it.
func (b *built) provoke(t *testing.T, program, library string) {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("testdata", program+".c"))
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, "gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I.", "-o", program, source,
		"./lib"+library+".so", "-lpthread")
	want, err := os.ReadFile(filepath.Join("testdata", program+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.run(t, "./"+program)), "\n")
	patterns := strings.Split(strings.TrimSpace(string(want)), "\n")
	for i, pattern := range patterns {
		if i >= len(lines) || !regexp.MustCompile("^"+pattern+"$").MatchString(lines[i]) {
			t.Fatalf("line %d of\n%s\nis not %s", i+1, strings.Join(lines, "\n"), pattern)
		}
	}
}

// lacking runs the folder without a compiler, without a driver, and without samples.
func (b *built) lacking(t *testing.T) {
	text, err := b.command(t, "make", "clean", "CC=nocompiler")
	if want := "no C compiler: nocompiler is not found; install one"; err == nil || !strings.Contains(text, want) {
		t.Errorf("make without a compiler prints %q, not %q", text, want)
	}
	none := *b
	none.emulated = t.TempDir()
	if err := os.WriteFile(filepath.Join(none.emulated, "libcuda.so.1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	text, err = none.command(t, "./demo")
	if want := "demo: no CUDA driver ("; err == nil || !strings.HasPrefix(text, want) || strings.Count(text, "\n") != 1 {
		t.Errorf("without a driver the demo prints %q, not %q", text, want)
	}
	if text, err = b.command(t, "./demo", "0", "tables.bin"); err == nil || !strings.Contains(text, "holds no samples") {
		t.Errorf("the demo takes other files for samples: %q", text)
	}
	for sample, word := range map[string]string{"samples.bin": " of 40 beyond 1e-05"} {
		path := filepath.Join(b.dir, sample)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)-1] ^= 0x40 // the exponent of the last output
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if text, err = b.command(t, "./demo"); err == nil || !strings.Contains(text, "1"+word) {
			t.Errorf("the demo does not see a wrong output: %q", text)
		}
	}
}
