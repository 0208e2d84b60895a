// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/ir/format"
)

// Cast re-encodes values in another format, with one rounding.
var Cast = &ir.Op{
	Name: "cast", Doc: "the same value in another format, rounded once", Arity: [2]int{1, 1},
	Traits: ir.Traits{Elementwise: true, Monotone: true},
	Infer:  sameShape,
	Eval:   castEval,
	HLO:    affineHLO(castHLO),
	RTL:    affineRTL(castRTL),
	CUDA:   ir.OneNode(castCUDA),
	Legal:  castLegal,
	Gen:    genUnary,
}

// castEval goes by lattice integers between fixed formats. Others may have a NaN or a negative zero, which those lose.
func castEval(n *ir.Node) (ir.Kernel, error) {
	in, out := n.Args[0].Type, n.Type
	if isMX(n) || isMX(n.Args[0]) {
		return mxCastEval(n)
	}
	if _, fixed := format.AsFixed(in.Format); fixed || out.IsFloat() {
		return unary{
			fl: func(*ir.Node) func(float32) float32 { return func(x float32) float32 { return x } },
			ex: func(n *ir.Node, exp int) (func(int64) int64, error) { return encoder(n.Type.Format, exp), nil },
		}.eval(n)
	}
	if _, err := commonStep(n); err != nil {
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
	if isMX(n) || isMX(n.Args[0]) {
		return mxCastLegal(n)
	}
	return plain(n)
}
