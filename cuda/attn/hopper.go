// SPDX-License-Identifier: Apache-2.0

package attn

import (
	"math"
	"strconv"

	"lathe/cuda"
	"lathe/cuda/ptx/tensor"
	"lathe/cuda/word"
)

// Hopper is SDPA by the copy engine and the warpgroups of sm_90a: head dimensions 64 and 128, no mask and no lengths.
// A NaN or Inf of a value reaches all queries of a block that reads the tile of its key.
type Hopper struct{ SDPA }

var _ cuda.Problem[Args] = Hopper{}

// hopperTile are the keys of a tile and the warpgroups that multiply, each for 64 queries.
type hopperTile struct{ keys, groups int64 }

// tile is the configuration (Shah and others 2024, FlashAttention-3, for the sizes).
func (p Hopper) tile() hopperTile {
	switch {
	case p.Dim == 64:
		return hopperTile{128, 3}
	case p.Causal == Full:
		return hopperTile{176, 2}
	}
	return hopperTile{128, 2}
}

// Valid reports what the kernel cannot take: error L0990.
func (p Hopper) Valid() error {
	if err := p.SDPA.Valid(); err != nil {
		return err
	}
	switch {
	case p.Dim != 64 && p.Dim != 128:
		return refuse("sdpa_hopper", "head dimension %d", p.Dim).WithHint("there are 64 and 128")
	case p.Mask != NoMask:
		return refuse("sdpa_hopper", "a mask")
	case p.Keys == 0:
		return refuse("sdpa_hopper", "no keys")
	}
	for _, s := range []Strides{p.Q, p.K, p.V} {
		if min(s.Batch, s.Head, s.Row) < 0 {
			return refuse("sdpa_hopper", "strides %v: the copy engine goes forwards", s)
		}
	}
	return nil
}

// blocks are those of a launch.
func (p Hopper) blocks() int64 {
	rows := 64 * p.tile().groups
	return (p.Queries + rows - 1) / rows * p.Heads * p.Batch
}

// Plan is the kernel; nothing is launched where there are no queries. Errors as Valid, and L0990 for other
// architectures than sm_90a.
func (p Hopper) Plan(a cuda.Arch) (cuda.Plan[Args], error) {
	if err := p.Valid(); err != nil {
		return cuda.Plan[Args]{}, err
	}
	if a.Name != cuda.HopperArch {
		return cuda.Plan[Args]{}, refuse("sdpa_hopper", "no kernel for %s", a.Name).WithHint("there is one for sm_90a")
	}
	t, causal := p.tile(), int64(0)
	if p.Causal != Full {
		causal = 1
	}
	var params []string
	for _, n := range []int64{int64(p.Word), p.Dim, t.keys, t.groups, causal} {
		params = append(params, strconv.FormatInt(n, 10))
	}
	i, err := cuda.Named("sdpa_hopper", params...)
	if err != nil {
		return cuda.Plan[Args]{}, err
	}
	shared, err := i.Shared()
	if err != nil {
		return cuda.Plan[Args]{}, err
	}
	if p.blocks() > math.MaxInt32 {
		return cuda.Plan[Args]{}, refuse("sdpa_hopper", "%d blocks: a launch has at most %d", p.blocks(), math.MaxInt32)
	}
	return cuda.OneKernel(i, func(o Args) []cuda.Launch {
		if p.blocks() == 0 {
			return nil
		}
		return []cuda.Launch{{Kernel: i.Kernel, Grid: [3]uint32{uint32(p.blocks()), 1, 1},
			Block: [3]uint32{uint32(128 * (t.groups + 1)), 1, 1}, Shared: uint32(shared), Args: p.args(o, 0)}}
	}), nil
}

// args are the arguments for p.Batch batches, or for so many a sample.
func (p Hopper) args(o Args, each int64) []cuda.Arg {
	t := p.tile()
	args := []cuda.Arg{
		p.rows(o.Q, p.Heads, p.Queries, p.Q, 64*t.groups, each),
		p.rows(o.K, p.KVHeads, p.Keys, p.K, t.keys, each),
		p.rows(o.V, p.KVHeads, p.Keys, p.V, t.keys, each),
		o.O, o.LSE,
	}
	args = append(args, p.scalars()...)
	return append(args, cuda.I64(p.O.Batch), cuda.I64(p.O.Head), cuda.I64(p.O.Row))
}

// rows is a tensor in boxes of 64 values by so many rows.
func (p Hopper) rows(at cuda.Arg, heads, rows int64, s Strides, box, each int64) cuda.Arg {
	typ := map[word.Float]tensor.Type{word.BFloat16: tensor.BF16, word.Float16: tensor.F16}[p.Word]
	m := tensor.Map{Type: typ, Dims: []int64{p.Dim, rows, heads, max(p.Batch, 1)}, Box: []int64{64, box, 1, 1},
		Swizzle: tensor.Swizzle128, Promotion: promoted}
	for _, v := range []int64{s.Row, s.Head, s.Batch} {
		m.Strides = append(m.Strides, 2*max(v, 8)) // 0 where there is one row, head or batch
	}
	return cuda.Tensor(at, m, each)
}

// promoted has copies bring whole lines of 128 bytes to L2 (CU_TENSOR_MAP_L2_PROMOTION_L2_128B).
const promoted = 2

// Worthwhile says that the kernel can be expected to take less time than that of SDPA, which has tiles of 64 queries
// where there are few.
func (p Hopper) Worthwhile(t cuda.Target) bool {
	return p.Valid() == nil && t.Arch.Name == cuda.HopperArch && p.Queries > 64
}

// Call is the attention of every sample in one launch, whose batches follow each other. Errors as Plan.
func (p Hopper) Call(a Args, t cuda.Target) (cuda.Call, error) {
	plan, err := p.Plan(t.Arch)
	if err != nil {
		return cuda.Call{}, err
	}
	if p.blocks() == 0 {
		return cuda.Call{}, refuse("sdpa_hopper", "no queries")
	}
	return cuda.Call{Instance: plan.Instances[0], Blocks: p.blocks() / p.Batch, Rows: p.Batch, Tile: 1,
		Args: p.args(a, p.Batch), Bytes: p.Floor().Bytes}, nil
}
