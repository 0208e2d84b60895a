// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"testing"

	"lathe/internal/evidence"
)

// TestFormats: docs/formats-exact.md is what the lines of evidence print, which are about the rows that are proven, in
// their order, each by all engines without a mismatch.
func TestFormats(t *testing.T) {
	t.Chdir("../..")
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		t.Fatal(err)
	}
	all := allFormed()
	same := func(a evidence.Format, f formed) bool {
		return a.Model == f.model && a.Data == f.Data && a.Weight == f.Weight
	}
	if !slices.EqualFunc(e.Formats, all, same) {
		t.Fatalf("%d lines are not about the %d rows: run `scripts/measure formats-exact`", len(e.Formats), len(all))
	}
	for _, f := range e.Formats {
		if n := f.Codes; f.Mismatches != 0 || n["pjrt"] < 14500 || n["cuda"] != n["pjrt"] || n["rtl"] <= 3*n["pjrt"] {
			t.Errorf("%s, data %s, weights %s: %v, %d mismatches", f.Model, f.Data, f.Weight, n, f.Mismatches)
		}
	}
	now, err := os.ReadFile(formatsPage)
	if err != nil || e.FormatsPage() != string(now) {
		t.Errorf("%s is not what evidence prints (%v): run `scripts/measure print`", formatsPage, err)
	}
}
