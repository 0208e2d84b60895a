// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
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
	for _, a := range cuda.Archs() {
		if err := c.p.Valid(a); err != nil {
			t.Fatal(err)
		}
	}
	i, err := c.p.Instance("attention")
	if err != nil {
		t.Fatal(err)
	}
	a := attn.MXINT8Args{Args: attn.Args{Q: cuda.Buffer(0), K: cuda.Buffer(1), V: cuda.Buffer(2), O: cuda.Buffer(3),
		LSE: cuda.Buffer(4), Lengths: cuda.Null()}, KScales: cuda.Buffer(5), VScales: cuda.Buffer(6)}
	j := cudatest.Job{Kernels: []cuda.Instance{i}, Buffers: []cudatest.Buffer{
		{Name: "q", Data: encode(attn.BF16, c.q)}, {Name: "k", Data: c.k}, {Name: "v", Data: c.v},
		{Name: "o", Bytes: int64(2 * len(c.q)), Out: true},
		{Name: "lse", Bytes: 4 * c.p.Batch * c.p.Heads * c.p.Queries, Out: true},
		{Name: "key scales", Data: c.kx}, {Name: "value scales", Data: c.vx},
	}}
	if c.lengths != nil {
		var b []byte
		for _, n := range c.lengths {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		a.Lengths = cuda.Buffer(len(j.Buffers))
		j.Buffers = append(j.Buffers, cudatest.Buffer{Name: "lengths", Data: b})
	}
	if j.Launches, err = c.p.Launch("attention", a); err != nil {
		t.Fatal(err)
	}
	return j
}

// cachedProblems have every head dimension, both alignments, lengths and shared heads.
func cachedProblems() []cached {
	var all []cached
	add := func(lengths []int32, p attn.SDPA) {
		p.Word = attn.BF16
		all = append(all, newCached(p, lengths))
	}
	add(nil, attn.SDPA{Batch: 1, Heads: 2, KVHeads: 1, Queries: 33, Keys: 65, Dim: 64})
	add([]int32{0, 70}, attn.SDPA{Batch: 2, Heads: 1, KVHeads: 1, Queries: 9, Keys: 131, Dim: 80})
	add([]int32{150}, attn.SDPA{Batch: 1, Heads: 4, KVHeads: 2, Queries: 20, Keys: 170, Dim: 128,
		Causal: attn.BottomRight})
	add(nil, attn.SDPA{Batch: 1, Heads: 1, KVHeads: 1, Queries: 130, Keys: 130, Dim: 96, Causal: attn.TopLeft})
	add([]int32{70}, attn.SDPA{Batch: 1, Heads: 1, KVHeads: 1, Queries: 66, Keys: 97, Dim: 256})
	add(nil, attn.SDPA{Batch: 1, Heads: 1, KVHeads: 1, Queries: 5, Keys: 0, Dim: 64})
	return all
}

// TestMXINT8 compares with the definition on the decoded tensors, and bit for bit with the kernel for bf16 on them,
// where both have tiles of as many keys.
func TestMXINT8(t *testing.T) {
	for k, c := range cachedProblems() {
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
	for k, dim := range []int64{64, 80, 96, 128, 256} {
		for _, queries := range []int64{64, 1000} {
			p := attn.MXINT8{SDPA: attn.SDPA{Word: attn.BF16, Queries: queries, Dim: dim, Causal: attn.Causal(k % 3)}}
			if !long && (queries == 64 || k%2 == 0) {
				continue
			}
			i, err := p.Instance(fmt.Sprintf("sdpa_mxint8_%d_%d", dim, queries))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, i)
		}
	}
	cudatest.Gates(t, all...)
}

// TestMXINT8Valid refuses what the kernel does not do, and counts bytes.
func TestMXINT8Valid(t *testing.T) {
	sound := newCached(attn.SDPA{Word: attn.BF16, Batch: 1, Heads: 1, KVHeads: 1, Queries: 2, Keys: 3, Dim: 64}, nil).p
	arch := cuda.Archs()[0]
	if err := sound.Valid(arch); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *attn.MXINT8){
		"word":      func(p *attn.MXINT8) { p.Word = attn.F16 },
		"mask":      func(p *attn.MXINT8) { p.Mask = attn.Keep },
		"stride":    func(p *attn.MXINT8) { p.K.Row, p.V.Row = 72, 72 },
		"dimension": func(p *attn.MXINT8) { p.Dim = 32 },
	} {
		p := sound
		change(&p)
		if p.Valid(arch) == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	if got, want := sound.Floor().Bytes, int64(2*2*2*64+2*3*(64+2)); got != want {
		t.Errorf("floor of %d bytes, want %d", got, want)
	}
}
