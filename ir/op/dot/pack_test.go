// SPDX-License-Identifier: Apache-2.0

package dot

import (
	"strings"
	"testing"
)

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
		got := PackWidths(c.x, c.signed, c.w)
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
		lanes, got := Shared(c.x, c.signed, c.w)
		if lanes != c.lanes || (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%d %v by %d: %d, %q, want %d, %q", c.x, c.signed, c.w, lanes, got, c.lanes, c.want)
		}
	}
}
