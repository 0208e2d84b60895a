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
		for _, typ := range []ir.Type{n.Type, n.Args[0].Type} {
			if !typ.IsFloat() {
				return nil, cuda.Refuse("chains of functions take floats, not %s", typ.Format)
			}
		}
		in, _ := num.Of(n.Args[0].Type.Format)
		out, _ := num.Of(n.Type.Format)
		var u cuda.Unit
		var args []pointwise.Expr
		var x []cuda.Arg
		for i, a := range n.Args {
			if a.IsConst() || !slices.Equal(a.Type.Shape, n.Type.Shape) {
				return nil, cuda.Refuse("%s of %s is not a chain of values of one shape", n.Op.Name, ir.ShapeString(a.Type.Shape))
			}
			if a.Type.Format != n.Args[0].Type.Format {
				return nil, cuda.Refuse("%s of %s and %s", n.Op.Name, n.Args[0].Type.Format, a.Type.Format)
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
		p := pointwise.Chain{Expr: e, N: elems, Cols: elems, In: in, Out: out,
			Inputs: make([]pointwise.Shape, len(args))}
		return column.CUDAUnit(&u, p, pointwise.ChainOperands{X: x, Y: u.Add(cuda.Operand{Kind: cuda.Output})}, t)
	}
}
