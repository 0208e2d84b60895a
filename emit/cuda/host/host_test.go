// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/emit/cuda"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/internal/tools"
	"lathe/lower"
	"lathe/sim/gpu/gputest"
	"lathe/sim/nvrtc"
)

// strict are the flags under which the programs compile without a word.
const strict = "-O1 -Wall -Wextra -Werror -pedantic"

// model is an example and how it is emitted.
type model struct {
	example     string
	quantized   bool
	act, weight string
}

// emitted writes the folder of a model, with machine code for some architectures.
func emitted(t *testing.T, m model, archs ...string) string {
	t.Helper()
	dir := tools.NeedNVRTC(t)
	compiler, err := nvrtc.Open(dir, filepath.Join(dir, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join("..", "..", "..", "examples", m.example)
	s := driver.Source{Model: filepath.Join(folder, "model.onnx")}
	if m.quantized {
		s.Calibrate = filepath.Join(folder, "calib.npz")
	}
	g, err := s.Import()
	if err != nil {
		t.Fatal(err)
	}
	if m.quantized {
		q, err := s.Quantize(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		g = q.Graph
	}
	g, _, err = driver.Kernels(t.Context(), g, lower.Precision{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Emit(g, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	binaries, err := driver.CompileCUDA(t.Context(), compiler, d, archs, nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := npz.Read(filepath.Join(folder, "inputs.npz"))
	if err != nil {
		t.Fatal(err)
	}
	given, _, err := driver.Samples(g, file)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := driver.DemoSamples(t.Context(), g, given)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	if err := driver.WriteCUDA(d, binaries, "", samples, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// command runs a program in a folder with the emulated driver, and returns what it prints.
func command(t *testing.T, dir, emulated string, args ...string) (string, error) {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), "LD_LIBRARY_PATH="+emulated)
	text, err := c.CombinedOutput()
	return string(text), err
}

// run is command, and demands that it ends well.
func run(t *testing.T, dir, emulated string, args ...string) string {
	t.Helper()
	text, err := command(t, dir, emulated, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return text
}

// TestFolder builds folders as their users do, and runs them on the emulated driver.
func TestFolder(t *testing.T) {
	tools.Need(t, "gcc", "make")
	emulated := gputest.Emulated(t)
	for _, c := range []struct {
		model model
		archs []string
		want  []string
	}{
		{model{example: "digits-mlp"}, []string{"sm_80", "sm_90"}, []string{"PTX sm_80\n", " 0 of 80 values beyond 1e-05\n"}},
		{model{example: "digits-qdq-mlp", quantized: true}, nil, []string{" 0 of 80 codes differ from the reference\n"}},
	} {
		t.Run(c.model.example, func(t *testing.T) {
			dir := emitted(t, c.model, c.archs...)
			run(t, dir, "", "make", "CC=gcc", "CFLAGS="+strict)
			text := run(t, dir, emulated, "./demo")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("the demo does not print %q:\n%s", want, text)
				}
			}
		})
	}
}
