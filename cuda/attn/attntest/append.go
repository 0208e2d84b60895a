// SPDX-License-Identifier: Apache-2.0

package attntest

import (
	"encoding/binary"
	"fmt"
	"math"

	"lathe/cuda"
	"lathe/cuda/attn"
	"lathe/cuda/word"
	"lathe/ir/format"
)

// appends are the cases of caches that are written in place.
func appends() ([]cuda.Case, error) {
	var all []cuda.Case
	for _, c := range []struct {
		word                                    word.Float
		turns                                   bool
		batch, tokens, heads, kv, room, dim, at int64
		timed, blocks                           bool // blocks: caches in MXINT8
	}{
		{word.BFloat16, true, 2, 1, 4, 2, 9, 64, 5, false, false}, {word.BFloat16, true, 1, 5, 2, 1, 7, 16, 2, false, false},
		{word.BFloat16, false, 2, 3, 0, 2, 5, 80, 1, false, false}, {word.Float32, true, 1, 2, 3, 3, 4, 32, 1, false, false},
		{word.BFloat16, true, 3, 1, 6, 2, 3, 128, 2, false, false},
		{word.BFloat16, true, 2, 1, 4, 2, 9, 64, 5, false, true}, {word.BFloat16, true, 1, 5, 2, 1, 7, 16, 2, false, true},
		{word.BFloat16, false, 2, 3, 0, 2, 5, 80, 1, false, true}, {word.BFloat16, true, 2, 3, 3, 1, 5, 48, 1, false, true},
		{word.BFloat16, true, 3, 1, 6, 2, 3, 128, 2, false, true},
		{word.BFloat16, true, 64, 1, 32, 8, 4096, 128, 4000, true, false},
		{word.BFloat16, true, 1, 4096, 32, 8, 4096, 128, 0, true, false},
		{word.BFloat16, true, 64, 1, 32, 8, 4096, 128, 4000, true, true},
		{word.BFloat16, true, 1, 4096, 32, 8, 4096, 128, 0, true, true},
	} {
		p := attn.RopeAppend{Word: c.word, Turns: c.turns, Batch: c.batch, Rows: c.batch, Tokens: c.tokens, Heads: c.heads,
			KVHeads: c.kv, Copied: c.kv, Room: c.room, Dim: c.dim, InBlocks: c.blocks}
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
	rows, queries := p.Batch*p.KVHeads*p.Room, size*p.Batch*p.Heads*p.Tokens*p.Dim
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
		},
		Check: func(out [][]byte) cuda.Verdict { return judgeAppend(p, int64(at), out) },
	}
	o := attn.RopeAppendArgs{X: cuda.Buffer(0), V: cuda.BufferAt(0, size*(p.Heads+p.KVHeads)*p.Dim), Cos: cuda.Buffer(1),
		Sin: cuda.Buffer(2), Position: cuda.Buffer(3), Q: cuda.Null(), KCache: cuda.Buffer(4), VCache: cuda.Buffer(5),
		KScales: cuda.Null(), VScales: cuda.Null()}
	formats := fmt.Sprintf("%s -> %s", p.Word, p.Word)
	for k, name := range []string{"keys", "values"} {
		b := cuda.CaseBuffer{Name: name, Bytes: size * rows * p.Dim, Fill: filled(p.Word, int64(3+k)), Output: true}
		if p.InBlocks {
			b.Bytes, b.Fill = rows*p.Dim, elements(int64(3+k))
		}
		c.Buffers = append(c.Buffers, b)
	}
	if p.InBlocks {
		formats, o.KScales, o.VScales = "bf16 -> mxint8", cuda.Buffer(6), cuda.Buffer(7)
		for k, name := range []string{"scales of keys", "scales of values"} {
			c.Buffers = append(c.Buffers, cuda.CaseBuffer{Name: name, Bytes: rows * ((p.Dim + 31) / 32),
				Fill: scales(int64(3 + k)), Output: true})
		}
	}
	if queries > 0 {
		o.Q = cuda.Buffer(len(c.Buffers))
		c.Buffers = append(c.Buffers, cuda.CaseBuffer{Name: "q", Bytes: queries, Output: true})
	}
	return finished(c, cuda.CaseOf(p, plan, o), timed, formats), nil
}

