// SPDX-License-Identifier: Apache-2.0

package op

import (
	"errors"
	"fmt"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
)

// Bounds of block formats in operations: element width, and the width of the fixed formats that they are cast from and
// to, which is also that of the window accumulator.
const (
	mxMinW   = 2
	mxMaxW   = 16
	WindowW  = 48 // the widest window accumulator
	mxMaxRun = 1 << 12
	scaleMax = 8 // bits of a scale field
)

// BlockProblem says why a block format cannot be used in a graph; empty if it can.
func BlockProblem(b format.Block) string {
	_, codec := b.(format.Codec)
	switch w, r := b.Width(), format.Rounding(b); {
	case w < mxMinW || w > mxMaxW:
		return fmt.Sprintf("elements of blocks have %d to %d bits here, not %d", mxMinW, mxMaxW, w)
	case b.BlockSize() > mxMaxRun:
		return fmt.Sprintf("blocks have up to %d elements here, not %d", mxMaxRun, b.BlockSize())
	case b.ScaleWidth() > scaleMax:
		return fmt.Sprintf("scales of blocks have up to %d bits here, not %d", scaleMax, b.ScaleWidth())
	case r > format.RoundOutward:
		return fmt.Sprintf("round=%s has no hardware", r)
	case !codec:
		return "it has no circuits"
	}
	return ""
}

// KeepsBlocks says that n, whose argument 0 is in a block format, can hand on its blocks as they are: it moves codes
// without crossing the borders of blocks, or works on the codes alone (relu).
func KeepsBlocks(n *ir.Node) bool {
	if len(n.Args) != 1 || len(n.Type.Shape) == 0 {
		return false
	}
	b, ok := n.Args[0].Type.BlockFormat()
	if !ok {
		return false
	}
	if n.Op.Traits.Wire {
		return ir.SameBlocks(n.Args[0].Type.Shape, n.Type.Shape, b.BlockSize())
	}
	return n.Op.Traits.BlockCodes && format.SignedCodes(b) || n.Op.Traits.KeepsCodes && n.Op.Traits.Elementwise
}

// TakesBlocks says that n computes on blocks: a sum of products with constant weights, or an operation that keeps them.
func TakesBlocks(n *ir.Node) bool {
	switch n.Op {
	case Linear, Conv:
		for _, a := range n.Args {
			if b, ok := a.Type.BlockFormat(); ok && !sumsBlocks(b) {
				return false
			}
		}
		a, conv := n.Attrs.(*ConvAttrs)
		return !conv || a.Groups == 1
	case Cast:
		return true
	}
	return KeepsBlocks(n)
}

// sumsBlocks says that elements of blocks of b are integers, which sums of products take.
func sumsBlocks(b format.Block) bool { return format.SignedCodes(b) && format.IsFixed(b.Element()) }

var errScalar = errors.New("a scalar has no axis for blocks")

// blocksLegal is the rule of operations that hand on blocks as they are.
func blocksLegal(n *ir.Node) error {
	if len(n.Type.Shape) == 0 {
		return errScalar
	}
	if !n.Type.SameFormat(n.Args[0].Type) {
		return fmt.Errorf("%s keeps blocks as they are, so %s cannot become %s", n.Op.Name, n.Args[0].Type.Format,
			n.Type.Format)
	}
	if !KeepsBlocks(n) {
		return fmt.Errorf("%s of %s to %s moves elements between blocks of %s", n.Op.Name,
			ir.ShapeString(n.Args[0].Type.Shape), ir.ShapeString(n.Type.Shape), n.Type.Format)
	}
	return nil
}

// keepScale hangs the scales of blocks x, in the shape of the blocks of n, on y.
func keepScale(b *hlo.Builder, n *ir.Node, x, y hlo.Value) hlo.Value {
	if !n.Args[0].Type.InBlocks() || !n.Type.InBlocks() || b.Err() != nil {
		return y // without blocks in the argument the graph is refused
	}
	s := x.Scale()
	return y.WithScale(b.Reshape(s, b.Dims(n.Type.ScaleShape()...)...))
}

// ScaleCarry is the StableHLO type of the scale fields of values in a block format, as Carry.
func ScaleCarry(t ir.Type, samples int) hlo.Type {
	return hlo.Type{DType: hlo.I32, Dims: behindSamples(samples, t.ScaleShape())}
}

// reluBlocks is relu on the codes of blocks, whose scales stay.
func reluBlocks(n *ir.Node) (ir.Kernel, error) {
	if err := blocksLegal(n); err != nil {
		return nil, n.Errorf("L0308", "%v", err)
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(n.Type)
		copy(y.BlockScales, args[0].BlockScales)
		for i, q := range args[0].Codes {
			y.Codes[i] = max(q, 0)
		}
		return y, nil
	}, nil
}

// blocksOr evaluates results in block formats by f, all others by g.
func blocksOr(f, g func(*ir.Node) (ir.Kernel, error)) func(*ir.Node) (ir.Kernel, error) {
	return func(n *ir.Node) (ir.Kernel, error) {
		if n.Type.InBlocks() {
			return f(n)
		}
		return g(n)
	}
}

// reluLegal: relu keeps blocks, or computes on values of one step.
func reluLegal(n *ir.Node) error {
	if n.Type.InBlocks() && n.Args[0].Type.InBlocks() {
		return blocksLegal(n)
	}
	return plain(n)
}
