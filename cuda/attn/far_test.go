// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
)

// spread is the job with the tensors named moved apart, without more blocks: pieces of `each` bytes at the places that
// at tells.
func spread(j cudatest.Job, name string, each int64, at func(i int64) int64) cudatest.Job {
	for k, b := range j.Buffers {
		if b.Name != name {
			continue
		}
		size := max(b.Bytes, int64(len(b.Data)))
		out := cudatest.Buffer{Name: name, Sparse: true, Out: b.Out}
		for i := range size / each {
			p := cudatest.Piece{At: at(i), Bytes: each}
			if b.Data != nil {
				p.Data = b.Data[i*each : (i+1)*each]
			}
			out.Pieces, out.Bytes = append(out.Pieces, p), max(out.Bytes, p.At+each)
		}
		j.Buffers[k] = out
	}
	return j
}

// apart are strides by which rows, heads and batches of a tensor lie more than 2^31 elements apart.
func apart() attn.Strides { return attn.Strides{Batch: 1<<35 + 64, Head: 1<<33 + 64, Row: 1<<28 + 16} }

// place is the offset of row i of [batch][heads][rows].
func place(s attn.Strides, heads, rows, i int64) int64 {
	return i/rows/heads*s.Batch + i/rows%heads*s.Head + i%rows*s.Row
}

// TestFarStrides moves rows, heads and batches of every tensor far apart: the results keep their bits.
func TestFarStrides(t *testing.T) {
	p := dense(attn.SDPA{Word: word.BFloat16, Batch: 2, Heads: 2, KVHeads: 2, Queries: 17, Keys: 19, Dim: 64,
		Mask: attn.AddF32})
	d := newData(p, []int32{19, 11})
	want := cudatest.Run(t, quick(d.job(t)))
	d.check(t, want)
	q, s := p, apart()
	q.Q, q.K, q.V, q.O = s, s, s, s
	q.MaskStrides = attn.Strides{Batch: 1<<33 + 3, Row: 1 << 28}
	far := d
	far.p = q
	j := quick(far.job(t))
	for name, rows := range map[string]int64{"q": 17, "o": 17, "k": 19, "v": 19} {
		j = spread(j, name, 128, func(i int64) int64 { return 2 * place(s, 2, rows, i) })
	}
	j = spread(j, "mask", 19*4, func(i int64) int64 { return 4 * place(q.MaskStrides, 1, 17, i) })
	same(t, cudatest.Run(t, j), want)
}

// TestFarStridesMXINT8 does so with keys and values in blocks, and their scales.
func TestFarStridesMXINT8(t *testing.T) {
	c := newCached(attn.SDPA{Word: word.BFloat16, Batch: 2, Heads: 2, KVHeads: 2, Queries: 9, Keys: 19, Dim: 64}, nil)
	want := cudatest.Run(t, quick(c.job(t)))
	s := apart()
	c.p.K, c.p.V, c.p.Scales = s, s, s
	j := quick(c.job(t))
	for _, name := range []string{"k", "v"} {
		j = spread(j, name, 64, func(i int64) int64 { return place(s, 2, 19, i) })
	}
	for _, name := range []string{"key scales", "value scales"} {
		j = spread(j, name, 2, func(i int64) int64 { return place(s, 2, 19, i) })
	}
	same(t, cudatest.Run(t, j), want)
}

// TestFarHeads takes the last head of so many that queries, results and their lse count more than 2^31.
func TestFarHeads(t *testing.T) {
	const heads, dim, queries, keys = 1 << 29, 64, 5, 7
	d := newData(dense(attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: queries, Keys: keys,
		Dim: dim}), nil)
	near, far := quick(d.job(t)), d
	far.p = dense(attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: heads, KVHeads: heads, Queries: queries, Keys: keys,
		Dim: dim})
	j, places := cudatest.Job{}, map[string]cudatest.Place{}
	cudatest.Add(t, &j, far.p, attn.Args{Q: cuda.Buffer(0), K: cuda.Buffer(1), V: cuda.Buffer(2),
		O: cuda.Buffer(3), LSE: cuda.Buffer(4), Mask: cuda.Null(), Lengths: cuda.Null()})
	for _, b := range near.Buffers {
		size := max(b.Bytes, int64(len(b.Data)))
		j.Buffers = append(j.Buffers, cudatest.Buffer{Name: b.Name, Bytes: size * heads, Out: b.Out})
		places[b.Name] = cudatest.Place{At: size * (heads - 1)}
	}
	d.check(t, cudatest.Far(t, near, j, places))
}

func quick(j cudatest.Job) cudatest.Job {
	j.Quick = true
	return j
}

func same(t *testing.T, got, want [][]byte) {
	t.Helper()
	for i := range want {
		cudatest.Equal(t, []string{"o", "lse"}[i], got[i], want[i], 2)
	}
}
