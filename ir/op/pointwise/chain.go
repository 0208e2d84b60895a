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

// ChainCUDA is a group of element-wise functions of floats that have names in chains: values of one shape and one
// format, and constants of one number, become one value.
func ChainCUDA(g *ir.Group, t cuda.Target) (*cuda.Unit, error) {
	if len(g.Outputs) != 1 {
		return nil, cuda.Refuse("a chain has one result, not %d", len(g.Outputs))
	}
	var u cuda.Unit
	out := g.Outputs[0]
	c := chain{group: g, out: out.Type}
	e, err := c.expr(out)
	if err != nil {
		return nil, err
	}
	if len(g.Inputs) == 0 {
		return nil, cuda.Refuse("%s reads nothing but constants", g.Anchor.Op.Name)
	}
	var x []cuda.Arg
	for i, a := range g.Inputs {
		if a.Type.Format != g.Inputs[0].Type.Format {
			return nil, cuda.Refuse("a chain of %s and %s", g.Inputs[0].Type.Format, a.Type.Format)
		}
		x = append(x, u.Add(cuda.Operand{Kind: cuda.Input, Index: i}))
	}
	elems := int64(out.Type.Elems())
	if elems == 0 {
		return nil, cuda.Refuse("the value has no elements")
	}
	in, _ := num.Of(g.Inputs[0].Type.Format)
	to, _ := num.Of(out.Type.Format)
	p := pointwise.Chain{Expr: e, N: elems, Cols: elems, In: in, Out: to, Scalars: c.scalars,
		Inputs: make([]pointwise.Shape, len(x))}
	return column.CUDAUnit(&u, p, pointwise.ChainOperands{X: x, Y: u.Add(cuda.Operand{Kind: cuda.Output})}, t)
}

// chain is the work of ChainCUDA.
type chain struct {
	group   *ir.Group
	out     ir.Type
	scalars []float32
	calls   int
}

// mostCalls bounds the functions of a chain, each counted where its value is used: names of kernels hold them all.
const mostCalls = 16

// expr is n as a function of the inputs of the group.
func (c *chain) expr(n *ir.Node) (e pointwise.Expr, err error) {
	if !n.Type.IsFloat() {
		return e, cuda.Refuse("chains of functions take floats, not %s", n.Type.Format)
	}
	if n.IsConst() && n.Type.Elems() == 1 {
		v, err := n.Value()
		if err != nil {
			return e, err
		}
		c.scalars = append(c.scalars, v.Floats[0])
		return pointwise.Scalar(len(c.scalars) - 1), nil
	}
	if n.IsConst() || !slices.Equal(n.Type.Shape, c.out.Shape) {
		return e, cuda.Refuse("%s of %s is not a chain of values of one shape", c.group.Anchor.Op.Name,
			ir.ShapeString(n.Type.Shape))
	}
	if i := slices.Index(c.group.Inputs, n); i >= 0 {
		return pointwise.Arg(i), nil
	}
	name := ""
	if n.Op.Chain != nil {
		name = n.Op.Chain(n)
	}
	if name == "" {
		return e, cuda.Refuse("chains have no function %s", n.Op.Name)
	}
	if c.calls++; c.calls > mostCalls {
		return e, cuda.Refuse("a chain of more than %d functions", mostCalls)
	}
	var args []pointwise.Expr
	for _, a := range n.Args {
		x, err := c.expr(a)
		if err != nil {
			return e, err
		}
		args = append(args, x)
	}
	if e, err = pointwise.Apply(name, args...); err != nil {
		return e, cuda.Refuse("chains have no function %s", name)
	}
	return e, nil
}
