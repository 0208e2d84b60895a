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
		return diag.New("L0990", "softmax", "a mask whose rows repeat after 0 rows").
			WithHint("Div and Mod are 1 or more")
	}
	return p.valid("softmax", p.In)
}

// Instance is the kernel for the problem, with an entry of the given name.
func (p Softmax) Instance(kernel string) (cuda.Instance, error) {
	t := p.team(p.In)
	return cuda.Make(t.name("softmax"), kernel, p.params(t)...)
}

func (p Softmax) params(t team) []string {
	return slices.Concat(texts(int(p.In), int(p.Out)), t.params(), texts(bit(p.Mask != nil)))
}

// SoftmaxArgs are the buffers of a launch; cuda.Null for a mask that is not there.
type SoftmaxArgs struct{ X, Mask, Y cuda.Arg }

// Plan is the kernel, on any architecture. Errors as Valid.
func (p Softmax) Plan(cuda.Arch) (cuda.Plan[SoftmaxArgs], error) {
	i, err := p.named()
	if err == nil {
		_, err = p.Launch(i.Kernel, cuda.Null(), cuda.Null(), cuda.Null())
	}
	return cuda.OneKernel(i, func(o SoftmaxArgs) []cuda.Launch {
		l, _ := p.Launch(i.Kernel, o.X, o.Mask, o.Y) // its errors are those above
		return l
	}), err
}

// named is the kernel under a name that its parameters make.
func (p Softmax) named() (cuda.Instance, error) {
	if err := p.Valid(); err != nil {
		return cuda.Instance{}, err
	}
	t := p.team(p.In)
	return cuda.Named(t.name("softmax"), p.params(t)...)
}

// Call is softmax of the rows of each of a number of samples, without a mask. Errors as Valid.
func (p Softmax) Call(o SoftmaxArgs, _ cuda.Target) (cuda.Call, error) {
	i, err := p.named()
	return cuda.Call{Instance: i, Blocks: 1, Rows: p.Rows, Tile: int64(p.team(p.In).rows), Bytes: p.Floor().Bytes,
		Args: []cuda.Arg{o.X, cuda.Null(), o.Y, cuda.Samples64(p.Rows, 1), cuda.U32(uint32(p.Cols)),
			cuda.U64(1), cuda.U64(1), cuda.U64(1)}}, err
}

// Launch is the call of the kernel, or nothing for a matrix without elements. x and y are matrices of In and Out, mask
// as MaskRows says, cuda.Null without one. Errors as Valid.
func (p Softmax) Launch(kernel string, x, mask, y cuda.Arg) ([]cuda.Launch, error) {
	if err := p.Valid(); err != nil {
		return nil, err
	}
	i, err := p.Instance(kernel)
	if err != nil {
		return nil, err
	}
	rows := MaskRows{1, 1, 1}
	if p.Mask != nil {
		rows = *p.Mask
	}
	return p.launches(i, p.In, []cuda.Arg{x, mask, y, cuda.I64(p.Rows), cuda.U32(uint32(p.Cols)),
		cuda.U64(rows.Div), cuda.U64(rows.Mul), cuda.U64(rows.Mod)})
}

// Floor reads x once and writes y once; the mask is not counted, since its rows repeat.
func (p Softmax) Floor() cuda.Floor {
	n, each := p.Rows*p.Cols, int64(p.In.Type().Bytes()+p.Out.Type().Bytes())
	return cuda.Floor{Bytes: n * each, Flops: 5 * n}
}
