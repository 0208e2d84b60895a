// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"strings"
	"testing"
)

// TestGained: a loss of accuracy is harm, a loss of decibels only where accuracy is not known or stays.
func TestGained(t *testing.T) {
	low, high := 0.5, 0.6
	for _, c := range []struct {
		before, after quality
		harm          bool
	}{
		{quality{10, nil}, quality{9, nil}, true}, {quality{10, nil}, quality{10, nil}, false},
		{quality{10, &low}, quality{9, &high}, false}, {quality{9, &high}, quality{10, &low}, true},
		{quality{10, &low}, quality{9, &low}, true}, {quality{10, &low}, quality{9, nil}, true},
	} {
		var r Report
		r.gained("it is done", c.before, c.after, 7)
		text := strings.Join(append(r.Notes, r.Warnings...), "")
		if len(r.Warnings) > 0 != c.harm || !strings.HasPrefix(text, "it is done: SQNR of the outputs ") ||
			strings.Contains(text, "does harm") != c.harm {
			t.Errorf("%+v: %q, %q", c, r.Notes, r.Warnings)
		}
	}
}
