// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
	"lathe/internal/tools"
)

// cached is a problem whose keys and values are bytes and scales; data holds what they decode to.
type cached struct {
	data
	p            attn.MXINT8
	k, kx, v, vx []byte
}

// newCached makes bytes and scales about 1, some so small that they decode to subnormal numbers. Beyond the lengths the
// scales are NaN.
func newCached(p attn.SDPA, lengths []int32) cached {
	c, blocks := cached{data: newData(dense(p), lengths)}, (p.Dim+31)/32
	c.p = attn.MXINT8{SDPA: c.data.p, Scales: attn.Dense(p.KVHeads, p.Keys, blocks)}
	r := rand.New(rand.NewPCG(uint64(p.Keys), 5))
	make8 := func(values []float64, low int) (q, x []byte) {
		for row := range p.Batch * p.KVHeads * p.Keys {
			inside := lengths == nil || row%p.Keys < int64(lengths[row/p.Keys/p.KVHeads])
			for b := range blocks {
				scale := 255
				if inside {
					scale = low + r.IntN(3)
				}
				if inside && r.IntN(9) == 0 {
					scale = r.IntN(8)
				}
				x = append(x, byte(scale))
				for i := 32 * b; i < min(32*b+32, p.Dim); i++ {
					e := int8(r.IntN(256))
					q = append(q, byte(e))
					values[row*p.Dim+i] = math.Ldexp(float64(e), scale-133)
					if scale == 255 {
						values[row*p.Dim+i] = math.NaN()
					}
				}
			}
		}
		return q, x
	}
	c.k, c.kx = make8(c.data.k, 126)
	c.v, c.vx = make8(c.data.v, 127)
	return c
}

func (c cached) job(t testing.TB) cudatest.Job {
	t.Helper()
	a, buffers := c.operands(c.k, c.v)
	n := len(buffers)
	buffers = append(buffers, cudatest.Buffer{Name: "key scales", Data: c.kx},
		cudatest.Buffer{Name: "value scales", Data: c.vx})
	return job(t, c.p, attn.MXINT8Args{Args: a, KScales: cuda.Buffer(n), VScales: cuda.Buffer(n + 1)}, buffers)
}

// special makes a block of values NaN, one with -2^128, which is -Inf in bfloat16, and a block of the last key NaN.
func (c cached) special() {
	blocks, inside := (c.p.Dim+31)/32, c.p.Keys
	if c.lengths != nil {
		inside = int64(c.lengths[0])
	}
	set := func(q, x []byte, values []float64, key, block int64, scale byte, e int8) {
		x[key*blocks+block] = scale
		for i := 32 * block; i < min(32*block+32, c.p.Dim); i++ {
			q[key*c.p.Dim+i], values[key*c.p.Dim+i] = 0, 0
			if scale == 255 {
				values[key*c.p.Dim+i] = math.NaN()
			}
		}
		if e != 0 {
			q[key*c.p.Dim+32*block], values[key*c.p.Dim+32*block] = byte(e), math.Inf(-1)
		}
	}
	for head := range c.p.Batch * c.p.KVHeads {
		q, x, values := c.v[head*c.p.Keys*c.p.Dim:], c.vx[head*c.p.Keys*blocks:], c.data.v[head*c.p.Keys*c.p.Dim:]
		set(q, x, values, inside-4, 0, 255, 0)
		set(q, x, values, max(inside-73, 1), blocks-1, 254, -128) // in another tile
		if first := c.p.Keys - c.p.Queries + 1; c.p.Causal == attn.BottomRight && first > 0 && first < inside {
			set(q, x, values, first, 0, 255, 0) // the first key that query 0 does not see
		}
		q, x, values = c.k[head*c.p.Keys*c.p.Dim:], c.kx[head*c.p.Keys*blocks:], c.data.k[head*c.p.Keys*c.p.Dim:]
		set(q, x, values, inside-1, 0, 255, 0)
	}
}

