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
