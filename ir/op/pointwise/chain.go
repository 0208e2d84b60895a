// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"slices"

	"lathe/cuda"
	pointwise "lathe/cuda/map"
	"lathe/cuda/num"
	"lathe/ir"
	"lathe/ir/op/column"
)

// ChainCUDA is an element-wise function of floats by its name in chains.
func ChainCUDA(name string) func(*ir.Node, cuda.Target) (*cuda.Unit, error) {
	return func(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
		if !n.Type.IsFloat() {
			return nil, cuda.Refuse("chains of functions take floats, not %s", n.Type.Format)
		}
		var u cuda.Unit
		var args []pointwise.Expr
		var x []cuda.Arg
		for i, a := range n.Args {
			if a.IsConst() || !slices.Equal(a.Type.Shape, n.Type.Shape) {
				return nil, cuda.Refuse("%s of %s is not a chain of values of one shape", n.Op.Name, ir.ShapeString(a.Type.Shape))
			}
			args = append(args, pointwise.Arg(i))
			x = append(x, u.Add(cuda.Operand{Kind: cuda.Input, Index: i}))
		}
		e, err := pointwise.Apply(name, args...)
		if err != nil {
			return nil, cuda.Refuse("chains have no function %s", name)
		}
		elems := int64(n.Type.Elems())
		if elems == 0 {
			return nil, cuda.Refuse("the value has no elements")
		}
		p := pointwise.Chain{Expr: e, N: elems, Cols: elems, In: num.FP32, Out: num.FP32,
			Inputs: make([]pointwise.Shape, len(args))}
		return column.CUDAUnit(&u, p, pointwise.ChainOperands{X: x, Y: u.Add(cuda.Operand{Kind: cuda.Output})}, t)
	}
}
