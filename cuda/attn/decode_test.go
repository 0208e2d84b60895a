// SPDX-License-Identifier: Apache-2.0

package attn_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/attn/attntest"
	"lathe/cuda/cudatest"
	"lathe/cuda/word"
	"lathe/internal/diag"
)

// decodes have every head dimension and format, with positions around the ends of tiles and parts: none, and one beyond
// the caches, too.
func decodes() []attn.Decode {
	var all []attn.Decode
	for i, c := range []struct{ dim, heads, kv, chunk, keys int64 }{
		{64, 3, 1, 64, 193}, {8, 2, 2, 0, 130}, {16, 4, 2, 128, 300}, {32, 17, 1, 0, 70}, {80, 2, 1, 64, 130},
		{96, 2, 1, 0, 65}, {128, 4, 1, 64, 129}, {128, 8, 1, 0, 129}, {256, 2, 1, 32, 97}, {256, 2, 1, 0, 33},
		{64, 32, 1, 0, 40},
	} {
		all = append(all, attn.Decode{Word: word.BFloat16 + word.Float(i%2), Heads: c.heads, KVHeads: c.kv, Keys: c.keys,
			Dim: c.dim, Rows: 1, Chunk: c.chunk, Scale: float32(1 / math.Sqrt(float64(c.dim)))})
	}
	return all
}

// ends are positions at which a tile, a part or a cache ends, and their neighbours.
func ends(p attn.Decode) []int32 {
	tile := int64(64)
	if p.Dim > 128 {
		tile = 32
	}
	out := []int32{-1, int32(p.Keys), math.MaxInt32, math.MinInt32}
	for _, end := range []int64{1, 16, tile, max(p.Chunk, tile), 2 * max(p.Chunk, tile), p.Keys - 1} {
		for at := end - 2; at <= end; at++ {
			if at >= 0 && at < p.Keys {
				out = append(out, int32(at))
			}
		}
	}
	return out
}

// decoding is a problem with a batch for each position. Keys and values behind a position are NaN.
func decoding(t testing.TB, p attn.Decode, at []int32) (data, attn.Decode, cudatest.Job) {
	t.Helper()
	p.Batch = int64(len(at))
	lengths := make([]int32, len(at))
	for b, n := range at {
		lengths[b] = int32(min(max(int64(n)+1, 0), p.Keys))
	}
	d := newData(dense(attn.SDPA{Word: p.Word, Batch: p.Batch, Heads: p.Heads, KVHeads: p.KVHeads, Queries: 1,
		Keys: p.Keys, Dim: p.Dim}), lengths)
	for i := range d.q { // large ones, so that one key wins
		d.q[i] = round(p.Word, d.q[i]*float64(1+i/int(p.Dim)%3*3))
	}
	p.Scale, p.Q, p.K, p.V, p.O = d.p.Scale, d.p.Q, d.p.K, d.p.V, d.p.O
	var position []byte
	for _, n := range at {
		position = binary.LittleEndian.AppendUint32(position, uint32(n))
	}
	j := cudatest.Job{Quick: true, Buffers: []cudatest.Buffer{{Name: "q", Data: encode(p.Word, d.q)},
		{Name: "k", Data: encode(p.Word, d.k)}, {Name: "v", Data: encode(p.Word, d.v)},
		{Name: "position", Data: position}, {Name: "o", Bytes: int64(2 * len(d.q)), Out: true},
		{Name: "parts", Bytes: max(p.Workspace(), 16), Out: true}}}
	cudatest.Add(t, &j, p, attn.DecodeArgs{Q: cuda.Buffer(0), K: cuda.Buffer(1), V: cuda.Buffer(2),
		Position: cuda.Buffer(3), O: cuda.Buffer(4), Parts: cuda.Buffer(5)})
	return d, p, j
}

// checkDecode allows what data.check does, and demands zeros, bit for bit, of batches without a key.
func checkDecode(t testing.TB, d data, out []byte) {
	t.Helper()
	p, o := d.p, decode(d.p.Word, out)
	for b := range p.Batch {
		for h := range p.Heads {
			exact, off, _ := d.row(b, h, 0)
			for c, x := range exact {
				got, allowed := o[(b*p.Heads+h)*p.Dim+int64(c)], 2*off+unit(p.Word)*math.Abs(x)+0x1p-24
				if d.lengths[b] == 0 {
					allowed = 0
				}
				if !(math.Abs(got-x) <= allowed) && got != x && !(math.IsNaN(got) && math.IsNaN(x)) {
					t.Fatalf("%d keys, head %d: o[%d] is %v, want %v within %v", d.lengths[b], h, c, got, x, allowed)
				}
			}
		}
	}
}

