// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
)

// skid is the Spec of one library module.
func skid(t *testing.T, width string, bits int) Spec {
	t.Helper()
	files, err := rtl.Files("stream_skid")
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Top: "stream_skid", Files: files, Params: []rtl.Param{{Name: "WIDTH", Value: width}}, Clock: "clk",
		Reset: "rst", In: []Port{{Name: "in", Width: bits}}, Out: []Port{{Name: "out", Width: bits}},
		CacheDir: tools.CacheDir(t), Warnings: true}
}

// noise is n beats of the port with the unused bits clear.
func noise(seed uint64, p Port, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n*p.Bytes())
	for i := range b {
		b[i] = byte(r.Uint32())
		if (i+1)%p.Bytes() == 0 && p.Width%8 != 0 {
			b[i] &= 1<<(p.Width%8) - 1
		}
	}
	return b
}

func TestRunSkid(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	spec := skid(t, "97", 97)
	model, err := Build(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	data := noise(1, spec.In[0], 600)
	in := Input{Streams: [][]byte{data}, Frames: 100, InBeats: []int{6}, OutBeats: []int{6}, Seed: 3, Strict: true,
		Drain: 9}
	plain, err := model.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Check(&spec); err != nil {
		t.Error(err)
	}
	if plain.LatencyCycles != 1 || plain.IICycles != 6 || plain.Cycles != 601+9 {
		t.Errorf("latency %d, ii %v, cycles %d", plain.LatencyCycles, plain.IICycles, plain.Cycles)
	}
	in.Idle, in.Back, in.ResetAt = []Stall{{Percent: 50}}, []Stall{{Percent: 50, Burst: 8}}, 77
	stalled, err := model.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(plain.Streams[0], data) || !bytes.Equal(stalled.Streams[0], data) {
		t.Error("data changed on the way")
	}
	if s := stalled.Out[0]; s.Blocked < 200 || s.Starved < 100 {
		t.Errorf("stalls did not happen: %+v", s)
	}
}

// TestInterval takes the interval of samples from the slowest output: another one may run ahead of it for a while.
func TestInterval(t *testing.T) {
	r := &reader{result: &Result{In: make([]PortStats, 1), Out: make([]PortStats, 2)},
		firstIn:  [][]int{{0, 10, 20, 30, 40}},
		firstOut: [][]int{{1, 11, 21, 31, 41}, {9, 23, 37, 51, 65}},
		lastOut:  [][]int{{4, 14, 24, 34, 44}, {9, 23, 37, 51, 65}}}
	r.finish()
	if r.result.IICycles != 14 || r.result.LatencyCycles != 1 {
		t.Errorf("ii %v, latency %d", r.result.IICycles, r.result.LatencyCycles)
	}
}
