// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"errors"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/lower/loop"
)

// scheduleLoop is Schedule where layers that are alike share one block of units. What is scheduled is the graph of the
// units; the result has all layers, and says which nodes share a unit.
func scheduleLoop(ctx context.Context, g *ir.Graph, plan *Plan, o Options) (*ir.Graph, *Report, error) {
	shared, err := loop.Share(g, plan.Fold.Images)
	var refused *diag.Error
	if errors.As(err, &refused) && plan.Fold.LayersFrom != "" {
		err = refused.WithNote("set by %s", plan.Fold.LayersFrom)
	}
	if err != nil {
		return nil, nil, err
	}
	units, report, err := scheduleMode(ctx, shared.Units, plan, o)
	if err != nil {
		return nil, nil, err
	}
	report.note("%d layers share one block of %d nodes: the first ends in %q, the last in %q; a sample takes %d "+
		"turns", shared.Layers, shared.Nodes, shared.First, shared.Last, shared.Layers)
	if b := plan.Fold.Images; b > 1 {
		report.note("%d samples at a time are in them: a group of fewer waits for more, or for TLAST", b)
	}
	all := ring.Unrolled(units, shared.Copies)
	return all, report, all.Check()
}
