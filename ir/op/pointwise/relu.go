// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"math"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/block"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/rtl"
)

// reluBlocks is relu on the codes of blocks, whose scales stay.
func reluBlocks(n *ir.Node) (ir.Kernel, error) {
	if err := column.BlocksLegal(n); err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
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
		return column.BlocksLegal(n)
	}
	return column.Plain(n)
}

// Relu is max(x, 0), element by element.
var Relu = &ir.Op{
	Name: "relu", Doc: "max(x, 0)", Arity: [2]int{1, 1},
	Traits: ir.Traits{Elementwise: true, Table: true, Monotone: true, BlockCodes: true},
	Infer:  column.SameShape,
	Eval: blocksOr(reluBlocks, Unary{
		Float: func(*ir.Node) func(float32) float32 { return func(x float32) float32 { return max(x, 0) } },
		Exact: func(n *ir.Node, exp int) (func(int64) int64, error) {
			enc := arith.Encoder(n.Type.Format, exp)
			return func(v int64) int64 { return enc(max(v, 0)) }, nil
		},
	}.Eval),
	Exact: func(n *ir.Node) (format.Format, error) { return argumentFormat(n, 0, math.MaxFloat32) },
	HLO:   affineHLO(reluHLO),
	RTL:   affineRTL(reluRTL),
	Chain: func(*ir.Node) string { return "relu" },
	CUDA:  ChainCUDA,
	Legal: reluLegal,
	Gen:   draw.Unary,
}

func reluHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	v := b.Max(args[0], b.Splat(args[0], 0))
	if n.Type.IsFloat() || n.Type.InBlocks() {
		return carrier.KeepScale(b, n, args[0], v), b.Err()
	}
	exp, bits, err := carrier.ArgStep(n)
	if err != nil {
		return hlo.Value{}, err
	}
	return carrier.Requant(b, n, v, exp, bits)
}

// blockReluRTL is relu on blocks.
func blockReluRTL(n *ir.Node) (*rtl.Unit, error) {
	if e := block.CheckLanes(n, "lanes", n.HW.InLanes, n.Type); e != nil {
		return nil, e
	}
	b, _ := n.Type.BlockFormat()
	return rtl.NewUnit("mx_relu", "LANES", n.HW.InLanes, "W", b.Width(), "SCALE_W", b.ScaleWidth(), "BEATS",
		hardware.Beats(n.Type, n.HW.InLanes)), nil
}

func reluRTL(n *ir.Node) (*rtl.Unit, error) {
	if n.Type.InBlocks() {
		return blockReluRTL(n)
	}
	return hardware.Elementwise("op_relu", n, hardware.ArgExp(n))
}
