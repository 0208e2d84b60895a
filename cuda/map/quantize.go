// SPDX-License-Identifier: Apache-2.0

// Package pointwise holds the kernels that treat elements, or blocks of elements, one by one: dequantize, quantize,
// cast, chains of functions. (The folder is called map, which is no name for a package of Go.)
package pointwise

import (
	"math"

	"lathe/cuda"
	"lathe/cuda/num"
)

// Quantize is the problem of the kernel quantize: rows of floats to MXINT8 with blocks of 32 along a row.
type Quantize struct {
	Rows, Cols int64
	// In is num.FP32, num.BF16 or num.FP16.
	In num.Codec
	// Transposed says that the scale image is [blocks][Pitch], not [Rows][blocks].
	Transposed bool
	// Pitch is the distance between blocks of a transposed image, 0 for Rows. Products take gemm.ScalePitch(Rows); what
	// lies beyond Rows is not written.
	Pitch int64
}

// Operands are the buffers of a problem on elements; cuda.Null() for scales that are not there.
type Operands struct{ X, XScales, Y, YScales cuda.Arg }

// The problems.
var (
	_ cuda.Problem[Operands]      = Dequant{}
	_ cuda.Problem[Operands]      = Quantize{}
	_ cuda.Batched[Operands]      = Cast{}
	_ cuda.Batched[Operands]      = Blocks{}
	_ cuda.Batched[ChainOperands] = Chain{}
)

// Blocks is the number of blocks in a row; the last one may be short.
func (p Quantize) Blocks() int64 { return (p.Cols + 31) / 32 }

func (p Quantize) instance() (cuda.Instance, error) {
	switch p.In {
	case num.FP32, num.BF16, num.FP16:
	default:
		return cuda.Instance{}, unfit("quantize", "quantize reads fp32, bf16 and fp16, not %s", p.In.Type)
	}
	return cuda.Named("quantize", p.In.Type, wide(p.Rows*p.Blocks()*32))
}

// Valid reports why no kernel can take the problem: error L0990 for an input that the kernel does not read.
func (p Quantize) Valid() error {
	_, err := p.instance()
	return err
}

// Plan is the kernel, on any architecture: X are [Rows][Cols] words, Y [Rows][Cols] bytes, YScales the scale image.
// Error as Valid.
func (p Quantize) Plan(cuda.Arch) (cuda.Plan[Operands], error) {
	i, err := p.instance()
	inRow, step := p.Blocks(), int64(1)
	if p.Transposed {
		inRow, step = 1, p.pitch()
	}
	return cuda.OneKernel(i, func(o Operands) []cuda.Launch {
		return oneLaunch(i, p.Rows*p.Blocks()*int64(p.In.Bytes), 128, []cuda.Arg{o.X, o.Y, o.YScales, cuda.I64(p.Rows),
			cuda.I64(p.Cols), cuda.I64(p.Cols), cuda.I64(inRow), cuda.I64(step)})
	}), err
}

func (p Quantize) pitch() int64 { return max(p.Rows, p.Pitch) }

// Scales is the size of the scale image in bytes.
func (p Quantize) Scales() int64 {
	if p.Transposed {
		return p.Blocks() * p.pitch()
	}
	return p.Rows * p.Blocks()
}

// Floor is the least number of bytes that any implementation moves.
func (p Quantize) Floor() cuda.Floor {
	return cuda.Floor{Bytes: p.Rows * (p.Cols*int64(p.In.Bytes+1) + p.Blocks())}
}

// wide is the template parameter WIDE for an index that runs to n, rounded up to whole blocks of threads.
func wide(n int64) string {
	if n > math.MaxInt32-1<<16 {
		return "1"
	}
	return "0"
}

// elements is the most elements of a launch of kernels that were chosen for n of them.
func elements(n int64) int64 {
	if wide(n) == "1" {
		return math.MaxInt64
	}
	return math.MaxInt32 - 1<<16
}

// oneLaunch is the launch of a kernel with a block of threads for each `each` of n items.
func oneLaunch(i cuda.Instance, n, each int64, args []cuda.Arg) []cuda.Launch {
	return []cuda.Launch{{Kernel: i.Kernel, Grid: grid(n, each), Block: [3]uint32{256, 1, 1}, Args: args}}
}

// grid has one dimension and a block for each `each` of n items, at least one.
func grid(n, each int64) [3]uint32 { return [3]uint32{uint32(max((n+each-1)/each, 1)), 1, 1} }