func TestDecode(t *testing.T) {
	for k, p := range decodes() {
		t.Run(fmt.Sprint(p.Word, p.Dim, p.Heads, p.Chunk), func(t *testing.T) {
			t.Parallel()
			d, _, j := decoding(t, p, ends(p))
			j.Quick = k > 1
			checkDecode(t, d, cudatest.Run(t, j)[0])
		})
	}
}

// TestDecodeSpecial has NaN and infinities in keys and values that are seen, and in those right behind the position.
func TestDecodeSpecial(t *testing.T) {
	p := decodes()[0]
	d, p, j := decoding(t, p, []int32{70, 100, 130})
	for b := range p.Batch {
		k, v := d.k[b*p.Keys*p.Dim:], d.v[b*p.Keys*p.Dim:]
		v[3*p.Dim+1], v[64*p.Dim+2], k[65*p.Dim] = math.NaN(), math.Inf(1), math.Inf(-1)
	}
	j.Buffers[1].Data, j.Buffers[2].Data = encode(p.Word, d.k), encode(p.Word, d.v)
	checkDecode(t, d, cudatest.Run(t, j)[0])
}

// TestDecodeTops: a key far above all others decides, whichever warp and part have it; sums relative to a lower top
// would be infinite.
func TestDecodeTops(t *testing.T) {
	p := decodes()[0]
	at := []int32{192, 192, 192, 192, 192, 192, 192}
	d, p, j := decoding(t, p, at)
	for b := range p.Batch {
		key := []int64{5, 20, 40, 60, 70, 185, 192}[b]
		for c := range p.Dim {
			for h := range p.Heads {
				d.q[(b*p.Heads+h)*p.Dim+c] = 8
			}
			d.k[(b*p.Keys+key)*p.Dim+c] = 8
		}
	}
	j.Buffers[0].Data, j.Buffers[1].Data = encode(p.Word, d.q), encode(p.Word, d.k)
	checkDecode(t, d, cudatest.Run(t, j)[0])
}

// TestDecodeBits: a row has the same bits whatever batches and heads are beside it.
func TestDecodeBits(t *testing.T) {
	p := decodes()[0]
	d, _, all := decoding(t, p, []int32{5, 100, 150})
	together := cudatest.Run(t, all)[0]
	for i := range d.q {
		if i/int(p.Dim)%int(p.Heads) > 0 {
			d.q[i] = round(p.Word, 64*d.q[i])
		}
	}
	others := all
	others.Buffers = slices.Clone(all.Buffers)
	others.Buffers[0].Data = encode(p.Word, d.q)
	loud := cudatest.Run(t, others)[0]
	for b := range int64(3) {
		at := 2 * b * p.Heads * p.Dim
		cudatest.Equal(t, "o of the first head", loud[at:at+2*p.Dim], together[at:at+2*p.Dim], 2)
	}
	p.Batch = 1
	row, cache := 2*p.Heads*p.Dim, 2*p.KVHeads*p.Keys*p.Dim
	for b := range int64(3) {
		_, _, one := decoding(t, p, []int32{0})
		for i, size := range []int64{row, cache, cache, 4} {
			one.Buffers[i].Data = all.Buffers[i].Data[b*size : (b+1)*size]
		}
		cudatest.Equal(t, "o", cudatest.Run(t, one)[0], together[b*row:(b+1)*row], 2)
	}
}

// TestDecodeFar moves rows, heads and batches of caches far apart: the results keep their bits.
func TestDecodeFar(t *testing.T) {
	p := decodes()[0]
	p.Keys, p.Heads, p.KVHeads = 70, 4, 2
	_, _, near := decoding(t, p, []int32{69, 40})
	want := cudatest.Run(t, near)[0]
	far, s := p, apart()
	_, far, j := decoding(t, p, []int32{69, 40})
	far.K, far.V, far.Q, far.O = s, s, s, s
	j.Launches, j.Kernels = nil, nil
	cudatest.Add(t, &j, far, attn.DecodeArgs{Q: cuda.Buffer(0), K: cuda.Buffer(1), V: cuda.Buffer(2),
		Position: cuda.Buffer(3), O: cuda.Buffer(4), Parts: cuda.Buffer(5)})
	for _, name := range []string{"k", "v"} {
		j = spread(j, name, 2*p.Dim, func(i int64) int64 { return 2 * place(s, p.KVHeads, p.Keys, i) })
	}
	for _, name := range []string{"q", "o"} {
		j = spread(j, name, 2*p.Dim, func(i int64) int64 { return 2 * place(s, p.Heads, 1, i) })
	}
	cudatest.Equal(t, "o", cudatest.Run(t, j)[0], want, 2)
}

