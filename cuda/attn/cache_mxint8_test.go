// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/ir/format"
)

// cachedDecodes are problems over blocks; the first two are parted. A long run has every head dimension.
func cachedDecodes() []attn.Decode {
	all := []attn.Decode{{Heads: 3, KVHeads: 1, Keys: 200, Dim: 16, Chunk: 64},
		{Heads: 3, KVHeads: 1, Keys: 193, Dim: 64, Chunk: 64}, {Heads: 8, KVHeads: 1, Keys: 129, Dim: 128},
		{Heads: 2, KVHeads: 1, Keys: 97, Dim: 256, Chunk: 32}, {Heads: 17, KVHeads: 1, Keys: 70, Dim: 32},
		{Heads: 2, KVHeads: 1, Keys: 130, Dim: 80, Chunk: 64}, {Heads: 2, KVHeads: 1, Keys: 65, Dim: 96},
		{Heads: 4, KVHeads: 1, Keys: 129, Dim: 128, Chunk: 64}, {Heads: 2, KVHeads: 1, Keys: 33, Dim: 256},
		{Heads: 32, KVHeads: 1, Keys: 40, Dim: 64}}
	all = all[:tools.Sample(4, len(all))]
	for i := range all {
		all[i].Word, all[i].Rows, all[i].InBlocks = word.BFloat16, 1, true
	}
	return all
}

// decodingCached is a problem with a batch for each position, and the same one on decoded keys and values. Scales
// behind a position are NaN.
func decodingCached(t testing.TB, p attn.Decode, at []int32) (cached, attn.Decode, cudatest.Job, cudatest.Job) {
	t.Helper()
	plain := p
	plain.InBlocks = false
	d, plain, j := decoding(t, plain, at)
	c := newCached(attn.SDPA{Word: p.Word, Batch: d.p.Batch, Heads: p.Heads, KVHeads: p.KVHeads, Queries: 1,
		Keys: p.Keys, Dim: p.Dim}, d.lengths)
	c.data.q = d.q
	j.Buffers[1].Data, j.Buffers[2].Data = encode(p.Word, c.data.k), encode(p.Word, c.data.v)
	p = plain
	p.InBlocks, p.Scales = true, c.p.Scales
	return c, p, c.decoding(t, p, j), j
}

// decoding is the job j over blocks.
func (c cached) decoding(t testing.TB, p attn.Decode, j cudatest.Job) cudatest.Job {
	t.Helper()
	j.Launches, j.Kernels = nil, nil
	j.Buffers = append([]cudatest.Buffer{j.Buffers[0], {Name: "k", Data: c.k}, {Name: "v", Data: c.v}},
		append(j.Buffers[3:6:6], cudatest.Buffer{Name: "key scales", Data: c.kx},
			cudatest.Buffer{Name: "value scales", Data: c.vx})...)
	cudatest.Add(t, &j, p, attn.DecodeArgs{Q: cuda.Buffer(0), K: cuda.Buffer(1), V: cuda.Buffer(2),
		Position: cuda.Buffer(3), O: cuda.Buffer(4), Parts: cuda.Buffer(5), KScales: cuda.Buffer(6),
		VScales: cuda.Buffer(7)})
	return j
}

// TestDecodeMXINT8 compares with the definition on the decoded tensors, and bit for bit with the kernel for bf16 on
// them.
func TestDecodeMXINT8(t *testing.T) {
	for k, p := range cachedDecodes() {
		t.Run(fmt.Sprint(p.Dim, p.Heads, p.Chunk), func(t *testing.T) {
			t.Parallel()
			c, _, j, plain := decodingCached(t, p, ends(p))
			j.Quick = k > 0
			out := cudatest.Run(t, j)[0]
			checkDecode(t, c.data, out)
			cudatest.Equal(t, "o", out, cudatest.Run(t, plain)[0], 2)
		})
	}
}

// TestDecodeMXINT8Special has NaN scales and -2^128 in keys and values that are seen, and in those right behind.
func TestDecodeMXINT8Special(t *testing.T) {
	p := cachedDecodes()[1]
	c, p, _, plain := decodingCached(t, p, []int32{70, 100, 130, 63})
	blocks := p.Dim / 32
	for b := range p.Batch {
		row := b * p.KVHeads * p.Keys
		c.vx[(row+3)*blocks+1], c.vx[(row+64)*blocks], c.v[(row+64)*p.Dim+2] = 255, 254, 0x80
		c.kx[(row+65)*blocks], c.kx[(row+128)*blocks+1] = 255, 255
		for i := range p.KVHeads * p.Keys * p.Dim {
			at := b*p.KVHeads*p.Keys*p.Dim + i
			value := func(q, x []byte) float64 {
				if s := x[at/p.Dim*blocks+at%p.Dim/32]; s < 255 {
					v := math.Ldexp(float64(int8(q[at])), int(s)-133)
					if math.Abs(v) < 0x1p128 {
						return v
					}
					return math.Inf(-1)
				}
				return math.NaN()
			}
			c.data.k[at], c.data.v[at] = value(c.k, c.kx), value(c.v, c.vx)
		}
	}
	checkDecode(t, c.data, cudatest.Run(t, c.decoding(t, p, plain))[0])
}

