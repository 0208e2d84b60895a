// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"time"

	"lathe/emit/verilog"
	"lathe/internal/choose"
	"lathe/internal/diag"
	"lathe/internal/driver"
)

// measuredSamples bounds the samples that the design of a trial is simulated on.
const measuredSamples = 64

// measureBest emits the designs of the best trials, counts their cells and simulates them, until what stands there is
// measured: a trial that takes more than was predicted may make room for another one. wrong says that a design computes
// something else than the reference.
func (a *App) measureBest(ctx context.Context, b *searchStudy) (wrong bool, err error) {
	p := progress{app: a}
	defer p.finish()
	for count := 0; ; {
		best, err := b.Best(ctx)
		if err != nil {
			return wrong, err
		}
		again := false
		for _, n := range best {
			m, ok := b.Measured(n)
			if !ok {
				again = true
				p.Report(fmt.Sprintf("measure trial %d", n), count, 0)
				if err := a.measureTrial(ctx, b, n, &p); err != nil {
					return wrong, err
				}
				m, _ = b.Measured(n)
				count++
			}
			wrong = wrong || m.Mismatches > 0
		}
		if again {
			continue
		}
		p.finish()
		fmt.Fprintf(a.Out, "measured %s: emitted, counted by Yosys, simulated by Verilator\n", diag.Amount(count, "design"))
		return wrong, nil
	}
}

// measureTrial measures one.
func (a *App) measureTrial(ctx context.Context, b *searchStudy, n int, p *progress) error {
	t, err := b.Trial(ctx, n)
	if err != nil {
		return err
	}
	o, err := b.space.Try(ctx, b.model, t.Params, nil) // which has the same bits again
	if err != nil {
		return err
	}
	hw, err := o.Trial.Quantized.Emit(ctx, verilog.Options{Version: Version})
	if err != nil {
		return err
	}
	job, err := o.Meter.Job(hw, measuredSamples)
	if err != nil {
		return err
	}
	job.Progress = p.Report
	check, err := (driver.Engines{Cache: a.Env.Cache, NoPJRT: true, Now: time.Now}).Verify(ctx, *job)
	if err != nil {
		return err
	}
	r, err := countCells(ctx, hw, p)
	if err != nil {
		return err
	}
	m := b.space.Measured(o, choose.Cost{LUT: r.Total.LUT, FF: r.Total.FF, DSP: r.Total.DSP, BRAM: r.Total.BRAM(),
		Interval: check.II})
	m.Samples, m.Mismatches = check.Samples, check.Mismatches
	return b.SetMeasured(ctx, n, m)
}
