// SPDX-License-Identifier: Apache-2.0

package float

import (
	"context"
	"slices"

	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/float/recognize"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// State is what the passes of float graphs share beside the graph.
type State struct {
	// Chosen says that the user has named the outputs of the model.
	Chosen bool
	// Recognized counts the operations that patterns have made, by pass.
	Recognized []recognize.Found
	// Notes are facts about the model that the user should know.
	Notes []string
}

// Report tells what became of a float graph.
type Report struct {
	pass.Report
	// Recognized counts the operations that patterns have made, by pass.
	Recognized []recognize.Found
}

// Simplify runs the passes that keep a graph float: the form that quantization starts from. g is not changed.
func Simplify(ctx context.Context, g *ir.Graph, o pass.Options) (*ir.Graph, error) {
	c := g.Clone()
	r := NewRunner(ctx, c, plan.Default(), nil, &pass.Report{}, o)
	return c, pass.Run(r, &State{}, slices.Concat(pass.Pipeline[*State]{Constants}, Pipeline), c)
}

// NewRunner runs passes over g on some of the samples that are known, else on random ones, in the ranges that the plan
// declares, if Options.Verify asks for them.
func NewRunner(ctx context.Context, g *ir.Graph, plan *plan.Plan, known []ref.Sample, report *pass.Report,
	o pass.Options) *pass.Runner {
	samples := known[:min(len(known), pass.VerifySamples)]
	if len(samples) == 0 && o.Verify {
		samples = pass.CallerLayout(g, Random(g, plan, o.Seed, pass.VerifySamples))
	}
	return pass.NewRunner(ctx, report, samples, o)
}

// Named runs the passes of the first names that are those of passes of float graphs, in place, and says how many.
func Named(ctx context.Context, g *ir.Graph, plan *plan.Plan, names []string, o pass.Options) (ran int, err error) {
	p := slices.Concat(Ending, Lengths, Admission, Pipeline, Recognizing).Named(names)
	return len(p), pass.Run(NewRunner(ctx, g, plan, nil, &pass.Report{}, o), &State{}, p, g)
}

// only is pass.Only of this stage.
var only = pass.Only[*State]
