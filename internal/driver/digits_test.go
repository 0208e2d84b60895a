// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"fmt"
	"testing"

	"lathe/internal/tools"
	"lathe/ir/op/pointwise"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// TestDigits proves layers whose vectors go into the sums digit by digit: linear layers, windows with padding and
// strides, depthwise ones, in formats of random widths, with zero points and per-channel scales, and that samples take
// the cycles that were predicted.
func TestDigits(t *testing.T) {
	cases := []string{"[quantize]\ndata = \"int(7,z=3)*0.05\"\nweight = \"int(5)*[0]\"\n", "",
		"[quantize]\ndata = \"fixed(11)\"\nweight = \"fixed(4)\"\nround = \"even\"\n",
		"[quantize]\ndata = \"fixed(5)\"\nweight = \"fixed(9)\"\noverflow = \"wrap\"\n",
		"[quantize]\ndata = \"uint(8)*0.03\"\nweight = \"int(3)*[0]\"\n"}
	for i, c := range cases[:tools.Sample(1, len(cases))] {
		digits := []int{2, 1, 4}[i%3]
		t.Run(fmt.Sprint(i, digits), func(t *testing.T) {
			t.Parallel()
			b := lowertest.New(t, uint64(i))
			x := b.Add(pointwise.Relu, "relu", nil, b.Conv("conv", b.Input("x", 1, 2, 6, 5), 4, 3, 2, 1, 1, true))
			x = b.Conv("depthwise", x, 4, 3, 1, 1, 4, true)
			x = b.Linear("wide", b.Flatten("flat", x), 7, true)
			text := fmt.Sprintf("%s[fold]\nmode = \"unroll\"\n[unroll]\ndigits = %d\neffort = 16\n", c, digits)
			p, err := plan.Parse("plan.toml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			j := graphJob(t, b.Done(b.Linear("last", b.Add(pointwise.Relu, "act", nil, x), 5, true)), p, 4)
			serial := 0
			for _, u := range j.HW.Design.Units {
				if u.Sums != nil && u.Sums.Digits == digits {
					serial++
				}
			}
			if serial < 3 {
				t.Fatalf("%d layers come digit by digit", serial)
			}
			j.Stalls, j.Seeds, j.Trace = 30, []uint64{1, 2}, true
			check, err := engines(t).Verify(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches != 0 || check.Compared["rtl"] == 0 || check.Compared["pjrt"] == 0 || len(check.Warnings) > 0 {
				t.Errorf("%d of %v codes differ: %v; %q", check.Mismatches, check.Compared, check.First, check.Warnings)
			}
			if predicted := j.HW.Schedule.Interval(); check.II != predicted {
				t.Errorf("%g cycles a sample, predicted %g", check.II, predicted)
			}
		})
	}
}
