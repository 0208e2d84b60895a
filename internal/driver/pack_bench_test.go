// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"testing"

	"lathe/ir/op/sum"
)

// BenchmarkPack has Yosys count the DSPs for each multiplier of 8 bits, one each and two in one.
func BenchmarkPack(b *testing.B) {
	for b.Loop() {
		for plan, unit := range map[string]string{"": "DSP/one", "pack": "DSP/pack"} {
			j := job(b, "digits-mlp", "model.onnx", plan, 0)
			multipliers := 0
			for _, n := range j.HW.Scheduled.Nodes {
				if n.Op == sum.Linear {
					multipliers += n.HW.InLanes * n.HW.OutLanes
				}
			}
			b.ReportMetric(float64(counted(b, j).DSP)/float64(multipliers), unit)
		}
	}
}
