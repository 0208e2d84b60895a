// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"testing"

	"lathe/ir/unit"
	"lathe/lower/plan"
)

// TestPace: a rate is missed where a sample takes more cycles than the plan leaves it, or than were promised.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		ii, fps  float64
		promised float64 // 0: not in the balance mode
		missed   bool
	}{
		{ii: 250, fps: 1e6},
		{ii: 250.5, fps: 1e6, missed: true},
		{ii: 230, fps: 1e6, promised: 192, missed: true},
		{ii: 192, fps: 1e6, promised: 192},
		{ii: 230, promised: 192, missed: true},
		{ii: 230, promised: 230},
		{ii: 230},
	} {
		plan := plan.Default()
		plan.Target.ClockMHz, plan.Fold.FPS = 250, c.fps
		var promised *unit.Balance
		if c.promised > 0 {
			promised = &unit.Balance{Cycles: c.promised}
		}
		check := Check{II: c.ii}
		check.pace(plan, promised)
		if (check.Missed != "") != c.missed {
			t.Errorf("%+v: %q", c, check.Missed)
		}
	}
	slow := Check{II: 1016064}
	if slow.pace(plan.Default(), &unit.Balance{Cycles: 1e6}); slow.Missed !=
		"a sample takes 1016064 cycles, 1000000 were promised" {
		t.Errorf("large numbers in full: %q", slow.Missed)
	}
}
