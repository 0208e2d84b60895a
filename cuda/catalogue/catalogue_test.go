// SPDX-License-Identifier: Apache-2.0

package catalogue_test

import (
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cases"
	"lathe/cuda/catalogue"
	"lathe/cuda/cudatest"
)

// TestCases demands of every case what all devices need of it: a name of its own, launches that fit, buffers for every
// argument.
func TestCases(t *testing.T) {
	all, err := cases.All()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d cases, %v", len(all), err)
	}
	seen := map[string]bool{}
	for _, c := range all {
		if seen[c.Name] {
			t.Errorf("two cases are called %s", c.Name)
		}
		seen[c.Name] = true
		if c.Check == nil || c.Bytes <= 0 && c.Flops <= 0 || c.Shape == "" || c.Formats == "" {
			t.Errorf("%s lacks a check, a floor, shape or formats", c.Name)
		}
		if !slices.ContainsFunc(c.Buffers, func(b cuda.CaseBuffer) bool { return b.Output }) {
			t.Errorf("%s has no output", c.Name)
		}
		for _, l := range c.Launches {
			at := slices.IndexFunc(c.Instances, func(i cuda.Instance) bool { return i.Kernel == l.Kernel })
			if at < 0 {
				t.Errorf("%s launches %s, which it does not have", c.Name, l.Kernel)
				continue
			}
			if err := c.Instances[at].Fit(l); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
			if _, err := l.Pack(make([]uint64, len(c.Buffers))); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
}

// TestRows has every template of the library once, and finds what is recorded of dequant.
func TestRows(t *testing.T) {
	rows, err := catalogue.Rows()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(cuda.Names()) {
		t.Errorf("%d rows, %d templates", len(rows), len(cuda.Names()))
	}
	for _, r := range rows {
		if r.Template.Name != "dequant" {
			continue
		}
		for _, k := range r.Kernels {
			if u, there := k.On("sm_90a"); !there || u.Registers == 0 || k.Status() != "compiled, emulated" {
				t.Errorf("%s: %+v, %s", k.Instance, u, k.Status())
			}
			if k.Cases < 1 || !strings.HasPrefix(k.Instance, "dequant<") {
				t.Errorf("%+v", k)
			}
		}
	}
}

// TestCurrent demands that every kernel of every case is recorded, from the source that it has now, and nothing else.
func TestCurrent(t *testing.T) {
	kernels, err := cases.Kernels()
	if err != nil {
		t.Fatal(err)
	}
	records, err := catalogue.Records()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]catalogue.Record{}
	for _, r := range records {
		by[r.Instance] = r
	}
	for _, k := range kernels {
		hash, err := catalogue.Hash(k.Instance)
		if err != nil {
			t.Fatal(err)
		}
		r := by[k.Instance.String()]
		if r.Source != hash || len(r.Registers) == 0 || r.Cases != k.Cases || r.Emulated != k.Cases-k.Timed {
			t.Errorf("%s is not recorded as it is now: scripts/measure kernels", k.Instance)
		}
	}
	if len(records) != len(kernels) {
		t.Errorf("%d records of %d kernels", len(records), len(kernels))
	}
}

// TestEmulated demands that the interpreter executes every kernel that is listed: one that is compiled only may compute
// anything.
func TestEmulated(t *testing.T) {
	kernels, err := cases.Kernels()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range unexecuted(kernels) {
		t.Errorf("%s is compiled only: give its family a case of a few tiles that is not timed", i)
	}
	planted := cases.Kernel{Instance: kernels[0].Instance, Cases: 2, Timed: 2}
	if got := unexecuted([]cases.Kernel{planted}); len(got) != 1 || got[0] != planted.Instance.String() {
		t.Errorf("of a kernel with two timed cases and no other: %v", got)
	}
}

// TestBudgets holds every listed kernel that has a budget of issue slots to it; in a short run on one architecture.
func TestBudgets(t *testing.T) {
	kernels, err := cases.Kernels()
	if err != nil {
		t.Fatal(err)
	}
	arch, err := cuda.FindArch("sm_90")
	if err != nil {
		t.Fatal(err)
	}
	var all []cuda.Instance
	for _, k := range kernels {
		loops, err := k.Instance.Loops(arch)
		if err != nil {
			t.Fatal(err)
		}
		if len(loops) > 0 {
			all = append(all, k.Instance)
		}
	}
	if len(all) == 0 {
		t.Error("no kernel has a budget")
	}
	cudatest.Gates(t, all...)
}

// unexecuted names the kernels whose cases are all for a GPU only.
func unexecuted(kernels []cases.Kernel) []string {
	var names []string
	for _, k := range kernels {
		if k.Cases == k.Timed {
			names = append(names, k.Instance.String())
		}
	}
	return names
}

// TestShard demands that the gates of a short run see every kernel, and every architecture.
func TestShard(t *testing.T) {
	kernels, err := cases.Kernels()
	if err != nil {
		t.Fatal(err)
	}
	var all []cuda.Instance
	for _, k := range kernels {
		all = append(all, k.Instance)
	}
	met := map[string]bool{}
	for _, arch := range cuda.ArchNames() {
		mine := cudatest.Shard(arch, all)
		if len(mine) == 0 {
			t.Errorf("no kernel meets the gates of %s", arch)
		}
		for _, i := range mine {
			met[i.String()] = true
		}
	}
	for _, i := range all {
		if !met[i.String()] {
			t.Errorf("%s meets no gates", i)
		}
	}
}

func TestHash(t *testing.T) {
	a, errA := cuda.Make("dequant", "a", "bf16", "0")
	b, errB := cuda.Make("dequant", "b", "bf16", "0")
	c, errC := cuda.Make("dequant", "c", "f32", "0")
	if errA != nil || errB != nil || errC != nil {
		t.Fatal(errA, errB, errC)
	}
	ha, errA := catalogue.Hash(a)
	hb, errB := catalogue.Hash(b)
	hc, errC := catalogue.Hash(c)
	if ha != hb || ha == hc || errA != nil || errB != nil || errC != nil {
		t.Errorf("%s %s %s, %v %v %v", ha, hb, hc, errA, errB, errC)
	}
}
