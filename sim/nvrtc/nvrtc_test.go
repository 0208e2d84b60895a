// SPDX-License-Identifier: Apache-2.0

package nvrtc_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/sim/nvrtc"
)

func open(t *testing.T, cache string) *nvrtc.Compiler {
	t.Helper()
	c, err := nvrtc.Open(tools.NeedNVRTC(t), cache)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// dequant is a unit of two entries.
func dequant(t *testing.T) string {
	t.Helper()
	a, errA := cuda.Make("dequant", "to_bf16", "bf16", "0")
	b, errB := cuda.Make("dequant", "to_f32", "f32", "1")
	text, err := cuda.Print(a, b)
	if err := errors.Join(errA, errB, err); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestCompile(t *testing.T) {
	cache := t.TempDir()
	c := open(t, cache)
	source := dequant(t)
	m, err := c.Compile(t.Context(), "dequant.cu", source, "sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	if m.Log != "" || !bytes.HasPrefix(m.Cubin, []byte("\x7fELF")) || !bytes.Contains(m.PTX, []byte(".target sm_90a")) {
		t.Errorf("%s, log %q", m, m.Log)
	}
	for _, name := range []string{"to_bf16", "to_f32"} {
		u, ok := m.Kernel(name)
		if !ok || u.Registers < 8 || u.Registers > 64 || u.Stack != 0 || u.SpillStores != 0 {
			t.Errorf("%s: %+v", name, u)
		}
	}
	again, err := c.Compile(t.Context(), "dequant.cu", source, "sm_90a")
	if err != nil || !bytes.Equal(again.Cubin, m.Cubin) || !slices.Equal(again.Kernels, m.Kernels) {
		t.Errorf("from the cache: %v, %v", again, err)
	}
	files, err := filepath.Glob(filepath.Join(cache, "*", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("cache %q, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err = c.Compile(t.Context(), "dequant.cu", source, "sm_90a")
	if err != nil || !bytes.Equal(again.Cubin, m.Cubin) {
		t.Errorf("with a broken cache: %v, %v", again, err)
	}
	portable, err := c.Compile(t.Context(), "dequant.cu", source, cuda.PortablePTX)
	if err != nil || len(portable.Cubin) != 0 || !bytes.Contains(portable.PTX, []byte(".target sm_80")) {
		t.Errorf("%v, %v", portable, err)
	}
}

func TestRefused(t *testing.T) {
	c := open(t, "")
	_, err := c.Compile(t.Context(), "k.cu", "extern \"C\" __global__ void k(int* p) { *p = nothing; }", "sm_80")
	var whole *nvrtc.CompileError
	if diag.CodeOf(err) != "L0936" || !errors.As(err, &whole) || !strings.Contains(whole.Log, "k.cu(1)") {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), "\"nothing\" is undefined") {
		t.Errorf("%v", err)
	}
	const inside = "template <class T, int W> __device__ void bad(T* p) { *p = T::x; }\n" +
		"extern \"C\" __global__ void k(int* p) { bad<int, 2>(p); nothing(); }"
	_, err = c.Compile(t.Context(), "k.cu", inside, "sm_80")
	for _, want := range []string{"k.cu(1): error: name followed by \"::\"", "in void bad<T,W>(T *) [with T=int, W=2]\n",
		"note: k.cu(2): error: identifier \"nothing\" is undefined\n"} {
		if err == nil || !strings.Contains(err.Error()+"\n", want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if _, err := c.Compile(t.Context(), "k.cu", "", "sm_12"); diag.CodeOf(err) != "L0936" {
		t.Errorf("an unknown architecture: %v", err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"libnvrtc-builtins.so.12.9", "libnvrtc.so.12"} {
		_, err := nvrtc.Open(dir, "")
		if diag.CodeOf(err) != "L0935" || !strings.Contains(err.Error(), "scripts/setup --cuda") {
			t.Errorf("without %s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no library"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := nvrtc.Open(dir, ""); diag.CodeOf(err) != "L0935" {
		t.Errorf("files that are not libraries: %v", err)
	}
}

// TestReport reads what the assembler said of a kernel that spills, of one that does not, and a complaint.
func TestReport(t *testing.T) {
	kernels, rest := nvrtc.Report(`ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'linear' for 'sm_80'
ptxas info    : Function properties for linear
ptxas         .     16 bytes stack frame, 584 bytes spill stores, 620 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 16 bytes cumulative stack size, 512 bytes smem
ptxas info    : Compile time = 19.154 ms
ptxas info    : Compiling entry function 'plain' for 'sm_80'
ptxas info    : Function properties for plain
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 21 registers
k.cu(3): warning #177-D: variable "x" was declared but never referenced
`)
	want := []nvrtc.Usage{
		{Kernel: "linear", Registers: 40, Stack: 16, SpillStores: 584, SpillLoads: 620, Shared: 512},
		{Kernel: "plain", Registers: 21},
	}
	if !slices.Equal(kernels, want) {
		t.Errorf("%+v", kernels)
	}
	if rest != `k.cu(3): warning #177-D: variable "x" was declared but never referenced` {
		t.Errorf("rest %q", rest)
	}
}

// TestSpills compiles a kernel that keeps more alive than the registers which its bounds leave.
func TestSpills(t *testing.T) {
	const source = `extern "C" __global__ void __launch_bounds__(1024, 2) k(float* p) {
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = p[threadIdx.x + i * 1024];
#pragma unroll
  for (int i = 0; i < 64; ++i)
#pragma unroll
    for (int j = 0; j < 64; ++j) v[i] += v[j] * v[63 - i];
#pragma unroll
  for (int i = 0; i < 64; ++i) p[threadIdx.x + i * 1024] = v[i];
}`
	m, err := open(t, "").Compile(t.Context(), "k.cu", source, "sm_80")
	if err != nil {
		t.Fatal(err)
	}
	if u, _ := m.Kernel("k"); u.SpillStores == 0 || u.SpillLoads == 0 || u.Registers > 32 || m.Log != "" {
		t.Errorf("%+v, log %q", u, m.Log)
	}
}
