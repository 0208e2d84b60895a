// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
)

// Evaluate checks g and runs the reference engine.
func Evaluate(ctx context.Context, g *ir.Graph, samples []ref.Sample) ([]ref.Sample, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	p, err := ref.New(g)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, samples)
}

// Differ describes the first difference between two values of the outputs of g: codes must be equal, floats agree
// within tolerance relative to the largest finite magnitude of their tensor, or to 1, and floats of 16 bits within a
// step besides; what is no finite number on one side is none on the other.
func Differ(g *ir.Graph, want, got ref.Sample, tolerance float64) string {
	for i, o := range g.Out {
		top := 1.0
		for _, v := range want[i].Floats {
			if finite(v) {
				top = max(top, math.Abs(float64(v)))
			}
		}
		for k, w := range want[i].BlockScales {
			if v := got[i].BlockScales[k]; w != v {
				return fmt.Sprintf("%s[scale %d]: code %d, want %d", o.Name, k, v, w)
			}
		}
		for k := range o.Node.Type.Elems() {
			if o.Node.Type.IsFloat() {
				w, v := want[i].Floats[k], got[i].Floats[k]
				if !finite(w) && !finite(v) {
					continue
				}
				if !(math.Abs(float64(w)-float64(v)) <= tolerance*top+halfStep(o.Node.Type, w)) {
					return fmt.Sprintf("%s[%d]: %g, want %g", o.Name, k, v, w)
				}
				continue
			}
			w, v := want[i].Codes[k], got[i].Codes[k]
			if f, ok := o.Node.Type.Format.(enumerated); ok && f.Decode(w).Cmp(f.Decode(v)) == 0 {
				continue // several codes may mean zero
			}
			if w != v {
				return fmt.Sprintf("%s[%d]: code %d, want %d", o.Name, k, v, w)
			}
		}
	}
	return ""
}

// halfStep is the distance of floats of 16 bits around v, 0 for others: results that are rounded from either side of
// the middle of two are so far apart.
func halfStep(t ir.Type, v float32) float64 {
	size := math.Abs(float64(v))
	switch t.Format {
	case format.BF16:
		return max(size*0x1p-7, 0x1p-133)
	case format.F16:
		return max(size*0x1p-10, 0x1p-24)
	}
	return 0
}

func finite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

// Report ends the test with the case and the input that led to a difference.
func Report(t *testing.T, g *ir.Graph, what string, sample int, in ref.Sample) {
	t.Helper()
	name, _, _ := strings.Cut(what, "y[") // c3_ of c3_y[7] in a merged graph, nothing in others
	t.Fatalf("sample %d: %s\n%s", sample, what, DescribeCase(g, name, in))
}

// CompareSlow compares the reference engine with the slow evaluator on n samples.
func CompareSlow(t *testing.T, g *ir.Graph, r *rand.Rand, n int) {
	t.Helper()
	samples := Samples(r, g, n)
	got, err := Evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatalf("%v\n%s", err, Describe(g))
	}
	for s := range samples {
		want, err := Slow(g, samples[s])
		if err != nil {
			t.Fatal(err)
		}
		takeMoved(g, want, got[s])
		if d := Differ(g, want, got[s], 1e-6); d != "" {
			Report(t, g, d, s, samples[s])
		}
	}
}

// takeMoved replaces codes that an operation moved by those that came out, where they have the same value: the slow
// evaluator knows values, of which formats with several codes for one keep the code.
func takeMoved(g *ir.Graph, want, got ref.Sample) {
	for i, o := range g.Out {
		t := o.Node.Type
		if !format.Coded(t.Format) || !slices.Contains(movers, o.Node.Op) {
			continue
		}
		for k, w := range want[i].Codes {
			if v := got[i].Codes[k]; encode(t.Format.CodeSet(), rawValue(t.Format, v)) == w {
				want[i].Codes[k] = v
			}
		}
	}
}

// DescribeCase prints the part of a merged graph that belongs to the case called name, and its input.
func DescribeCase(g *ir.Graph, name string, in ref.Sample) string {
	part := &ir.Graph{}
	text := ""
	for _, n := range g.Nodes {
		if strings.HasPrefix(n.Name, name) {
			part.Nodes = append(part.Nodes, n)
		}
	}
	for i, n := range g.In {
		if strings.HasPrefix(n.Name, name) {
			text += fmt.Sprintf("  %s is %v%v %v\n", n.Name, in[i].Codes, in[i].Floats, in[i].BlockScales)
		}
	}
	return text + Describe(part)
}
