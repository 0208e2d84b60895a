// SPDX-License-Identifier: Apache-2.0

package training

import (
	"context"
	"fmt"
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
)

// seenForSteps is on how many samples steps begin that are no powers of two.
const seenForSteps = 256

// learnScales has the steps of the model trained, and notes which values keep theirs.
func (p *prepared) learnScales(ctx context.Context, q *driver.Quantized) error {
	means, err := p.means(ctx, q)
	if err != nil {
		return err
	}
	kept, err := p.model.LearnScales(means)
	if len(kept) > 0 {
		p.notes = append(p.notes, fmt.Sprintf("the steps of %s stay: operations other than layers, relu, clip, casts and "+
			"moves make or read these values", diag.Several(kept)))
	}
	return err
}

// means are the mean magnitudes that values have in the float model, by node; those below 0 count as 0 where codes have
// no sign. nil where all steps are powers of two.
func (p *prepared) means(ctx context.Context, q *driver.Quantized) (map[string]float64, error) {
	real := func(n *ir.Node) bool {
		return !n.IsConst() && format.StepIn(n.Type.Format) == format.AnyStep
	}
	if !slices.ContainsFunc(q.Graph.Nodes, real) {
		return nil, nil
	}
	lowered := q.Report.Lowered
	samples, _, err := driver.Samples(lowered, p.data.File)
	if err != nil {
		return nil, err
	}
	r, err := ref.New(lowered)
	if err != nil {
		return nil, err
	}
	samples = samples[:min(len(samples), seenForSteps)]
	parts := make([]map[string]float64, len(samples)) // added in order
	err = r.Trace(ctx, samples, func(s int, values []*ir.Tensor) error {
		sums := map[string]float64{}
		for i, n := range lowered.Nodes {
			made := q.Graph.Find(n.Name)
			if made == nil || !real(made) || values[i] == nil || len(values[i].Floats) == 0 {
				continue
			}
			lo, _ := made.Type.Format.Limits()
			for _, v := range values[i].Floats {
				if x := float64(v); x > 0 || lo.Float64() < 0 {
					sums[n.Name] += math.Abs(x) / float64(len(values[i].Floats)*len(samples))
				}
			}
		}
		parts[s] = sums
		return nil
	})
	out := map[string]float64{}
	for _, sums := range parts {
		for name, v := range sums {
			out[name] += v
		}
	}
	return out, err
}
