// SPDX-License-Identifier: Apache-2.0

//go:build long

package proof

import (
	"testing"

	"lathe/internal/evidence"
)

// TestCurrent holds the uses of docs/evidence to the circuits that the examples become.
func TestCurrent(t *testing.T) {
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Survey(t.Context(), examples, e.Edges, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(e.Uses) {
		t.Fatalf("%d designs, docs/evidence has %d: run `scripts/measure results`", len(all), len(e.Uses))
	}
	for i, d := range all {
		if d.Use != e.Uses[i] {
			t.Errorf("%+v, docs/evidence has %+v: run `scripts/measure results`", d.Use, e.Uses[i])
		}
	}
}
