// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
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
