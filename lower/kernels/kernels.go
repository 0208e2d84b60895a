// SPDX-License-Identifier: Apache-2.0

// Package kernels prepares graphs for GPUs: it chooses the precision of values, and which nodes a kernel computes
// together.
package kernels

import (
	"context"
	"slices"

	"lathe/cuda"
	"lathe/ir"
	"lathe/ir/op/sequence"
	"lathe/lower/float"
	"lathe/lower/float/recognize"
	"lathe/lower/kernels/fuse"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// Report tells what became of a graph on its way to kernels.
type Report struct {
	pass.Report
	// Recognized counts the operations that patterns have made, by pass.
	Recognized []recognize.Found
	// Borders are the values between kernels of a GPU.
	Borders []fuse.Border
}

// Options are about the running of passes.
type Options struct {
	pass.Options
	// Unfused leaves every node a group of its own: for comparison.
	Unfused bool
}

// stage is what the passes share beside the graph.
type stage struct {
	precision Precision
	report    *Report
	target    cuda.Target
}

// Run prepares a float or quantized graph for a GPU: in float graphs operations that an exporter has decomposed are
// whole again, as they round once, networks of images are in the form that quantization starts from, channels last, and
// values have the precision; then nodes are grouped, each group a kernel where that can be, and HW.Group names them,
// unless o leaves them alone. g is not changed, and every engine computes what is returned. The report holds the
// borders between groups, and what was recognized. The CUDA columns are asked for kernels for target.
func Run(ctx context.Context, g *ir.Graph, precision Precision, target cuda.Target, o Options) (*ir.Graph, *Report,
	error) {
	c, report := g.Clone(), &Report{}
	if g.Stage == ir.StageFloat {
		var err error
		var found *float.Report
		if c, found, err = float.Recognize(ctx, g, o.Options); err != nil {
			return nil, nil, err
		}
		report.Report, report.Recognized = found.Report, found.Recognized
		if precision.Halved() && ofImages(c) {
			s := &float.State{Recognized: report.Recognized}
			if err := pass.Run(newRunner(ctx, c, report, o.Options), s, float.Pipeline, c); err != nil {
				return nil, nil, err
			}
			report.Recognized = s.Recognized
		}
	}
	p := Pipeline
	if o.Unfused {
		p = Pipeline.Upto(float.Constants.Name)
	}
	s := &stage{precision: precision, report: report, target: target}
	err := pass.Run(newRunner(ctx, c, report, o.Options), s, p, c)
	return c, report, err
}

func newRunner(ctx context.Context, g *ir.Graph, report *Report, o pass.Options) *pass.Runner {
	return float.NewRunner(ctx, g, plan.Default(), nil, &report.Report, o)
}

// ofImages says that g convolves planes, and has no heads whose moves a change of axes would hide.
func ofImages(g *ir.Graph) bool {
	planes := func(n *ir.Node) bool {
		last := n.Op.Traits.Last
		return n.Op.Traits.Weighted && last != nil && !*last(n.Attrs)
	}
	return slices.ContainsFunc(g.Nodes, planes) &&
		!slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return sequence.ReadsStrides(n.Op) })
}

// Named runs the passes of the first names that are those of passes of this stage, in place, for every GPU, and says
// how many.
func Named(ctx context.Context, g *ir.Graph, _ *plan.Plan, names []string, o pass.Options) (ran int, err error) {
	p, report := Pipeline.Named(names), &Report{}
	s := &stage{report: report, target: cuda.Portable()}
	return len(p), pass.Run(newRunner(ctx, g, report, o), s, p, g)
}

// only is pass.Only of this stage.
var only = pass.Only[*stage]
