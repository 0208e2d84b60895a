// SPDX-License-Identifier: Apache-2.0

package attn

import (
	"fmt"
	"math"
	"strconv"

	"lathe/cuda"
	"lathe/cuda/word"
)

// Decode is SDPA for one query a head at a position that is known when the kernels run, and so counts the keys that it
// sees: those up to there. Heads that share keys are computed together, and keys are split over blocks, whose sums are
// joined in one order.
type Decode struct {
	Word         word.Float
	Batch, Heads int64
	KVHeads      int64 // query head h reads head h / (Heads / KVHeads)
	Keys, Dim    int64 // Keys is the room of the caches
	Rows         int64 // batches that share a position
	Scale        float32
	Q, K, V, O   Strides // rows of q and o are not used
	Chunk        int64   // keys of a block; 0 is a choice by the other sizes
	// InBlocks says that keys and values are those of the problem MXINT8, with scales at the distances Scales.
	InBlocks bool
	Scales   Strides
}

// DecodeArgs are the buffers of the launches: Position holds an i32 for every Rows batches, Parts the workspace of the
// plan, a multiple of 16 bytes; scales are there where keys and values are in blocks.
type DecodeArgs struct {
	Q, K, V, Position, O, Parts, KScales, VScales cuda.Arg
}

var _ cuda.Problem[DecodeArgs] = Decode{}

// The keys of a block are at least leastChunk, and so many that decodeBlocks fill a GPU.
const (
	leastChunk   = 256
	decodeBlocks = 256
)

// sdpa is the problem as one of attention, for what both refuse.
func (p Decode) sdpa() SDPA {
	return SDPA{Word: p.Word, Batch: p.Batch, Heads: p.Heads, KVHeads: p.KVHeads, Queries: 1, Keys: p.Keys, Dim: p.Dim,
		Scale: p.Scale, Q: p.Q, K: p.K, V: p.V, O: p.O}
}

// cached is the problem as one of attention over blocks.
func (p Decode) cached() MXINT8 { return MXINT8{SDPA: p.sdpa(), Scales: p.Scales} }

// Valid reports what no kernel can take on any architecture: error L0990.
func (p Decode) Valid() error {
	err := p.sdpa().Valid()
	if p.InBlocks {
		err = p.cached().Valid()
	}
	switch {
	case err != nil:
		return err
	case p.Rows < 1 || p.Batch%p.Rows != 0:
		return refuse("sdpa_decode", "%d batches, of which %d share a position", p.Batch, p.Rows)
	case p.Chunk < 0 || p.Chunk%(16*p.warps()) != 0:
		return refuse("sdpa_decode", "%d keys a block: multiples of %d are taken", p.Chunk, 16*p.warps())
	case p.Batch*p.tiles()*p.splits() > math.MaxInt32:
		return refuse("sdpa_decode", "%d blocks: a launch has at most %d", p.Batch*p.tiles()*p.splits(), math.MaxInt32)
	}
	return nil
}

// warps of a block: two tiles of keys and values for each warp must fit its shared memory.
func (p Decode) warps() int64 {
	if p.Dim > 128 {
		return 2
	}
	return 4
}

// tiles are those of a batch: 16 heads that share keys are one.
func (p Decode) tiles() int64 { return p.KVHeads * ((p.Heads/p.KVHeads + 15) / 16) }

// chunk is the number of keys of a block. It depends on nothing but the problem, and with it the order of sums.
func (p Decode) chunk() int64 {
	if p.Chunk > 0 {
		return p.Chunk
	}
	tile := 16 * p.warps()
	parts := max(1, min(decodeBlocks/max(p.Rows*p.tiles(), 1), (p.Keys+leastChunk-1)/leastChunk))
	return max((p.Keys+parts*tile-1)/(parts*tile), 1) * tile
}

func (p Decode) splits() int64 { return max(1, (p.Keys+p.chunk()-1)/p.chunk()) }

// instances are the kernels: the second joins parts where there are several.
func (p Decode) instances() (out []cuda.Instance, err error) {
	add := func(template string, params ...int) {
		text := make([]string, len(params))
		for i, n := range params {
			text[i] = strconv.Itoa(n)
		}
		i, e := cuda.Named(template, text...)
		if out = append(out, i); err == nil {
			err = e
		}
	}
	parts := int(min(p.splits()-1, 1))
	if p.InBlocks {
		add("sdpa_decode_mxint8", int(p.Dim), int(p.warps()), parts)
	} else {
		add("sdpa_decode", int(p.Word), int(p.Dim), int(p.warps()), parts)
	}
	if parts > 0 {
		add("sdpa_join", int(p.Word), int(p.Dim))
	}
	return out, err
}

