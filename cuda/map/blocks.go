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
	Outer int64
	Axis
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

func (p Blocks) instance() (cuda.Instance, error) {
	if p.From.Codec.Block || p.From.Group > 0 {
		return cuda.Instance{}, unfit("to_blocks", "to_blocks reads values with one scale, not %s", p.From.Codec.Type).
			WithHint("cast to fp32 first")
	}
	to, ok := num.Of(p.To)
	if !ok {
		return cuda.Instance{}, unfit("to_blocks", "the kernel library has no codec for %s", p.To)
	}
	if lo, hi := p.To.ScaleLimits(); lo != -127 || hi != 127 {
		return cuda.Instance{}, unfit("to_blocks", "to_blocks writes scales of 2^-127 to 2^127, not those of %s", p.To)
	}
	n := max(p.Outer*p.Length*p.Inner, 32*p.Outer*p.PerRow()*p.Inner)
	return cuda.Named("to_blocks", p.From.Codec.Type, to.Type, wide(n))
}

// args are the arguments of a launch for that many samples' outer indices.
func (p Blocks) args(o Operands, outer cuda.Arg) []cuda.Arg {
	return []cuda.Arg{o.X, o.Y, o.YScales, outer, cuda.I64(p.Length), cuda.I64(p.Inner),
		cuda.I64(int64(p.To.BlockSize())), cuda.F32(p.From.Scale), cuda.I64(p.From.Zero), cuda.U32(format.Mix(p.Seed))}
}

// Valid reports why no kernel can take the problem: error L0990 for a source with an image of scales.
func (p Blocks) Valid() error {
	_, err := p.instance()
	return err
}

// Plan is the kernel, on any architecture: X are codes of From, Y codes of To, YScales the scale image
// [Outer][blocks][Inner]. Error as Valid.
func (p Blocks) Plan(cuda.Arch) (cuda.Plan[Operands], error) {
	i, err := p.instance()
	return cuda.OneKernel(i, func(o Operands) []cuda.Launch {
		return oneLaunch(i, p.Outer*p.PerRow()*p.Inner, 8, p.args(o, cuda.I64(p.Outer)))
	}), err
}

// Floor is the least number of bytes that any implementation moves.
func (p Blocks) Floor() cuda.Floor {
	n := p.Outer * p.Length * p.Inner
	to, _ := num.Of(p.To)
	return cuda.Floor{Bytes: n*int64(p.From.Codec.Bytes+to.Bytes) + p.Outer*p.PerRow()*p.Inner}
}

// Call is the same for each of a number of samples. Error as Valid.
func (p Blocks) Call(o Operands, _ cuda.Target) (cuda.Call, error) {
	i, err := p.instance()
	if err != nil {
		return cuda.Call{}, err
	}
	rows, n := p.Outer*p.PerRow()*p.Inner, p.Outer*p.Length*p.Inner
	most := elements(32*max(rows, n)) / max(32, int64(p.To.BlockSize()))
	return cuda.Call{Instance: i, Blocks: 1, Rows: rows, Tile: 8, MaxRows: most,
		Args: p.args(o, cuda.Samples64(p.Outer, 1)), Bytes: p.Floor().Bytes}, nil
}
