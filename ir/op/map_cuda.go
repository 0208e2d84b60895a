// SPDX-License-Identifier: Apache-2.0

package op

import (
	"slices"

	"lathe/cuda"
	pointwise "lathe/cuda/map"
	"lathe/cuda/num"
	"lathe/cuda/reduce"
	"lathe/ir"
)

// unitOf is a unit of one call: problem p of each sample.
func unitOf[O any](u *cuda.Unit, p cuda.Batched[O], o O, t cuda.Target) (*cuda.Unit, error) {
	call, err := p.Call(o, t)
	if err != nil {
		return nil, cuda.Refused(err)
	}
	u.Calls = []cuda.Call{call}
	return u, nil
}

// softmaxCUDA takes rows: the last axis.
func softmaxCUDA(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
	shape := n.Type.Shape
	axis, err := normAxis(n.Attrs.(*AxisAttrs).Axis, len(shape))
	if err != nil || !n.Type.IsFloat() {
		return nil, cuda.Refuse("softmax of %s", n.Type.Format)
	}
	if product(shape[axis+1:]) != 1 {
		return nil, cuda.Refuse("softmax runs along rows, not along axis %d of %s", axis, ir.ShapeString(shape))
	}
	p := reduce.Softmax{Matrix: reduce.Matrix{Rows: int64(product(shape[:axis])), Cols: int64(shape[axis])}}
	var u cuda.Unit
	x, y := u.Add(cuda.Operand{Kind: cuda.Input}), u.Add(cuda.Operand{Kind: cuda.Output})
	return unitOf(&u, p, reduce.SoftmaxArgs{X: x, Mask: cuda.Null(), Y: y}, t)
}

// chainCUDA is an element-wise function of floats by its name in chains.
func chainCUDA(name string) func(*ir.Node, cuda.Target) (*cuda.Unit, error) {
	return func(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
		if !n.Type.IsFloat() {
			return nil, cuda.Refuse("chains of functions compute on floats, not on %s", n.Type.Format)
		}
		var u cuda.Unit
		var args []pointwise.Expr
		var x []cuda.Arg
		for i, a := range n.Args {
			if a.IsConst() || !slices.Equal(a.Type.Shape, n.Type.Shape) {
				return nil, cuda.Refuse("%s of %s is no chain of values of one shape", n.Op.Name, ir.ShapeString(a.Type.Shape))
			}
			args = append(args, pointwise.Arg(i))
			x = append(x, u.Add(cuda.Operand{Kind: cuda.Input, Index: i}))
		}
		e, err := pointwise.Apply(name, args...)
		if err != nil {
			return nil, cuda.Refuse("chains know no function %s", name)
		}
		elems := int64(n.Type.Elems())
		if elems == 0 {
			return nil, cuda.Refuse("there are no elements")
		}
		p := pointwise.Chain{Expr: e, N: elems, Cols: elems, In: num.FP32, Out: num.FP32,
			Inputs: make([]pointwise.Shape, len(args))}
		return unitOf(&u, p, pointwise.ChainOperands{X: x, Y: u.Add(cuda.Operand{Kind: cuda.Output})}, t)
	}
}

// cuda is the function as a chain.
func (f *function) cuda(n *ir.Node, t cuda.Target) (*cuda.Unit, error) {
	name := ""
	if f.kernel != nil {
		name = f.kernel(n.Attrs)
	}
	if name == "" {
		return nil, cuda.Refuse("chains know no function %s", f.name)
	}
	return chainCUDA(name)(n, t)
}
