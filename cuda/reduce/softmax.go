// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"slices"

	"lathe/cuda"
	"lathe/cuda/word"
	"lathe/internal/diag"
)

// Softmax is exp(x - max x) divided by its sum along each row. A row of -Inf only, or without a column that the mask
// keeps, becomes zeros; a row with NaN or +Inf becomes NaN. A NaN that the mask leaves out, or in another row, changes
// nothing.
type Softmax struct {
	Matrix
	In, Out word.Float
	// Mask is nil where every column counts.
	Mask *MaskRows
}

// MaskRows says which row of a mask belongs to row r of the matrix: r / Div * Mul + r % Mod. A mask has a byte for each
// column; 0 leaves the column out. For scores [batch, heads, queries, keys] a mask [batch, 1, queries, keys] has
// Div = heads * queries and Mul = Mod = queries; one of [batch, 1, 1, keys] the same Div and Mul = Mod = 1.
type MaskRows struct {
	Div, Mul, Mod uint64
}

// Valid reports why no kernel can take the problem: error L0990.
func (p Softmax) Valid() error {
	if p.Mask != nil && (p.Mask.Div == 0 || p.Mask.Mod == 0) {
		return diag.New(diag.NoKernelTakes, "softmax", "a mask whose rows repeat after 0 rows").
			WithHint("Div and Mod are 1 or more")
	}
	return p.valid("softmax", p.In)
}

func (p Softmax) params(t team) []string {
	return slices.Concat(texts(int(p.In), int(p.Out)), t.params(), texts(bit(p.Mask != nil)))
}

// SoftmaxArgs are the buffers of a launch; cuda.Null for a mask that is not there.
type SoftmaxArgs struct{ X, Mask, Y cuda.Arg }

// Plan is the kernel, on any architecture; nothing is launched for a matrix without elements. X and Y are matrices of
// In and Out, Mask is as MaskRows says. Errors as Valid.
func (p Softmax) Plan(cuda.Arch) (cuda.Plan[SoftmaxArgs], error) {
	i, err := p.instance()
	if err != nil {
		return cuda.Plan[SoftmaxArgs]{}, err
	}
	rows := MaskRows{1, 1, 1}
	if p.Mask != nil {
		rows = *p.Mask
	}
	return plan(p.Matrix, i, p.In, func(o SoftmaxArgs) []cuda.Arg { return p.arguments(o, cuda.I64(p.Rows), rows) })
}

// arguments are those of a launch on so many rows.
func (p Softmax) arguments(o SoftmaxArgs, rows cuda.Arg, mask MaskRows) []cuda.Arg {
	return []cuda.Arg{o.X, o.Mask, o.Y, rows, cuda.U32(uint32(p.Cols)), cuda.U64(mask.Div), cuda.U64(mask.Mul),
		cuda.U64(mask.Mod)}
}

func (p Softmax) instance() (cuda.Instance, error) {
	if err := p.Valid(); err != nil {
		return cuda.Instance{}, err
	}
	t := p.team(p.In)
	return cuda.Named(t.name("softmax"), p.params(t)...)
}

// Call is softmax of the rows of each of a number of samples, without a mask. Errors as Valid.
func (p Softmax) Call(o SoftmaxArgs, _ cuda.Target) (cuda.Call, error) {
	i, err := p.instance()
	return cuda.Call{Instance: i, Blocks: 1, Rows: p.Rows, Tile: int64(p.team(p.In).rows), Bytes: p.Floor().Bytes,
		Args: p.arguments(o, cuda.Samples64(p.Rows, 1), MaskRows{1, 1, 1})}, err
}

// Floor reads x once and writes y once; the mask is not counted, since its rows repeat.
func (p Softmax) Floor() cuda.Floor {
	n, each := p.Rows*p.Cols, int64(p.In.Type().Bytes()+p.Out.Type().Bytes())
	return cuda.Floor{Bytes: n * each, Flops: 5 * n}
}
