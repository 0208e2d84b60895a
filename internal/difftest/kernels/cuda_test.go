// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"lathe/emit/cuda"
	"lathe/golden"
	"lathe/internal/diag"
	"lathe/internal/difftest"
	"lathe/internal/difftest/programs"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/ref"
	"lathe/sim/gpu"
	"lathe/sim/nvrtc"
)

// kernelEngine computes samples by the kernels of a design, which is emitted with some options.
type kernelEngine struct {
	options cuda.Options
	run     func(t *testing.T, d *cuda.Design, samples []ref.Sample) []ref.Sample
}

// emulated runs the kernels as NVRTC compiles them on the emulated device.
var emulated = kernelEngine{cuda.Options{}, emulate}

func emulate(t *testing.T, d *cuda.Design, samples []ref.Sample) []ref.Sample {
	t.Helper()
	dir := tools.NeedNVRTC(t)
	compiler, err := nvrtc.Open(dir, filepath.Join(dir, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	binaries, err := driver.CompileCUDA(t.Context(), compiler, d, nil, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Source)
	}
	device := gpu.Emulated(gpu.EmulatedOptions{})
	defer device.Close()
	out, err := golden.RunCUDA(t.Context(), device, d, driver.ProgramOf(d, binaries), samples, false, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.Source)
	}
	return out
}

// TestKernels compares the CUDA kernels of every operation, interpreted, with its Eval column: code by code, or within
// a tolerance on float graphs.
func TestKernels(t *testing.T) {
	tools.NeedNVRTC(t)
	compareKernels(t, emulated, kernelCases)
}

// compareKernels runs cases of every operation, several in one design.
func compareKernels(t *testing.T, engine kernelEngine, cases int) {
	for _, o := range difftest.Ops() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			var exact, floats []*ir.Graph
			refused := 0
			for i := 0; len(floats) < cases; i++ {
				g, r := difftest.Case(o, i)
				if g.Stage != ir.StageFloat {
					var err error
					if g, err = difftest.Float(r, g); err != nil {
						t.Fatal(err)
					}
				}
				floats = append(floats, difftest.Halved(r, g))
			}
			for i := 0; len(exact) < cases; i++ {
				g, _ := difftest.Case(o, i)
				if g.Stage == ir.StageFloat {
					break
				}
				if _, err := cuda.Emit(g, engine.options); err == nil {
					exact = append(exact, g)
				} else if refused++; !slices.Contains(programs.Refused, diag.CodeOf(err)) || refused > 2*cases {
					t.Fatalf("case %d, %d refused: %v\n%s", i, refused, err, difftest.Describe(g))
				}
			}
			for _, group := range [][]*ir.Graph{exact, floats} {
				for i := 0; i < len(group); i += programs.PerProgram {
					part := group[i:min(i+programs.PerProgram, len(group))]
					compareKernel(t, engine, difftest.Merge(o.Name, part), difftest.Rand(o.Name+" in kernels", i), 1e-5)
				}
			}
		})
	}
}

// compareKernel runs one design on many samples.
func compareKernel(t *testing.T, engine kernelEngine, g *ir.Graph, r *rand.Rand, tolerance float64) {
	t.Helper()
	d, err := cuda.Emit(g, engine.options)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	compareDesign(t, engine, g, d, r, tolerance)
}

// compareDesign runs the kernels that were made of g.
func compareDesign(t *testing.T, engine kernelEngine, g *ir.Graph, d *cuda.Design, r *rand.Rand, tolerance float64) {
	t.Helper()
	compareSamplesDesign(t, engine, g, d, difftest.Samples(r, g, kernelSamples), tolerance)
}

// compareSamplesDesign is compareDesign on the given samples.
func compareSamplesDesign(t *testing.T, engine kernelEngine, g *ir.Graph, d *cuda.Design, samples []ref.Sample,
	tolerance float64) {
	t.Helper()
	want, err := difftest.Evaluate(t.Context(), g, samples)
	if err != nil {
		t.Fatalf("%v\n%s", err, difftest.Describe(g))
	}
	got := engine.run(t, d, samples)
	for s := range samples {
		if d := difftest.Differ(g, want[s], got[s], tolerance); d != "" {
			difftest.Report(t, g, d, s, samples[s])
		}
	}
}

// TestKernelChains does the same for whole networks.
func TestKernelChains(t *testing.T) {
	tools.NeedNVRTC(t)
	for i := range kernelCases {
		ops := difftest.Chains[i%len(difftest.Chains)]
		t.Run(fmt.Sprint(ops, " ", i), func(t *testing.T) {
			t.Parallel()
			compareKernel(t, emulated, difftest.Chain(difftest.Rand(ops, i), ops), difftest.Rand(ops+" in kernels", i), 0)
		})
	}
}

// TestKernelBlocks does the same for operations on blocks that share a scale.
func TestKernelBlocks(t *testing.T) {
	tools.NeedNVRTC(t)
	for _, kind := range difftest.BlockKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			graphs := difftest.Blocks(t, kind, kernelCases)
			for i := 0; i < len(graphs); i += programs.PerProgram {
				part := graphs[i:min(i+programs.PerProgram, len(graphs))]
				compareKernel(t, emulated, difftest.Merge(kind, part), difftest.Rand(kind+" in kernels", i), 0)
			}
		})
	}
}

// TestKernelCodedBlocks does the same for blocks whose elements are no integers, and for tiles.
func TestKernelCodedBlocks(t *testing.T) {
	tools.NeedNVRTC(t)
	var graphs []*ir.Graph
	for i, pair := range [][2]string{{"mxfp8", "mxfp4"}, {"mxint8", "mxfp6"}, {"bfp(8,16,8)", "bfp(6,2x16,8)"},
		{"bminifloat(3,2,8,6)", "blog(5,8,8)"}, {"mxint(6,8,dialect=mase)", "mxint(8,3x8)"}} {
		var f [2]format.Block
		for k, text := range pair {
			parsed, err := format.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			f[k] = parsed.(format.Block)
		}
		graphs = append(graphs, difftest.SumOfBlocks(f[0], f[1], 40+i, 4))
	}
	compareKernel(t, emulated, difftest.Merge("coded", graphs), difftest.Rand("coded in kernels", 0), 0)
}
