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

// appends are the cases of caches that are written in place.
func appends() ([]cuda.Case, error) {
	var all []cuda.Case
	for _, c := range []struct {
		word                                    word.Float
		turns                                   bool
		batch, tokens, heads, kv, room, dim, at int64
		timed                                   bool
	}{
		{word.BFloat16, true, 2, 1, 4, 2, 9, 64, 5, false}, {word.BFloat16, true, 1, 5, 2, 1, 7, 16, 2, false},
		{word.BFloat16, false, 2, 3, 0, 2, 5, 80, 1, false}, {word.Float32, true, 1, 2, 3, 3, 4, 32, 1, false},
		{word.BFloat16, true, 3, 1, 6, 2, 3, 128, 2, false},
		{word.BFloat16, true, 64, 1, 32, 8, 4096, 128, 4000, true}, {word.BFloat16, true, 1, 4096, 32, 8, 4096, 128, 0, true},
	} {
		p := attn.RopeAppend{Word: c.word, Turns: c.turns, Batch: c.batch, Rows: c.batch, Tokens: c.tokens, Heads: c.heads,
			KVHeads: c.kv, Copied: c.kv, Room: c.room, Dim: c.dim}
		row := (c.heads + 2*c.kv) * c.dim // queries, keys and values of a token, as one linear layer makes them
		p.X = attn.Strides{Batch: c.tokens * row, Head: c.dim, Row: row}
		p.V, p.Q = p.X, attn.Dense(c.heads, c.tokens, c.dim)
		one, err := RopeAppend(p, int32(c.at), c.timed)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// store and load are elements of a format in memory.
func store(w word.Float, b []byte, i int64, x float64) {
	if w == word.Float32 {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(x)))
		return
	}
	binary.LittleEndian.PutUint16(b[2*i:], cuda.BF16Word(x))
}

func load(w word.Float, b []byte, i int64) float64 {
	if w == word.Float32 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return cuda.BF16At(b, i)
}

// filled fills a buffer with samples of operand k.
func filled(w word.Float, k int64) func([]byte) {
	return func(b []byte) {
		for i := range int64(len(b)) / bytesOf(w) {
			store(w, b, i, sample(k, i))
		}
	}
}

func bytesOf(w word.Float) int64 {
	if w == word.Float32 {
		return 4
	}
	return 2
}

// RopeAppend is the kernel on samples at a position of all batches; queries, keys and values of a token follow each
// other. Errors as those of the plan.
func RopeAppend(p attn.RopeAppend, at int32, timed bool) (cuda.Case, error) {
	a, err := cuda.FindArch(measured)
	if err != nil {
		return cuda.Case{}, err
	}
	plan, err := p.Plan(a)
	if err != nil {
		return cuda.Case{}, err
	}
	size := bytesOf(p.Word)
	cache, queries := size*p.Batch*p.KVHeads*p.Room*p.Dim, size*p.Batch*p.Heads*p.Tokens*p.Dim
	c := cuda.Case{
		Name: fmt.Sprintf("%s/%dx%dx%dx%dx%dx%d", plan.Instances[0], p.Batch, p.Tokens, p.Heads, p.KVHeads, p.Room, p.Dim),
		Shape: fmt.Sprintf("batch %d, %d tokens, heads %d/%d, caches of %d, dimension %d", p.Batch, p.Tokens, p.Heads,
			p.KVHeads, p.Room, p.Dim),
		Buffers: []cuda.CaseBuffer{
			{Name: "x", Bytes: size * p.Batch * p.X.Batch, Fill: filled(p.Word, 0)},
			{Name: "cos", Bytes: 2 * p.Room * p.Dim, Fill: filled(word.Float32, 1)},
			{Name: "sin", Bytes: 2 * p.Room * p.Dim, Fill: filled(word.Float32, 2)},
			{Name: "position", Bytes: 4 * p.Batch / p.Rows, Fill: func(b []byte) {
				for i := range len(b) / 4 {
					binary.LittleEndian.PutUint32(b[4*i:], uint32(at))
				}
			}},
			{Name: "keys", Bytes: cache, Fill: filled(p.Word, 3), Output: true},
			{Name: "values", Bytes: cache, Fill: filled(p.Word, 4), Output: true},
		},
		Check: func(out [][]byte) cuda.Verdict { return judgeAppend(p, int64(at), out) },
	}
	o := attn.RopeAppendArgs{X: cuda.Buffer(0), V: cuda.BufferAt(0, size*(p.Heads+p.KVHeads)*p.Dim), Cos: cuda.Buffer(1),
		Sin: cuda.Buffer(2), Position: cuda.Buffer(3), Q: cuda.Null(), KCache: cuda.Buffer(4), VCache: cuda.Buffer(5)}
	if queries > 0 {
		o.Q = cuda.Buffer(len(c.Buffers))
		c.Buffers = append(c.Buffers, cuda.CaseBuffer{Name: "q", Bytes: queries, Output: true})
	}
	return finished(c, cuda.CaseOf(p, plan, o), timed, fmt.Sprintf("%s -> %s", p.Word, p.Word)), nil
}

