// SPDX-License-Identifier: Apache-2.0

package gemm

import (
	"slices"
	"strconv"

	"lathe/cuda"
	"lathe/cuda/word"
)

// Conv16 is y = epilogue(conv(x, w)) over Images images: x of C channels, H rows and W columns, w [N][KH][KW][C] packed
// by Pack, both bf16 or both f16; sums are fp32. The result has OH rows and OW columns of N channels, which follow each
// other; beyond the image, PT rows above it and PL columns left of it among others, x is 0.
type Conv16 struct {
	Images, H, W, C, N     int
	OH, OW, KH, KW, SH, SW int
	DH, DW, PT, PL         int
	// Channel, Row and Column are the distances of x in elements; images are dense.
	Channel, Row, Column int
	// Word is word.BFloat16 or word.Float16.
	Word word.Float
	// Epilogue has no gate.
	Epilogue
}

var _ cuda.Batched[Operands] = Conv16{}

// product is the convolution as a product of windows, of which it shares sizes, weights and configurations.
func (p Conv16) product() W16A16 {
	return W16A16{M: p.Images * p.OH * p.OW, N: p.N, K: p.KH * p.KW * p.C, Word: p.Word, Epilogue: p.Epilogue}
}

// Valid reports why no kernel can take the problem: error L0990.
func (p Conv16) Valid() error {
	for _, n := range []int{p.Images, p.H, p.W, p.C, p.OH, p.OW, p.KH, p.KW, p.SH, p.SW, p.DH, p.DW} {
		if n < 1 || n > limit {
			return refuse("conv16", "a size of %d: sizes lie between 1 and %d", n, limit)
		}
	}
	if p.Gate {
		return refuse("conv16", "a gate")
	}
	if p.Out == MXINT8 {
		return refuse("conv16", "a result in MXINT8")
	}
	return p.product().Valid()
}

// Pack puts weights, [N][KH][KW][C], into the order of the kernel.
func (p Conv16) Pack(w []byte) []byte { return p.product().Pack(w) }

// PackedBytes is the size of packed weights.
func (p Conv16) PackedBytes() int64 { return p.product().PackedBytes() }

// Floor is the least that must be moved and computed; images are read once.
func (p Conv16) Floor() cuda.Floor {
	f, images := p.product().Floor(), int64(p.Images)*int64(p.H)*int64(p.W)*int64(p.C)*2
	windows := int64(p.product().M) * int64(p.product().K) * 2
	f.Bytes += images - windows
	return f
}

// vector says that the kernel copies eight channels at once.
func (p Conv16) vector() bool {
	return p.C%8 == 0 && p.Channel == 1 && p.Row%8 == 0 && p.Column%8 == 0
}

// with are the instance and the grid of a tile.
func (p Conv16) with(t tile) (cuda.Instance, int, error) {
	e := p.Epilogue.params() // without the gate
	i, err := cuda.Named("conv16", slices.Concat(t.params(), []string{bit(p.vector()), strconv.Itoa(int(p.Word)), e[0],
		e[2]})...)
	q := p.product()
	return i, ceil(q.M, t.bm) * ceil(q.N, t.bn), err
}

// choose is the tile of least estimated time for m rows.
func (p Conv16) choose(a cuda.Arch, m int) (tile, error) {
	if err := p.Valid(); err != nil {
		return tile{}, err
	}
	q := p.product()
	q.M = m
	c, err := q.choose(a, []int{1})
	return c.tile, err
}

// args are those of a launch; m is the number of pixels.
func (p Conv16) args(o Operands, m cuda.Arg) []cuda.Arg {
	out := []cuda.Arg{o.X, o.W, o.Bias, o.Residual, o.Y, cuda.Null(), cuda.I64(int64(p.N)), cuda.I64(0), cuda.I64(0), m,
		cuda.I32(int32(p.N)), cuda.I32(int32(p.product().K)), cuda.I64(int64(p.H) * int64(p.W) * int64(p.C))}
	for _, s := range []int{p.Channel, p.Row, p.Column} {
		out = append(out, cuda.I64(int64(s)))
	}
	for _, n := range []int{p.H, p.W, p.C, p.OH, p.OW, p.KW, p.SH, p.SW, p.DH, p.DW, p.PT, p.PL} {
		out = append(out, cuda.I32(int32(n)))
	}
	return out
}

// Plan chooses the configuration of least estimated time. Errors as Valid.
func (p Conv16) Plan(a cuda.Arch) (Plan, error) {
	t, err := p.choose(a, p.product().M)
	if err != nil {
		return Plan{}, err
	}
	return p.planned(t)
}

// planned is the plan of a tile.
func (p Conv16) planned(t tile) (Plan, error) {
	i, blocks, err := p.with(t)
	if err != nil {
		return Plan{}, err
	}
	return whole(i, blocks, func(o Operands) []cuda.Arg { return p.args(o, cuda.I32(int32(p.product().M))) })
}

// Call is the convolution of the images of each of a number of samples. Errors as Valid.
func (p Conv16) Call(o Operands, t cuda.Target) (cuda.Call, error) {
	m := p.product().M
	best, err := p.choose(t.Arch, t.Rows(m, limit))
	if err != nil {
		return cuda.Call{}, err
	}
	i, _, err := p.with(best)
	return cuda.Call{Instance: i, Blocks: int64(ceil(p.N, best.bn)), Rows: int64(m), Tile: int64(best.bm),
		Args: p.args(o, cuda.Samples32(int64(m), 1)), Bytes: p.Floor().Bytes}, err
}

// Reduced is a small problem, and its plan in the configuration of p. Errors as Plan.
func (p Conv16) Reduced(a cuda.Arch) (Conv16, Plan, error) {
	t, err := p.choose(a, p.product().M)
	if err != nil {
		return p, Plan{}, err
	}
	// As few rows of the result as fill a tile, and as many channels as fill the stages.
	dense := p.Channel == 1
	p.Images, p.OW, p.OH, p.N = 1, 9, ceil(t.bm+3, 9), t.bn+8
	p.C = 8 * max(1, ceil(64*(t.stages+1)+8, 8*p.KH*p.KW))
	p.H, p.W = (p.OH-1)*p.SH+(p.KH-1)*p.DH+1-p.PT, (p.OW-1)*p.SW+(p.KW-1)*p.DW+1-p.PL
	p.H, p.W = max(p.H, 1), max(p.W, 1)
	p.Channel, p.Row, p.Column = p.H*p.W, p.W, 1
	if dense {
		p.Channel, p.Row, p.Column = 1, p.W*p.C, p.C
	}
	plan, err := p.planned(t)
	return p, plan, err
}
