// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/ir/unit"
	"lathe/lower/loss"
	"lathe/lower/simplify"
)

// Options are about the running of passes, not about their result.
type Options struct {
	// Verify evaluates the graph before and after each pass and holds the pass to its Effect.
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
	// Alone measures the error of each node by itself too, which takes as long as evaluating the quantized graph again,
	// and counts values by size.
	Alone bool
	// Unmeasured leaves the errors against the float model out, for callers that print none.
	Unmeasured bool
	// Unfused leaves every node a group of its own where Kernels prepares a graph: for comparison.
	Unfused bool
	// Units, if not nil, holds what is planned of the units, for who emits the graph afterwards.
	Units *unit.Cache
}

// verifySamples is how many samples Verify evaluates.
const verifySamples = 4

// runner runs pipelines over one graph.
type runner struct {
	Options
	ctx     context.Context
	samples []ref.Sample // for Verify
	before  []ref.Sample // outputs of the graph before the next pass
}

// run applies the passes in order. An error of a pass is returned as it is; a pass that breaks the graph or its promise
// is an error L0405 that names it.
func (r *runner) run(s *State, p Pipeline, g *ir.Graph) error {
	if r.Verify && r.before == nil {
		out, err := r.baseline(g)
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
		report := PassReport{Name: pass.Name, Effect: pass.Effect, Time: r.now() - start}
		if err := g.Check(); err != nil {
			if diag.CodeOf(err) == "L0319" { // sound, and too large: what a composite stands for, such as scores
				return err
			}
			return broken(pass, g, "leaves a graph that breaks the rules").WithNote("%v", err)
		}
		if r.Shuffle != nil {
			r.Shuffle(g)
		}
		if r.Verify {
			if err := r.verify(pass, old, g, &report); err != nil {
				return err
			}
		}
		s.Report.Passes = append(s.Report.Passes, report)
		if r.DumpAfter != nil {
			r.DumpAfter(pass.Name, g)
		}
	}
	return nil
}

func (r *runner) now() time.Duration {
	if r.Clock == nil {
		return 0
	}
	return r.Clock()
}

// broken reports a fault of Lathe itself.
func broken(p Pass, g *ir.Graph, msg string, args ...any) *diag.Error {
	e := diag.New("L0405", g.Name, "pass %s %s", p.Name, fmt.Sprintf(msg, args...))
	return e.WithHint("this is a fault of Lathe: report the model, the plan and this message")
}

// baseline evaluates an imported graph; weights that nodes compute are computed first, as the engine needs constants.
func (r *runner) baseline(g *ir.Graph) ([]ref.Sample, error) {
	c := ring.Unrolled(g.Clone(), nil)
	if g.Stage == ir.StageFloat {
		if err := simplify.Constants(c); err != nil {
			return nil, err
		}
	}
	return outputs(r.ctx, c, r.samples)
}

// verify holds a pass to its effect, on the outputs of the sample runs.
func (r *runner) verify(pass Pass, old, g *ir.Graph, report *PassReport) error {
	if pass.Effect == Annotate {
		if diff := structureDiff(old, g); diff != "" {
			return broken(pass, g, "promises to annotate, but changes %s", diff)
		}
	}
	after, err := r.baseline(g)
	if err != nil {
		return broken(pass, g, "leaves a graph that does not run").WithNote("%v", err)
	}
	loss, err := compareRuns(r.before, after)
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

// structureDiff names the first difference of two graphs but for metadata (HW, Stats, stage); empty if there is none.
func structureDiff(a, b *ir.Graph) string {
	if len(a.Nodes) != len(b.Nodes) {
		return fmt.Sprintf("the number of nodes from %d to %d", len(a.Nodes), len(b.Nodes))
	}
	for _, n := range a.Nodes {
		m := b.Find(n.Name)
		switch {
		case m == nil:
			return fmt.Sprintf("node %q, which is gone", n.Name)
		case m.Op != n.Op || !reflect.DeepEqual(m.Attrs, n.Attrs):
			return fmt.Sprintf("the operation of node %q", n.Name)
		case m.Type.String() != n.Type.String():
			return fmt.Sprintf("the type of node %q from %s to %s", n.Name, n.Type, m.Type)
		case !slices.Equal(argNames(m), argNames(n)):
			return fmt.Sprintf("the arguments of node %q", n.Name)
		}
	}
	return ""
}

func argNames(n *ir.Node) []string {
	var names []string
	for _, a := range n.Args {
		names = append(names, a.Name)
	}
	return names
}

// Loss is the difference of two runs on the same samples.
type Loss struct {
	// Same says that all codes, or all float values, are equal bit for bit.
	Same bool
	// MaxErr is the greatest difference, Relative the greatest one divided by the largest magnitude of its output, and
	// Output the index of the output that has it. SQNR is the signal to error ratio of all outputs in dB, +Inf if equal.
	MaxErr, Relative, SQNR float64
	Output                 int
}

// compareRuns compares outputs sample by sample: bits where both are of one type, values in any case.
func compareRuns(a, b []ref.Sample) (Loss, error) {
	diff := Loss{Same: true}
	var signal, noise float64
	outputs := 0
	if len(a) > 0 {
		outputs = len(a[0])
	}
	for k := range outputs {
		var peak, worst float64
		for i := range a {
			x, y := a[i][k], b[i][k]
			if !slices.Equal(x.Type.Shape, y.Type.Shape) {
				return diff, fmt.Errorf("output %d has shape %s, before it had %s", k, ir.ShapeString(y.Type.Shape),
					ir.ShapeString(x.Type.Shape))
			}
			diff.Same = diff.Same && sameBits(x, y)
			u, err := x.Decode()
			if err != nil {
				return diff, err
			}
			v, err := y.Decode()
			if err != nil {
				return diff, err
			}
			for j := range u {
				d := math.Abs(u[j] - v[j])
				if u[j] == v[j] || math.IsNaN(u[j]) && math.IsNaN(v[j]) {
					d = 0 // infinite, or no number, in both
				}
				if !(d <= worst) { // NaN counts as worst
					worst = d
				}
				if !math.IsInf(u[j], 0) && !math.IsNaN(u[j]) {
					peak, signal = max(peak, math.Abs(u[j])), signal+u[j]*u[j]
				}
				noise += d * d
			}
		}
		if r := worst / max(peak, math.SmallestNonzeroFloat32); !(r <= diff.Relative) {
			diff.Relative, diff.MaxErr, diff.Output = r, worst, k
		}
	}
	diff.SQNR = loss.Decibels(signal, noise)
	return diff, nil
}

// formatDiff names the first output of two runs that has another format; empty if there is none.
func formatDiff(g *ir.Graph, a, b []ref.Sample) string {
	for i := range a {
		for k, x := range a[i] {
			if y := b[i][k]; !x.Type.SameFormat(y.Type) {
				return fmt.Sprintf("the format of output %q from %s to %s", g.Out[k].Name, x.Type.Format, y.Type.Format)
			}
		}
	}
	return ""
}

// sameBits says that x and y hold the same codes of the same format, or the same floats bit for bit.
func sameBits(x, y *ir.Tensor) bool {
	return x.Type.SameFormat(y.Type) && slices.Equal(x.Codes, y.Codes) &&
		slices.EqualFunc(x.Floats, y.Floats, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
}
