// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
)

// dense gives a problem dense tensors and a mask that all heads share, or one a head where it has a stride of heads.
func dense(p attn.SDPA) attn.SDPA {
	p.Q, p.O = attn.Dense(p.Heads, p.Queries, p.Dim), attn.Dense(p.Heads, p.Queries, p.Dim)
	p.K, p.V = attn.Dense(p.KVHeads, p.Keys, p.Dim), attn.Dense(p.KVHeads, p.Keys, p.Dim)
	if p.MaskStrides.Head != 0 {
		p.MaskStrides = attn.Dense(p.Heads, p.Queries, p.Keys)
	} else {
		p.MaskStrides = attn.Strides{Batch: p.Queries * p.Keys, Row: p.Keys}
	}
	p.Scale = float32(1 / math.Sqrt(float64(p.Dim)))
	return p
}

// job runs a problem, for which every architecture has the same kernel.
func job[O any](t testing.TB, p cuda.Problem[O], o O, buffers []cudatest.Buffer) cudatest.Job {
	t.Helper()
	j := cudatest.Job{Buffers: buffers}
	cudatest.Add(t, &j, p, o)
	for _, a := range cuda.Archs() {
		if plan, err := p.Plan(a); err != nil || plan.Instances[0].String() != j.Kernels[0].String() {
			t.Fatalf("%s: %v, not %s: %v", a.Name, plan.Instances, j.Kernels[0], err)
		}
	}
	return j
}

// operands are the buffers of a problem, with keys and values as they are given, and the arguments that name them.
func (d data) operands(k, v []byte) (attn.Args, []cudatest.Buffer) {
	a := attn.Args{Q: cuda.Buffer(0), K: cuda.Buffer(1), V: cuda.Buffer(2), O: cuda.Buffer(3), LSE: cuda.Buffer(4),
		Mask: cuda.Null(), Lengths: cuda.Null()}
	all := []cudatest.Buffer{{Name: "q", Data: encode(d.p.Word, d.q)}, {Name: "k", Data: k}, {Name: "v", Data: v},
		{Name: "o", Bytes: int64(2 * len(d.q)), Out: true},
		{Name: "lse", Bytes: 4 * d.p.Batch * d.p.Heads * d.p.Queries, Out: true}}
	if d.mask != nil {
		a.Mask = cuda.Buffer(len(all))
		all = append(all, cudatest.Buffer{Name: "mask", Data: d.maskBytes()})
	}
	if d.lengths != nil {
		var b []byte
		for _, n := range d.lengths {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		a.Lengths = cuda.Buffer(len(all))
		all = append(all, cudatest.Buffer{Name: "lengths", Data: b})
	}
	return a, all
}

func (d data) job(t testing.TB) cudatest.Job {
	t.Helper()
	a, buffers := d.operands(encode(d.p.Word, d.k), encode(d.p.Word, d.v))
	return job(t, d.p, a, buffers)
}

// unit is the place of the last bit of a number between 1 and 2.
func unit(w word.Float) float64 {
	if w == word.Float16 {
		return 0x1p-10
	}
	return 0x1p-7
}

// check allows twice the error that a plain computation in the same precision makes in the row, and a unit in the last
// place; 1e-5 for lse. A row without keys is 0 and -Inf, bit for bit.
func (d data) check(t testing.TB, out [][]byte) {
	t.Helper()
	p, o, lse := d.p, decode(d.p.Word, out[0]), cudatest.F32(out[1])
	for b := range p.Batch {
		for h := range p.Heads {
			for i := range p.Queries {
				exact, off, want := d.row(b, h, i)
				row := (b*p.Heads+h)*p.Queries + i
				for c, x := range exact {
					got := o[row*p.Dim+int64(c)]
					near := math.Abs(got-x) <= 2*off+unit(p.Word)*math.Abs(x)+0x1p-24 || got == x
					if !near && !(math.IsNaN(got) && math.IsNaN(x)) {
						t.Fatalf("batch %d, head %d, query %d: o[%d] is %v, want %v within %v", b, h, i, c, got, x,
							2*off+unit(p.Word)*math.Abs(x))
					}
				}
				got := lse[row]
				near := math.Abs(got-want) <= 1e-5*max(1, math.Abs(want)) || got == want
				if !near && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Fatalf("batch %d, head %d, query %d: lse is %v, want %v", b, h, i, got, want)
				}
			}
		}
	}
}

