// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/cuda"
	pointwise "lathe/cuda/map"
	"lathe/cuda/map/maptest"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/sim/gpu"
	"lathe/sim/gpu/bench"
	"lathe/sim/nvrtc"
)

// TestPack compiles two cases of one kernel once, and refuses cases of other sources and broken files.
func TestPack(t *testing.T) {
	nv, err := nvrtc.Open(tools.NeedNVRTC(t), filepath.Join(tools.CacheDir(t), "nvrtc"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []cuda.Case
	for _, d := range []pointwise.Dequant{{Out: "bf16", N: 5}, {Out: "bf16", N: 7}, {Out: "f32", N: 7}} {
		c, err := maptest.Dequant(d, false)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	dir := filepath.Join(t.TempDir(), "pack")
	made, err := bench.Compile(t.Context(), nv, cases[:2], []string{"sm_90"}, dir, "c0ffee")
	if err != nil || len(made.Programs) != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	p, err := bench.OpenPack(dir)
	if err != nil || p.Commit != "c0ffee" || p.Compiler != "NVRTC 12.9" {
		t.Fatalf("%+v, %v", p, err)
	}
	prog, err := p.Program(&cases[1])
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := gpu.Signatures(prog.Name, prog.PTX)
	if err != nil || len(kernels) != 1 || kernels[0].Name != "dequant_bf16" || kernels[0].Threads != 256 ||
		len(prog.Cubins) != 1 || !strings.HasPrefix(string(prog.Cubins[0].Data), "\x7fELF") {
		t.Errorf("%+v, %v", kernels, err)
	}
	if _, err := p.Program(&cases[2]); diag.CodeOf(err) != "L0988" || !strings.Contains(err.Error(), "other sources") {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Program(&cases[0]); diag.CodeOf(err) != "L0986" {
		t.Error(err)
	}
	for _, text := range []string{"{", `{"schema": 7}`} {
		if err := os.WriteFile(filepath.Join(dir, "pack.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := bench.OpenPack(dir); diag.CodeOf(err) != "L0988" {
			t.Errorf("%s: %v", text, err)
		}
	}
}
