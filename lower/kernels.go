// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"slices"

	"lathe/ir"
)

// Kernels prepares a float or quantized graph for a GPU: in float graphs operations that an exporter has decomposed are
// whole again, as they round once, networks of images are in the form that quantization starts from, channels last, and
// values have precision p; then nodes are grouped, each group a kernel where that can be, and HW.Group names them,
// unless o leaves them alone. g is not changed, and every engine computes what is returned. The report holds the
// borders between groups, and what was recognized.
func Kernels(ctx context.Context, g *ir.Graph, p Precision, o Options) (*ir.Graph, *Report, error) {
	c, s := g.Clone(), &State{Plan: DefaultPlan(), Report: &Report{}}
	if g.Stage == ir.StageFloat {
		var err error
		if c, s.Report, err = Recognize(ctx, g, o); err != nil {
			return nil, nil, err
		}
		if p.Halved() && ofImages(c) {
			if err := newRunner(ctx, c, s, o).run(s, FloatPipeline, c); err != nil {
				return nil, nil, err
			}
		}
		if c, err = p.Apply(c); err != nil {
			return nil, nil, err
		}
	}
	if o.Unfused {
		return c, s.Report, nil
	}
	err := newRunner(ctx, c, s, o).run(s, KernelPipeline, c)
	return c, s.Report, err
}

// ofImages says that g convolves planes, and has no heads whose moves a change of axes would hide.
func ofImages(g *ir.Graph) bool {
	planes := func(n *ir.Node) bool {
		last := n.Op.Traits.Last
		return n.Op.Traits.Weighted && last != nil && !*last(n.Attrs)
	}
	return slices.ContainsFunc(g.Nodes, planes) &&
		!slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return n.Op.Traits.Strided })
}