// judgeAppend compares keys, values and queries: those that are only moved, or stay, and blocks bit for bit, those that
// are turned within half a unit of the format and four of fp32 of the products.
func judgeAppend(p attn.RopeAppend, at int64, out [][]byte) cuda.Verdict {
	a := &appended{p: p, at: min(max(at, 0), p.Room-p.Tokens), v: cuda.Verdict{Tol: 1}}
	rows := p.Batch * p.KVHeads * p.Room
	for r := int64(0); r < rows; r += max(rows/4096, 1) {
		for k, name := range []string{"keys", "values"} {
			if p.InBlocks {
				a.blocks(name, int64(k), r, out[k], out[2+k])
				continue
			}
			for d := range p.Dim {
				y, allowed := a.cached(int64(k), r, d)
				a.note(name, r*p.Dim+d, load(p.Word, out[k], r*p.Dim+d), y, allowed)
			}
		}
	}
	rows = p.Batch * p.Heads * p.Tokens
	for r := int64(0); r < rows; r += max(rows/4096, 1) {
		for d := range p.Dim {
			y, allowed := a.element(r/p.Tokens/p.Heads, r/p.Tokens%p.Heads, r%p.Tokens, d, true)
			a.note("q", r*p.Dim+d, load(p.Word, out[len(out)-1], r*p.Dim+d), y, allowed)
		}
	}
	return a.v
}

// appended is the check of a case at a position.
type appended struct {
	p  attn.RopeAppend
	at int64
	v  cuda.Verdict
}

func (a *appended) note(what string, i int64, got, want, allowed float64) {
	if got == want {
		return
	}
	share := math.Abs(got-want) / max(allowed, 1e-300)
	a.v.MaxErr = max(a.v.MaxErr, share)
	if !(share <= 1) && a.v.Wrong == "" {
		a.v.Wrong = fmt.Sprintf("%s[%d] is %v, want %v within %v", what, i, got, want, allowed)
	}
}

// element is one of x, turned where asked for, and what a rounding may take off it.
func (a *appended) element(b, h, t, d int64, turned bool) (y, allowed float64) {
	p, unit := a.p, 0x1p-8
	if p.Word == word.Float32 {
		unit = 0
	}
	base := b*p.X.Batch + t*p.X.Row + h*p.X.Head
	if !turned {
		return sample(0, base+d), 0
	}
	half := p.Dim / 2
	angle := (a.at+t)*half + d%half
	u, w, c, s := sample(0, base+d%half), sample(0, base+d%half+half), sample(1, angle), sample(2, angle)
	if y = u*c - w*s; d >= half {
		y, c, s = u*s+w*c, s, c
	}
	return y, unit*math.Abs(y) + 0x1p-22*(math.Abs(u*c)+math.Abs(w*s))
}

// fresh says that row r of a cache is a new one.
func (a *appended) fresh(r int64) bool {
	t := r%a.p.Room - a.at
	return t >= 0 && t < a.p.Tokens
}

// cached is element d of row r of the keys (k = 0) or values (1).
func (a *appended) cached(k, r, d int64) (y, allowed float64) {
	p := a.p
	if !a.fresh(r) {
		return sample(3+k, r*p.Dim+d), 0
	}
	h := p.Heads + k*p.KVHeads + r/p.Room%p.KVHeads
	return a.element(r/p.Room/p.KVHeads, h, r%p.Room-a.at, d, p.Turns && k == 0)
}

// blocks compares row r of a cache in blocks, bit for bit: what is turned are numbers so short that fp32 holds them.
func (a *appended) blocks(name string, k, r int64, codes, fields []byte) {
	const size = 32
	per := (a.p.Dim + size - 1) / size
	for b := range per {
		n := min(size, a.p.Dim-b*size)
		want, field := make([]int64, n), int64(scale(3+k, r*per+b))
		values := make([]format.Exact, n)
		for i := range n {
			y, _ := a.cached(k, r, b*size+i)
			want[i] = int64(element(3+k, r*a.p.Dim+b*size+i))
			values[i] = format.FromFloat64(cuda.BF16(cuda.BF16Word(y)))
		}
		if a.fresh(r) {
			field = format.NewMXInt(8, size).EncodeBlock(values, want)
		}
		a.note("scales of "+name, r*per+b, float64(fields[r*per+b]), float64(field), 0)
		for i, q := range want {
			at := r*a.p.Dim + b*size + int64(i)
			a.note(name, at, float64(int8(codes[at])), float64(q), 0)
		}
	}
}
