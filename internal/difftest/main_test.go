// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"lathe/golden/pjrt/pjrttest"
	"lathe/golden/ref"
	"lathe/ir"
)

func TestMain(m *testing.M) { pjrttest.Main(m) }

// evaluate checks g and runs the reference engine.
func evaluate(ctx context.Context, g *ir.Graph, samples []ref.Sample) ([]ref.Sample, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	p, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, samples)
}

// differ describes the first difference between two values of the outputs of g: codes must be equal, floats agree within
// tolerance, relative to the larger of 1 and the value.
func differ(g *ir.Graph, want, got ref.Sample, tolerance float64) string {
	for i, o := range g.Out {
		for k := range o.Node.Type.Elems() {
			if o.Node.Type.IsFloat() {
				w, v := float64(want[i].Floats[k]), float64(got[i].Floats[k])
				if !(math.Abs(w-v) <= tolerance*max(1, math.Abs(w))) {
					return fmt.Sprintf("%s[%d]: %g, want %g", o.Name, k, v, w)
				}
				continue
			}
			if w, v := want[i].Codes[k], got[i].Codes[k]; w != v {
				return fmt.Sprintf("%s[%d]: code %d, want %d", o.Name, k, v, w)
			}
		}
	}
	return ""
}

// report prints the input that led to a difference, if it is small.
func report(t *testing.T, g *ir.Graph, what string, sample int, in ref.Sample) {
	t.Helper()
	text := ""
	for i, n := range g.In {
		if n.Type.Elems() <= 64 {
			text += fmt.Sprintf("  %s is %v%v\n", n.Name, in[i].Codes, in[i].Floats)
		}
	}
	t.Fatalf("sample %d: %s\n%s%s", sample, what, text, Describe(g))
}

// compareSlow compares the reference engine with the slow evaluator on n samples.
func compareSlow(t *testing.T, g *ir.Graph, r *rand.Rand, n int) {
	t.Helper()
	samples := Samples(r, g, n)
	got, err := evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatalf("%v\n%s", err, Describe(g))
	}
	for s := range samples {
		want, err := Slow(g, samples[s])
		if err != nil {
			t.Fatal(err)
		}
		if d := differ(g, want, got[s], 1e-6); d != "" {
			report(t, g, d, s, samples[s])
		}
	}
}
