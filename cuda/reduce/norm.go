// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"slices"

	"lathe/cuda"
	"lathe/cuda/word"
	"lathe/internal/diag"
)

// Norm is LayerNorm, (x - mean) / sqrt(variance + eps) * gain + bias with the population variance, or RMSNorm,
// x / sqrt(mean of squares + eps) * gain, along each row. A NaN in a row reaches that row and no other.
type Norm struct {
	Matrix
	// RMS chooses RMSNorm, which has no bias.
	RMS bool
	// In, Out and Gain are the formats of x, of y, and of gain and bias.
	In, Out, Gain word.Float
	Eps           float32
	// Add normalizes x + addend, which is rounded to In and stored.
	Add bool
	// Quant makes y MXINT8 of the values rounded to Out.
	Quant *Blocks
	// UnitOffset makes the gain 1 + gain; RoundBeforeGain rounds x / sqrt(...) to In before the gain. RMSNorm only.
	UnitOffset, RoundBeforeGain bool
}

// Blocks is where the bytes of quantized rows go: row r starts at byte r * Stride, and the scale of its block b is byte
// r * Row + b * Block of the scales: Row = blocks and Block = 1 as rows, Row = 1 and Block = rows transposed.
type Blocks struct {
	Stride, Row, Block int64
}

// NormArgs are the buffers of a launch; cuda.Null for those that are not there.
type NormArgs struct {
	X, Addend, Sum, Gain, Bias, Y, Scales cuda.Arg
}

func (p Norm) kernel() string {
	if p.RMS {
		return "rms_norm"
	}
	return "layer_norm"
}

// Valid reports why no kernel can take the problem: error L0990.
func (p Norm) Valid() error {
	if !p.RMS && (p.UnitOffset || p.RoundBeforeGain) {
		return diag.New(diag.NoKernelTakes, p.kernel(), "only rms_norm has a gain beside 1 and a rounding before the gain").
			WithHint("add 1 to the gain itself, and leave the rounding out")
	}
	if q := p.Quant; q != nil && (q.Stride < p.Cols || !p.Unaligned && q.Stride%int64(p.team(p.In).access) != 0) {
		return diag.New(diag.NoKernelTakes, p.kernel(),
			"%d bytes from row to row of %d columns: the rows of bytes overlap, or do "+
				"not start where %d bytes can be written at once", q.Stride, p.Cols, p.team(p.In).access).
			WithHint("choose a longer stride, or Unaligned")
	}
	return p.valid(p.kernel(), p.In)
}

func (p Norm) params(t team) []string {
	params := slices.Concat(texts(int(p.In), int(p.Out), int(p.Gain)), t.params(), texts(bit(p.Add), bit(p.Quant != nil)))
	if p.RMS {
		params = append(params, texts(bit(p.UnitOffset), bit(p.RoundBeforeGain))...)
	}
	return params
}

// arguments are those of a launch on so many rows.
func (p Norm) arguments(a NormArgs, rows cuda.Arg, to Blocks) []cuda.Arg {
	args := []cuda.Arg{a.X, a.Addend, a.Sum, a.Gain}
	if !p.RMS {
		args = append(args, a.Bias)
	}
	return append(args, a.Y, a.Scales, rows, cuda.U32(uint32(p.Cols)), cuda.I64(to.Stride), cuda.I64(to.Row),
		cuda.I64(to.Block), cuda.F32(float32(1/float64(p.Cols))), cuda.F32(p.Eps))
}

// Plan is the kernel, on any architecture; nothing is launched for a matrix without elements. Errors as Valid.
func (p Norm) Plan(cuda.Arch) (cuda.Plan[NormArgs], error) {
	i, err := p.instance()
	if err != nil {
		return cuda.Plan[NormArgs]{}, err
	}
	to := Blocks{Stride: p.Cols}
	if p.Quant != nil {
		to = *p.Quant
	}
	return plan(p.Matrix, i, p.In, func(o NormArgs) []cuda.Arg { return p.arguments(o, cuda.I64(p.Rows), to) })
}

func (p Norm) instance() (cuda.Instance, error) {
	if err := p.Valid(); err != nil {
		return cuda.Instance{}, err
	}
	t := p.team(p.In)
	return cuda.Named(t.name(p.kernel()), p.params(t)...)
}

// Call normalizes the rows of each of a number of samples, with one gain and bias for all and without Quant. Errors as
// Valid.
func (p Norm) Call(o NormArgs, _ cuda.Target) (cuda.Call, error) {
	i, err := p.instance()
	return cuda.Call{Instance: i, Blocks: 1, Rows: p.Rows, Tile: int64(p.team(p.In).rows), Bytes: p.Floor().Bytes,
		Args: p.arguments(o, cuda.Samples64(p.Rows, 1), Blocks{Stride: p.Cols})}, err
}

// Floor reads x and the addend and writes the sum and y once; gain and bias are not counted.
func (p Norm) Floor() cuda.Floor {
	n := p.Rows * p.Cols
	f := cuda.Floor{Bytes: n * int64(p.In.Type().Bytes()), Flops: 8 * n}
	if p.Add {
		f.Bytes += 2 * n * int64(p.In.Type().Bytes())
	}
	if p.Quant != nil {
		f.Bytes += n + p.Rows*((p.Cols+31)/32)
	} else {
		f.Bytes += n * int64(p.Out.Type().Bytes())
	}
	return f
}
