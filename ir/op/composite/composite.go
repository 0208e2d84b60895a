// SPDX-License-Identifier: Apache-2.0

// Package composite gives operations that consist of others the columns that they lack.
package composite

import (
	"fmt"
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/reduce"
)

// New gives an operation that expands the columns that it lacks: it is evaluated and printed as StableHLO as the
// operations that it consists of.
func New(o ir.Op) *ir.Op {
	if o.Eval == nil {
		o.Eval = PartsEval
	}
	if o.HLO == nil {
		o.HLO = PartsHLO
	}
	return &o
}

// OnCodes gives an operation whose Eval and HLO columns are its meaning on codes those that it expands to on floats.
func OnCodes(o ir.Op) *ir.Op {
	eval, print := o.Eval, o.HLO
	o.Eval = func(n *ir.Node) (ir.Kernel, error) {
		if n.Type.IsFloat() {
			return PartsEval(n)
		}
		return eval(n)
	}
	o.HLO = func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		if n.Type.IsFloat() {
			return PartsHLO(b, n, args)
		}
		return print(b, n, args)
	}
	return &o
}

// PartsEval is the Eval column of an operation that has only an expansion.
func PartsEval(n *ir.Node) (ir.Kernel, error) {
	parts, err := n.Op.Expand(n)
	if err != nil {
		return nil, err
	}
	if last := parts[len(parts)-1]; last.IsConst() { // all arguments are
		v, err := last.Value()
		return func([]*ir.Tensor) (*ir.Tensor, error) { return v, err }, err
	}
	kernel, err := Kernels(n.Args, parts)
	if err != nil {
		return nil, err
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		values, err := kernel(args)
		if err != nil {
			return nil, err
		}
		return values[len(values)-1], nil
	}, nil
}

// Kernels prepares nodes in their order, which read args and each other, and gives what computes the value of each; nil
// stands for constants, which others read from the node.
func Kernels(args, parts []*ir.Node) (func(args []*ir.Tensor) ([]*ir.Tensor, error), error) {
	place := make(map[*ir.Node]int, len(parts)+len(args)) // of values: those of the arguments, then of the parts
	for i, a := range args {
		place[a] = i
	}
	kernels, from := make([]ir.Kernel, len(parts)), make([][]int, len(parts))
	for i, p := range parts {
		place[p] = len(args) + i
		if p.IsConst() {
			continue
		}
		for _, a := range p.Args {
			at, inside := place[a]
			if !inside {
				at = -1 // a constant from outside
			}
			from[i] = append(from[i], at)
		}
		var err error
		if kernels[i], err = p.Op.Eval(p); err != nil {
			return nil, err
		}
	}
	return func(args []*ir.Tensor) ([]*ir.Tensor, error) {
		values := append([]*ir.Tensor(nil), args...)
		for i, k := range kernels {
			if k == nil {
				values = append(values, nil)
				continue
			}
			in := make([]*ir.Tensor, len(from[i]))
			for j, at := range from[i] {
				if at >= 0 {
					in[j] = values[at]
				}
			}
			v, err := k(in)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		return values[len(args):], nil
	}, nil
}

// PartsHLO is the HLO column of an operation that has only an expansion.
func PartsHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	parts, err := n.Op.Expand(n)
	if err != nil {
		return hlo.Value{}, err
	}
	values := make(map[*ir.Node]hlo.Value, len(parts)+len(args))
	for i, a := range n.Args {
		values[a] = args[i]
	}
	if err := Print(b, parts, values); err != nil {
		return hlo.Value{}, err
	}
	last := parts[len(parts)-1]
	if !last.IsConst() {
		return values[last], b.Err()
	}
	v, err := carrier.Const(b, last) // all arguments are
	if err != nil {
		return v, err
	}
	return b.BroadcastTo(v, b.Dims(last.Type.Shape...)...), b.Err()
}

