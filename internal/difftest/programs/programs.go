// SPDX-License-Identifier: Apache-2.0

// Package programs compares the Eval columns with StableHLO on PJRT. Other packages run their graphs by its functions.
package programs

import (
	"math/rand/v2"
	"testing"

	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/diag"
	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/ref"
)

// Refused are the reasons for which a quantized node may lack a StableHLO form: its format has no integers times a
// power of two, or its numbers exceed 63 bits.
var Refused = []diag.Code{diag.ReferenceOnly, diag.IntegerWidth}

// PerProgram is the number of graphs that share a program.
const PerProgram = 10

// Compare runs one program on many samples.
func Compare(t *testing.T, g *ir.Graph, r *rand.Rand, tolerance float64) {
	t.Helper()
	CompareSamples(t, g, difftest.Samples(r, g, samples), tolerance)
}

// CompareSamples runs one program on the given samples.
func CompareSamples(t *testing.T, g *ir.Graph, samples []ref.Sample, tolerance float64) {
	t.Helper()
	want, err := difftest.Evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	got, err := golden.RunPJRT(t.Context(), pjrttest.Engine(t), g, samples, false, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	for s := range samples {
		if d := difftest.Differ(g, want[s], got[s], tolerance); d != "" {
			difftest.Report(t, g, d, s, samples[s])
		}
	}
}

// CompareAlone runs a program without an axis of samples on one sample.
func CompareAlone(t *testing.T, g *ir.Graph, r *rand.Rand, tolerance float64) {
	t.Helper()
	CompareForm(t, g, difftest.Samples(r, g, 1), golden.Form{}, tolerance)
}

// CompareForm runs a program of the given form on samples.
func CompareForm(t *testing.T, g *ir.Graph, samples []ref.Sample, f golden.Form, tolerance float64) {
	t.Helper()
	want, err := difftest.Evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	got, err := golden.RunForm(t.Context(), pjrttest.Engine(t), g, samples, f)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	for s := range samples {
		if d := difftest.Differ(g, want[s], got[s], tolerance); d != "" {
			difftest.Report(t, g, d, s, samples[s])
		}
	}
}
