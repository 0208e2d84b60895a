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
)

// mxOf returns the block format of t, if it has one.
func mxOf(t ir.Type) (format.MXInt, bool) {
	m, ok := t.Format.(format.MXInt)
	return m, ok
}

// isMX says that values of node n are in a block format.
func isMX(n *ir.Node) bool { _, ok := mxOf(n.Type); return ok }

// MXProblem says why a block format cannot be used in a graph; empty if it can.
func MXProblem(m format.MXInt) string {
	switch {
	case m.W < mxMinW || m.W > mxMaxW:
		return fmt.Sprintf("elements of blocks have %d to %d bits here, not %d", mxMinW, mxMaxW, m.W)
	case m.K > mxMaxRun:
		return fmt.Sprintf("blocks have up to %d elements here, not %d", mxMaxRun, m.K)
	case m.Round > format.RoundOutward:
		return fmt.Sprintf("round=%s has no hardware", m.Round)
	}
	return ""
}

// KeepsBlocks says that n, whose argument 0 is in a block format, can hand on its blocks as they are: it moves codes
// without crossing the borders of blocks, or works on the codes alone (relu).
func KeepsBlocks(n *ir.Node) bool {
	if len(n.Args) != 1 || len(n.Type.Shape) == 0 {
		return false
	}
	m, ok := mxOf(n.Args[0].Type)
	if !ok {
		return false
	}
	if n.Op.Traits.Wire {
		return ir.SameBlocks(n.Args[0].Type.Shape, n.Type.Shape, m.K)
	}
	return n.Op.Traits.BlockCodes || n.Op.Traits.KeepsCodes && n.Op.Traits.Elementwise
}

// TakesBlocks says that n computes on blocks: a sum of products with constant weights, or an operation that keeps them.
func TakesBlocks(n *ir.Node) bool {
	if n.Op == Conv {
		return n.Attrs.(*ConvAttrs).Groups == 1
	}
	return n.Op == Linear || n.Op == Cast || KeepsBlocks(n)
}

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

// mxCastLegal holds for casts from or to a block format: the other side is fixed, up to 48 bits.
func mxCastLegal(n *ir.Node) error {
	in, out := n.Args[0].Type, n.Type
	if len(out.Shape) == 0 {
		return errScalar
	}
	for _, t := range []ir.Type{in, out} {
		if m, ok := mxOf(t); ok {
			if why := MXProblem(m); why != "" {
				return fmt.Errorf("%s: %s", m, why)
			}
			continue
		}
		if !Encodes(t.Format) {
			return fmt.Errorf("a cast between blocks and %s has no integer form; fixed formats of up to %d bits have", t.Format,
				WindowW)
		}
	}
	if isMX(n) && isMX(n.Args[0]) {
		return fmt.Errorf("a cast from %s to %s takes two: by a fixed format", in.Format, out.Format)
	}
	return nil
}

// Encodes says that format f, which is no block format, can be cast to blocks and back.
func Encodes(f format.Format) bool {
	fx, ok := format.AsFixed(f)
	return ok && fx.W <= WindowW && fx.Round <= format.RoundOutward
}

// mxCastEval encodes blocks from fixed values, or decodes them.
func mxCastEval(n *ir.Node) (ir.Kernel, error) {
	if err := mxCastLegal(n); err != nil {
		return nil, n.Errorf("L0308", "%v", err)
	}
	if m, ok := mxOf(n.Type); ok {
		exp, _ := step(n.Args[0].Type)
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			l, err := args[0].Lattice()
			if err != nil {
				return nil, n.Errorf("L0308", "%v", err)
			}
			y := ir.NewTensor(n.Type)
			y.EachBlock(func(block, from, to int) {
				y.BlockScales[block] = m.EncodeInts(l.Ints[from:to], exp, y.Codes[from:to])
			})
			return y, nil
		}, nil
	}
	m, _ := mxOf(n.Args[0].Type)
	fx, _ := format.AsFixed(n.Type.Format)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(n.Type)
		args[0].EachBlock(func(block, from, to int) {
			exp := m.ElementExp(args[0].BlockScales[block])
			for i := from; i < to; i++ {
				y.Codes[i] = fx.Requant(args[0].Codes[i], exp)
			}
		})
		return y, nil
	}, nil
}

