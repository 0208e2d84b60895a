// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"slices"

	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/column"
)

// epilogue is a group of one product, or of two that are gate and value, and of what follows them.
type epilogue struct {
	// rows are the linear nodes: one, or gate and value, whose rows of weights alternate.
	rows []*ir.Node
	act  gemm.Activation
	// residual is the input that is added last; nil if there is none.
	residual *ir.Node
}

// epilogueOf reads a group from its end: a relu, a sum with an input, a product of gate and value, a function, a linear
// node, each of which but the last may be missing, and reshapes between them.
func epilogueOf(g *ir.Group) (*epilogue, error) {
	if len(g.Outputs) != 1 {
		return nil, cuda.Refuse("what follows the product has %d results", len(g.Outputs))
	}
	r := reading{group: g}
	e, n := &epilogue{}, r.reshaped(g.Outputs[0])
	last := r
	if act, in := last.activation(n); act == gemm.Relu && r.is(in, "add") {
		e.act, n, r = gemm.ReluLast, in, last
	}
	if r.is(n, "add") {
		for i, a := range n.Args {
			if slices.Contains(g.Inputs, a) && e.residual == nil {
				e.residual, n = a, r.reshaped(r.step(n).Args[1-i])
				break
			}
		}
		if e.residual == nil {
			return nil, cuda.Refuse("the sum %s adds no value from outside to the product", n.Name)
		}
	}
	if r.is(n, "mul") {
		r.seen++
		gate, value := r.reshaped(n.Args[0]), r.reshaped(n.Args[1])
		if r.product(gate) {
			gate, value = value, gate
		}
		if !r.product(value) {
			return nil, cuda.Refuse("the factor %s is no product of the same rows", value.Name)
		}
		n = gate
		e.rows = []*ir.Node{r.step(value)}
	}
	act, n := r.activation(n)
	if e.act == gemm.None {
		e.act = act
	} else if act != gemm.None {
		return nil, cuda.Refuse("products end in one function, not in two")
	}
	if !r.product(n) {
		return nil, cuda.Refuse("%s is not what a product ends in", n.Op.Name)
	}
	e.rows = slices.Insert(e.rows, 0, r.step(n))
	if r.seen != len(g.Members) {
		return nil, cuda.Refuse("%d of %d operations are not what a product ends in", len(g.Members)-r.seen, len(g.Members))
	}
	return e, nil
}

// reading is the work of epilogueOf: it counts the members that it has passed.
type reading struct {
	group *ir.Group
	seen  int
}

func (r *reading) step(n *ir.Node) *ir.Node {
	r.seen++
	return n
}

// member says that n is computed within the group.
func (r *reading) member(n *ir.Node) bool { return slices.Contains(r.group.Members, n) }

// is says that n is a member and the function of that name.
func (r *reading) is(n *ir.Node, name string) bool {
	return r.member(n) && n.Op.Chain != nil && n.Op.Chain(n) == name && len(n.Args) == 2
}

// reshaped passes members that give n another shape.
func (r *reading) reshaped(n *ir.Node) *ir.Node {
	for r.member(n) && n.Op.Traits.KeepsCodes && n.Op.Traits.Wire {
		n = r.step(n).Args[0]
	}
	return n
}

// product says that n is a member like the anchor, on the same data.
func (r *reading) product(n *ir.Node) bool {
	return r.member(n) && n.Op == r.group.Anchor.Op && n.Args[0] == r.group.Anchor.Args[0]
}

// activation passes a function that products end in, if there is one.
func (r *reading) activation(n *ir.Node) (gemm.Activation, *ir.Node) {
	if r.member(n) && n.Op.Chain != nil && len(n.Args) == 1 {
		for a := gemm.Relu; a < gemm.ReluLast; a++ {
			if n.Op.Chain(n) == a.String() {
				return a, r.reshaped(r.step(n).Args[0])
			}
		}
	}
	return gemm.None, n
}

