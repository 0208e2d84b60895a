// SPDX-License-Identifier: Apache-2.0

package space

import (
	"testing"

	"lathe/internal/choose"
	"lathe/search"
)

// TestRepair: a configuration that breaks a limit loses bits until it keeps it, the widest first, and no more than it
// must; one that keeps it stays, and what no width changes is left alone soon.
func TestRepair(t *testing.T) {
	c := study(t)
	const text = "[study]\nobjectives = [\"sqnr max\"]\n[[quantize]]\nslot = [\"weight\"]\n" +
		"format = [\"fixed(2..8, -2..12)\"]\n[constraint]\n"
	read := func(limit string) *Space {
		s, err := Read("s.toml", []byte(text+limit), c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := read("bits = \"<= 20000\"\n")
	var params []search.Param
	for _, p := range s.Parameters {
		v := 4.0
		if width(p.Name) {
			v = 6
		}
		params = append(params, search.Param{Name: p.Name, Dist: p.Dist, Value: v})
	}
	params[0].Value = 8
	cost := func(params []search.Param) float64 {
		p, err := s.Plan(c, params)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Try(t.Context(), p, hardware)
		if err != nil || r.Refused != "" {
			t.Fatalf("%v, %+v", err, r)
		}
		return float64(r.ModelBits)
	}
	got, err := s.Repair(t.Context(), c, params, 32)
	if err != nil || got == nil || cost(params) <= 20000 || cost(got) > 20000 {
		t.Fatalf("%v, %v", got, err)
	}
	least, most := 8.0, 0.0
	for i, p := range got {
		switch {
		case !width(p.Name) && p.Value != params[i].Value:
			t.Errorf("%s changes", p.Name)
		case width(p.Name):
			least, most = min(least, p.Value), max(most, p.Value)
		}
	}
	if most-least > 1 {
		t.Errorf("widths from %g to %g: the widest was not the first", least, most)
	}
	if again, err := s.Repair(t.Context(), c, got, 32); err != nil || again != nil {
		t.Errorf("%v, %v: what keeps its limits is repaired", again, err)
	}
	if none, err := s.Repair(t.Context(), c, params, 1); err != nil || none != nil {
		t.Errorf("%v, %v: more than one repair", none, err)
	}
	s = read("cycles = \"<= 1\"\n")
	if none, err := s.Repair(t.Context(), c, params, 1000); err != nil || none != nil {
		t.Errorf("%v, %v: fewer bits do not take fewer cycles", none, err)
	}
}

// TestMeasured: objectives, limits and figures are those of what was measured; the rest is as it was.
func TestMeasured(t *testing.T) {
	c := study(t)
	s, err := Read("s.toml", []byte("[study]\nobjectives = [\"sqnr max\"]\n[[quantize]]\nformat = [\"fixed(2..8)\"]\n"+
		"[constraint]\ncycles = \"<= 1\"\n"), c)
	if err != nil {
		t.Fatal(err)
	}
	o := &Outcome{Trial: &choose.Trial{}, Meter: c}
	sqnr := 20.0
	o.Trial.SQNR, o.Trial.ModelBits = &sqnr, 5
	if m := s.Measured(o, choose.Cost{LUT: 7, Interval: 3}); m.Values[0] != 20 || m.Violations[0] != 2 ||
		m.Figures["lut"] != 7 || m.Figures["bits"] != 5 || m.Figures["cycles"] != 3 {
		t.Errorf("%+v", m)
	}
}