// TestDecodeMXINT8Far moves rows, heads and batches of caches and scales far apart: the results keep their bits.
func TestDecodeMXINT8Far(t *testing.T) {
	p := cachedDecodes()[1]
	p.Keys, p.Heads, p.KVHeads = 70, 4, 2
	c, p, near, plain := decodingCached(t, p, []int32{69, 40})
	want := cudatest.Run(t, near)[0]
	s := apart()
	p.K, p.V, p.Scales = s, s, s
	j := c.decoding(t, p, plain)
	blocks := p.Dim / 32
	for name, each := range map[string]int64{"k": p.Dim, "v": p.Dim, "key scales": blocks, "value scales": blocks} {
		j = spread(j, name, each, func(i int64) int64 { return place(s, p.KVHeads, p.Keys, i) })
	}
	cudatest.Equal(t, "o", cudatest.Run(t, j)[0], want, 2)
}

// TestCacheMXINT8Gates compiles kernels of every head dimension.
func TestCacheMXINT8Gates(t *testing.T) {
	var all []cuda.Instance
	for _, p := range cachedDecodes() {
		p.Batch, p.Scale = 1, 1
		p.Q, p.K = attn.Dense(p.Heads, 1, p.Dim), attn.Dense(p.KVHeads, p.Keys, p.Dim)
		p.V, p.O, p.Scales = p.K, p.Q, attn.Dense(p.KVHeads, p.Keys, (p.Dim+31)/32)
		all = append(all, cudatest.Plan(t, p).Instances...)
	}
	for k, dim := range []int64{16, 48, 64, 128, 256} {
		p := attn.RopeAppend{Word: word.BFloat16, Turns: true, Batch: 1, Rows: 1, Tokens: 1, KVHeads: 1, Copied: 1, Room: 1,
			Dim: dim, InBlocks: k > 0, Unrounded: k > 2}
		all = append(all, cudatest.Plan(t, p).Instances...)
	}
	cudatest.Gates(t, all...)
}

// bfloats are count rows of dim words of bf16 of many sizes: zeros, subnormal numbers, powers of two and what is just
// below them, ends of the range, and in every seventh row NaN or an infinity.
func bfloats(count, dim int64) []float64 {
	r := rand.New(rand.NewPCG(uint64(dim), 3))
	out := make([]float64, count*dim)
	for i := range out {
		row := int64(i) / dim
		x := math.Ldexp(r.NormFloat64(), int(row*37%250)-130)
		switch {
		case row%5 == 1 || r.IntN(9) == 0:
			x = 0
		case row%5 == 2 && r.IntN(20) == 0:
			x = math.Ldexp(1, r.IntN(250)-140)
		case row%5 == 3:
			x = math.Ldexp(float64(255-r.IntN(3)), int(row%40)-8) // rounded up they saturate
		case row%7 == 6 && int64(i)%dim == dim-1:
			x = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[row%3]
		}
		out[i] = round(word.BFloat16, x)
	}
	return out
}

// TestAppendMXINT8 writes rows of every size of number into caches: codes and scales are those of the format, bit for
// bit; keys are turned by angles of 0.
func TestAppendMXINT8(t *testing.T) {
	dims := []int64{16, 48, 64, 80, 32, 96, 112, 128, 256}
	for _, dim := range dims[:tools.Sample(4, len(dims))] {
		for _, turns := range []bool{true, false} {
			p := attn.RopeAppend{Word: word.BFloat16, Turns: turns, Batch: 2, Rows: 1, Tokens: 17, KVHeads: 3, Copied: 3,
				Room: 20, Dim: dim, InBlocks: true}
			row := 2 * p.KVHeads * dim
			p.X = attn.Strides{Batch: p.Tokens * row, Head: dim, Row: row}
			p.V, p.Q = p.X, p.X
			t.Run(fmt.Sprint(dim, turns), func(t *testing.T) {
				t.Parallel()
				appendBlocks(t, p)
			})
		}
	}
}

