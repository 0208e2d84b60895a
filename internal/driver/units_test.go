// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/op"
	"lathe/lower"
	"lathe/lower/schedule"
	"lathe/rtl"
)

// balancedSource is a model with branches, quantized for a plan that balances.
func balancedSource(t testing.TB, model, plan string) *driver.Quantized {
	t.Helper()
	dir := examples + model + "/"
	return quantized(t, driver.Source{Model: dir + "model.onnx", Plan: examples + "plans/" + plan + ".toml",
		Calibrate: dir + "calib.npz"})
}

// TestPlannedOnce counts how often the RTL columns are asked while a model is balanced, scheduled and emitted: once for
// each hardware that a node is given, and once more for the hardware that weighing, which forgets what it has weighed,
// puts into a schedule. It runs alone, since it changes the columns of all operations.
func TestPlannedOnce(t *testing.T) {
	q := balancedSource(t, "digits-resnet", "budget")
	var mu sync.Mutex
	plans := map[string]int{}
	for _, o := range op.All {
		column := o.RTL
		if column == nil {
			continue
		}
		o.RTL = func(n *ir.Node) (*rtl.Unit, error) {
			hw := n.HW
			hw.II, hw.Latency = 0, 0
			mu.Lock()
			plans[fmt.Sprintf("%s %s %+v", n.Name, n.Type, hw)]++
			mu.Unlock()
			return column(n)
		}
		t.Cleanup(func() { o.RTL = column })
	}
	hw, err := q.Emit(t.Context(), verilog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	again := 0
	for what, times := range plans {
		if times > 1 {
			again++
		}
		if times > 2 {
			t.Errorf("planned %d times: %s", times, what)
		}
	}
	if 20*again > len(plans) {
		t.Errorf("%d of %d units are planned again", again, len(plans))
	}
	t.Logf("%d units, %d of them planned again", len(plans), again)
	if len(plans) < 10*len(hw.Design.Units) {
		t.Errorf("%d plans for %d units: nothing was weighed", len(plans), len(hw.Design.Units))
	}
}

// BenchmarkScheduleBalanced is the choice of foldings for a residual network, in CPU time.
func BenchmarkScheduleBalanced(b *testing.B) {
	cpu := func() float64 {
		var used syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
		return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e6
	}
	for _, plan := range []string{"budget", "fps", "fps_high"} {
		b.Run(plan, func(b *testing.B) {
			q := balancedSource(b, "digits-resnet", plan)
			from := cpu()
			for b.Loop() {
				if _, _, err := lower.Schedule(b.Context(), q.Graph, q.Plan, schedule.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpu()-from)/float64(b.N), "cpu-ms/op")
		})
	}
}