// Plan is one kernel, or two where keys are split; nothing is launched where there are no heads. Errors as Valid, and
// L0990 where a block has more shared memory than the architecture.
func (p Decode) Plan(a cuda.Arch) (cuda.Plan[DecodeArgs], error) {
	fail := func(err error) (cuda.Plan[DecodeArgs], error) { return cuda.Plan[DecodeArgs]{}, err }
	calls, err := p.Calls(DecodeArgs{}, cuda.Target{Arch: a})
	if err != nil {
		return fail(err)
	}
	plan := cuda.Plan[DecodeArgs]{Splits: int(p.splits()), Workspace: p.Workspace(),
		Why: fmt.Sprintf("%s, %d keys a block", calls[0].Instance, p.chunk())}
	for _, c := range calls {
		plan.Instances = append(plan.Instances, c.Instance)
	}
	plan.Launches = func(o DecodeArgs) []cuda.Launch {
		calls, err := p.Calls(o, cuda.Target{Arch: a})
		if err != nil || p.Batch*p.Heads == 0 {
			return nil
		}
		var out []cuda.Launch
		for _, c := range calls {
			threads, errT := c.Instance.Threads()
			shared, errS := c.Instance.Shared()
			if errT != nil || errS != nil {
				return nil // Calls has read both
			}
			blocks := c.Blocks * ((c.Rows + c.Tile - 1) / c.Tile)
			out = append(out, cuda.Launch{Kernel: c.Instance.Kernel, Grid: [3]uint32{uint32(blocks), 1, 1},
				Block: [3]uint32{uint32(threads), 1, 1}, Shared: uint32(shared), Args: oneSample(c.Args)})
		}
		return out
	}
	return plan, nil
}

// oneSample are the arguments of a launch on one sample.
func oneSample(args []cuda.Arg) []cuda.Arg {
	out := make([]cuda.Arg, len(args))
	for i, a := range args {
		out[i] = a.At(1)
	}
	return out
}

// Workspace is the number of bytes of the parts.
func (p Decode) Workspace() int64 {
	if p.splits() == 1 {
		return 0
	}
	return p.Batch * p.Heads * p.splits() * (p.Dim + 4) * 4
}

// Calls are the launches for samples of p.Batch batches. Errors as Plan.
func (p Decode) Calls(o DecodeArgs, t cuda.Target) ([]cuda.Call, error) {
	if err := p.Valid(); err != nil {
		return nil, err
	}
	list, err := p.instances()
	if err != nil {
		return nil, err
	}
	shared, err := list[0].Shared()
	if err != nil {
		return nil, err
	}
	if shared > t.Arch.Shared {
		return nil, refuse("sdpa_decode", "%d bytes of shared memory a block, %s has %d", shared, t.Arch.Name, t.Arch.Shared)
	}
	split := []cuda.Arg{cuda.I32(int32(p.Keys)), cuda.I32(int32(p.chunk())), cuda.U32(uint32(p.splits())),
		cuda.F32(p.Scale)}
	strides := func(s ...int64) (out []cuda.Arg) {
		for _, n := range s {
			out = append(out, cuda.I64(n))
		}
		return out
	}
	args, second := []cuda.Arg{o.Q, o.K, o.V}, p.V
	if p.InBlocks {
		args, second = []cuda.Arg{o.Q, o.K, o.KScales, o.V, o.VScales}, p.Scales
	}
	args = append(args, o.Position, o.O, o.Parts, cuda.U32(uint32(p.Rows)), cuda.U32(uint32(p.KVHeads)),
		cuda.U32(uint32(p.Heads/p.KVHeads)))
	args = append(append(args, split...), strides(p.Q.Batch, p.Q.Head, p.K.Batch, p.K.Head, p.K.Row, second.Batch,
		second.Head, second.Row, p.O.Batch, p.O.Head)...)
	calls := []cuda.Call{{Instance: list[0], Blocks: p.tiles() * p.splits(), Rows: p.Batch, Tile: 1, Args: args,
		Bytes: p.Floor().Bytes}}
	if len(list) > 1 {
		const threads = 128
		args := []cuda.Arg{o.Parts, o.Position, o.O, cuda.Samples64(p.Batch*p.Heads, 0), cuda.U32(uint32(p.Rows)),
			cuda.U32(uint32(p.Heads))}
		args = append(append(args, split...), strides(p.O.Batch, p.O.Head)...)
		calls = append(calls, cuda.Call{Instance: list[1], Blocks: 1, Rows: p.Batch * p.Heads * p.Dim / 8, Tile: threads,
			Args: args, Bytes: p.Workspace() + 2*p.Batch*p.Heads*p.Dim})
	}
	return calls, nil
}

// Floor reads q, all keys and values that caches have room for, and writes o once.
func (p Decode) Floor() cuda.Floor {
	if p.InBlocks {
		return p.cached().Floor()
	}
	return p.sdpa().Floor()
}