// cachedProblems have every head dimension, both alignments, lengths and shared heads.
func cachedProblems() []cached {
	var all []cached
	add := func(lengths []int32, p attn.SDPA) {
		p.Word = word.BFloat16
		all = append(all, newCached(p, lengths))
	}
	add(nil, attn.SDPA{Batch: 1, Heads: 2, KVHeads: 1, Queries: 33, Keys: 65, Dim: 64})
	add([]int32{0, 70}, attn.SDPA{Batch: 2, Heads: 1, KVHeads: 1, Queries: 9, Keys: 131, Dim: 80})
	add([]int32{165}, attn.SDPA{Batch: 1, Heads: 4, KVHeads: 2, Queries: 20, Keys: 170, Dim: 128,
		Causal: attn.BottomRight})
	add(nil, attn.SDPA{Batch: 1, Heads: 1, KVHeads: 1, Queries: 130, Keys: 130, Dim: 96, Causal: attn.TopLeft})
	add([]int32{70}, attn.SDPA{Batch: 1, Heads: 1, KVHeads: 1, Queries: 66, Keys: 97, Dim: 256})
	add(nil, attn.SDPA{Batch: 1, Heads: 1, KVHeads: 1, Queries: 5, Keys: 0, Dim: 64})
	add(nil, attn.SDPA{Batch: 1, Heads: 1, KVHeads: 1, Queries: 30, Keys: 92, Dim: 64, Causal: attn.BottomRight})
	add(nil, attn.SDPA{Batch: 1, Heads: 1, KVHeads: 1, Queries: 150, Keys: 70, Dim: 64, Causal: attn.BottomRight})
	add([]int32{60, 65}, attn.SDPA{Batch: 2, Heads: 2, KVHeads: 1, Queries: 9, Keys: 97, Dim: 16})
	add(nil, attn.SDPA{Batch: 1, Heads: 2, KVHeads: 1, Queries: 70, Keys: 92, Dim: 32, Causal: attn.BottomRight})
	return all
}

// TestMXINT8 compares with the definition on the decoded tensors, and bit for bit with the kernel for bf16 on them,
// where both have tiles of as many keys.
func TestMXINT8(t *testing.T) {
	sound, special := cachedProblems(), cachedProblems()
	for _, c := range special {
		if c.p.Causal != attn.Full {
			c.special()
			sound = append(sound, c)
		}
	}
	for k, c := range sound {
		t.Run(fmt.Sprintf("%d/%dx%d/%v", c.p.Dim, c.p.Queries, c.p.Keys, c.lengths), func(t *testing.T) {
			t.Parallel()
			j := c.job(t)
			j.Quick = k > 1
			out := cudatest.Run(t, j)
			c.check(t, out)
			if c.p.Dim == 256 {
				return
			}
			plain := c.data.job(t)
			plain.Quick = true
			for i, want := range cudatest.Run(t, plain) {
				if !slices.Equal(out[i], want) {
					t.Errorf("output %d: %s", i, cudatest.FirstDifference(out[i], want, 2))
				}
			}
		})
	}
}

// TestMXINT8Gates compiles the kernel of every head dimension; a sample in a quick run.
func TestMXINT8Gates(t *testing.T) {
	var all []cuda.Instance
	for k, dim := range []int64{16, 32, 64, 80, 96, 128, 256} {
		for _, queries := range []int64{64, 1000} {
			p := attn.MXINT8{SDPA: dense(attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: queries,
				Keys: 1000, Dim: dim, Causal: attn.Causal(k % 3)})}
			if !tools.Long && (queries == 64 || k%2 == 0) || queries == 64 && dim == 256 { // which has one kernel
				continue
			}
			all = append(all, cudatest.Plan(t, p).Instances...)
		}
	}
	cudatest.Gates(t, all...)
}

// TestMXINT8Valid refuses what the kernel does not do, and counts bytes.
func TestMXINT8Valid(t *testing.T) {
	sound := newCached(attn.SDPA{Word: word.BFloat16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 2, Keys: 3, Dim: 64}, nil).p
	arch := cuda.Archs()[0]
	if _, err := sound.Plan(arch); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *attn.MXINT8){
		"word":      func(p *attn.MXINT8) { p.Word = word.Float16 },
		"mask":      func(p *attn.MXINT8) { p.Mask = attn.Keep },
		"stride":    func(p *attn.MXINT8) { p.K.Row, p.V.Row = 72, 72 },
		"dimension": func(p *attn.MXINT8) { p.Dim = 8 },
	} {
		p := sound
		change(&p)
		if _, err := p.Plan(arch); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	if got, want := sound.Floor().Bytes, int64(2*2*2*64+2*3*(64+2)); got != want {
		t.Errorf("floor of %d bytes, want %d", got, want)
	}
}
