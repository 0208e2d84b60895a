// SPDX-License-Identifier: Apache-2.0

package pass

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/ref"
)

// Options are about the running of passes, not about their result.
type Options struct {
	// Verify evaluates the graph before and after each pass and holds the pass to its Effect, and to the invariant that
	// constants are computed (ref.Uncomputed), where it held before.
	Verify bool
	// DumpAfter, if not nil, gets the graph after every pass; it must not change it.
	DumpAfter func(pass string, g *ir.Graph)
	// Begin, if not nil, hears of every pass before it runs.
	Begin func(pass string)
	// Clock, if not nil, times the passes.
	Clock func() time.Duration
	// Shuffle, if not nil, may put the nodes into another topological order after every pass. Tests use it.
	Shuffle func(g *ir.Graph)
	// Seed decides the samples of Verify and of the error report where there is no calibration data.
	Seed uint64
}

// VerifySamples is how many samples Verify evaluates.
const VerifySamples = 4

// Runner runs pipelines over one graph.
type Runner struct {
	Options
	ctx     context.Context
	report  *Report
	samples []ref.Sample // for Verify
	before  []ref.Sample // outputs of the graph before the next pass
}

// NewRunner runs passes and adds to a report; samples, in the layout of the caller, are for Options.Verify.
func NewRunner(ctx context.Context, report *Report, samples []ref.Sample, o Options) *Runner {
	return &Runner{Options: o, ctx: ctx, report: report, samples: samples}
}

// Context is that of the run.
func (r *Runner) Context() context.Context { return r.ctx }

// Run applies the passes in order to g, with what they share. An error of a pass is returned as it is; a pass that
// breaks the graph or its promise is an error L0405 that names it.
func Run[S any](r *Runner, s S, p Pipeline[S], g *ir.Graph) error {
	if r.Verify && r.before == nil {
		out, err := r.evaluate(g)
		if err != nil {
			return err
		}
		r.before = out
	}
	for _, pass := range p {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		var old *ir.Graph
		if r.Verify {
			old = g.Clone()
		}
		if r.Begin != nil {
			r.Begin(pass.Name)
		}
		start := r.now()
		if err := pass.Run(s, g); err != nil {
			return err
		}
		report := Ran{Name: pass.Name, Effect: pass.Effect, Time: r.now() - start}
		if err := g.Check(); err != nil {
			if diag.CodeOf(err) == diag.ValueTooLarge { // sound, and too large: what a composite stands for, such as scores
				return err
			}
			return broken(pass.Promise, g, "leaves a graph that breaks the rules").WithNote("%v", err)
		}
		if r.Shuffle != nil {
			r.Shuffle(g)
		}
		if r.Verify {
			if err := r.verify(pass.Promise, old, g, &report); err != nil {
				return err
			}
		}
		r.report.Passes = append(r.report.Passes, report)
		if r.DumpAfter != nil {
			r.DumpAfter(pass.Name, g)
		}
	}
	return nil
}

func (r *Runner) now() time.Duration {
	if r.Clock == nil {
		return 0
	}
	return r.Clock()
}

// broken reports a fault of Lathe itself.
func broken(p Promise, g *ir.Graph, msg string, args ...any) *diag.Error {
	e := diag.New(diag.PassFault, g.Name, "pass %s %s", p.Name, fmt.Sprintf(msg, args...))
	return e.WithHint("this is a fault of Lathe: report the model, the plan and this message")
}

// evaluate is the outputs of a graph on the sample runs, with layers that share units written out.
func (r *Runner) evaluate(g *ir.Graph) ([]ref.Sample, error) {
	return Outputs(r.ctx, ring.Unrolled(ring.Units(g.Clone()), nil), r.entering(g))
}

// entering are the samples, in which inputs that a pass has added are whole frames: masks of ones.
func (r *Runner) entering(g *ir.Graph) []ref.Sample {
	out := slices.Clone(r.samples)
	for k, s := range r.samples {
		for _, n := range g.In[len(s):] {
			t := ir.NewTensor(ir.Float(n.Type.Shape...))
			for i := range t.Floats {
				t.Floats[i] = 1
			}
			out[k] = append(slices.Clone(out[k]), t)
		}
	}
	return out
}

// uncut makes r.before what the nodes at which g ends computed before a pass that cuts.
func (r *Runner) uncut(pass Promise, old, g *ir.Graph) (err error) {
	old = old.Clone()
	old.Out = slices.Clone(g.Out)
	for i, o := range g.Out {
		if old.Out[i].Node = old.Find(o.Node.Name); old.Out[i].Node == nil {
			return broken(pass, g, "ends at node %q, which the graph did not have", o.Node.Name)
		}
	}
	old.DropDead()
	r.before, err = r.evaluate(old)
	return err
}

// verify holds a pass to its effect, on the outputs of the sample runs.
func (r *Runner) verify(pass Promise, old, g *ir.Graph, report *Ran) error {
	if pass.Effect == Annotate {
		if diff := StructureDiff(old, g); diff != "" {
			return broken(pass, g, "promises to annotate, but changes %s", diff)
		}
	}
	if n := ref.Uncomputed(g); n != nil && ref.Uncomputed(old) == nil {
		return broken(pass, g, "leaves node %q to read nothing but constants, which were computed before it", n.Name)
	}
	if pass.Effect == Cut {
		if err := r.uncut(pass, old, g); err != nil {
			return err
		}
	}
	after, err := r.evaluate(g)
	if err != nil {
		return broken(pass, g, "leaves a graph that does not run").WithNote("%v", err)
	}
	loss, err := Compare(r.before, after)
	if err != nil {
		return broken(pass, g, "changes the outputs").WithNote("%v", err)
	}
	report.Verified, report.Loss = true, loss
	switch {
	case pass.Effect != Lossy && formatDiff(g, r.before, after) != "":
		return broken(pass, g, "promises the same values, but changes %s", formatDiff(g, r.before, after))
	case pass.Effect != Lossy && !loss.Same:
		return broken(pass, g, "promises the same values, but output %q changes by up to %s", g.Out[loss.Output].Name,
			diag.Number(loss.MaxErr, 6))
	case pass.Bound > 0 && !(loss.Relative <= pass.Bound):
		return broken(pass, g, "changes output %q by %g of its magnitude, more than %g", g.Out[loss.Output].Name,
			loss.Relative, pass.Bound)
	}
	r.before = after
	return nil
}
