// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/cuda"
	pointwise "lathe/cuda/map"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/block"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/rtl"
)

// Cast re-encodes values in another format, with one rounding. It is the only operation that asks formats for their
// codecs: one side is fixed, the other has one. Between all other formats of up to TableBits bits it is a table.
var Cast = &ir.Op{
	Name: "cast", Doc: "the same value in another format, rounded once", Arity: [2]int{1, 1},
	Traits: ir.Traits{Elementwise: true, Monotone: true, Casts: true, Blocks: func(*ir.Node) bool { return true }},
	Infer:  column.SameShape,
	Eval:   castEval,
	HLO:    castHLO,
	RTL:    castRTL,
	CUDA:   ir.OneNode(castCUDA),
	Legal:  castLegal,
	Gen:    genCast,
}

// genCast casts integers, or codes that are no integers from and to fixed values.
func genCast(r *rand.Rand, o *ir.Op) *ir.Graph {
	if draw.Chance(r, 50) {
		return draw.Unary(r, o)
	}
	coded := ir.Type{Format: draw.Coded(r)}
	exact, _ := format.ExactFixed(coded.Format)
	fixed := draw.Fixed(r, 24)
	if draw.Chance(r, 85) { // of about the same range
		fixed.F = fixed.W - exact.W + exact.F + draw.Between(r, -2, 3)
	}
	shape := draw.Shape(r, 0, 4)
	if draw.Chance(r, 50) {
		return draw.Graph(o, nil, coded, draw.Input("x", ir.Type{Shape: shape, Format: fixed}))
	}
	return draw.Graph(o, nil, ir.Type{Format: fixed}, draw.Input("x", ir.Type{Shape: shape, Format: coded.Format}))
}

// codecs are the two sides of a cast, one of which is fixed: decode is the format of the argument where the result is
// fixed, else encode is that of the result. Both are nil where the cast is a table, or has a meaning only.
func codecs(n *ir.Node) (decode, encode format.Codec) {
	in, out := n.Args[0].Type.Format, n.Type.Format
	switch {
	case format.IsFixed(in):
		return nil, format.CodecOf(out)
	case format.IsFixed(out):
		return format.CodecOf(in), nil
	}
	return nil, nil
}

// castEval goes by lattice integers between fixed formats. Others may have a NaN or a negative zero, which those lose.
func castEval(n *ir.Node) (ir.Kernel, error) {
	in, out := n.Args[0].Type, n.Type
	if n.Type.InBlocks() || in.InBlocks() {
		return blockCastEval(n)
	}
	if format.IsFixed(in.Format) || out.IsFloat() {
		return Unary{
			Float: func(*ir.Node) func(float32) float32 { return func(x float32) float32 { return x } },
			Exact: func(n *ir.Node, exp int) (func(int64) int64, error) { return arith.Encoder(n.Type.Format, exp), nil },
		}.Eval(n)
	}
	if _, err := arith.CommonStep(n); err != nil {
		return nil, err
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(out)
		for i, c := range args[0].Codes {
			y.Codes[i] = out.Format.Encode(in.Format.Decode(c))
		}
		return y, nil
	}, nil
}

// castLegal: blocks are cast to and from fixed formats; the others have one step.
func castLegal(n *ir.Node) error {
	if n.Type.InBlocks() || n.Args[0].Type.InBlocks() {
		return blockCastLegal(n)
	}
	return arith.OneStep(n)
}

// blockCastLegal holds for casts from or to a block format: the other side is fixed, up to 48 bits.
func blockCastLegal(n *ir.Node) error {
	in, out := n.Args[0].Type, n.Type
	if len(out.Shape) == 0 {
		return column.ErrScalar
	}
	for _, t := range []ir.Type{in, out} {
		if b, ok := t.BlockFormat(); ok {
			if why := block.BlockProblem(b); why != "" {
				return fmt.Errorf("%s: %s", b, why)
			}
			continue
		}
		if !block.Encodes(t.Format) {
			return fmt.Errorf("blocks cast to and from fixed formats of up to %d bits, not %s", block.WindowW,
				t.Format)
		}
	}
	if in.InBlocks() && out.InBlocks() {
		return fmt.Errorf("a cast from %s to %s needs two steps, through a fixed format", in.Format, out.Format)
	}
	return nil
}

// blockCastEval encodes blocks from fixed values, or decodes them.
func blockCastEval(n *ir.Node) (ir.Kernel, error) {
	if err := blockCastLegal(n); err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	if b, ok := n.Type.BlockFormat(); ok {
		exp, _ := arith.Step(n.Args[0].Type)
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			l, err := args[0].Lattice()
			if err != nil {
				return nil, n.Errorf(diag.OpFormats, "%v", err)
			}
			y := ir.NewTensor(n.Type)
			y.EachBlock(func(block, from, to int) {
				y.BlockScales[block] = b.EncodeInts(l.Ints[from:to], exp, y.Codes[from:to])
			})
			return y, nil
		}, nil
	}
	b, _ := n.Args[0].Type.BlockFormat()
	fx, _ := format.AsFixed(n.Type.Format)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(n.Type)
		args[0].EachBlock(func(block, from, to int) {
			exp := b.ElementExp(args[0].BlockScales[block])
			for i := from; i < to; i++ {
				y.Codes[i] = fx.Requant(b.ElementInt(args[0].Codes[i]), exp)
			}
		})
		return y, nil
	}, nil
}

