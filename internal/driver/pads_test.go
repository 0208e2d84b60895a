// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"testing"

	"lathe/internal/tools"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// TestPaddedChannels proves a network of 11 channels as the balance mode pads it, and one whose rules ask for lanes
// that only dead channels allow, in front of a depthwise convolution, a sum and a flattened linear.
func TestPaddedChannels(t *testing.T) {
	cases := []struct {
		name, plan string
		channels   int
	}{
		{"balance", "[fold]\nmode = \"balance\"\nfps = 60000\n", 12},
		{"rules", "[quantize]\ndata = \"int(8)\"\nweight = \"int(6)*[0]\"\n" +
			"[[fold.rule]]\nname = \"stem\"\npad_channels = 14\nout_lanes = 7\n" +
			"[[fold.rule]]\nname = \"last\"\nin_lanes = 3\n", 14},
	}
	for _, c := range cases[:tools.Sample(1, len(cases))] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := lowertest.New(t, 5)
			x := b.Add(pointwise.Relu, "relu", nil, b.Conv("stem", b.Input("x", 1, 2, 5, 5), 11, 3, 1, 1, 1, true))
			y := b.Conv("pointwise", b.Conv("depthwise", x, 11, 3, 1, 1, 11, true), 11, 1, 1, 0, 1, true)
			y = b.Conv("conv", b.Add(pointwise.Add, "sum", nil, y, x), 3, 3, 1, 0, 1, true)
			p, err := plan.Parse("plan.toml", []byte(c.plan))
			if err != nil {
				t.Fatal(err)
			}
			j := graphJob(t, b.Done(b.Linear("last", b.Flatten("flat", y), 5, true)), p, 4)
			if got := j.HW.Scheduled.Find("stem").Type.Row(); got != c.channels {
				t.Fatalf("stem computes %d channels, not %d", got, c.channels)
			}
			j.Stalls, j.Seeds, j.Trace = 30, []uint64{1, 2}, true
			check, err := engines(t).Verify(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches != 0 || check.Compared["rtl"] == 0 || check.Compared["pjrt"] == 0 || len(check.Warnings) > 0 {
				t.Errorf("%d of %v codes differ: %v; %q", check.Mismatches, check.Compared, check.First, check.Warnings)
			}
		})
	}
}
