// SPDX-License-Identifier: Apache-2.0

package column

import (
	"lathe/ir"
	"lathe/ir/op/arith"
	"lathe/ir/op/walk"
)

// BinaryFloat evaluates a function of two floats.
func BinaryFloat(n *ir.Node, f func(a, b float32) float32) ir.Kernel {
	w, fill := walk.Broadcasting(n.Type.Shape, n.Args[0].Type.Shape, n.Args[1].Type.Shape), FixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		walk.Binary(w, out.Floats, args[0].Floats, args[1].Floats, f)
		return out, nil
	}
}

// BinaryWhole evaluates a function of two whole numbers modulo 2^W.
func BinaryWhole(n *ir.Node, f func(a, b int64) int64) ir.Kernel {
	w := walk.Broadcasting(n.Type.Shape, n.Args[0].Type.Shape, n.Args[1].Type.Shape)
	fill, cut := FixedArgs(n), arith.Wrap(n.Type)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		walk.Binary(w, out.Codes, args[0].Codes, args[1].Codes, func(a, b int64) int64 { return cut(f(a, b)) })
		return out, nil
	}
}