// castTable is the table of a cast between formats neither of which is fixed, or one of which has no codec.
func castTable(n *ir.Node) ([]int64, error) {
	if !tabled(n) {
		_, err := arith.FixedOf(n, n.Args[0].Type)
		if err == nil {
			_, err = arith.FixedOf(n, n.Type)
		}
		return nil, err
	}
	return evalTable(n)
}

// castCUDA is a cast into blocks, or out of them. Kernels made for the node are as fast for the others.
func castCUDA(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
	in, out := n.Args[0].Type, n.Type
	if !in.InBlocks() && !out.InBlocks() || n.Type.Elems() == 0 {
		return nil, cuda.Refuse("a cast from %s to %s is one operation per element", in.Format, out.Format)
	}
	if err := castLegal(n); err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	row := int64(out.Row())
	elems := int64(n.Type.Elems())
	from, err := pointwise.SideOf(in.Format)
	if err != nil {
		return nil, cuda.Refused(err)
	}
	to, err := pointwise.SideOf(out.Format)
	if err != nil {
		return nil, cuda.Refused(err)
	}
	var u cuda.Unit
	x := u.Add(cuda.Operand{Kind: cuda.Input})
	y := u.Add(cuda.Operand{Kind: cuda.Output})
	if b, ok := out.BlockFormat(); ok {
		p := pointwise.Blocks{Outer: elems / row, Axis: pointwise.Axis{Length: row, Inner: 1}, From: from, To: b}
		o := pointwise.Operands{X: x, Y: y, YScales: u.Add(cuda.Operand{Kind: cuda.OutputScales})}
		return column.CUDAUnit(&u, p, o, t)
	}
	if fromOutside(n.Args[0]) {
		return nil, cuda.Refuse("input scales may be no powers of two, which cast makes NaN and the node does not check")
	}
	p := pointwise.Cast{N: elems, From: from, To: to, Axis: pointwise.Axis{Length: row, Inner: 1}}
	o := pointwise.Operands{X: x, XScales: u.Add(cuda.Operand{Kind: cuda.InputScales}), Y: y, YScales: cuda.Null()}
	return column.CUDAUnit(&u, p, o, t)
}

// fromOutside says that nothing is known of the scales of blocks that node x makes.
func fromOutside(x *ir.Node) bool {
	b, _ := x.Type.BlockFormat()
	lo, hi, _ := block.ScaleRange(x)
	least, most := b.ScaleLimits()
	return slices.Equal([]int{lo, hi}, []int{least, most})
}

func castHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if n.Type.IsFloat() {
		return args[0], nil
	}
	if err := castLegal(n); err != nil {
		return hlo.Value{}, n.Errorf(diag.OpFormats, "%v", err)
	}
	decode, encode := codecs(n)
	switch {
	case decode != nil:
		fx, _ := format.AsFixed(n.Type.Format)
		return decode.DecodeHLO(b, args[0], fx), b.Err()
	case encode != nil:
		if err := hardware.HardwareRound(n); err != nil {
			return hlo.Value{}, err
		}
		fx, _ := format.AsFixed(n.Args[0].Type.Format)
		return encode.EncodeHLO(b, args[0], fx), b.Err()
	}
	table, err := castTable(n)
	if err != nil {
		return hlo.Value{}, err
	}
	return LookUp(b, n, args[0], table)
}

func castRTL(n *ir.Node) (*rtl.Unit, error) {
	if err := castLegal(n); err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	for _, t := range []ir.Type{n.Args[0].Type, n.Type} {
		if t.InBlocks() {
			if e := block.CheckLanes(n, "lanes", n.HW.InLanes, t); e != nil {
				return nil, e
			}
		}
	}
	s := format.Stream{Lanes: n.HW.InLanes, Beats: hardware.Beats(n.Type, n.HW.InLanes), Row: n.Type.Row()}
	s.Rows = n.Type.Elems() / s.Row
	decode, encode := codecs(n)
	switch {
	case decode != nil:
		if n.Args[0].Type.InBlocks() {
			s.ScaleLo, s.ScaleHi, _ = block.ScaleRange(n.Args[0])
		}
		fx, err := hardware.Result(n)
		if err != nil {
			return nil, err
		}
		return decode.DecodeRTL(fx, s), nil
	case encode != nil:
		fx, _ := format.AsFixed(n.Args[0].Type.Format)
		return encode.EncodeRTL(fx, s), hardware.HardwareRound(n)
	}
	table, err := castTable(n)
	if err != nil {
		return nil, err
	}
	if u := bounded(n, table); u != nil {
		return u, nil
	}
	return hardware.Table(n, table)
}
