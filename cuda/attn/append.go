// SPDX-License-Identifier: Apache-2.0

package attn

import (
	"math"
	"strconv"

	"lathe/cuda"
	"lathe/cuda/word"
)

// RopeAppend writes keys and values of new tokens into caches [Batch][KVHeads][Room][Dim], in place, from a position
// on, and turns queries and keys by the angles of their positions: see rope_append.cu.
type RopeAppend struct {
	Word   word.Float
	Turns  bool  // else heads are copied, and there are no queries
	Batch  int64 // of which Rows share a position
	Rows   int64
	Tokens int64
	Heads  int64 // of queries
	// KVHeads are those of caches; of Copied heads, as many or none, rows of V go to the second cache.
	KVHeads, Copied int64
	// InBlocks says that caches are in MXINT8, and Word bf16; Unrounded, that turned keys are not rounded to it before.
	InBlocks, Unrounded bool
	Room, Dim           int64
	X, V, Q             Strides
}

// RopeAppendArgs are the buffers of a launch; cuda.Null for what is not there, and for position 0.
type RopeAppendArgs struct {
	X, V, Cos, Sin, Position, Q, KCache, KScales, VCache, VScales cuda.Arg
}

var _ cuda.Batched[RopeAppendArgs] = RopeAppend{}

// ropeThreads are those of a block, each for sixteen elements.
const ropeThreads = 256

// items is the number of threads of a sample.
func (p RopeAppend) items() int64 {
	row := p.Dim / 16
	if p.InBlocks {
		row = 2 * ((p.Dim + 31) / 32)
	}
	return p.Batch * p.Tokens * (p.Heads + p.KVHeads + p.Copied) * row
}

// Valid reports what no kernel can take on any architecture: error L0990.
func (p RopeAppend) Valid() error {
	fail := func(format string, args ...any) error { return refuse("rope_append", format, args...) }
	switch {
	case p.Dim < 16 || p.Dim%16 != 0 || p.Dim > 1024:
		return fail("head dimension %d: multiples of 16 up to 1024 are taken", p.Dim)
	case p.Rows < 1 || p.Batch%p.Rows != 0:
		return fail("%d batches, of which %d share a position", p.Batch, p.Rows)
	case p.Copied != 0 && p.Copied != p.KVHeads || p.KVHeads < 1 || p.Heads < 0:
		return fail("%d heads of queries, %d of keys and %d of values", p.Heads, p.KVHeads, p.Copied)
	case p.InBlocks && p.Word != word.BFloat16:
		return fail("caches of MXINT8 beside %v: MXINT8 is exact in bf16 only", p.Word)
	case !p.Turns && p.Heads > 0:
		return fail("queries that are not turned")
	case p.Tokens < 1 || p.Tokens > p.Room || p.Room >= 1<<30:
		return fail("%d tokens for caches of %d", p.Tokens, p.Room)
	}
	align := int64(8)
	if p.Word == word.Float32 {
		align = 4
	}
	for _, s := range []Strides{p.X, p.V, p.Q} {
		if s.Batch%align != 0 || s.Head%align != 0 || s.Row%align != 0 {
			return fail("strides %v: rows must start at multiples of 16 bytes", s)
		}
	}
	if blocks := (p.items() + ropeThreads - 1) / ropeThreads; blocks > math.MaxInt32 {
		return fail("%d blocks: a launch has at most %d", blocks, math.MaxInt32)
	}
	return nil
}

// Plan is the kernel. Errors as Valid.
func (p RopeAppend) Plan(a cuda.Arch) (cuda.Plan[RopeAppendArgs], error) {
	c, err := p.Call(RopeAppendArgs{}, cuda.Target{Arch: a})
	if err != nil {
		return cuda.Plan[RopeAppendArgs]{}, err
	}
	return cuda.OneKernel(c.Instance, func(o RopeAppendArgs) []cuda.Launch {
		blocks := (p.items() + ropeThreads - 1) / ropeThreads
		if blocks == 0 {
			return nil
		}
		return []cuda.Launch{{Kernel: c.Instance.Kernel, Grid: [3]uint32{uint32(blocks), 1, 1},
			Block: [3]uint32{ropeThreads, 1, 1}, Args: oneSample(p.args(o))}}
	}), nil
}

func (p RopeAppend) args(o RopeAppendArgs) []cuda.Arg {
	args := []cuda.Arg{o.X, o.V, o.Cos, o.Sin, o.Position, o.Q, o.KCache, o.KScales, o.VCache, o.VScales,
		cuda.Samples64(p.Batch*p.Tokens, 0), cuda.U32(uint32(p.Rows)), cuda.U32(uint32(p.Tokens)),
		cuda.U32(uint32(p.Heads)), cuda.U32(uint32(p.KVHeads)), cuda.U32(uint32(p.Copied)), cuda.I32(int32(p.Room))}
	for _, s := range []Strides{p.X, p.V, p.Q} {
		args = append(args, cuda.I64(s.Batch), cuda.I64(s.Head), cuda.I64(s.Row))
	}
	return args
}

// Call is the kernel for samples of p.Batch batches. Errors as Valid.
func (p RopeAppend) Call(o RopeAppendArgs, _ cuda.Target) (cuda.Call, error) {
	if err := p.Valid(); err != nil {
		return cuda.Call{}, err
	}
	turns, blocks := 0, 0
	if p.Turns {
		turns = 1
	}
	if p.InBlocks {
		blocks = 1
		if p.Turns && p.Unrounded {
			turns = 2
		}
	}
	i, err := cuda.Named("rope_append", strconv.Itoa(int(p.Word)), strconv.Itoa(int(p.Dim)), strconv.Itoa(turns),
		strconv.Itoa(blocks))
	return cuda.Call{Instance: i, Blocks: 1, Rows: p.items(), Tile: ropeThreads, Args: p.args(o),
		Bytes: p.Floor().Bytes}, err
}

// Floor reads and writes every row once, and the angles of its tokens.
func (p RopeAppend) Floor() cuda.Floor {
	size, turned := int64(2), int64(0)
	if p.Word == word.Float32 {
		size = 4
	}
	if p.Turns {
		turned = p.Heads + p.KVHeads
	}
	rows := p.Batch * p.Tokens
	f := cuda.Floor{Bytes: 2 * size * rows * (p.Heads + p.KVHeads + p.Copied) * p.Dim, Flops: 3 * rows * turned * p.Dim}
	if p.Turns {
		f.Bytes += 4 * p.Tokens * p.Dim
	}
	if p.InBlocks {
		f.Bytes -= rows * (p.KVHeads + p.Copied) * (p.Dim - (p.Dim+31)/32)
	}
	return f
}
