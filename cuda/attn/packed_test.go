// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
)

// TestPackedColumns has queries, keys and values as slices of columns of one matrix [tokens][heads * dim * 3], results
// as [tokens][heads * dim], and several samples in one launch that the call of one describes. Rows of the matrices are
// multiples of 16 bytes and of nothing more, and beside the columns stands NaN.
func TestPackedColumns(t *testing.T) {
	for _, dim := range []int64{8, 16, 32, 64, 80} {
		for _, causal := range []attn.Causal{attn.Full, attn.BottomRight} {
			one := dense(attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 3, KVHeads: 3, Queries: 35, Keys: 35, Dim: dim,
				Causal: causal})
			all := one
			all.Batch = 2
			d := newData(all, nil)
			t.Run(d.name(), func(t *testing.T) {
				t.Parallel()
				d.check(t, cudatest.Run(t, packed(t, one, d)))
			})
		}
	}
}

// packed is the job of all samples of d by the call of one of them.
func packed(t *testing.T, one attn.SDPA, d data) cudatest.Job {
	t.Helper()
	tokens, wide := one.Queries, one.Heads*one.Dim
	row := 3*wide + 8 - 3*wide%16 // an odd number of 16 bytes
	in := attn.Strides{Batch: tokens * row, Head: one.Dim, Row: row}
	one.Q, one.K, one.V = in, in, in
	one.O = attn.Strides{Batch: tokens * wide, Head: one.Dim, Row: wide}
	call, err := one.Call(attn.Args{Q: cuda.Buffer(0), K: cuda.BufferAt(0, 2*wide), V: cuda.BufferAt(0, 4*wide),
		O: cuda.Buffer(1), LSE: cuda.Buffer(2), Mask: cuda.Null(), Lengths: cuda.Null()}, cuda.Target{Arch: cuda.Archs()[1]})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]byte, 2*d.p.Batch*in.Batch)
	for i := range x {
		x[i] = 0xFF
	}
	for k, from := range [][]float64{d.q, d.k, d.v} {
		for i := range d.p.Batch * one.Heads * tokens {
			at := place(in, one.Heads, tokens, i) + int64(k)*wide
			copy(x[2*at:], encode(d.p.Word, from[i*one.Dim:(i+1)*one.Dim]))
		}
	}
	shared, err := call.Instance.Shared()
	if err != nil {
		t.Fatal(err)
	}
	return cudatest.Job{Kernels: []cuda.Instance{call.Instance}, Quick: true,
		Launches: []cuda.Launch{{Kernel: call.Instance.Kernel, Shared: uint32(shared), Args: call.Args,
			Grid: [3]uint32{uint32(call.Blocks * call.Rows * d.p.Batch), 1, 1}, Block: [3]uint32{128, 1, 1}}},
		Buffers: []cudatest.Buffer{{Name: "x", Data: x},
			{Name: "o", Out: true, Sparse: true, Bytes: 2 * d.p.Batch * one.O.Batch, Pieces: pieces(one, d)},
			{Name: "lse", Out: true, Bytes: 4 * d.p.Batch * one.Heads * tokens}}}
}

// pieces are the rows of results in the order of [batch][heads][tokens].
func pieces(one attn.SDPA, d data) []cudatest.Piece {
	var all []cudatest.Piece
	for i := range d.p.Batch * one.Heads * one.Queries {
		all = append(all, cudatest.Piece{At: 2 * place(one.O, one.Heads, one.Queries, i), Bytes: 2 * one.Dim})
	}
	return all
}