// mxCastHLO prints the same with a shift for every block.
func mxCastHLO(b *hlo.Builder, n *ir.Node, x hlo.Value) (hlo.Value, error) {
	if err := mxCastLegal(n); err != nil {
		return hlo.Value{}, n.Errorf("L0308", "%v", err)
	}
	row := n.Type.Shape[len(n.Type.Shape)-1]
	if m, ok := mxOf(n.Type); ok {
		fx, _ := format.AsFixed(n.Args[0].Type.Format)
		v := b.Blocks(wide(b, x), m.K)
		dims := v.Type().Dims
		last := len(dims) - 1
		top := b.Reduce(hlo.FoldMax, b.Abs(v), last)
		bits := b.Sub(b.Splat(top, 64), b.CountLeadingZeros(top))
		e := b.Clamp(b.Splat(top, -127), b.Add(bits, b.Splat(bits, int64(-1-fx.F))), b.Splat(top, 127))
		by := b.Min(b.Add(e, b.Splat(e, int64(fx.F-(m.W-2)))), b.Splat(e, 60))
		q := b.RoundShiftBy(v, overElements(b, by, dims), uint8(m.Round))
		q = b.Saturate(q, hlo.OverSym, m.W, true, carry(n.Type))
		zero := b.Compare(hlo.EQ, top, b.Splat(top, 0))
		scale := b.Select(zero, b.Splat(e, 0), b.Add(e, b.Splat(e, 127)))
		return b.Unblocks(q, row).WithScale(b.Convert(scale, hlo.I32)), b.Err()
	}
	m, _ := mxOf(n.Args[0].Type)
	fx, _ := format.AsFixed(n.Type.Format)
	v := b.Blocks(wide(b, x), m.K)
	by := wide(b, x.Scale())
	by = b.Sub(b.Splat(by, int64(127+m.W-2-fx.F)), by)
	by = b.Clamp(b.Splat(by, int64(-fx.W)), by, b.Splat(by, 60))
	q := b.RoundShiftBy(v, overElements(b, by, v.Type().Dims), uint8(fx.Round))
	q = b.Saturate(q, uint8(fx.Over), fx.W, fx.Signed, carry(n.Type))
	return b.Unblocks(q, row), b.Err()
}

// overElements repeats one number a block over the elements of each: [..., blocks] to dims, [..., blocks, k].
func overElements(b *hlo.Builder, v hlo.Value, dims []int) hlo.Value {
	axes := make([]int, len(dims)-1)
	for i := range axes {
		axes[i] = i
	}
	return b.BroadcastInDim(v, dims, axes)
}

// keepScale hangs the scales of blocks x, in the shape of the blocks of n, on y.
func keepScale(b *hlo.Builder, n *ir.Node, x, y hlo.Value) hlo.Value {
	if _, blocks := mxOf(n.Args[0].Type); !blocks || !isMX(n) || b.Err() != nil {
		return y // without blocks in the argument the graph is refused
	}
	s := x.Scale()
	return y.WithScale(b.Reshape(s, append([]int{s.Type().Dims[0]}, n.Type.ScaleShape()...)...))
}

// ScaleCarry is the StableHLO type of the scale fields of an activation in a block format.
func ScaleCarry(t ir.Type, samples int) hlo.Type {
	return hlo.Type{DType: hlo.I32, Dims: append([]int{samples}, t.ScaleShape()...)}
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
		if isMX(n) {
			return f(n)
		}
		return g(n)
	}
}

// reluLegal: relu keeps blocks, or computes on values of one step.
func reluLegal(n *ir.Node) error {
	if isMX(n) && isMX(n.Args[0]) {
		return blocksLegal(n)
	}
	return plain(n)
}
