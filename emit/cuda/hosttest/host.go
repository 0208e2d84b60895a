// SPDX-License-Identifier: Apache-2.0

// Package hosttest runs the printed kernels of a design on the processor of this machine, compiled by g++: a second
// opinion on their text from a compiler that knows nothing of GPUs.
package hosttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"lathe/emit/cuda"
	"lathe/ir"
	"lathe/ir/ref"
)

// shim is what CUDA C++ has and C++ has not.
const shim = `#include <math.h>
#include <string.h>
struct dim { unsigned x, y, z; };
static thread_local dim blockIdx, threadIdx;
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n)
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
template <class A, class B> static inline A cast(B b) { A a; memcpy(&a, &b, sizeof a); return a; }
struct any { void* p; template <class T> operator T*() const { return (T*)p; } };
#define __int_as_float cast<float, int>
#define __float_as_int cast<int, float>
#define __longlong_as_double cast<double, long long>
#define __double_as_longlong cast<long long, double>
`

// Program is a built design.
type Program struct {
	d   *cuda.Design
	run map[string]func(args *unsafe.Pointer, blocks, samples uint32)
}

// Build compiles a design without kernels of the library, which are no C++. The compiler must be there.
func Build(t testing.TB, d *cuda.Design) *Program {
	t.Helper()
	var s strings.Builder
	s.WriteString(shim + d.Source)
	for _, u := range d.Units {
		s.WriteString(call(u))
	}
	dir := t.TempDir()
	file, lib := filepath.Join(dir, "kernels.cpp"), filepath.Join(dir, "kernels.so")
	if err := os.WriteFile(file, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("g++", "-std=c++17", "-O0", "-shared", "-fPIC", "-fwrapv", "-w", "-o", lib, file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	handle, err := purego.Dlopen(lib, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{d: d, run: map[string]func(*unsafe.Pointer, uint32, uint32){}}
	for _, u := range d.Units {
		var f func(*unsafe.Pointer, uint32, uint32)
		purego.RegisterLibFunc(&f, handle, "run_"+u.Kernel)
		p.run[u.Kernel] = f
	}
	return p
}

// call is the function that runs every thread of a launch, one after the other.
func call(u cuda.Unit) string {
	var args []string
	for i := range u.Args {
		args = append(args, fmt.Sprintf("any{args[%d]}", i))
	}
	return fmt.Sprintf(`
extern "C" void run_%s(void** args, unsigned blocks, unsigned samples) {
  for (blockIdx.y = 0; blockIdx.y < samples; blockIdx.y++)
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
      for (threadIdx.x = 0; threadIdx.x < %d; threadIdx.x++) %s(%s);
}
`, u.Kernel, u.Threads, u.Kernel, strings.Join(args, ", "))
}

// Run computes samples and returns the outputs of each. Buffers start as 0xA5.
func (p *Program) Run(samples []ref.Sample) []ref.Sample {
	n := len(samples)
	memory := make([][]byte, len(p.d.Buffers))
	memory[0] = append([]byte{0}, p.d.Tables...)[1:]
	for i := 1; i < len(memory); i++ {
		memory[i] = make([]byte, p.d.Size(i, n)+1)
		for k := range memory[i] {
			memory[i][k] = 0xA5
		}
	}
	for i, q := range p.d.Inputs {
		var values []*ir.Tensor
		for _, s := range samples {
			values = append(values, s[i])
		}
		codes, scales := q.Encode(values)
		copy(memory[q.Codes], codes)
		if q.Scales >= 0 {
			copy(memory[q.Scales], scales)
		}
	}
	for _, u := range p.d.Units {
		args := make([]unsafe.Pointer, len(u.Args))
		for i, a := range u.Args {
			args[i] = unsafe.Pointer(&memory[a.Buffer][a.Offset])
		}
		p.run[u.Kernel](&args[0], uint32(u.Blocks), uint32(n))
	}
	out := make([]ref.Sample, n)
	for _, q := range p.d.Outputs {
		var scales []byte
		if q.Scales >= 0 {
			scales = memory[q.Scales]
		}
		for s, v := range q.Decode(memory[q.Codes], scales, n) {
			out[s] = append(out[s], v)
		}
	}
	return out
}
