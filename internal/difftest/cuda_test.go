// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/emit/cuda"
	"lathe/emit/cuda/hosttest"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/ir"
)

// TestKernels compares the text of CUDA kernels, compiled for this machine, with the Eval column of every operation:
// code by code, or within a tolerance on float graphs.
func TestKernels(t *testing.T) {
	tools.Need(t, "g++")
	for _, o := range Ops() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			var exact, floats []*ir.Graph
			refused := 0
			for i := 0; len(exact) < kernelCases; i++ {
				g, r := Case(o, i)
				if len(floats) < kernelCases {
					f := g
					if g.Stage != ir.StageFloat {
						var err error
						if f, err = Float(r, g); err != nil {
							t.Fatal(err)
						}
					}
					floats = append(floats, f)
				}
				if g.Stage == ir.StageFloat {
					exact = append(exact, g)
					continue
				}
				if _, err := cuda.Emit(g, cuda.Options{}); err == nil {
					exact = append(exact, g)
				} else if refused++; !slices.Contains(noPJRT, diag.CodeOf(err)) || refused > kernelCases {
					t.Fatalf("case %d, %d refused: %v\n%s", i, refused, err, Describe(g))
				}
			}
			for i := 0; i < len(exact); i += perProgram {
				to := min(i+perProgram, len(exact))
				compareKernels(t, Merge(o.Name, exact[i:to]), Rand(o.Name+" in kernels", i), 1e-5)
			}
			for i := 0; i < len(floats); i += perProgram {
				to := min(i+perProgram, len(floats))
				compareKernels(t, Merge(o.Name, floats[i:to]), Rand(o.Name+" in float kernels", i), 1e-5)
			}
		})
	}
}

// compareKernels runs one design on many samples.
func compareKernels(t *testing.T, g *ir.Graph, r *rand.Rand, tolerance float64) {
	t.Helper()
	samples := Samples(r, g, kernelSamples)
	want, err := evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatalf("%v\n%s", err, Describe(g))
	}
	d, err := cuda.Emit(g, cuda.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, Describe(g))
	}
	got := hosttest.Build(t, d).Run(samples)
	for s := range samples {
		if d := differ(g, want[s], got[s], tolerance); d != "" {
			report(t, g, d, s, samples[s])
		}
	}
}

// TestKernelChains does the same for whole networks.
func TestKernelChains(t *testing.T) {
	tools.Need(t, "g++")
	for i := range kernelCases {
		ops := Chains[i%len(Chains)]
		t.Run(fmt.Sprint(ops, " ", i), func(t *testing.T) {
			t.Parallel()
			g := Chain(Rand(ops, i), ops)
			compareKernels(t, g, Rand(ops+" in kernels", i), 0)
		})
	}
}
