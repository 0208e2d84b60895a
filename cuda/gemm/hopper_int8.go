// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"slices"

	"lathe/cuda"
	"lathe/cuda/ptx/tensor"
)

// Valid reports why the kernel cannot take the problem: error L0990.
func (p HopperInt8) Valid() error {
	if err := p.Int8.Valid(); err != nil {
		return err
	}
	if p.K == 0 || p.K%16 != 0 {
		return refuse("int8_hopper", "rows of %d bytes: the copy engine takes rows of 16 bytes times a whole number", p.K)
	}
	return nil
}

// Pack leaves weights as they are: N rows of K bytes.
func (p HopperInt8) Pack(w []byte) []byte { return w }

// hopper is a product of words of two bytes, which takes as long.
func (p HopperInt8) hopper() hopper {
	return hopper{parted: parted{m: p.M, n: p.N, k: p.K / 2}, kernel: "int8_hopper"}
}

// Plan chooses the tile of least estimated time. Errors as Valid, and L0990 for other architectures than sm_90a.
func (p HopperInt8) Plan(a cuda.Arch) (Plan, error) {
	if err := p.Valid(); err != nil {
		return Plan{}, err
	}
	c, err := p.hopper().choose(p.M, a)
	if err != nil {
		return Plan{}, err
	}
	return p.with(c)
}

// with is the plan of a choice.
func (p HopperInt8) with(c choice) (Plan, error) {
	i, err := p.instance(c)
	if err != nil {
		return Plan{}, err
	}
	return whole(i, c.blocks, func(o Operands) []cuda.Arg { return p.mapped(o, c.tile, 0, cuda.I32(int32(p.M))) })
}

func (p HopperInt8) instance(c choice) (cuda.Instance, error) {
	return cuda.Named(c.template, slices.Concat(c.params, p.coded())...)
}

// mapped are the arguments for so many rows, `each` of them a sample.
func (p HopperInt8) mapped(o Operands, t tile, each int, rows cuda.Arg) []cuda.Arg {
	args := p.args(o, rows)
	args[0] = matrix(o.X, tensor.U8, p.K, p.M, 128, t.bm, tensor.Swizzle128, each)
	args[1] = matrix(o.W, tensor.U8, p.K, p.N, 128, t.bn, tensor.Swizzle128, 0)
	return args
}

// Call is the product of the M rows of each of a number of samples, in a configuration for those of t. Errors as Plan.
func (p HopperInt8) Call(o Operands, t cuda.Target) (cuda.Call, error) {
	if err := p.Valid(); err != nil {
		return cuda.Call{}, err
	}
	c, err := p.hopper().choose(t.Rows(p.M, limit), t.Arch)
	if err != nil {
		return cuda.Call{}, err
	}
	i, err := p.instance(c)
	return cuda.Call{Instance: i, Blocks: int64(ceil(p.N, c.tile.bn)), Rows: int64(p.M), Tile: int64(c.tile.bm),
		Args: p.mapped(o, c.tile, p.M, cuda.Samples32(int64(p.M), 1)), Bytes: p.Floor().Bytes}, err
}

// Worthwhile says that the estimated time is no more than that of Int8.
func (p HopperInt8) Worthwhile(t cuda.Target) bool {
	if p.Valid() != nil {
		return false
	}
	m, g := t.Rows(p.M, limit), gpuOf(t.Arch)
	bytes := byteProduct{kernel: "int8", m: m, n: p.N, k: p.K, pitch: 128}
	best, err := bytes.cheapest(tilesInt8, t.Arch)
	return err == nil && p.hopper().beats(choice{cost: bytes.cost(best, g)}, m, t.Arch)
}
