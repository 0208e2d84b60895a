// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"strconv"

	"lathe/cuda"
	"lathe/cuda/num"
	"lathe/internal/diag"
	"lathe/ir/format"
)

// Cast is the problem of the kernel cast: N codes of one format to codes of another, rounded once.
type Cast struct {
	N        int64
	From, To Side
	// Axis is that of the scale images, zero where no side has one.
	Axis
	// Seed serves formats that round stochastically, with the row-major index of the element.
	Seed uint32
}

// Axis is an axis along which elements share scales: they form [..][Length][Inner].
type Axis struct{ Length, Inner int64 }

// Side is one end of a cast.
type Side struct {
	Codec num.Codec
	// Scale and Zero are those of an affine format with one scale.
	Scale float32
	Zero  int64
	// Group is the number of indices of the axis that share a scale, 0 where there is no scale image.
	Group int64
}

// SideOf is the side of a cast for values in a format: dequantized floats have num.BF16 and the like instead. Error
// L0990 where the library has no codec for it.
func SideOf(f format.Format) (Side, error) {
	c, ok := num.Of(f)
	if !ok {
		return Side{}, unfit("", "the kernel library has no codec for %s", f)
	}
	s := Side{Codec: c}
	switch f := f.(type) {
	case format.Scaled:
		s.Scale, s.Zero = f.Factor()
		if _, group, ok := f.ScaleAxis(); ok {
			s.Group = max(int64(group), 1)
		}
	case format.Block:
		s.Group = int64(f.BlockSize())
	}
	return s, nil
}

func (p Cast) instance() (cuda.Instance, error) {
	switch {
	case p.To.Codec.Block:
		return cuda.Instance{}, unfit("cast", "cast does not make blocks").WithHint("use quantize")
	case p.From.Codec.Block && p.To.Codec == num.FP16:
		return cuda.Instance{}, unfit("cast", "values of a block format do not fit binary16").
			WithHint("ask for bf16 or fp32, or for binary16 that saturates")
	case p.From.Group < 0 || p.To.Group < 0 || p.axis() && (p.Length < 1 || p.Inner < 1):
		return cuda.Instance{}, unfit("cast", "an axis of %d by %d elements", p.Length, p.Inner)
	}
	return cuda.Named("cast", p.From.Codec.Type, p.To.Codec.Type, strconv.Itoa(bit(p.axis())), wide(p.N))
}

func (p Cast) axis() bool { return p.From.Group > 0 || p.To.Group > 0 }

// args are the arguments of a launch over n codes.
func (p Cast) args(o Operands, n cuda.Arg) []cuda.Arg {
	return []cuda.Arg{o.X, o.Y, o.XScales, o.YScales, n, cuda.I64(p.Length), cuda.I64(p.Inner),
		cuda.I64(p.From.Group), cuda.I64(p.To.Group), cuda.F32(p.From.Scale), cuda.F32(p.To.Scale),
		cuda.I64(p.From.Zero), cuda.I64(p.To.Zero), cuda.U32(format.Mix(p.Seed))}
}

// Valid reports why no kernel can take the problem. Error L0990 for a block format as target, which needs the whole
// block, or binary16 that is not named as saturating after a block format, whose values leave its range.
func (p Cast) Valid() error {
	_, err := p.instance()
	return err
}

// Plan is the kernel, on any architecture: X and Y are the codes, XScales and YScales the scale images, cuda.Null where
// there is none: float32 words of an affine format, bytes of a block format. Error as Valid.
func (p Cast) Plan(cuda.Arch) (cuda.Plan[Operands], error) {
	i, err := p.instance()
	return cuda.OneKernel(i, func(o Operands) []cuda.Launch {
		return oneLaunch(i, p.N, p.each(), p.args(o, cuda.I64(p.N)))
	}), err
}

// Call is the cast of the N codes of each of a number of samples, which have a scale image each. Error as Valid.
func (p Cast) Call(o Operands, _ cuda.Target) (cuda.Call, error) {
	i, err := p.instance()
	if err != nil {
		return cuda.Call{}, err
	}
	return cuda.Call{Instance: i, Blocks: 1, Rows: p.N, Tile: p.each(), MaxRows: elements(p.N),
		Args: p.args(o, cuda.Samples64(p.N, 1)), Bytes: p.Floor().Bytes}, nil
}

// each is the number of elements of a block of threads.
func (p Cast) each() int64 {
	return 256 * max(int64(16/max(p.From.Codec.Bytes, p.To.Codec.Bytes)), 4)
}

// Floor is the least number of bytes that any implementation moves, scale images apart.
func (p Cast) Floor() cuda.Floor {
	return cuda.Floor{Bytes: p.N * int64(p.From.Codec.Bytes+p.To.Codec.Bytes)}
}

// unfit is a problem that a kernel does not take.
func unfit(kernel, text string, args ...any) *diag.Error {
	return diag.New(diag.NoKernelTakes, kernel, text, args...).WithHint("docs/kernels.md says what each kernel takes")
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