// sink is the epilogue as the library has it.
func (e *epilogue) sink(g *ir.Group) (gemm.Epilogue, error) {
	y := g.Outputs[0]
	out, err := column.FloatWord(y, y.Type)
	s := gemm.Epilogue{Act: e.act, Gate: len(e.rows) == 2, Out: out.Type(), Residual: e.residual != nil,
		Bias: slices.ContainsFunc(e.rows, func(n *ir.Node) bool { return len(n.Args) > 2 })}
	if err != nil {
		return s, err
	}
	if y.Type.Elems() != e.rows[0].Type.Elems() {
		return s, cuda.Refuse("%s repeats elements of the product", y.Name)
	}
	if !s.Residual {
		return s, nil
	}
	if e.residual.Type.Format != y.Type.Format || !slices.Equal(e.residual.Type.Shape, y.Type.Shape) {
		return s, cuda.Refuse("products add a value like their result, %s, and not %s", y.Type, e.residual.Type)
	}
	return s, nil
}

// operands refuses what the library does not multiply.
func (e *epilogue) operands() error {
	first := e.rows[0].Args[1]
	for _, n := range e.rows {
		x, w := n.Args[0].Type, n.Args[1]
		switch {
		case !w.IsConst() || w.Type.Format != x.Format:
			return cuda.Refuse("the library multiplies %s by constant weights in %s, not in %s", x.Format, x.Format,
				w.Type.Format)
		case w.Attrs.(*ir.Const).Own.Format != first.Attrs.(*ir.Const).Own.Format ||
			!slices.Equal(w.Type.Shape, first.Type.Shape):
			return cuda.Refuse("gate and value have weights of different kinds")
		case len(n.Args) > 2 && (!n.Args[2].IsConst() || len(n.Args[2].Type.Shape) != 1):
			return cuda.Refuse("the library adds a constant bias of one number an output")
		}
	}
	return nil
}

// arguments are those of the product but for its weights; the data is an input of the group.
func (e *epilogue) arguments(u *cuda.Unit, g *ir.Group, sink gemm.Epilogue) (gemm.Operands, error) {
	input := func(n *ir.Node) cuda.Arg {
		return u.Add(cuda.Operand{Kind: cuda.Input, Index: slices.Index(g.Inputs, n)})
	}
	o := gemm.Operands{X: input(e.rows[0].Args[0]), Bias: cuda.Null(), Residual: cuda.Null(), YScales: cuda.Null()}
	if sink.Bias {
		bias, err := e.biases()
		if err != nil {
			return o, err
		}
		o.Bias = table(u, func() []byte { return hlo.FromFloat32s([]int{len(bias)}, bias).Data })
	}
	if sink.Residual {
		o.Residual = input(e.residual)
	}
	o.Y = u.Add(cuda.Operand{Kind: cuda.Output})
	return o, nil
}

// biases are one number a row of the weights, 0 where a node has none.
func (e *epilogue) biases() ([]float32, error) {
	out := make([]float32, len(e.rows)*e.rows[0].Args[1].Type.Shape[0])
	for i, n := range e.rows {
		if len(n.Args) < 3 {
			continue
		}
		v, err := n.Args[2].Value()
		if err != nil {
			return nil, err
		}
		for k, b := range v.Floats {
			out[k*len(e.rows)+i] = b
		}
	}
	return out, nil
}

// weights are the rows of all products; those of gate and value alternate.
func (e *epilogue) weights() *ir.Blob {
	first := e.rows[0].Args[1].Attrs.(*ir.Const).Data
	if len(e.rows) == 1 {
		return first
	}
	rows := e.rows[0].Args[1].Type.Shape[0]
	size := len(first.Bytes) / rows
	out := &ir.Blob{DType: first.DType}
	for k := range rows {
		for _, n := range e.rows {
			out.Bytes = append(out.Bytes, n.Args[1].Attrs.(*ir.Const).Data.Bytes[k*size:(k+1)*size]...)
		}
	}
	return out
}
