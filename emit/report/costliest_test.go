// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"testing"
)

// TestCostliest: the layer of the largest share of any resource comes first, with all columns, and wires are none.
func TestCostliest(t *testing.T) {
	r := &Report{Device: Device{LUT: 1000, FF: 2000, DSP: 10, BRAM: 4}, Layers: []Layer{
		{Node: "wires", Cycles: 99},
		{Node: "luts", Module: "m", Predicted: &Cells{LUT: 100, FF: 100}},
		{Node: "memory", Module: "m", Predicted: &Cells{LUT: 10, BRAM: 2}},
		{Node: "slow", Module: "m", Cycles: 7},
		{Node: "quick", Module: "m", Cycles: 6},
	}}
	rows := r.Costliest(9)
	var names []string
	for _, row := range rows {
		names = append(names, row[0])
		if len(row) != len(rows[0]) {
			t.Errorf("%d cells below %d heads: %q", len(row), len(rows[0]), row)
		}
	}
	if want := []string{"node", "memory", "luts", "slow", "quick"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if rows[0][3] != "LUT*" || rows[1][2] != "50.00 % of BRAM" || rows[3][2] != "-" || len(r.Costliest(2)) != 3 {
		t.Errorf("%q", rows)
	}
	r.Device = Device{}
	if rows = r.Costliest(1); rows[1][2] != "100.00 % of FF" {
		t.Errorf("without a part: %q", rows[1])
	}
}
