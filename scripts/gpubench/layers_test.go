// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/cuda"
	"lathe/internal/tools"
	"lathe/sim/gpu"
	"lathe/sim/gpu/bench"
	"lathe/sim/nvrtc"
)

// TestLayers computes a small layer of each kind by its packed kernels, emulated, and notices a weight that is not
// that of the reference.
func TestLayers(t *testing.T) {
	nv, err := nvrtc.Open(tools.NeedNVRTC(t), filepath.Join(tools.CacheDir(t), "nvrtc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []layer{bert("small-bert", 32, 2, 64, 5), llama("small-llama", 32, 2, 1, 48, 5)} {
		c, _, err := pass{l, 2}.made(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		cases := []cuda.Case{c, c}
		cases[1].Name += " spoiled"
		cases[1].Buffers = append([]cuda.CaseBuffer(nil), c.Buffers...)
		cases[1].Buffers[0].Fill = func(into []byte) {
			c.Buffers[0].Fill(into)
			for i := range 256 { // of weights that begin the constants
				into[i] ^= 0x80
			}
		}
		pack, err := bench.Compile(t.Context(), nv, cases, nil, t.TempDir(), "c0ffee")
		if err != nil {
			t.Fatal(err)
		}
		var status []string
		sum, err := bench.Run(t.Context(), bench.Options{Program: pack.Program, Cases: cases, Limit: time.Hour,
			CaseLimit: time.Hour, CheckOnly: true, Note: func(line string) { t.Log(line) },
			Open:   func() (gpu.Device, error) { return gpu.Emulated(gpu.EmulatedOptions{}), nil },
			Append: func(r *bench.Record) error { status = append(status, r.Status+" "+r.Error); return nil }})
		if err != nil || sum.Checked != 1 || sum.Wrong != 1 || !strings.Contains(status[1], "of its largest value") {
			t.Errorf("%s: %q, %v", l.name, status, err)
		}
	}
}

// TestLayersAgain makes the kernels of a layer twice: the pack is made on one machine and found again on another.
func TestLayersAgain(t *testing.T) {
	p := pass{bert("small-bert", 32, 2, 64, 5), 2}
	_, one, err := p.design(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, two, err := p.design(t.Context()); err != nil || one.Source != two.Source {
		t.Errorf("the second source differs, %v", err)
	}
}

// TestDistance tells a NaN on either side, and zeros, from what is near.
func TestDistance(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		got, want []float32
		near      bool
	}{
		{[]float32{1, -4}, []float32{1, -4}, true}, {[]float32{1, -4}, []float32{1.25, -4}, true},
		{[]float32{1, -4}, []float32{2, -4}, false}, {[]float32{1, nan}, []float32{1, 4}, false},
		{[]float32{1, 4}, []float32{1, nan}, false}, {[]float32{nan}, []float32{nan}, false},
		{[]float32{0, 0}, []float32{0, 0}, true}, {[]float32{0, 1}, []float32{0, 0}, false},
	} {
		if part, _ := distance(c.got, c.want); part <= 0.125 != c.near {
			t.Errorf("%v for %v is off by %g", c.got, c.want, part)
		}
	}
}
