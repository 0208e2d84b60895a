// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	library "lathe/cuda"
	"lathe/emit/cuda"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/text"
	"lathe/lower"
	"lathe/lower/kernels"
	"lathe/sim/gpu/gputest"
	"lathe/sim/nvrtc"
)

// layers is a model that is large enough for the kernels of sm_90a: attention, and a linear layer behind it.
func layers(t *testing.T) *ir.Graph {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	var w []string
	for range 3072 * 64 {
		w = append(w, fmt.Sprint(float32(r.IntN(33)-16)/64))
	}
	g, err := text.Parse("layers", `lathe 1
graph %layers float(%x) {
  %x = input : 1x1x256x64 fp32
  %w = const {data = f32 [`+strings.Join(w, ", ")+`]} : 3072x64 fp32
  %a = attention(%x, %x, %x) {causal = true} : 1x1x256x64 fp32
  %l = linear(%a, %w) : 1x1x256x3072 fp32
  %y = gelu(%l) : 1x1x256x3072 fp32
  return y = %y
}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestHopper builds and runs a folder for sm_90a alone, whose launches have maps of tensors: the outputs are those of
// the reference. Other GPUs, and drivers without such maps, are refused.
func TestHopper(t *testing.T) {
	toolchain := tools.NeedNVRTC(t)
	tools.Need(t, "gcc", "make")
	emulated := gputest.Emulated(t, drivers)
	precision, err := kernels.ParsePrecision("bf16", "bf16")
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := lower.Kernels(t.Context(), layers(t), precision, library.Portable(), kernels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := cuda.Emit(g, cuda.Options{Hopper: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"sdpa_hopper<", "w16a16_hopper<"} {
		if i >= len(d.Units) || !strings.HasPrefix(d.Units[i].Template, want) {
			t.Fatalf("%d kernels: %+v, want %s", len(d.Units), d.Units, want)
		}
	}
	compiler, err := nvrtc.Open(toolchain, filepath.Join(toolchain, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	binaries, err := driver.CompileCUDA(t.Context(), compiler, d, []string{"sm_90a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	demo, err := driver.DemoSamples(t.Context(), g, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &built{dir: filepath.Join(t.TempDir(), "out"), emulated: emulated}
	if err := driver.WriteCUDA(d, binaries, "", demo, b.dir); err != nil {
		t.Fatal(err)
	}
	b.run(t, "make", "CC=gcc", "CFLAGS="+strict)
	source, err := filepath.Abs(filepath.Join("testdata", "hopper.c"))
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, "gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I.", "-o", "hopper", source, "./liblayers.so", "-lm",
		"-ldl")
	text := b.run(t, "./hopper", "major", "9", "version", "12090")
	ran := fmt.Sprintf(" %d samples: ", len(demo.Inputs))
	if !strings.HasPrefix(text, "PTX sm_90a\n") || !strings.Contains(text, ran) {
		t.Errorf("the demo prints\n%s", text)
	}
	for settings, want := range map[string]string{
		"major 8":               "no code for this GPU of compute capability 8.0: 9.0 is needed",
		"major 10":              "no code for this GPU of compute capability 10.0: 9.0 is needed",
		"major 9 version 12040": "takes none of the code for this GPU (error 222)",
	} {
		text, err := b.command(t, append([]string{"./hopper"}, strings.Fields(settings)...)...)
		if err == nil || !strings.Contains(text, want) {
			t.Errorf("%s: the demo prints %q, not %q", settings, text, want)
		}
	}
}