// Print prints nodes in their order, which read each other and what has a value, and adds their values; constants,
// which others read from the node, have none.
func Print(b *hlo.Builder, parts []*ir.Node, values map[*ir.Node]hlo.Value) (err error) {
	for _, p := range parts {
		if p.IsConst() {
			continue
		}
		in := make([]hlo.Value, len(p.Args))
		for i, a := range p.Args {
			in[i] = values[a]
		}
		if values[p], err = carrier.Print(b, p, in); err != nil {
			return err
		}
	}
	return nil
}

// Expansion writes a node as simpler ones. Its first error stays.
type Expansion struct {
	Of    *ir.Node
	Parts []*ir.Node
	Err   error
}

// Expand begins the expansion of n.
func Expand(n *ir.Node) *Expansion { return &Expansion{Of: n} }

// Do is the next part; name tells it from the others. A part that depends on constants alone is one.
func (e *Expansion) Do(name string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	return e.DoAs(nil, name, o, attrs, args...)
}

// DoAs is Do with a result in a format; nil is the one that the operation infers.
func (e *Expansion) DoAs(f format.Format, name string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if e.Err != nil {
		return e.Of
	}
	if a, ok := attrs.(*reduce.Attrs); ok { // passes move the axes of each node by themselves
		attrs = &reduce.Attrs{Axes: slices.Clone(a.Axes)}
	}
	p, err := ir.NewNode(o, e.Of.Name+"."+name, e.Of.Pos, attrs, args...)
	if err != nil {
		e.Err = err
		return e.Of
	}
	if f != nil {
		p.Type = ir.Type{Shape: p.Type.Shape, Format: f}
	}
	for _, a := range args {
		if !a.IsConst() {
			e.Parts = append(e.Parts, p)
			return p
		}
	}
	if p, e.Err = computed(p); e.Err != nil {
		return e.Of
	}
	e.Parts = append(e.Parts, p)
	return p
}

// computed is the constant that a node on constants is.
func computed(n *ir.Node) (*ir.Node, error) {
	c := &ir.Node{Name: n.Name, Op: leaf.Const, Pos: n.Pos, Type: n.Type}
	if n.Op.Traits.Wire {
		c.Attrs = ir.Computed(n.Args[0].Attrs.(*ir.Const).Data, n.Args[0])
		return c, nil
	}
	args, err := column.WithConsts(n, make([]*ir.Tensor, len(n.Args)))
	if err != nil {
		return nil, err
	}
	kernel, err := n.Op.Eval(n)
	if err != nil {
		return nil, err
	}
	v, err := kernel(args)
	if err != nil {
		return nil, err
	}
	data := ir.Computed(ir.CodeBlob(v.Codes), n.Args...)
	if v.Type.IsFloat() {
		data.Data = ir.FloatBlob(v.Floats)
	}
	c.Attrs = data
	return c, nil
}

// Number is a constant of one element, which broadcasts.
func (e *Expansion) Number(name string, v float64) *ir.Node {
	return e.Const(name, ir.Float(), ir.FloatBlob([]float32{float32(v)}))
}

// Const is a constant.
func (e *Expansion) Const(name string, t ir.Type, data *ir.Blob) *ir.Node {
	c := &ir.Node{Name: e.Of.Name + "." + name, Op: leaf.Const, Pos: e.Of.Pos, Type: t, Attrs: &ir.Const{Data: data}}
	e.Parts = append(e.Parts, c)
	return c
}

// Reshape is x in another shape, or x where it has that shape.
func (e *Expansion) Reshape(name string, x *ir.Node, shape ...int) *ir.Node {
	if e.Err == nil && slices.Equal(x.Type.Shape, shape) {
		return x
	}
	return e.Do(name, move.Reshape, &move.ReshapeAttrs{Shape: shape}, x)
}

// Done is the expansion; its last part takes the name of the node.
func (e *Expansion) Done() ([]*ir.Node, error) {
	if e.Err != nil {
		return nil, e.Err
	}
	if len(e.Parts) == 0 {
		return nil, fmt.Errorf("%s expands to nothing", e.Of.Op.Name)
	}
	e.Parts[len(e.Parts)-1].Name = e.Of.Name
	return e.Parts, nil
}
