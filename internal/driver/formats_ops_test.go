// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/diag"
	"lathe/internal/difftest"
	"lathe/internal/driver"
	"lathe/internal/driver/proof"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/lower/plan"
)

// opsRefused are the codes of errors that refuse an operation in a format: for its bits, for a form that has no
// hardware, for what the operation makes, or because nothing bounds the values that a random graph computes.
var opsRefused = append([]diag.Code{"L0407", "L0310", "L0410"}, tooWide...)

// TestOperationsInFormats compares all engines on operations whose data have a format that is drawn: all that quantized
// graphs have, side by side, in make test a few of them.
func TestOperationsInFormats(t *testing.T) {
	e := withKernels(t, engines(t))
	data, _ := proof.FormatLists()
	for _, f := range tools.Few(1, data) {
		t.Run(f, func(t *testing.T) {
			t.Parallel()
			q := operations(t, proof.Formats{Data: f, Weight: "fixed(8)"})
			hw, err := q.Emit(t.Context(), verilog.Options{Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			j := driver.Job{HW: hw, Stalls: 30, Seeds: []uint64{1}}
			if j.Samples, err = driver.RandomSamples(hw.Scheduled, tools.Sample(20, 200), 1); err != nil {
				t.Fatal(err)
			}
			check, err := e.Verify(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			for _, engine := range []string{"pjrt", "cuda", "rtl"} {
				if check.Mismatches != 0 || check.Compared[engine] < check.Outputs || check.Outputs == 0 {
					t.Fatalf("%d of %d codes differ, %s has %d: %v", check.Mismatches, check.Outputs, engine,
						check.Compared[engine], check.First)
				}
			}
			t.Logf("%d operations, %d outputs", len(hw.Scheduled.Out), check.Outputs)
		})
	}
}

// operations quantizes one graph of each operation under the plan, and puts those that hardware takes side by side.
func operations(t *testing.T, f proof.Formats) *driver.Quantized {
	t.Helper()
	plan, err := f.Plan()
	if err != nil {
		t.Fatal(err)
	}
	ops := difftest.Ops()
	if !tools.Long {
		rand.New(rand.NewPCG(5, 5)).Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	}
	var taken []*ir.Graph
	for i, o := range ops {
		if o.Traits.FloatOnly || !tools.Long && len(taken) == 8 {
			continue
		}
		g, r := difftest.Case(o, i)
		if g.Stage == ir.StageFloat {
			continue
		}
		if g, err = difftest.Float(r, g); err != nil {
			t.Fatal(err)
		}
		switch _, err := emitsUnder(t.Context(), g, plan); {
		case err == nil:
			taken = append(taken, g)
		case !slices.Contains(opsRefused, diag.CodeOf(err)):
			t.Errorf("%s, data %s: %v", o.Name, f.Data, err)
		}
	}
	if len(taken) < 8 {
		t.Fatalf("%s is taken by %d operations only", f.Data, len(taken))
	}
	all := difftest.Merge(fmt.Sprint(len(taken), "_operations"), taken)
	q, err := driver.Source{}.QuantizeUnder(t.Context(), all, plan)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func emitsUnder(ctx context.Context, g *ir.Graph, plan *plan.Plan) (*driver.Hardware, error) {
	q, err := driver.Source{}.QuantizeUnder(ctx, g, plan)
	if err != nil {
		return nil, err
	}
	return q.Emit(ctx, verilog.Options{Version: "test"})
}
