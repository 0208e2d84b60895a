// SPDX-License-Identifier: Apache-2.0

// Package attn holds attention kernels whose scores never leave registers: scaled dot products of queries and keys, a
// softmax over the keys that are allowed, and the sum of values that it weighs.
package attn

import (
	"math"
	"strconv"

	"lathe/cuda"
	"lathe/cuda/word"
	"lathe/internal/diag"
)

// Causal says which keys a query may see by its place.
type Causal int

// All keys; those up to the query's own place; those up to the place that lines the last query up with the last key.
const (
	Full        Causal = iota
	TopLeft            // j <= i
	BottomRight        // j <= i + keys - queries
)

// Mask is a mask's kind of element.
type Mask int

// No mask; bytes of which 0 forbids; fp32 or words of the tensors, which are added to the scaled scores.
const (
	NoMask Mask = iota
	Keep
	AddF32
	AddWord
)

// Strides are distances in values: from batch to batch, head to head, and row to row. Rows are dense.
type Strides struct {
	Batch, Head, Row int64
}

// Dense are the strides of [batch][heads][rows][dim].
func Dense(heads, rows, dim int64) Strides { return Strides{heads * rows * dim, rows * dim, dim} }

// SDPA is o = softmax(Scale * q k^T + mask) v for every batch and head, and lse = ln of the sum of exponentials,
// [batch][heads][queries]. A query without an allowed key has o = 0 and lse = -Inf. A NaN or Inf of a key or value
// reaches the queries that may see the key, and no others; a mask that adds -Inf forbids a key. Keys beyond a batch's
// length are never read. What a mask adds may be any number: masked scores are rounded to fp32, and a query with
// nothing but large negative ones has their softmax, which is the mean of the values where they are all equal.
type SDPA struct {
	Word                    word.Float
	Batch, Heads, KVHeads   int64 // query head h reads head h / (Heads / KVHeads)
	Queries, Keys, Dim      int64
	Scale                   float32
	Causal                  Causal
	Mask                    Mask
	Q, K, V, O, MaskStrides Strides // of the mask, 0 repeats it
}

// Args are the buffers of a launch; cuda.Null for a mask, lengths (i32 a batch) or lse that are not there.
type Args struct {
	Q, K, V, Mask, Lengths, O, LSE cuda.Arg
}

// The problems.
var (
	_ cuda.Batched[Args]       = SDPA{}
	_ cuda.Batched[MXINT8Args] = MXINT8{}
)

// warps of a block.
const warps = 4

// tile are the keys of a tile and the queries of a warp in 16s.
type tile struct {
	keys, queries int
}

// tiles are what fits into the registers of a thread, by head dimension, without and with a mask. The keys of a tile
// decide bits, so they depend on nothing else.
var tiles = []struct {
	dim         int64
	plain, mask tile
}{
	{8, tile{64, 2}, tile{64, 2}},
	{16, tile{64, 2}, tile{64, 2}},
	{32, tile{64, 2}, tile{64, 2}},
	{64, tile{64, 2}, tile{64, 2}},
	{80, tile{64, 2}, tile{32, 2}},
	{96, tile{64, 2}, tile{32, 2}},
	{128, tile{48, 2}, tile{32, 2}},
	{256, tile{64, 1}, tile{32, 1}},
}

// tile is the configuration; ok is false for a head dimension without a kernel. Few queries take half the rows.
func (p SDPA) tile() (t tile, ok bool) {
	for _, c := range tiles {
		if c.dim == p.Dim {
			t, ok = c.plain, true
			if p.Mask != NoMask {
				t = c.mask
			}
		}
	}
	if p.Queries <= 16*warps {
		t.queries = 1
	}
	return t, ok
}

func refuse(kernel, format string, args ...any) *diag.Error {
	return diag.New(diag.NoKernelTakes, kernel, format, args...).WithHint("docs/kernels.md says what each kernel takes")
}

// dimension refuses head dimensions without a kernel.
func (p SDPA) dimension() error {
	if _, ok := p.tile(); !ok {
		return refuse("sdpa", "head dimension %d: 8, 16, 32, 64, 80, 96, 128 and 256 are taken", p.Dim)
	}
	return nil
}

// Plan is the kernel; nothing is launched where there are no queries. Errors as Valid, and L0990 where a block has more
// shared memory than the architecture.
func (p SDPA) Plan(a cuda.Arch) (cuda.Plan[Args], error) {
	return planned(a, p, "there are architectures with more")
}

// problem is what both kernels are planned by.
type problem[O any] interface {
	Valid() error
	instance() (cuda.Instance, error)
	launches(i cuda.Instance, shared int, o O) []cuda.Launch
}

// planned is the plan of one kernel, refused where its blocks have more shared memory than an architecture has.
func planned[O any](a cuda.Arch, p problem[O], hint string) (cuda.Plan[O], error) {
	fail := func(err error) (cuda.Plan[O], error) { return cuda.Plan[O]{}, err }
	if err := p.Valid(); err != nil {
		return fail(err)
	}
	i, err := p.instance()
	if err != nil {
		return fail(err)
	}
	shared, err := i.Shared()
	if err != nil {
		return fail(err)
	}
	if shared > a.Shared {
		return fail(refuse(i.Template.Name, "%d bytes of shared memory a block, %s has %d", shared, a.Name, a.Shared).
			WithHint("%s", hint))
	}
	return cuda.OneKernel(i, func(o O) []cuda.Launch { return p.launches(i, shared, o) }), nil
}

