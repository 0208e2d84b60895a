// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
)

// TestCases demands of every case what all devices need of it: a name of its own, launches that fit, buffers for every
// argument.
func TestCases(t *testing.T) {
	cases, err := Cases()
	if err != nil || len(cases) == 0 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	seen := map[string]bool{}
	for _, c := range cases {
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
	rows, err := Rows()
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
			u, ok := Record{}, k.Record != nil
			if ok {
				u = *k.Record
			}
			if on, there := u.On("sm_90a"); !there || on.Registers == 0 || k.Status() != "compiled, emulated" {
				t.Errorf("%s: %+v, %s", k.Instance, u, k.Status())
			}
			if k.Cases < 1 || !strings.HasPrefix(k.Instance.String(), "dequant<") {
				t.Errorf("%+v", k)
			}
		}
	}
}

// TestCurrent demands that every kernel of every case is recorded, from the source that it has now, and nothing else.
func TestCurrent(t *testing.T) {
	rows, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	records, err := Records()
	if err != nil {
		t.Fatal(err)
	}
	kernels := 0
	for _, r := range rows {
		for _, k := range r.Kernels {
			kernels++
			hash, err := Hash(k.Instance)
			if err != nil {
				t.Fatal(err)
			}
			if k.Record == nil || k.Record.Source != hash || len(k.Record.Registers) == 0 {
				t.Errorf("%s is not recorded as it is now: go test -tags long ./cuda/catalogue -run TestRecord -update && make gen",
					k.Instance)
			}
			if k.Cases > k.Timed && k.Status() != "compiled, emulated" {
				t.Errorf("%s: %s, but it has cases to be emulated", k.Instance, k.Status())
			}
		}
	}
	if len(records) != kernels {
		t.Errorf("%d records of %d kernels", len(records), kernels)
	}
}

// TestShard demands that the gates of a short run see every kernel, and every architecture.
func TestShard(t *testing.T) {
	rows, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	var all []cuda.Instance
	for _, r := range rows {
		for _, k := range r.Kernels {
			all = append(all, k.Instance)
		}
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
	ha, errA := Hash(a)
	hb, errB := Hash(b)
	hc, errC := Hash(c)
	if ha != hb || ha == hc || errA != nil || errB != nil || errC != nil {
		t.Errorf("%s %s %s, %v %v %v", ha, hb, hc, errA, errB, errC)
	}
}
