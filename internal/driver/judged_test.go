// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"testing"

	"lathe/ir/target"
	"lathe/lower/plan"
	"lathe/sim/route"
)

// TestJudged: a clock is judged by the one asked for, and a part by that of the plan, whatever name it has.
func TestJudged(t *testing.T) {
	d, err := target.Find("ecp5-25k")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		part  string
		mhz   float64
		asked float64
		want  string
	}{
		{"ecp5-25k", 120, 100, "meets the 100 MHz asked for"},
		{d.Part, 99.9, 100, "misses the 100 MHz asked for"},
		{"ecp5-85k", 100, 100, "meets the 100 MHz asked for, on another part than that of the plan, " + d.Part},
	} {
		got := judged(&route.Report{Part: c.part, MHz: c.mhz}, &plan.Target{FPGA: *d, ClockMHz: c.asked})
		if got != c.want {
			t.Errorf("%s at %g MHz: %q, want %q", c.part, c.mhz, got, c.want)
		}
	}
}
