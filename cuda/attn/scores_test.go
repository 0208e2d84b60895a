// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"fmt"
	"math"
	"testing"

	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
)

// padded gives seven queries an additive mask with `low` where frameworks mean "never": a whole tile on the left, two
// of them, half a tile on the left, everything, the right, nothing, and behind keys that -Inf forbids.
func padded(p attn.SDPA, low float64) data {
	p.Batch, p.Heads, p.KVHeads, p.Queries, p.Keys = 1, 1, 1, 7, 130
	d := newData(dense(p), nil)
	for i := range d.q {
		d.q[i] = round(p.Word, math.Sin(float64(i)))
	}
	for i := range d.mask {
		row, key := i/int(p.Keys), i%int(p.Keys)
		d.mask[i] = 0
		never := []bool{key < 64, key < 128, key < 20, true, key >= 60, false, key < 100}[row]
		if never {
			d.mask[i] = round(p.Word, low)
			if p.Mask == attn.AddF32 {
				d.mask[i] = low
			}
		}
		if row == 6 && key < 50 {
			d.mask[i] = math.Inf(-1)
		}
	}
	return d
}

// TestFiniteMask has masks that forbid by large negative numbers. A query that sees nothing else has the softmax of its
// masked scores: where those are all equal, the mean of the values.
func TestFiniteMask(t *testing.T) {
	const bf16, f16 = word.BFloat16, word.Float16
	for _, c := range []struct {
		word word.Float
		mask attn.Mask
		dim  int64
		low  float64
	}{
		{bf16, attn.AddF32, 64, -math.MaxFloat32}, {bf16, attn.AddF32, 64, -1e10}, {bf16, attn.AddF32, 64, -5e9},
		{bf16, attn.AddF32, 128, -1e20}, {f16, attn.AddF32, 64, -math.MaxFloat32}, {f16, attn.AddF32, 80, -0x1.6p127},
		{bf16, attn.AddWord, 64, -0x1.fep127}, {bf16, attn.AddWord, 256, -1e35}, {bf16, attn.AddWord, 64, -1e9},
		{f16, attn.AddWord, 64, -65504}, {f16, attn.AddWord, 96, -1e4},
	} {
		d := padded(attn.SDPA{Word: c.word, Mask: c.mask, Dim: c.dim}, c.low)
		t.Run(fmt.Sprintf("%s/%g", d.name(), c.low), func(t *testing.T) {
			t.Parallel()
			j := d.job(t)
			j.Quick = true
			d.check(t, cudatest.Run(t, j))
		})
	}
}

// TestNeighbours demands the same bits of a query whatever the scores of those beside it are: where their tops move,
// its own stays.
func TestNeighbours(t *testing.T) {
	for _, p := range []attn.SDPA{{Word: word.BFloat16, Dim: 64}, {Word: word.Float16, Dim: 128,
		Mask: attn.AddF32}} {
		p.Batch, p.Heads, p.KVHeads, p.Queries, p.Keys = 1, 1, 1, 16, 300
		d := newData(dense(p), nil)
		calm := cudatest.Run(t, quick(d.job(t)))
		for i := range d.q[p.Dim:] {
			d.q[int(p.Dim)+i] = round(p.Word, 64*d.q[int(p.Dim)+i])
		}
		for k, size := range []int64{2 * p.Dim, 4} { // of the outputs, and of lse
			cudatest.Equal(t, "o and lse", cudatest.Run(t, quick(d.job(t)))[k][:size], calm[k][:size], 2)
		}
	}
}

// TestEqualScores has many tiles of equal keys, whose values are 1 in the first half and -1 in the second: early keys
// weigh as much as late ones, whatever the score.
func TestEqualScores(t *testing.T) {
	for _, dim := range []int64{64, 128} {
		d := newData(dense(attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 8, Keys: 3072, Dim: dim}),
			nil)
		for i := range d.q {
			d.q[i] = 0
		}
		for i, score := range []float64{0, 1, 10, 100, 250, 1000, 8000, -1000} {
			d.q[i*int(dim)] = round(word.BFloat16, score)
		}
		for i := range d.k {
			d.k[i], d.v[i] = 0, 1
			if i%int(dim) == 0 {
				d.k[i] = math.Round(math.Sqrt(float64(dim)))
			}
			if i >= len(d.k)/2 {
				d.v[i] = -1
			}
		}
		t.Run(d.name(), func(t *testing.T) {
			t.Parallel()
			j := d.job(t)
			j.Quick = true
			d.check(t, cudatest.Run(t, j))
		})
	}
}
