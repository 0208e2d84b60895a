// SPDX-License-Identifier: Apache-2.0

//go:build long

package programs

import (
	"flag"
	"slices"
	"testing"

	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/internal/difftest"
	"lathe/ir"
)

var rows = flag.Int("rows", 1_000_000, "random rows of each operation that TestRows compares")

// rowOps are the operations that transformers add to convolutions and linear layers.
var rowOps = []string{"softmax", "layer_norm", "rms_norm", "attend_scores", "attend_weights", "attend_sum", "scale",
	"rotate", "embedding", "gelu", "gelu_tanh", "silu", "argmax"}

// TestRows compares random rows of each of these operations in three engines, code by code: the reference, the slow
// evaluator in exact fractions, and StableHLO on PJRT. A row is a line of a result along its last axis.
//
//	go test -count=1 -timeout 24h -tags long -run '^TestRows$' -v ./internal/difftest/programs [-rows 50000]
func TestRows(t *testing.T) {
	found := 0
	for _, o := range difftest.Ops() {
		if !slices.Contains(rowOps, o.Name) {
			continue
		}
		found++
		t.Run(o.Name, func(t *testing.T) {
			done, slow, programs, next := 0, 0, 0, 0
			for done < *rows {
				m := merged(t, o, &next)
				samples := difftest.Samples(difftest.Rand(o.Name+" rows", next), m, 200)
				s, p := differences(t, m, samples)
				slow, programs, done = slow+s, programs+p, done+len(samples)*rowsOf(m)
			}
			t.Logf("%s: %d rows in %d graphs; samples of a program that differ: %d from the slow evaluator, %d on PJRT",
				o.Name, done, next, slow, programs)
			if slow+programs > 0 {
				t.Errorf("%d and %d differ", slow, programs)
			}
		})
	}
	if found != len(rowOps) {
		t.Errorf("%d of %d operations are known", found, len(rowOps))
	}
}

// merged is the next graphs that have a StableHLO form, as one.
func merged(t *testing.T, o *ir.Op, next *int) *ir.Graph {
	var graphs []*ir.Graph
	for refused := 0; len(graphs) < PerProgram; *next++ {
		g, _ := difftest.Case(o, *next)
		if _, err := golden.Print(g, 1, false); err == nil {
			graphs = append(graphs, g)
		} else if refused++; !slices.Contains(Refused, diag.CodeOf(err)) || refused > 1000 {
			t.Fatalf("case %d: %v", *next, err)
		}
	}
	return difftest.Merge(o.Name, graphs)
}

// rowsOf counts the rows of a sample's results.
func rowsOf(g *ir.Graph) (n int) {
	for _, o := range g.Out {
		last := 1
		if s := o.Node.Type.Shape; len(s) > 0 {
			last = s[len(s)-1]
		}
		n += o.Node.Type.Elems() / max(last, 1)
	}
	return n
}

// differences counts the samples whose results differ, and says of the first how.
func differences(t *testing.T, g *ir.Graph, samples []ref.Sample) (slow, programs int) {
	want, err := difftest.Evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatal(err)
	}
	got, err := golden.RunPJRT(t.Context(), pjrttest.Engine(t), g, samples, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for s := range samples {
		exact, err := difftest.Slow(g, samples[s])
		if err != nil {
			t.Fatal(err)
		}
		if d := difftest.Differ(g, exact, want[s], 0); d != "" {
			if slow++; slow == 1 {
				t.Errorf("slow evaluator: %s", d)
			}
		}
		if d := difftest.Differ(g, want[s], got[s], 0); d != "" {
			if programs++; programs == 1 {
				t.Errorf("PJRT: %s", d)
			}
		}
	}
	return slow, programs
}
