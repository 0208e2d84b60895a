// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"lathe/cuda"
	"lathe/cuda/num"
	"lathe/ir/format"
)

// Blocks is the problem of the kernel to_blocks: codes of any format to blocks, along the middle axis of
// [Outer][Length][Inner].
type Blocks struct {
	Outer, Length, Inner int64
	// From is a side with one scale, or without scales.
	From Side
	To   format.Block
	// Seed serves stochastic rounding, with the row-major index of the element.
	Seed uint32
}

// PerRow is the number of blocks along the axis; the last one may be short.
func (p Blocks) PerRow() int64 {
	return (p.Length + int64(p.To.BlockSize()) - 1) / int64(p.To.BlockSize())
}

// Instance is the kernel for the problem under a name. Error L0990 for what the kernel does not take: a source with an
// image of scales.
func (p Blocks) Instance(kernel string) (cuda.Instance, error) {
	if p.From.Codec.Block || p.From.Group > 0 {
		return cuda.Instance{}, unfit(kernel, "to_blocks reads values with one scale, not %s", p.From.Codec.Type).
			WithHint("cast to fp32 first")
	}
	to, ok := num.Of(p.To)
	if !ok {
		return cuda.Instance{}, unfit(kernel, "the kernel library has no codec for %s", p.To)
	}
	n := max(p.Outer*p.Length*p.Inner, 32*p.Outer*p.PerRow()*p.Inner)
	return cuda.Make("to_blocks", kernel, p.From.Codec.Type, to.Type, wide(n))
}

// Launch runs it: x codes of From, q codes of To, and the scale image [Outer][blocks][Inner].
func (p Blocks) Launch(kernel string, x, q, scales cuda.Arg) cuda.Launch {
	return cuda.Launch{
		Kernel: kernel, Grid: grid(p.Outer*p.PerRow()*p.Inner, 8), Block: [3]uint32{256, 1, 1},
		Args: []cuda.Arg{x, q, scales, cuda.I64(p.Outer), cuda.I64(p.Length), cuda.I64(p.Inner),
			cuda.I64(int64(p.To.BlockSize())), cuda.F32(p.From.Scale), cuda.I64(p.From.Zero), cuda.U32(format.Mix(p.Seed))},
	}
}

// Valid reports why no kernel can take the problem. Error as Instance.
func (p Blocks) Valid() error {
	_, err := p.Instance("to_blocks")
	return err
}

// Plan is the kernel, on any architecture. Error as Instance.
func (p Blocks) Plan(cuda.Arch) (cuda.Plan[Operands], error) {
	i, err := named(p.Instance("to_blocks"))
	return cuda.OneKernel(i, func(o Operands) []cuda.Launch {
		return []cuda.Launch{p.Launch(i.Kernel, o.X, o.Y, o.YScales)}
	}), err
}

// Floor is the least number of bytes that any implementation moves.
func (p Blocks) Floor() cuda.Floor {
	n := p.Outer * p.Length * p.Inner
	to, _ := num.Of(p.To)
	return cuda.Floor{Bytes: n*int64(p.From.Codec.Bytes+to.Bytes) + p.Outer*p.PerRow()*p.Inner}
}

// Call is the same for each of a number of samples. Errors as Instance.
func (p Blocks) Call(o Operands, _ cuda.Target) (cuda.Call, error) {
	i, err := named(p.Instance("to_blocks"))
	if err != nil {
		return cuda.Call{}, err
	}
	args := p.Launch("", o.X, o.Y, o.YScales).Args
	args[3] = cuda.Samples64(p.Outer, 1)
	rows, n := p.Outer*p.PerRow()*p.Inner, p.Outer*p.Length*p.Inner
	most := elements(32*max(rows, n)) / max(32, int64(p.To.BlockSize()))
	return cuda.Call{Instance: i, Blocks: 1, Rows: rows, Tile: 8, MaxRows: most,
		Args: args, Bytes: p.Floor().Bytes}, nil
}