// TestDecodeGates compiles kernels of every head dimension.
func TestDecodeGates(t *testing.T) {
	var all []cuda.Instance
	for _, p := range decodes() {
		p.Batch = 1
		p.Q, p.K, p.V, p.O = attn.Dense(p.Heads, 1, p.Dim), attn.Dense(p.KVHeads, p.Keys, p.Dim),
			attn.Dense(p.KVHeads, p.Keys, p.Dim), attn.Dense(p.Heads, 1, p.Dim)
		all = append(all, cudatest.Plan(t, p).Instances...)
	}
	cudatest.Gates(t, all...)
}

// TestAppendEdges moves positions that leave no room to the nearest that do, writes no other row, and takes no position
// for 0.
func TestAppendEdges(t *testing.T) {
	for _, turns := range []bool{true, false} {
		p := attn.RopeAppend{Word: word.BFloat16, Turns: turns, Batch: 2, Rows: 1, Tokens: 3, KVHeads: 2, Copied: 2,
			Room: 8, Dim: 48}
		if turns {
			p.Heads = 3
		}
		row := (p.Heads + 2*p.KVHeads) * p.Dim
		p.X = attn.Strides{Batch: p.Tokens * row, Head: p.Dim, Row: row}
		p.V, p.Q = p.X, attn.Dense(p.Heads, p.Tokens, p.Dim)
		for _, at := range []int32{math.MinInt32, -1, 0, 4, 5, 6, 8, math.MaxInt32} {
			c, err := attntest.RopeAppend(p, at, false)
			if err != nil {
				t.Fatal(err)
			}
			cudatest.RunCase(t, c, true)
			if at == 0 {
				c.Launches[0].Args[4] = cuda.Null()
				cudatest.RunCase(t, c, true)
			}
		}
	}
}

// TestDecodeRefuses: what no kernel takes is refused by L0990.
func TestDecodeRefuses(t *testing.T) {
	sound := decodes()[0]
	sound.Batch = 2
	for name, change := range map[string]func(p *attn.Decode){
		"dimension": func(p *attn.Decode) { p.Dim = 72 }, "positions": func(p *attn.Decode) { p.Rows = 3 },
		"chunk": func(p *attn.Decode) { p.Chunk = 65 }, "fp32": func(p *attn.Decode) { p.Word = word.Float32 },
		"blocks": func(p *attn.Decode) { p.Batch, p.Chunk, p.Keys = 1<<28, 64, 1<<20 },
	} {
		p := sound
		change(&p)
		if _, err := p.Plan(cuda.Archs()[0]); diag.CodeOf(err) != "L0990" {
			t.Errorf("%s: %v", name, err)
		}
	}
	rope := attn.RopeAppend{Word: word.BFloat16, Turns: true, Batch: 2, Rows: 1, Tokens: 1, Heads: 2, KVHeads: 1,
		Copied: 1, Room: 4, Dim: 32}
	if _, err := rope.Plan(cuda.Archs()[0]); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(p *attn.RopeAppend){
		"dimension": func(p *attn.RopeAppend) { p.Dim = 24 }, "positions": func(p *attn.RopeAppend) { p.Rows = 3 },
		"room": func(p *attn.RopeAppend) { p.Tokens = 5 }, "copied": func(p *attn.RopeAppend) { p.Copied = 2 },
		"queries": func(p *attn.RopeAppend) { p.Turns = false }, "strides": func(p *attn.RopeAppend) { p.X.Row = 12 },
		"blocks": func(p *attn.RopeAppend) { p.Batch = 1 << 40 },
	} {
		p := rope
		change(&p)
		if _, err := p.Plan(cuda.Archs()[0]); diag.CodeOf(err) != "L0990" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
