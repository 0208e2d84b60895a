// SPDX-License-Identifier: Apache-2.0

package nvrtc_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
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

const listing = `	.section	.text.first,"ax",@progbits
first:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!PT LDS RZ, [RZ] ;
        /*0020*/               @P0 LDG.E.NA.128.CONSTANT R8, desc[UR4][R8.64] ;
        /*0030*/              @!P1 EXIT ;
	.section	.text.second,"ax",@progbits
        /*0000*/                   LDL R1, [R2] ;
        /*0010*/                   LDL R1, [R2] ;
`

func TestDisassembly(t *testing.T) {
	codes := nvrtc.Disassembly(listing)
	if len(codes) != 2 || codes[0].Kernel != "first" || codes[0].Instructions != 3 || codes[1].Instructions != 2 {
		t.Fatalf("%+v", codes)
	}
	if want := []string{"EXIT", "LDC", "LDG.E.NA.128.CONSTANT"}; !slices.Equal(codes[0].Mnemonics, want) {
		t.Errorf("%q", codes[0].Mnemonics)
	}
	for m, want := range map[string]bool{
		"LDG": true, "LDG.128": true, "LDG.E.NA.128": true, "LDG.128.E": false, "LD": false, "LDS": false, "E.128": false,
	} {
		if codes[0].Has(m) != want {
			t.Errorf("%s: %v", m, !want)
		}
	}
}

// TestGates holds sound and unsound reports against the header of dequant.
func TestGates(t *testing.T) {
	i, err := cuda.Make("dequant", "second", "bf16", "0")
	if err != nil {
		t.Fatal(err)
	}
	sound := nvrtc.Usage{Kernel: "second", Registers: 20}
	for want, m := range map[string]nvrtc.Module{
		"":                {Arch: "sm_80", Kernels: []nvrtc.Usage{sound}},
		"the compiler":    {Arch: "sm_80", Kernels: []nvrtc.Usage{sound}, Log: "warning"},
		"reports nothing": {Arch: "sm_80"},
		"90 registers":    {Arch: "sm_80", Kernels: []nvrtc.Usage{{Kernel: "second", Registers: 90}}},
		"8 bytes of st":   {Arch: "sm_80", Kernels: []nvrtc.Usage{{Kernel: "second", Registers: 9, Stack: 8}}},
		"4 and 0 of sp":   {Arch: "sm_80", Kernels: []nvrtc.Usage{{Kernel: "second", Registers: 9, SpillStores: 4}}},
		"200000 bytes of": {Arch: "sm_80", Kernels: []nvrtc.Usage{{Kernel: "second", Registers: 9, Shared: 200000}}},
	} {
		got := m.Refusals(i)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
			t.Errorf("%q: %q", want, got)
		}
	}
	got := strings.Join(nvrtc.Disassembly(listing)[1].Refusals(i, "sm_90"), "\n")
	for _, want := range []string{"has LDL", "lacks LDG.64", "lacks STG.128"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

func TestMachine(t *testing.T) {
	cache := t.TempDir()
	programs := nvrtc.Tools{Dir: tools.NeedCUDATools(t), Cache: cache}
	m, err := open(t, "").Compile(t.Context(), "dequant.cu", dequant(t), "sm_86")
	if err != nil {
		t.Fatal(err)
	}
	plain := fmt.Sprintf("%x", sha256.Sum256(m.Cubin)) // a name without versions: of another reading, or none
	old := filepath.Join(cache, plain[:2], plain+".sass.json")
	err = errors.Join(os.MkdirAll(filepath.Dir(old), 0o755), os.WriteFile(old, []byte(`[{"Kernel":"old"}]`), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	codes, err := programs.Machine(t.Context(), m.Cubin)
	if err != nil || len(codes) != 2 {
		t.Fatalf("%+v, %v", codes, err)
	}
	programs.Dir = t.TempDir() // from here on the cache has to do
	again, err := programs.Machine(t.Context(), m.Cubin)
	if err != nil || !slices.Equal(again[1].Mnemonics, codes[1].Mnemonics) {
		t.Errorf("%+v, %v", again, err)
	}
	programs.Cache = ""
	if _, err := programs.Machine(t.Context(), m.Cubin); diag.CodeOf(err) != "L0937" {
		t.Errorf("without nvdisasm: %v", err)
	}
	if err := os.WriteFile(filepath.Join(programs.Dir, "nvdisasm"), []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := programs.Machine(t.Context(), m.Cubin); diag.CodeOf(err) != "L0937" {
		t.Errorf("nvdisasm that is not a program: %v", err)
	}
}

// TestBundle assembles the lowered PTX, and looks for each kernel where it belongs.
func TestBundle(t *testing.T) {
	i, err := cuda.Make("dequant", "k", "bf16", "0")
	if err != nil {
		t.Fatal(err)
	}
	hopper := *i.Template
	hopper.Archs = []string{"sm_90a"}
	both := []cuda.Instance{i, {Template: &hopper, Kernel: "hopper", Params: i.Params}}
	b, err := open(t, "").Bundle(t.Context(), "k.cu", both, []string{"sm_80", "sm_86", "sm_90", "sm_90a"})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b.PTX, []byte("\n.version 7.4\n")) || bytes.Contains(b.PTX, []byte("hopper")) {
		t.Errorf("PTX\n%s", b.PTX[:400])
	}
	cubin, err := nvrtc.Tools{Dir: tools.NeedCUDATools(t)}.Assemble(t.Context(), b.PTX, "sm_80")
	if err != nil || !bytes.HasPrefix(cubin, []byte("\x7fELF")) {
		t.Errorf("the lowered PTX: %v", err)
	}
	for _, m := range b.Modules {
		if _, there := m.Kernel("hopper"); there != (m.Arch == "sm_90a") {
			t.Errorf("%s has the kernel for Hopper: %v", m.Arch, there)
		}
	}
	if _, err := open(t, "").Bundle(t.Context(), "k.cu", both, []string{"sm_91"}); diag.CodeOf(err) != "L0934" {
		t.Errorf("an unknown architecture: %v", err)
	}
}
