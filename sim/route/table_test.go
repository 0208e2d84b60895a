// SPDX-License-Identifier: Apache-2.0

package route

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSteps: a carry chain is one step in logic and one in wires, wherever the path comes by.
func TestSteps(t *testing.T) {
	hop := func(kind, signal string, ns float64) Hop { return Hop{Kind: kind, Signal: signal, NS: ns} }
	r := &Report{Path: []Hop{hop("clock to output", "a", 0.5), hop("wire", "a", 1), hop("logic", "sum", 0.5),
		hop("wire", "sum", 0), hop("logic", "sum", 0.25), hop("wire", "sum", 0.125), hop("logic", "sum", 0.25),
		hop("wire", "b", 2), hop("logic", "sum", 1), hop("setup", "sum", 0)}}
	want := []Hop{hop("clock to output", "a", 0.5), hop("wire", "a", 1), hop("logic", "sum", 1), hop("wire", "sum", 0.125),
		hop("wire", "b", 2), hop("logic", "sum", 1), hop("setup", "sum", 0)}
	if diff := cmp.Diff(want, r.Steps()); diff != "" {
		t.Error(diff)
	}
	if (&Report{}).Steps() != nil {
		t.Error("steps of no path")
	}
}
