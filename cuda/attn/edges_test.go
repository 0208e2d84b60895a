// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"math"
	"strconv"
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
	"lathe/internal/tools"
)

// tileOf are the keys and the queries of a tile of a kernel.
func tileOf[O any](t *testing.T, p cuda.Problem[O]) (keys, queries int64) {
	t.Helper()
	i, at := cudatest.Plan(t, p).Instances[0], map[string]int64{}
	for k, param := range i.Template.Params {
		n, err := strconv.Atoi(i.Params[k])
		if err != nil {
			t.Fatal(err)
		}
		at[param.Name] = int64(n)
	}
	return at["BN"], 16 * at["WM"] * at["WARPS"]
}

// edged are kernels of every dimension, with every mask, for few and for many queries. They are kernels that other
// tests compile too.
func edged() []attn.SDPA {
	const bf16, f16, few, many = word.BFloat16, word.Float16, 9, 65
	var all []attn.SDPA
	for _, c := range []struct {
		word    word.Float
		dim     int64
		queries int64
		causal  attn.Causal
		mask    attn.Mask
	}{
		{bf16, 8, few, attn.BottomRight, attn.NoMask}, {bf16, 16, many, attn.Full, attn.NoMask},
		{f16, 32, few, attn.TopLeft, attn.NoMask}, {bf16, 8, many, attn.Full, attn.AddF32},
		{bf16, 64, few, attn.Full, attn.NoMask}, {bf16, 64, many, attn.Full, attn.NoMask},
		{bf16, 80, few, attn.Full, attn.NoMask}, {bf16, 96, many, attn.Full, attn.NoMask},
		{bf16, 128, few, attn.BottomRight, attn.NoMask}, {bf16, 128, many, attn.Full, attn.NoMask},
		{bf16, 128, many, attn.BottomRight, attn.NoMask}, {bf16, 256, few, attn.TopLeft, attn.NoMask},
		{f16, 64, few, attn.BottomRight, attn.NoMask}, {bf16, 64, few, attn.Full, attn.AddF32},
		{bf16, 80, many, attn.Full, attn.Keep}, {f16, 96, many, attn.Full, attn.AddF32},
		{bf16, 128, few, attn.BottomRight, attn.AddWord}, {f16, 128, many, attn.Full, attn.AddWord},
		{bf16, 256, few, attn.Full, attn.Keep},
	} {
		all = append(all, attn.SDPA{Word: c.word, Batch: 1, Heads: 2, KVHeads: 2, Queries: c.queries, Keys: 7, Dim: c.dim,
			Causal: c.causal, Mask: c.mask})
	}
	return all
}

// TestKeyEdges has keys that end around the ends of tiles: all of them at once, as lengths of batches, and one key less
// than two tiles without lengths.
func TestKeyEdges(t *testing.T) {
	for _, p := range edged() {
		n, _ := tileOf(t, dense(p))
		all := []int64{2*n - 1}
		if tools.Long {
			all = []int64{n - 1, n, n + 1, 2*n - 1, 2 * n, 2*n + 1}
		}
		for _, p.Keys = range all {
			edge(t, newData(dense(p), nil))
		}
		p.Batch, p.Heads, p.KVHeads, p.Keys = 6, 1, 1, 2*n+1
		d := newData(dense(p), around(n))
		for _, key := range []int64{n - 1, 2*n - 1} { // the last value of a tile, which some do not see
			d.v[(4*p.Keys+key+1)*p.Dim-1] = math.NaN()
		}
		edge(t, d)
	}
}

// around are lengths at the ends of two tiles of n keys.
func around(n int64) []int32 {
	return []int32{int32(n - 1), int32(n), int32(n + 1), int32(2*n - 1), int32(2 * n), 1}
}

// TestCachedEdges has keys and values in blocks that end around the ends of tiles.
func TestCachedEdges(t *testing.T) {
	for _, p := range []attn.SDPA{
		{Dim: 16}, {Dim: 32, Causal: attn.BottomRight}, {Dim: 64}, {Dim: 80},
		{Dim: 96, Queries: 65, Causal: attn.TopLeft}, {Dim: 128, Causal: attn.BottomRight}, {Dim: 256},
	} {
		p.Word, p.Batch, p.Heads, p.KVHeads, p.Queries = word.BFloat16, 6, 1, 1, max(p.Queries, 9)
		n, _ := tileOf(t, newCached(p, nil).p)
		p.Keys = 2*n + 1
		c := newCached(p, around(n))
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			c.check(t, cudatest.Run(t, quick(c.job(t))))
		})
	}
}

// TestQueryEdges has queries that end around the ends of tiles.
func TestQueryEdges(t *testing.T) {
	for _, p := range edged() {
		if p.Mask != attn.NoMask && !tools.Long {
			continue
		}
		_, n := tileOf(t, dense(p))
		for _, p.Queries = range []int64{n - 1, n, n + 1} {
			if _, same := tileOf(t, dense(p)); same == n {
				edge(t, newData(dense(p), nil))
			}
		}
	}
}

// edge runs a problem, as a subtest. With two heads the values of the second begin and end with NaN: what reads them
// for the first is seen.
func edge(t *testing.T, d data) {
	t.Helper()
	if d.p.Heads == 2 {
		v := d.v[d.p.Keys*d.p.Dim:]
		v[0], v[d.p.Dim-1] = math.NaN(), math.NaN()
	}
	t.Run(d.name(), func(t *testing.T) {
		t.Parallel()
		d.check(t, cudatest.Run(t, quick(d.job(t))))
	})
}
