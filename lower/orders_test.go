// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"slices"
	"testing"
	"time"

	"lathe/ir"
	"lathe/lower/float"
	"lathe/lower/kernels"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/lower/schedule"
)

// TestOrders holds the pipelines, one after the other, to the reasons for their order.
func TestOrders(t *testing.T) {
	checkOrders(t, slices.Concat(float.Ending.Promises(), float.Lengths.Promises(), float.Admission.Promises(),
		float.Pipeline.Promises(), quantize.Pipeline.Promises(),
		schedule.Preparation.Promises(), schedule.Pipeline.Promises(),
		schedule.Completion.Promises()), Orders)
	checkOrders(t, float.Recognizing.Promises(), float.RecognizeOrders)
	checkOrders(t, kernels.Pipeline.Promises(), kernels.Orders)
}

func checkOrders(t *testing.T, all []pass.Promise, orders []pass.Order) {
	t.Helper()
	var names []string
	for _, p := range all {
		if p.Doc == "" || slices.Contains(names, p.Name) {
			t.Errorf("pass %s has no description or stands twice", p.Name)
		}
		names = append(names, p.Name)
	}
	for _, o := range orders {
		before, after := slices.Index(names, o.Before), slices.Index(names, o.After)
		if before < 0 || after < 0 || before >= after || o.Why == "" {
			t.Errorf("%s at %d must stand before %s at %d: %s", o.Before, before, o.After, after, o.Why)
		}
	}
	for _, p := range names {
		if !slices.ContainsFunc(orders, func(o pass.Order) bool { return o.Before == p || o.After == p }) {
			t.Errorf("nothing says why %s stands where it does", p)
		}
	}
}

func TestRunOptions(t *testing.T) {
	var dumped []string
	ticks := time.Duration(0)
	o := pass.Options{
		DumpAfter: func(pass string, _ *ir.Graph) { dumped = append(dumped, pass) },
		Clock:     func() time.Duration { ticks += time.Second; return ticks },
	}
	_, r, err := quantize.Run(context.Background(), lowertest.Network(t), plan.Default(), quantize.Calibration{},
		quantize.Options{Options: o})
	if err != nil {
		t.Fatal(err)
	}
	last := len(float.Admission) + len(float.Pipeline) + len(quantize.Pipeline) - 1
	if len(dumped) != last+1 || dumped[0] != "compute_constants" || dumped[last] != "measure_error" {
		t.Errorf("dumped %v", dumped)
	}
	if r.Passes[0].Time != time.Second || r.Passes[0].Verified {
		t.Errorf("%+v", r.Passes[0])
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := quantize.Run(ctx, lowertest.Network(t), plan.Default(), quantize.Calibration{},
		quantize.Options{}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