// judgeAppend compares keys, values and queries: those that are only moved, or stay, bit for bit, those that are turned
// within half a unit of the format and four of fp32 of the products.
func judgeAppend(p attn.RopeAppend, at int64, out [][]byte) cuda.Verdict {
	v, unit := cuda.Verdict{Tol: 1}, 0x1p-8
	if p.Word == word.Float32 {
		unit = 0
	}
	at = min(max(at, 0), p.Room-p.Tokens)
	note := func(what string, i int64, got, want, allowed float64) {
		if got == want {
			return
		}
		share := math.Abs(got-want) / max(allowed, 1e-300)
		v.MaxErr = max(v.MaxErr, share)
		if !(share <= 1) && v.Wrong == "" {
			v.Wrong = fmt.Sprintf("%s[%d] is %v, want %v within %v", what, i, got, want, allowed)
		}
	}
	// element is one of x, turned where the case says so, and what a rounding may take off it
	element := func(b, h, t, d int64, turned bool) (y, allowed float64) {
		base := b*p.X.Batch + t*p.X.Row + h*p.X.Head
		if !turned {
			return sample(0, base+d), 0
		}
		half := p.Dim / 2
		angle := (at+t)*half + d%half
		u, w, c, s := sample(0, base+d%half), sample(0, base+d%half+half), sample(1, angle), sample(2, angle)
		if y = u*c - w*s; d >= half {
			y, c, s = u*s+w*c, s, c
		}
		return y, unit*math.Abs(y) + 0x1p-22*(math.Abs(u*c)+math.Abs(w*s))
	}
	rows := p.Batch * p.KVHeads * p.Room
	step := max(rows/4096, 1)
	for r := int64(0); r < rows; r += step {
		b, g, t := r/p.Room/p.KVHeads, r/p.Room%p.KVHeads, r%p.Room-at
		for d := range p.Dim {
			i := r*p.Dim + d
			k, kAllowed, w := sample(3, i), 0.0, sample(4, i)
			if t >= 0 && t < p.Tokens {
				k, kAllowed = element(b, p.Heads+g, t, d, p.Turns)
				w, _ = element(b, p.Heads+p.KVHeads+g, t, d, false)
			}
			note("keys", i, load(p.Word, out[0], i), k, kAllowed)
			note("values", i, load(p.Word, out[1], i), w, 0)
		}
	}
	rows = p.Batch * p.Heads * p.Tokens
	step = max(rows/4096, 1)
	for r := int64(0); r < rows; r += step {
		for d := range p.Dim {
			y, allowed := element(r/p.Tokens/p.Heads, r/p.Tokens%p.Heads, r%p.Tokens, d, true)
			note("q", r*p.Dim+d, load(p.Word, out[2], r*p.Dim+d), y, allowed)
		}
	}
	return v
}