// Valid reports what no kernel can take on any architecture: error L0990.
func (p SDPA) Valid() error {
	fail := func(format string, args ...any) *diag.Error { return refuse("sdpa", format, args...) }
	if err := p.dimension(); err != nil {
		return err
	}
	if p.Word != word.BFloat16 && p.Word != word.Float16 {
		return fail("queries in %s", p.Word).WithHint("there are bf16 and f16")
	}
	if !(p.Scale > 0) || math.IsInf(float64(p.Scale), 0) {
		return fail("scale %v: it must be more than 0 and finite", p.Scale)
	}
	for _, n := range []int64{p.Batch, p.Heads, p.Queries, p.Keys} {
		if n < 0 || n >= 1<<30 {
			return fail("batch %d, %d heads, %d queries, %d keys: each must be below 2^30", p.Batch, p.Heads, p.Queries,
				p.Keys)
		}
	}
	if p.KVHeads < 1 || p.Heads%p.KVHeads != 0 {
		return fail("%d heads of queries over %d of keys: the latter must divide the former", p.Heads, p.KVHeads)
	}
	for _, s := range []Strides{p.Q, p.K, p.V, p.O} {
		if s.Batch%8 != 0 || s.Head%8 != 0 || s.Row%8 != 0 {
			return fail("strides %v: rows must start at multiples of 16 bytes", s)
		}
	}
	if blocks := p.blocks(); blocks > math.MaxInt32 {
		return fail("%d blocks: a launch has at most %d", blocks, math.MaxInt32)
	}
	return nil
}

func (p SDPA) blocks() int64 {
	t, _ := p.tile()
	rows := int64(16 * t.queries * warps)
	return (p.Queries + rows - 1) / rows * p.Heads * p.Batch
}

func (p SDPA) instance() (cuda.Instance, error) {
	t, _ := p.tile()
	causal := 0
	if p.Causal != Full {
		causal = 1
	}
	var params []string
	for _, n := range []int{int(p.Word), int(p.Dim), t.keys, t.queries, warps, causal, int(p.Mask)} {
		params = append(params, strconv.Itoa(n))
	}
	return cuda.Named("sdpa", params...)
}

func (p SDPA) launches(i cuda.Instance, shared int, a Args) []cuda.Launch {
	args := append([]cuda.Arg{a.Q, a.K, a.V, a.Mask, a.Lengths, a.O, a.LSE}, p.scalars()...)
	return p.launch(i, shared, args, p.Q, p.K, p.V, p.O, p.MaskStrides)
}

// launch calls an instance with arguments and strides behind them, or is nothing where there are no queries.
func (p SDPA) launch(i cuda.Instance, shared int, args []cuda.Arg, strides ...Strides) []cuda.Launch {
	if p.blocks() == 0 {
		return nil
	}
	for _, s := range strides {
		args = append(args, cuda.I64(s.Batch), cuda.I64(s.Head), cuda.I64(s.Row))
	}
	return []cuda.Launch{{Kernel: i.Kernel, Grid: [3]uint32{uint32(p.blocks()), 1, 1}, Block: [3]uint32{32 * warps, 1, 1},
		Shared: uint32(shared), Args: args}}
}

// scalars are the arguments from the number of heads to the scale.
func (p SDPA) scalars() []cuda.Arg {
	diagonal := int64(0)
	if p.Causal == BottomRight {
		diagonal = p.Keys - p.Queries
	}
	return []cuda.Arg{cuda.U32(uint32(p.Heads)), cuda.U32(uint32(p.Heads / p.KVHeads)), cuda.I32(int32(p.Queries)),
		cuda.I32(int32(p.Keys)), cuda.I32(int32(diagonal)), cuda.F32(p.Scale)}
}

// Floor reads q, k and v and writes o once; the products of causal attention are those of the allowed keys.
func (p SDPA) Floor() cuda.Floor {
	pairs := p.Queries * p.Keys
	switch p.Causal {
	case TopLeft:
		pairs = below(p.Queries, p.Keys, 0)
	case BottomRight:
		pairs = below(p.Queries, p.Keys, p.Keys-p.Queries)
	}
	rows := p.Heads*p.Queries*2 + p.KVHeads*p.Keys*2
	return cuda.Floor{Bytes: 2 * p.Batch * rows * p.Dim, Flops: 4 * p.Batch * p.Heads * pairs * p.Dim}
}

// below counts the pairs of query i and key j with j <= i + diagonal.
func below(queries, keys, diagonal int64) int64 {
	// Query i sees min(max(i + diagonal + 1, 0), keys) keys: none at first, then one more each, then all.
	first := min(max(-diagonal-1, 0), queries)
	last := min(max(keys-diagonal-1, first), queries)
	ramp := (first + last - 1 + 2*(diagonal+1)) * (last - first) / 2
	return ramp + (queries-last)*keys
}