// problems have every head dimension, format, alignment and mask, lengths around the tiles, and shared heads.
func problems() []data {
	var all []data
	add := func(lengths []int32, p attn.SDPA) { all = append(all, newData(dense(p), lengths)) }
	add(nil, attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 1, Keys: 1, Dim: 64})
	add(nil, attn.SDPA{Word: word.Float16, Batch: 1, Heads: 2, KVHeads: 1, Queries: 33, Keys: 65, Dim: 64})
	add(nil, attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 9, Keys: 0, Dim: 64})
	add([]int32{31, 0, 65}, attn.SDPA{Word: word.BFloat16, Batch: 3, Heads: 2, KVHeads: 2, Queries: 17, Keys: 65, Dim: 80})
	add(nil, attn.SDPA{Word: word.Float16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 150, Keys: 70, Dim: 64,
		Causal: attn.TopLeft})
	add(nil, attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 150, Keys: 70, Dim: 128,
		Causal: attn.BottomRight})
	add([]int32{130, 64}, attn.SDPA{Word: word.BFloat16, Batch: 2, Heads: 4, KVHeads: 2, Queries: 20, Keys: 130, Dim: 128,
		Causal: attn.BottomRight})
	add(nil, attn.SDPA{Word: word.BFloat16, Batch: 2, Heads: 1, KVHeads: 1, Queries: 70, Keys: 67, Dim: 80,
		Mask: attn.Keep})
	add([]int32{99}, attn.SDPA{Word: word.Float16, Batch: 1, Heads: 2, KVHeads: 1, Queries: 68, Keys: 131, Dim: 96,
		Mask: attn.AddF32})
	add(nil, attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 30, Keys: 129, Dim: 128,
		Mask: attn.AddWord, Causal: attn.BottomRight})
	add(nil, attn.SDPA{Word: word.Float16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 66, Keys: 80, Dim: 128,
		Mask: attn.AddWord})
	add([]int32{70}, attn.SDPA{Word: word.Float16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 40, Keys: 97, Dim: 256,
		Causal: attn.TopLeft})
	add(nil, attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 70, Keys: 33, Dim: 256,
		Mask: attn.Keep})
	add(nil, attn.SDPA{Word: word.BFloat16, Batch: 2, Heads: 3, KVHeads: 1, Queries: 20, Keys: 41, Dim: 64,
		Mask: attn.AddF32, MaskStrides: attn.Strides{Head: 1}})
	add(nil, attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 140, Keys: 97, Dim: 96})
	add(nil, attn.SDPA{Word: word.Float16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 30, Keys: 92, Dim: 64,
		Causal: attn.BottomRight}) // query 0 sees all keys of the first tile but one
	add(nil, attn.SDPA{Word: word.BFloat16, Batch: 2, Heads: 2, KVHeads: 1, Queries: 70, Keys: 92, Dim: 8,
		Causal: attn.BottomRight})
	add([]int32{90, 65}, attn.SDPA{Word: word.Float16, Batch: 2, Heads: 2, KVHeads: 2, Queries: 20, Keys: 97, Dim: 16,
		Mask: attn.Keep})
	add([]int32{95}, attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 3, KVHeads: 1, Queries: 66, Keys: 100, Dim: 32,
		Causal: attn.TopLeft})
	return all
}

func (d data) name() string {
	p := d.p
	return fmt.Sprintf("%v/%d/%dx%d/causal=%d/mask=%d/lengths=%v", p.Word, p.Dim, p.Queries, p.Keys, p.Causal, p.Mask,
		d.lengths)
}

func TestSDPA(t *testing.T) {
	for k, d := range problems() {
		t.Run(d.name(), func(t *testing.T) {
			t.Parallel()
			j := d.job(t)
			j.Quick = k > 3
			d.check(t, cudatest.Run(t, j))
		})
	}
}

// TestSpecial has NaN and infinities in values and keys: they reach the queries that may see them, and no others.
func TestSpecial(t *testing.T) {
	all := problems()
	for _, k := range []int{4, 5, 6, 7, 8, 9, 10, 11, 14, 16, 17, 18} {
		d := all[k]
		d.special()
		t.Run(d.name(), func(t *testing.T) {
			t.Parallel()
			j := d.job(t)
			j.Quick = k > 4
			d.check(t, cudatest.Run(t, j))
		})
	}
}
