// SPDX-License-Identifier: Apache-2.0

package op

import (
	"slices"

	"lathe/cuda"
	pointwise "lathe/cuda/map"
	"lathe/cuda/num"
	"lathe/cuda/reduce"
	"lathe/ir"
	"lathe/ir/format"
)

// unitOf is a unit of one call.
func unitOf(u *cuda.Unit, call cuda.Call, err error) (*cuda.Unit, error) {
	if err != nil {
		return nil, cuda.Refused(err)
	}
	u.Calls = []cuda.Call{call}
	return u, nil
}

// softmaxCUDA takes rows: the last axis.
func softmaxCUDA(n *ir.Node, _ cuda.Target) (*cuda.Unit, error) {
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
	call, err := p.Call(x, y)
	return unitOf(&u, call, err)
}

// chainCUDA is an element-wise function of floats by its name in chains.
func chainCUDA(name string) func(*ir.Node, cuda.Target) (*cuda.Unit, error) {
	return func(n *ir.Node, _ cuda.Target) (*cuda.Unit, error) {
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
		call, err := p.Call(u.Add(cuda.Operand{Kind: cuda.Output}), x...)
		return unitOf(&u, call, err)
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

// castCUDA is a cast into blocks, or out of them. Kernels made for the node are as fast for the others.
func castCUDA(n *ir.Node, _ cuda.Target) (*cuda.Unit, error) {
	in, out := n.Args[0].Type, n.Type
	if !isMX(n) && !isMX(n.Args[0]) || n.Type.Elems() == 0 {
		return nil, cuda.Refuse("a cast from %s to %s is one operation an element", in.Format, out.Format)
	}
	if err := mxCastLegal(n); err != nil {
		return nil, n.Errorf("L0308", "%v", err)
	}
	row := int64(out.Shape[len(out.Shape)-1])
	elems := int64(n.Type.Elems())
	var u cuda.Unit
	x := u.Add(cuda.Operand{Kind: cuda.Input})
	y := u.Add(cuda.Operand{Kind: cuda.Output})
	if m, ok := mxOf(out); ok {
		from, err := pointwise.SideOf(in.Format)
		if err != nil {
			return nil, err
		}
		p := pointwise.Blocks{Outer: elems / row, Length: row, Inner: 1, From: from, To: m}
		call, err := p.Call(x, y, u.Add(cuda.Operand{Kind: cuda.OutputScales}))
		return unitOf(&u, call, err)
	}
	if lo, hi, _ := ScaleRange(n.Args[0]); lo == -127 && hi == 127 {
		return nil, cuda.Refuse("scales from outside may be 255, which is NaN for cast and a power of two for the node")
	}
	return fromBlocksCUDA(&u, x, y, in.Format, out.Format, elems, row)
}

// fromBlocksCUDA is a cast of rows of blocks to a fixed format.
func fromBlocksCUDA(u *cuda.Unit, x, y cuda.Arg, in, out format.Format, elems, row int64) (*cuda.Unit, error) {
	from, err := pointwise.SideOf(in)
	if err != nil {
		return nil, err
	}
	to, err := pointwise.SideOf(out)
	if err != nil {
		return nil, err
	}
	p := pointwise.Cast{N: elems, From: from, To: to, Length: row, Inner: 1}
	call, err := p.Call(x, y, u.Add(cuda.Operand{Kind: cuda.InputScales}), cuda.Null())
	return unitOf(u, call, err)
}
