// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/target"
)

// TestPackedOnParts: a DSP of 18 by 18 bits takes two products of short factors alone; one without takes none.
func TestPackedOnParts(t *testing.T) {
	for _, c := range []struct {
		part string
		x, w int
		fits bool
	}{
		{"xczu9eg", 8, 8, true}, {"xc7a35t", 8, 8, true}, {"xc7a35t", 10, 8, false}, {"ecp5-85k", 8, 8, false},
		{"ecp5-85k", 5, 6, true}, {"ice40-hx8k", 5, 6, false},
	} {
		d, err := target.Find(c.part)
		if err != nil {
			t.Fatal(err)
		}
		n := &ir.Node{HW: ir.HW{Part: d}}
		if got := PackWidths(n, c.x, true, c.w); (got == "") != c.fits {
			t.Errorf("%s: %d by %d: %q", c.part, c.x, c.w, got)
		}
	}
}

// TestPackWidths has the widest pairs that fit, the next wider, and those that are no DSPs.
func TestPackWidths(t *testing.T) {
	for _, c := range []struct {
		x      int
		signed bool
		w      int
		want   string
	}{
		{8, true, 8, ""}, {8, false, 8, ""}, {10, true, 8, ""}, {11, true, 8, "do not fit"}, {8, true, 9, ""},
		{8, true, 10, "do not fit"}, {18, true, 4, ""}, {17, false, 4, ""}, {18, false, 4, "do not fit"},
		{19, true, 3, "do not fit"}, {4, true, 4, "take LUTs"}, {1, true, 12, "take LUTs"}, {1, false, 12, ""},
	} {
		got := PackWidths(new(ir.Node), c.x, c.signed, c.w)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%d %v by %d: %q, want %q", c.x, c.signed, c.w, got, c.want)
		}
	}
}

// TestShared has the widest products of which four share a DSP, and those of which two do.
func TestShared(t *testing.T) {
	for _, c := range []struct {
		x      int
		signed bool
		w      int
		lanes  int
		want   string
	}{
		{4, true, 4, 4, ""}, {4, false, 4, 4, ""}, {3, false, 4, 4, ""}, {5, true, 3, 4, ""}, {6, true, 2, 4, ""},
		{3, true, 5, 4, "four products of 3 bits"}, {1, true, 4, 4, "take LUTs"},
		{1, false, 4, 4, ""}, {4, true, 1, 4, "take LUTs"},
		{5, true, 4, 2, ""}, {8, true, 8, 2, ""}, {11, true, 8, 2, "two products of 11 bits"},
	} {
		lanes, got := Shared(new(ir.Node), c.x, c.signed, c.w)
		if lanes != c.lanes || (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%d %v by %d: %d, %q, want %d, %q", c.x, c.signed, c.w, lanes, got, c.lanes, c.want)
		}
	}
}
