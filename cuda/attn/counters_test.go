// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"math"
	"testing"

	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
)

// TestBanks counts passes of shared memory: none more than the bytes need, but that copies of eight lanes may end one
// row and begin the next where 64 does not divide it.
func TestBanks(t *testing.T) {
	for _, d := range problems()[3:] {
		j := d.job(t)
		j.Quick = true
		_, stats := cudatest.Trace(t, j)
		s := stats[0]
		most := s.SharedIdeal
		switch {
		case d.p.Dim < 64:
			most += most * 3 / 10
		case d.p.Dim%64 != 0:
			most += most / 5
		}
		if s.SharedIdeal == 0 || s.SharedCycles > most {
			t.Errorf("%s: %d passes of shared memory, at least %d", d.name(), s.SharedCycles, s.SharedIdeal)
		}
	}
}

// TestSearch has one key of NaN that all queries may see, but the last one where the mask forbids it. Values are
// searched for such a key in that tile alone.
func TestSearch(t *testing.T) {
	for _, mask := range []attn.Mask{attn.Keep, attn.AddF32, attn.AddWord} {
		p := dense(attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 13, Keys: 200, Dim: 64,
			Mask: mask})
		var accesses [2]int64
		for forbidden := range accesses {
			d := newData(p, nil)
			for i := range d.mask {
				d.mask[i] = 1
			}
			const key = 77
			for i := range p.Dim {
				d.v[key*p.Dim+i] = math.NaN()
			}
			if forbidden == 1 {
				d.mask[(p.Queries-1)*p.Keys+key] = forbids(mask)
			}
			j := d.job(t)
			j.Quick = true
			d.check(t, cudatest.Run(t, j))
			_, stats := cudatest.Trace(t, j)
			accesses[forbidden] = stats[0].SharedAccesses
		}
		hidden := hiddenByOrder(mask)
		hidden.check(t, cudatest.Run(t, quick(hidden.job(t))))
		if accesses[0] >= accesses[1] {
			t.Errorf("mask %d: %d accesses of shared memory where nothing is forbidden, %d else", mask, accesses[0],
				accesses[1])
		}
	}
}

// hiddenByOrder has a key of NaN that queries before it do not see, as a causal mask has it beside one that forbids
// nothing.
func hiddenByOrder(mask attn.Mask) data {
	p := dense(attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 100, Keys: 100, Dim: 64,
		Mask: mask, Causal: attn.TopLeft})
	d := newData(p, nil)
	for i := range d.mask {
		d.mask[i] = 1
	}
	for i := range p.Dim {
		d.v[77*p.Dim+i] = math.NaN()
	}
	return d
}
