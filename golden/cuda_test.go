// SPDX-License-Identifier: Apache-2.0

package golden_test

import (
	"context"
	"testing"

	"lathe/cuda"
	emit "lathe/emit/cuda"
	"lathe/golden"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/ref"
	"lathe/sim/gpu"
	"lathe/sim/nvrtc"
)

// TestCUDAMemory: samples run in as many parts as device memory makes necessary, and not at all where none fits.
func TestCUDAMemory(t *testing.T) {
	compiler, err := nvrtc.Open(tools.NeedNVRTC(t), "")
	if err != nil {
		t.Fatal(err)
	}
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(3, 5)}
	y := &ir.Node{Name: "y", Op: pointwise.Relu, Args: []*ir.Node{x}, Type: x.Type}
	g := &ir.Graph{Name: "relu", In: []*ir.Node{x}, Nodes: []*ir.Node{x, y}, Out: []ir.Output{{Name: "y", Node: y}}}
	d, err := emit.Emit(g, emit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := compiler.Compile(t.Context(), "k.cu", d.Source, cuda.PortablePTX)
	if err != nil {
		t.Fatal(err)
	}
	p := &gpu.Program{Name: "relu", PTX: m.PTX}
	var samples []ref.Sample
	for s := range 40 {
		v := ir.NewTensor(x.Type)
		for i := range v.Floats {
			v.Floats[i] = float32(s*len(v.Floats)+i) - 50
		}
		samples = append(samples, ref.Sample{v})
	}
	one := d.Total(1) // 120 bytes
	for memory, steps := range map[int64]int{100 * one: 2, 8 * one: 10, 2 * one: 40, one: 40, one - 1: 0} {
		device := gpu.Emulated(gpu.EmulatedOptions{Memory: memory})
		calls := 0
		got, err := golden.RunCUDA(t.Context(), device, d, p, samples, false, func(int) { calls++ })
		if steps == 0 {
			if diag.CodeOf(err) != "L0977" {
				t.Errorf("%d bytes: %v", memory, err)
			}
			continue
		}
		if err != nil || calls != steps || len(got) != len(samples) {
			t.Fatalf("%d bytes: %d samples in %d steps, want %d, %v", memory, len(got), calls, steps, err)
		}
		for s := range got {
			for i, v := range samples[s][0].Floats {
				if w := max(v, 0); got[s][0].Floats[i] != w {
					t.Errorf("sample %d: %g becomes %g", s, v, got[s][0].Floats[i])
				}
			}
		}
		if free, total, _ := device.MemInfo(); free != total {
			t.Errorf("%d of %d bytes free at the end", free, total)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := golden.RunCUDA(cancelled, gpu.Emulated(gpu.EmulatedOptions{}), d, p, samples, false, nil); err == nil {
		t.Error("a cancelled run ran")
	}
}