// appendBlocks runs a problem without queries at position 2 of the first batch, and at 9, moved to 3, of the second.
func appendBlocks(t *testing.T, p attn.RopeAppend) {
	const poison = 0xFF
	x, f := bfloats(p.Batch*p.Tokens*2*p.KVHeads, p.Dim), format.NewMXInt(8, 32)
	blocks, rows := (p.Dim+31)/32, p.Batch*p.KVHeads*p.Room
	var ones []byte
	for range p.Room * p.Dim / 2 {
		ones = binary.LittleEndian.AppendUint32(ones, math.Float32bits(1))
	}
	j := cudatest.Job{Quick: true, Buffers: []cudatest.Buffer{{Name: "x", Data: encode(p.Word, x)},
		{Name: "cos", Data: ones}, {Name: "sin", Data: make([]byte, len(ones))},
		{Name: "position", Data: []byte{2, 0, 0, 0, 9, 0, 0, 0}}, {Name: "keys", Bytes: rows * p.Dim, Out: true},
		{Name: "values", Bytes: rows * p.Dim, Out: true}, {Name: "key scales", Bytes: rows * blocks, Out: true},
		{Name: "value scales", Bytes: rows * blocks, Out: true}}}
	cudatest.Add(t, &j, p, attn.RopeAppendArgs{X: cuda.Buffer(0), V: cuda.BufferAt(0, 2*p.KVHeads*p.Dim),
		Cos: cuda.Buffer(1), Sin: cuda.Buffer(2), Position: cuda.Buffer(3), Q: cuda.Null(), KCache: cuda.Buffer(4),
		VCache: cuda.Buffer(5), KScales: cuda.Buffer(6), VScales: cuda.Buffer(7)})
	out := cudatest.Run(t, j)
	for k := range int64(2) {
		codes, scales := make([]byte, rows*p.Dim), make([]byte, rows*blocks)
		for i := range codes {
			codes[i] = poison
		}
		for i := range scales {
			scales[i] = poison
		}
		for r := range rows {
			b, h := r/p.Room/p.KVHeads, r/p.Room%p.KVHeads
			from := []int64{2, 3}[b]
			if t := r%p.Room - from; t >= 0 && t < p.Tokens {
				row := x[b*p.X.Batch+t*p.X.Row+(k*p.KVHeads+h)*p.X.Head:][:p.Dim]
				if p.Turns && k == 0 {
					row = straight(row)
				}
				encodeRow(f, row, codes[r*p.Dim:], scales[r*blocks:])
			}
		}
		cudatest.Equal(t, []string{"keys", "values"}[k], out[k], codes, 1)
		cudatest.Equal(t, []string{"key scales", "value scales"}[k], out[2+k], scales, 1)
	}
}

// straight is a row that is turned by an angle of 0, where 0 times infinity is NaN.
func straight(row []float64) []float64 {
	out, half := make([]float64, len(row)), len(row)/2
	for i, v := range row {
		out[i] = v + 0*row[(i+half)%len(row)]
	}
	return out
}

// encodeRow encodes a row as the format does.
func encodeRow(f format.MXInt, row []float64, codes, scales []byte) {
	for b := 0; b*32 < len(row); b++ {
		part := row[b*32 : min(b*32+32, len(row))]
		values, q := make([]format.Exact, len(part)), make([]int64, len(part))
		for i, v := range part {
			values[i] = format.FromFloat64(v)
		}
		scales[b] = byte(f.EncodeBlock(values, q))
		for i, c := range q {
			codes[b*32+i] = byte(c)
		}
	}
}

// TestCacheMXINT8Refuses: what no kernel takes is refused by L0990; half of the bytes are counted.
func TestCacheMXINT8Refuses(t *testing.T) {
	sound := cachedDecodes()[0]
	_, sound, _, _ = decodingCached(t, sound, []int32{3})
	for name, change := range map[string]func(p *attn.Decode){
		"f16": func(p *attn.Decode) { p.Word = word.Float16 }, "dimension": func(p *attn.Decode) { p.Dim = 8 },
		"strides": func(p *attn.Decode) { p.V.Row = 32 },
	} {
		p := sound
		change(&p)
		if _, err := p.Plan(cuda.Archs()[0]); diag.CodeOf(err) != "L0990" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, want := sound.Floor().Bytes, 2*2*sound.Heads*16+2*sound.Keys*17; got != want {
		t.Errorf("floor of %d bytes, want %d", got, want)
	}
	p := attn.RopeAppend{Word: word.BFloat16, Batch: 1, Rows: 1, Tokens: 2, KVHeads: 1, Copied: 1, Room: 4, Dim: 64,
		InBlocks: true}
	if got, want := p.Floor().Bytes, int64(2*2*(2*64+66)); got != want {
		t.Errorf("an append of %d bytes, want %d", got, want)
	}
	p.Word = word.Float32
	if _, err := p.Plan(cuda.Archs()[0]); diag.CodeOf(err) != "L0990" {
		t.Errorf("fp32: %v", err)
	}
}
