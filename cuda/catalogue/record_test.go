// SPDX-License-Identifier: Apache-2.0

//go:build long

package catalogue_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cases"
	"lathe/cuda/catalogue"
	"lathe/cuda/cudatest"
	"lathe/sim/nvrtc"
)

var update = flag.Bool("update", false, "write record.json; what is recorded of the same text and cases is kept")

// TestRecord compiles every kernel of every case for all architectures through all gates, runs the cases that are not
// for a GPU only in the interpreter in every order, and compares what it finds with the record. With -update it does so
// for the kernels that are not recorded as they are now.
func TestRecord(t *testing.T) {
	kernels, err := cases.Kernels()
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := catalogue.Records()
	if err != nil {
		t.Fatal(err)
	}
	all, due := make([]catalogue.Record, len(kernels)), map[string]bool{}
	for n, k := range kernels {
		at := slices.IndexFunc(recorded, func(r catalogue.Record) bool { return r.Instance == k.Instance.String() })
		if *update && at >= 0 && current(t, k, recorded[at]) {
			all[n] = recorded[at]
		} else {
			due[k.Instance.String()] = true
		}
	}
	passed := emulate(t, due)
	t.Run("kernels", func(t *testing.T) {
		for n, k := range kernels {
			if !due[k.Instance.String()] {
				continue
			}
			t.Run(k.Instance.String(), func(t *testing.T) {
				t.Parallel()
				all[n] = record(t, k.Instance, passed)
			})
		}
	})
	for n, k := range kernels {
		all[n].Cases = k.Cases
	}
	text := written(t, all)
	switch {
	case t.Failed():
		t.Log("record.json is left as it is")
	case *update:
		if err := os.WriteFile("record.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
	case !bytes.Equal(text, written(t, recorded)):
		t.Error("record.json is not what comes out: run scripts/measure kernels")
	}
}

// written is record.json: a line for each kernel.
func written(t *testing.T, all []catalogue.Record) []byte {
	t.Helper()
	var text bytes.Buffer
	text.WriteString("[")
	for i, r := range all {
		var line bytes.Buffer
		plain := json.NewEncoder(&line)
		plain.SetEscapeHTML(false)
		if err := plain.Encode(r); err != nil {
			t.Fatal(err)
		}
		text.WriteString(map[bool]string{true: "\n", false: ",\n"}[i == 0])
		text.Write(bytes.TrimSpace(line.Bytes()))
	}
	text.WriteString("\n]\n")
	return text.Bytes()
}

// current says that a kernel is recorded from the text that it has now, after a run of all its small cases.
func current(t *testing.T, k cases.Kernel, r catalogue.Record) bool {
	t.Helper()
	hash, err := catalogue.Hash(k.Instance)
	if err != nil {
		t.Fatal(err)
	}
	return r.Source == hash && r.Emulated == k.Cases-k.Timed
}

// emulate runs the small cases of kernels that are due and counts, by instance, those that passed.
func emulate(t *testing.T, due map[string]bool) map[string]int {
	t.Helper()
	all, err := cases.All()
	if err != nil {
		t.Fatal(err)
	}
	passed := map[string]int{}
	for _, c := range all {
		if c.Timed || !slices.ContainsFunc(c.Instances, func(i cuda.Instance) bool { return due[i.String()] }) {
			continue
		}
		if !t.Run(c.Name, func(t *testing.T) { cudatest.RunCase(t, c, false) }) {
			continue
		}
		for _, i := range c.Instances {
			passed[i.String()]++
		}
	}
	return passed
}

// record compiles one kernel, alone, for all architectures.
func record(t *testing.T, i cuda.Instance, passed map[string]int) catalogue.Record {
	t.Helper()
	i.Kernel = "kernel"
	hash, err := catalogue.Hash(i)
	if err != nil {
		t.Fatal(err)
	}
	r := catalogue.Record{Instance: i.String(), Source: hash, Emulated: passed[i.String()]}
	compiler, programs := cudatest.Compiler(t), cudatest.Programs(t)
	source, err := cuda.Print(i)
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range cuda.ArchNames() {
		if len(cuda.For(arch, []cuda.Instance{i})) == 0 {
			continue
		}
		m, err := compiler.Compile(t.Context(), i.String(), source, arch)
		if err != nil {
			t.Fatal(err)
		}
		codes, err := programs.Machine(t.Context(), m.Cubin)
		if err != nil {
			t.Fatal(err)
		}
		for _, refused := range append(m.Refusals(i), code(codes).Refusals(i, arch)...) {
			t.Error(refused)
		}
		u, _ := m.Kernel(i.Kernel)
		r.Registers = append(r.Registers, catalogue.Used{Arch: arch, Registers: u.Registers,
			Instructions: code(codes).Instructions})
	}
	return r
}

// code is the machine code of the kernel; of nothing where it is missing.
func code(codes []nvrtc.Code) nvrtc.Code {
	for _, c := range codes {
		if c.Kernel == "kernel" {
			return c
		}
	}
	return nvrtc.Code{}
}
