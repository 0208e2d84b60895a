// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"context"

	"lathe/golden/pjrt"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/ref"
)

// Form is how the values of samples lie in a program.
type Form struct {
	// Samples is the length of the axis that leads values; 0: the program computes one sample, and there is no such axis.
	Samples int
	// Shared are inputs without that axis, such as weights: all samples read the same value.
	Shared map[*ir.Node]bool
	// Trace makes all nodes results that are neither input nor constant, in graph order (see Traced).
	Trace bool
}

// of is the number of samples that input n has in a program, 0 for one value without an axis of samples.
func (f Form) of(n *ir.Node) int {
	if f.Shared[n] {
		return 0
	}
	return f.Samples
}

// RunForm computes the samples of one execution on a PJRT engine: f.Samples, or one where there is no axis of them. Of
// a shared input the value in the first sample counts.
func RunForm(ctx context.Context, e *pjrt.Engine, g *ir.Graph, samples []ref.Sample, f Form) ([]ref.Sample, error) {
	printed, err := PrintForm(g, f)
	if err != nil {
		return nil, err
	}
	program, err := e.Compile(ctx, printed)
	if err != nil {
		return nil, err
	}
	defer program.Drop(context.WithoutCancel(ctx))
	out := make([]ref.Sample, max(f.Samples, 1))
	return out, runOnce(ctx, program, g, samples, f, out)
}

// runOnce runs a program on the first samples, and appends the values of its results to each sample of out.
func runOnce(ctx context.Context, p *pjrt.Program, g *ir.Graph, samples []ref.Sample, f Form, out []ref.Sample) error {
	results, err := p.Run(ctx, f.batch(g, samples))
	if err != nil {
		return err
	}
	return unbatchAll(g, wanted(g, f.Trace), results, out, max(f.Samples, 1))
}

// spread is a value without an axis of samples, repeated along one.
func (f Form) spread(b *hlo.Builder, v hlo.Value) hlo.Value {
	if f.Samples == 0 {
		return v
	}
	return b.BroadcastTo(v, append([]int{f.Samples}, v.Type().Dims...)...)
}
