// SPDX-License-Identifier: Apache-2.0

// Package lower takes every decision between an imported model and a design: it simplifies the float graph (float),
// chooses number formats (quantize), and chooses how much hardware each node gets (schedule) or which nodes a GPU
// computes together (kernels). Each decision is a pass; pipeline.go of each room lists them. What the user may choose
// is in plan; how passes run is in pass.
package lower

import (
	"context"

	"lathe/cuda"
	"lathe/ir"
	"lathe/lower/kernels"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/lower/schedule"
)

// Quantize lowers a float graph to one in which every value has a number format. g is not changed. The report tells
// what was decided and what it cost in accuracy.
func Quantize(ctx context.Context, g *ir.Graph, p *plan.Plan, c quantize.Calibration, o quantize.Options) (*ir.Graph,
	*quantize.Report, error) {
	return quantize.Run(ctx, g, p, c, o)
}

// Schedule decides lanes, styles and memories of a quantized graph, joins streams of different width, and takes latency
// and initiation interval from the module headers. g is not changed.
func Schedule(ctx context.Context, g *ir.Graph, p *plan.Plan, o schedule.Options) (*ir.Graph, *schedule.Report, error) {
	return schedule.Run(ctx, g, p, o)
}

// Kernels prepares a float or quantized graph for a GPU: see kernels.Run.
func Kernels(ctx context.Context, g *ir.Graph, p kernels.Precision, target cuda.Target, o kernels.Options) (*ir.Graph,
	*kernels.Report, error) {
	return kernels.Run(ctx, g, p, target, o)
}
