// SPDX-License-Identifier: Apache-2.0

// Package cudatest proves kernels without a GPU: it compiles them through all gates, runs what was compiled in the PTX
// interpreter under every schedule, demands equal bits, and hands the outputs to the test.
package cudatest

import (
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/internal/tools"
	"lathe/sim/nvrtc"
)

// Compiler returns NVRTC with the cache of modules beside it; without NVRTC the test is skipped, or fails in CI.
func Compiler(t testing.TB) *nvrtc.Compiler {
	t.Helper()
	dir := tools.NeedNVRTC(t)
	c, err := nvrtc.Open(dir, filepath.Join(dir, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Programs returns ptxas and nvdisasm, with the same cache.
func Programs(t testing.TB) nvrtc.Tools {
	t.Helper()
	dir := tools.NeedCUDATools(t)
	return nvrtc.Tools{Dir: dir, Cache: filepath.Join(dir, "modules")}
}

// Gates demands of every kernel, on each architecture that its header names: it compiles with an empty log, keeps
// within its register budget and the shared memory of a block, has neither stack nor spills nor LDL nor STL, and has
// the machine instructions of its header. The portable PTX must assemble with its version lowered. The kernels of an
// architecture are compiled as one unit, which is cheaper than one by one; which they are tells Shard.
func Gates(t *testing.T, kernels ...cuda.Instance) {
	t.Helper()
	if faulty(t) {
		return
	}
	compiler, programs := Compiler(t), Programs(t)
	for _, arch := range cuda.ArchNames() {
		mine := Shard(arch, kernels)
		if len(mine) == 0 {
			continue
		}
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			m, _ := compile(t, compiler, mine, arch)
			for _, i := range mine {
				report(t, m.Refusals(i))
			}
			codes, err := programs.Machine(t.Context(), m.Cubin)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range mine {
				at := slices.IndexFunc(codes, func(c nvrtc.Code) bool { return c.Kernel == i.Kernel })
				if at < 0 {
					t.Errorf("%s: no machine code for %s", i.Kernel, arch)
					continue
				}
				report(t, codes[at].Refusals(i, arch))
			}
		})
	}
	if mine := cuda.For("sm_80", kernels); len(mine) > 0 {
		t.Run("lowered PTX", func(t *testing.T) {
			t.Parallel()
			m, _ := compile(t, compiler, mine, cuda.PortablePTX)
			low, err := nvrtc.LowerPTX(m.PTX)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := programs.Assemble(t.Context(), low, "sm_80"); err != nil {
				t.Error(err)
			}
		})
	}
}

func report(t *testing.T, refusals []string) {
	t.Helper()
	for _, r := range refusals {
		t.Error(r)
	}
}

// Shard is those of the kernels whose gates a run looks at on an architecture: in a long run all that name it in their
// header, else each kernel on one of its architectures, by the hash of its text.
func Shard(arch string, kernels []cuda.Instance) []cuda.Instance {
	mine := cuda.For(arch, kernels)
	if tools.Long {
		return mine
	}
	return slices.DeleteFunc(slices.Clone(mine), func(i cuda.Instance) bool {
		h := fnv.New32a()
		h.Write([]byte(i.String())) // never fails
		one := []cuda.Instance{i}
		all := slices.DeleteFunc(cuda.ArchNames(), func(a string) bool { return len(cuda.For(a, one)) == 0 })
		return all[h.Sum32()%uint32(len(all))] != arch
	})
}

// compile compiles the kernels as one unit; a refusal ends the test with the whole log. changed is false where a fault
// is being tried and this is the code of the sound kernels.
func compile(t testing.TB, c *nvrtc.Compiler, kernels []cuda.Instance, arch string) (m *nvrtc.Module, changed bool) {
	t.Helper()
	source, err := cuda.Print(kernels...)
	if err != nil {
		t.Fatal(err)
	}
	m, changed, err = compilePlanted(t, c, kernels, source, arch)
	if refused, ok := err.(*nvrtc.CompileError); ok {
		t.Fatalf("%v\n%s", err, refused.Log)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m, changed
}

// name is what messages of the compiler call a unit.
func name(kernels []cuda.Instance) string {
	var names []string
	for _, i := range kernels {
		if !slices.Contains(names, i.Template.Name) {
			names = append(names, i.Template.Name)
		}
	}
	return strings.Join(names, "+")
}
