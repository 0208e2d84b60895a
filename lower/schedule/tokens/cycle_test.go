// SPDX-License-Identifier: Apache-2.0

package tokens_test

import (
	"testing"

	"lathe/internal/difftest"
	"lathe/ir/unit"
	"lathe/lower"
	"lathe/lower/plan"
	"lathe/lower/schedule"
	"lathe/lower/schedule/tokens"
)

// TestProven: a FIFO that a cycle of waiting units proves to be needed is: without it random networks stop, however
// deep all others are. Nearly all that are needed are proven so.
func TestProven(t *testing.T) {
	proven, fifos := 0, 0
	plan := plan.Default()
	plan.Fold.Mode = "fold" // units of different speed, which need more FIFOs
	for i := range 300 {
		g := difftest.Residual(difftest.Rand("proven", i), i%difftest.Residuals)
		s, _, err := lower.Schedule(t.Context(), g, plan, schedule.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found, all, err := tokens.Proven(t.Context(), s, &unit.Cache{})
		if err != nil {
			t.Fatal(err)
		}
		for name, stops := range found {
			if !stops {
				t.Errorf("network %d: %s is not needed\n%s", i, name, difftest.Describe(s))
			}
		}
		proven, fifos = proven+len(found), fifos+all
	}
	t.Logf("%d of %d FIFOs proven", proven, fifos)
	if fifos < 100 || proven*10 < fifos*8 {
		t.Errorf("%d of %d FIFOs are proven to be needed", proven, fifos)
	}
}
