// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"math"
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
)

// hopper is the job of a problem by the kernel of sm_90a.
func (d data) hopper(t testing.TB) cudatest.Job {
	t.Helper()
	a, err := cuda.FindArch("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := attn.Hopper{SDPA: d.p}.Plan(a)
	if err != nil {
		t.Fatal(err)
	}
	args, buffers := d.operands(encode(d.p.Word, d.k), encode(d.p.Word, d.v))
	return cudatest.Job{Kernels: plan.Instances, Launches: plan.Launches(args), Buffers: buffers, Arch: a.Name}
}

// hopperProblems have every configuration, keys at the ends of tiles and one beside them, blocks without keys.
func hopperProblems() []data {
	var all []data
	for _, p := range []attn.SDPA{
		{Word: word.BFloat16, Batch: 1, Heads: 2, KVHeads: 1, Queries: 70, Keys: 177, Dim: 128},
		{Word: word.Float16, Batch: 2, Heads: 1, KVHeads: 1, Queries: 9, Keys: 175, Dim: 128},
		{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 129, Keys: 256, Dim: 128, Causal: attn.BottomRight},
		{Word: word.Float16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 150, Keys: 20, Dim: 128, Causal: attn.BottomRight},
		{Word: word.BFloat16, Batch: 1, Heads: 2, KVHeads: 2, Queries: 193, Keys: 129, Dim: 64},
		{Word: word.BFloat16, Batch: 2, Heads: 2, KVHeads: 1, Queries: 30, Keys: 270, Dim: 64, Causal: attn.TopLeft},
	} {
		all = append(all, newData(dense(p), nil))
	}
	return all
}

// TestHopperGates compiles every configuration.
func TestHopperGates(t *testing.T) {
	var all []cuda.Instance
	for _, d := range hopperProblems() {
		all = append(all, d.hopper(t).Kernels...)
	}
	cudatest.Gates(t, all...)
}

// TestHopper runs them; two in all orders.
func TestHopper(t *testing.T) {
	for k, d := range hopperProblems() {
		t.Run(d.name(), func(t *testing.T) {
			t.Parallel()
			j := d.hopper(t)
			j.Quick = k != 3 && k != 5
			d.check(t, cudatest.Run(t, j))
		})
	}
}

// TestHopperAgrees demands of the kernel of sm_90a what that of sm_80 computes, within the tolerance of both, in every
// order.
func TestHopperAgrees(t *testing.T) {
	d := newData(dense(attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 40, Keys: 150, Dim: 128,
		Causal: attn.BottomRight}), nil)
	j := d.job(t)
	j.Quick = true
	old, now := cudatest.Run(t, j), cudatest.Run(t, d.hopper(t))
	want, got := decode(d.p.Word, old[0]), decode(d.p.Word, now[0])
	for i := range d.p.Queries {
		exact, off, _ := d.row(0, 0, i)
		for c, x := range exact {
			a, b := want[i*d.p.Dim+int64(c)], got[i*d.p.Dim+int64(c)]
			allowed := 4*off + 2*unit(d.p.Word)*math.Abs(x)
			if !(math.Abs(a-b) <= allowed) && !(math.IsNaN(a) && math.IsNaN(b)) {
				t.Fatalf("query %d: o[%d] is %v, that of sdpa %v; %v apart at most", i, c, b, a, allowed)
			}
		}
	}
}
