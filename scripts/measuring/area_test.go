// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"testing"

	"lathe/internal/evidence"
	"lathe/internal/tools"
	"lathe/ir/target"
)

// TestAreas: the pages of areas are what the lines of evidence print, which are about the designs that are counted, in
// their order. DSPs are exact, LUTs within 15 % on average, for an ECP5 within 8 %. Today's compiler predicts what the
// lines say, of a drawn design, in a long run of all.
func TestAreas(t *testing.T) {
	t.Chdir("../..")
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := allAreas()
	if err != nil {
		t.Fatal(err)
	}
	same := func(a evidence.Area, d sized) bool { return a.Model == d.model && a.Plan == d.plan && a.Part == d.part }
	if !slices.EqualFunc(e.Areas, all, same) {
		t.Fatalf("%d lines are not about the %d designs: run `scripts/measure area` and `area-ecp5`", len(e.Areas), len(all))
	}
	for part, most := range map[string]float64{target.Default: 15, evidence.TimingPart: 8} {
		if r, err := e.AreaErrors(part); err != nil || r.LUT > most {
			t.Errorf("%s: LUTs are off by %.1f %% on average (%v)", part, r.LUT, err)
		}
	}
	sums := func(s evidence.Sum, u few) bool { return s.Name == u.name && s.Codec == u.codec && s.LUT > 0 }
	if !slices.EqualFunc(e.Sums, fewBits(), sums) {
		t.Errorf("%d lines are not about the units of few bits: run `scripts/measure area-few-bits`", len(e.Sums))
	}
	now, err := os.ReadFile(areaPage)
	if err != nil || e.AreaPage(target.Default, string(now)) != string(now) {
		t.Errorf("%s is not what evidence prints (%v): run `scripts/measure print`", areaPage, err)
	}
	now, err = os.ReadFile(ecp5Page)
	if err != nil || e.AreaECP5Page(evidence.TimingPart) != string(now) {
		t.Errorf("%s is not what evidence prints (%v): run `scripts/measure print`", ecp5Page, err)
	}
	for _, i := range tools.Drawn(1, len(all)) {
		_, said, err := all[i].predict(t.Context())
		if err != nil || said != e.Areas[i].Predicted {
			t.Errorf("%+v: %+v predicted (%v), %+v when it was counted: count it anew", all[i], said, err, e.Areas[i].Predicted)
		}
	}
}
