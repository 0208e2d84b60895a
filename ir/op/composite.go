// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"slices"

	"lathe/ir"
	"lathe/ir/hlo"
)

// composite gives an operation that expands the columns that it lacks: it is evaluated and printed as StableHLO as the
// operations that it consists of.
func composite(o ir.Op) *ir.Op {
	if o.Eval == nil {
		o.Eval = partsEval
	}
	if o.HLO == nil {
		o.HLO = partsHLO
	}
	return &o
}

// partsEval is the Eval column of an operation that has only an expansion.
func partsEval(n *ir.Node) (ir.Kernel, error) {
	parts, err := n.Op.Expand(n)
	if err != nil {
		return nil, err
	}
	place := make(map[*ir.Node]int, len(parts)+len(n.Args)) // of values: those of the arguments, then of the parts
	for i, a := range n.Args {
		place[a] = i
	}
	kernels, from := make([]ir.Kernel, len(parts)), make([][]int, len(parts))
	for i, p := range parts {
		place[p] = len(n.Args) + i
		if p.IsConst() {
			continue
		}
		for _, a := range p.Args {
			from[i] = append(from[i], place[a])
		}
		if kernels[i], err = p.Op.Eval(p); err != nil {
			return nil, err
		}
	}
	if last := parts[len(parts)-1]; last.IsConst() { // all arguments are
		v, err := last.Value()
		return func([]*ir.Tensor) (*ir.Tensor, error) { return v, err }, err
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		values := append([]*ir.Tensor(nil), args...)
		for i, k := range kernels {
			if k == nil { // which others read from the node
				values = append(values, nil)
				continue
			}
			in := make([]*ir.Tensor, len(from[i]))
			for j, at := range from[i] {
				in[j] = values[at]
			}
			v, err := k(in)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		return values[len(values)-1], nil
	}, nil
}

// partsHLO is the HLO column of an operation that has only an expansion.
func partsHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	parts, err := n.Op.Expand(n)
	if err != nil {
		return hlo.Value{}, err
	}
	values := make(map[*ir.Node]hlo.Value, len(parts)+len(args))
	for i, a := range n.Args {
		values[a] = args[i]
	}
	for _, p := range parts {
		if p.IsConst() {
			continue
		}
		in := make([]hlo.Value, len(p.Args))
		for i, a := range p.Args {
			in[i] = values[a]
		}
		if values[p], err = Print(b, p, in); err != nil {
			return hlo.Value{}, err
		}
	}
	last := parts[len(parts)-1]
	if !last.IsConst() {
		return values[last], b.Err()
	}
	v, err := constHLO(b, last) // all arguments are
	if err != nil {
		return v, err
	}
	return b.BroadcastTo(v, b.Dims(last.Type.Shape...)...), b.Err()
}

// expansion writes a node as simpler ones. Its first error stays.
type expansion struct {
	of    *ir.Node
	parts []*ir.Node
	err   error
}

func expand(n *ir.Node) *expansion { return &expansion{of: n} }

// do is the next part; name tells it from the others. A part that depends on constants alone is one.
func (e *expansion) do(name string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if e.err != nil {
		return e.of
	}
	if a, ok := attrs.(*ReduceAttrs); ok { // passes move the axes of each node by themselves
		attrs = &ReduceAttrs{slices.Clone(a.Axes)}
	}
	p, err := ir.NewNode(o, e.of.Name+"."+name, e.of.Pos, attrs, args...)
	if err != nil {
		e.err = err
		return e.of
	}
	for _, a := range args {
		if !a.IsConst() {
			e.parts = append(e.parts, p)
			return p
		}
	}
	if p, e.err = folded(p); e.err != nil {
		return e.of
	}
	e.parts = append(e.parts, p)
	return p
}

// folded is the constant that a node on constants is.
func folded(n *ir.Node) (*ir.Node, error) {
	c := &ir.Node{Name: n.Name, Op: Const, Pos: n.Pos, Type: n.Type}
	if n.Op.Traits.Wire {
		c.Attrs = ir.Computed(n.Args[0].Attrs.(*ir.Const).Data, n.Args[0])
		return c, nil
	}
	args, err := withConsts(n, make([]*ir.Tensor, len(n.Args)))
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

// number is a constant of one element, which broadcasts.
func (e *expansion) number(name string, v float64) *ir.Node {
	c := &ir.Node{Name: e.of.Name + "." + name, Op: Const, Pos: e.of.Pos, Type: ir.Float(),
		Attrs: &ir.Const{Data: ir.FloatBlob([]float32{float32(v)})}}
	e.parts = append(e.parts, c)
	return c
}

// reshape is x in another shape, or x where it has that shape.
func (e *expansion) reshape(name string, x *ir.Node, shape ...int) *ir.Node {
	if e.err == nil && slices.Equal(x.Type.Shape, shape) {
		return x
	}
	return e.do(name, Reshape, &ReshapeAttrs{shape}, x)
}

// done is the expansion; its last part takes the name of the node.
func (e *expansion) done() ([]*ir.Node, error) {
	if e.err != nil {
		return nil, e.err
	}
	if len(e.parts) == 0 {
		return nil, fmt.Errorf("%s expands to nothing", e.of.Op.Name)
	}
	e.parts[len(e.parts)-1].Name = e.of.Name
	return e.parts, nil
}
