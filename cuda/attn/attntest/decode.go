// SPDX-License-Identifier: Apache-2.0

package attntest

import (
	"encoding/binary"
	"fmt"
	"math"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/word"
)

// decodes are the cases of one query a head.
func decodes() ([]cuda.Case, error) {
	var all []cuda.Case
	for _, c := range []struct {
		batch, heads, kv, keys, dim, chunk int64
		timed, cached                      bool // cached: keys and values in MXINT8 too
	}{
		{3, 4, 2, 150, 64, 0, false, true}, {3, 4, 2, 200, 64, 64, false, true}, {2, 2, 2, 70, 8, 0, false, false},
		{2, 3, 1, 70, 16, 64, false, true}, {2, 4, 1, 129, 32, 0, false, true},
		{1, 2, 1, 70, 80, 0, false, true}, {1, 2, 1, 70, 96, 0, false, true}, {2, 20, 1, 65, 128, 0, false, false},
		{2, 8, 2, 300, 128, 128, false, true}, {2, 2, 1, 65, 256, 0, false, true}, {1, 2, 1, 100, 256, 64, false, false},
		{1, 32, 8, 8192, 128, 0, true, true}, {16, 32, 8, 8192, 128, 0, true, true},
		{64, 32, 8, 4096, 128, 0, true, true}, {16, 32, 32, 2048, 64, 0, true, false},
	} {
		p := attn.Decode{Word: word.BFloat16, Batch: c.batch, Heads: c.heads, KVHeads: c.kv, Keys: c.keys, Dim: c.dim,
			Rows: 1, Scale: float32(1 / math.Sqrt(float64(c.dim))), Chunk: c.chunk, Q: attn.Dense(c.heads, 1, c.dim),
			K: attn.Dense(c.kv, c.keys, c.dim), V: attn.Dense(c.kv, c.keys, c.dim), O: attn.Dense(c.heads, 1, c.dim)}
		problems := []attn.Decode{p}
		if c.cached {
			p.InBlocks, p.Scales = true, attn.Dense(c.kv, c.keys, (c.dim+31)/32)
			problems = append(problems, p)
		}
		for _, p := range problems {
			one, err := Decode(p, c.timed)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// positions are those of the last key; in small cases also of the last one of a part of 64, and of one among few.
func positions(p attn.Decode) []int32 {
	out := make([]int32, p.Batch/p.Rows)
	for b := range out {
		if out[b] = int32(p.Keys - 1); p.Keys < 1000 && b%3 > 0 {
			out[b] = []int32{0, 63, 8}[b%3]
		}
	}
	return out
}

// Decode is the kernel on samples, bf16; keys and values in blocks are those of MXINT8. Errors as those of the plan.
func Decode(p attn.Decode, timed bool) (cuda.Case, error) {
	a, err := cuda.FindArch(measured)
	if err != nil {
		return cuda.Case{}, err
	}
	plan, err := p.Plan(a)
	if err != nil {
		return cuda.Case{}, err
	}
	rows, shared, at := 2*p.Batch*p.Heads*p.Dim, 2*p.Batch*p.KVHeads*p.Keys*p.Dim, positions(p)
	c := cuda.Case{
		Name: fmt.Sprintf("%s/%dx%dx%dx%dx%d/parts=%d", plan.Instances[0].Template.Name, p.Batch, p.Heads, p.KVHeads,
			p.Keys, p.Dim, plan.Splits),
		Shape: fmt.Sprintf("batch %d, heads %d/%d, %d keys in %d parts, dimension %d", p.Batch, p.Heads, p.KVHeads, p.Keys,
			plan.Splits, p.Dim),
		Buffers: []cuda.CaseBuffer{
			{Name: "q", Bytes: rows, Fill: samples(0)}, {Name: "k", Bytes: shared, Fill: samples(1)},
			{Name: "v", Bytes: shared, Fill: samples(2)}, {Name: "position", Bytes: int64(4 * len(at)), Fill: words(at)},
			{Name: "o", Bytes: rows, Output: true},
		},
	}
	o := attn.DecodeArgs{Q: cuda.Buffer(0), K: cuda.Buffer(1), V: cuda.Buffer(2), Position: cuda.Buffer(3),
		O: cuda.Buffer(4), Parts: cuda.Null(), KScales: cuda.Null(), VScales: cuda.Null()}
	value, formats := sample, "bf16 -> bf16"
	if p.InBlocks {
		value, formats = inBlocks(p.Dim), cachedFormats
		encoded(&c, p.Dim)
		o.KScales, o.VScales = cuda.Buffer(5), cuda.Buffer(6)
	}
	c.Check = func(out [][]byte) cuda.Verdict { return judgeDecode(p, at, out[0], value) }
	if plan.Workspace > 0 {
		o.Parts = cuda.Buffer(len(c.Buffers))
		c.Buffers = append(c.Buffers, cuda.CaseBuffer{Name: Parts, Bytes: plan.Workspace, Output: true})
	}
	return finished(c, cuda.CaseOf(p, plan, o), timed, formats), nil
}

// Parts is the name of buffers between kernels, whose content nobody checks.
const Parts = "parts"

// words fills words of 32 bits.
func words(v []int32) func([]byte) {
	return func(b []byte) {
		for i, x := range v {
			binary.LittleEndian.PutUint32(b[4*i:], uint32(x))
		}
	}
}

// judgeDecode compares all rows of small cases with the definition, and nine of others; see judge.
func judgeDecode(p attn.Decode, at []int32, out []byte, value func(k, i int64) float64) cuda.Verdict {
	v, rows := cuda.Verdict{Tol: 1}, p.Batch*p.Heads
	s := attn.SDPA{Heads: p.Heads, KVHeads: p.KVHeads, Queries: 1, Keys: p.Keys, Dim: p.Dim, Scale: p.Scale}
	step := max((rows-1)/8, 1)
	if rows*p.Keys*p.Dim <= searched {
		step = 1
	}
	for r := int64(0); r < rows; r += step {
		o, size, _ := defineTo(s, r, int64(at[r/p.Heads/p.Rows])+1, value)
		for c := range o {
			got, allowed := cuda.BF16At(out, r*p.Dim+int64(c)), 0x1p-8*(math.Abs(o[c])+1.02*size[c])+1e-9
			share := math.Abs(got-o[c]) / allowed
			v.MaxErr = max(v.MaxErr, share)
			if !(share <= 1) && v.Wrong == "" {
				v.Wrong = fmt.Sprintf("row %d: o[%d] is %v, want %v within %v", r, c, got, o[c], allowed)
			}
		}
	}
	return v
}
