// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/ir"
)

// noPJRT are the reasons for which a quantized node may lack a StableHLO form: its format has no integers times a power
// of two, or its numbers exceed 63 bits.
var noPJRT = []string{"L0310", "L0317"}

// perProgram is the number of graphs that share a program.
const perProgram = 10

// TestPJRT compares StableHLO on PJRT with the Eval column of every operation, code by code.
func TestPJRT(t *testing.T) {
	for _, o := range Ops() {
		if g, _ := Case(o, 0); g.Stage == ir.StageFloat {
			continue // TestFloat has it
		}
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			var graphs []*ir.Graph
			refused := 0
			for i := 0; len(graphs) < pjrtCases; i++ {
				g, _ := Case(o, i)
				if _, err := golden.Print(g, 1, false); err == nil {
					graphs = append(graphs, g)
				} else if refused++; !slices.Contains(noPJRT, diag.CodeOf(err)) || refused > pjrtCases {
					t.Fatalf("case %d, %d refused: %v\n%s", i, refused, err, Describe(g))
				}
			}
			t.Logf("%d graphs, %d beside them have no StableHLO form", len(graphs), refused)
			for i := 0; i < len(graphs); i += perProgram {
				t.Run(fmt.Sprint(i/perProgram), func(t *testing.T) {
					m := Merge(o.Name, graphs[i:min(i+perProgram, len(graphs))])
					comparePJRT(t, m, Rand(o.Name+" on pjrt", i), 0)
					if i == 0 {
						compareAlone(t, m, Rand(o.Name+" alone", i), 0)
					}
				})
			}
		})
	}
}

// comparePJRT runs one program on many samples.
func comparePJRT(t *testing.T, g *ir.Graph, r *rand.Rand, tolerance float64) {
	t.Helper()
	compareSamplesPJRT(t, g, Samples(r, g, pjrtSamples), tolerance)
}

// compareSamplesPJRT runs one program on the given samples.
func compareSamplesPJRT(t *testing.T, g *ir.Graph, samples []ref.Sample, tolerance float64) {
	t.Helper()
	want, err := evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatalf("%v\n%s", err, Describe(g))
	}
	got, err := golden.RunPJRT(t.Context(), pjrttest.Engine(t), g, samples, false, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, Describe(g))
	}
	for s := range samples {
		if d := differ(g, want[s], got[s], tolerance); d != "" {
			report(t, g, d, s, samples[s])
		}
	}
}

// compareAlone runs a program without an axis of samples on one sample.
func compareAlone(t *testing.T, g *ir.Graph, r *rand.Rand, tolerance float64) {
	t.Helper()
	compareForm(t, g, Samples(r, g, 1), golden.Form{}, tolerance)
}

// compareForm runs a program of the given form on samples.
func compareForm(t *testing.T, g *ir.Graph, samples []ref.Sample, f golden.Form, tolerance float64) {
	t.Helper()
	want, err := evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatalf("%v\n%s", err, Describe(g))
	}
	got, err := golden.RunForm(t.Context(), pjrttest.Engine(t), g, samples, f)
	if err != nil {
		t.Fatalf("%v\n%s", err, Describe(g))
	}
	for s := range samples {
		if d := differ(g, want[s], got[s], tolerance); d != "" {
			report(t, g, d, s, samples[s])
		}
	}
}
