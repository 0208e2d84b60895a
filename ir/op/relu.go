// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
)

// Relu is max(x, 0), element by element.
var Relu = &ir.Op{
	Name: "relu", Doc: "max(x, 0)", Arity: [2]int{1, 1},
	Traits: ir.Traits{Elementwise: true, Table: true, Monotone: true, Cuts: true, BlockCodes: true},
	Infer:  sameShape,
	Eval: blocksOr(reluBlocks, unary{
		fl: func(*ir.Node) func(float32) float32 { return func(x float32) float32 { return max(x, 0) } },
		ex: func(n *ir.Node, exp int) (func(int64) int64, error) {
			enc := encoder(n.Type.Format, exp)
			return func(v int64) int64 { return enc(max(v, 0)) }, nil
		},
	}.eval),
	HLO:   affineHLO(reluHLO),
	RTL:   affineRTL(reluRTL),
	CUDA:  ir.OneNode(chainCUDA("relu")),
	Legal: reluLegal,
	Gen:   genUnary,
}
