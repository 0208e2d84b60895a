// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
)

// pairwise is an operation of float graphs on two arguments of one format, element by element.
type pairwise struct {
	name, doc string
	attrs     any
	// real computes it on floats, nil if it takes whole numbers only.
	real func(n *ir.Node) func(a, b float64) float64
	// whole computes it on whole numbers; the result is cut to W bits behind.
	whole func(n *ir.Node, f format.Fixed) func(a, b int64) int64
	// float and codes print the two.
	float func(b *hlo.Builder, n *ir.Node, x, y hlo.Value) hlo.Value
	codes func(b *hlo.Builder, n *ir.Node, f format.Fixed, x, y hlo.Value) hlo.Value
	draw  func(r *rand.Rand) any
}

func (p pairwise) op() *ir.Op {
	return &ir.Op{
		Name: p.name, Doc: p.doc + " with broadcasting", Attrs: p.attrs, Arity: [2]int{2, 2},
		Traits: ir.Traits{FloatOnly: true, Elementwise: true},
		Infer:  broadcastAll,
		Format: p.format,
		Eval:   p.eval,
		HLO:    p.print,
		Legal:  noInteger,
		Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
			f, attrs := genWhole(r), any(nil)
			if p.real != nil {
				f = genEither(r)
			}
			if p.draw != nil {
				attrs = p.draw(r)
			}
			return genElement(r, o, attrs, f, f)
		},
	}
}

func (p pairwise) format(n *ir.Node) (format.Format, error) {
	f, err := n.OneFormat(n.Args...)
	if err == nil && p.real == nil && !ir.IsWhole(f) {
		err = fmt.Errorf("%s computes on whole numbers and truth values, %q is %s", n.Op.Name, n.Args[0].Name, f)
	}
	return f, err
}

func (p pairwise) eval(n *ir.Node) (ir.Kernel, error) {
	if err := inFloatGraph(n); err != nil {
		return nil, err
	}
	if n.Type.IsFloat() {
		f := p.real(n)
		return pairReal(n, func(a, b float32) float32 { return float32(f(float64(a), float64(b))) }), nil
	}
	return pairWhole(n, p.whole(n, n.Type.Format.(format.Fixed))), nil
}

// pairReal evaluates a function of two floats.
func pairReal(n *ir.Node, f func(a, b float32) float32) ir.Kernel {
	w, fill := broadcastWalk(n.Type.Shape, n.Args[0].Type.Shape, n.Args[1].Type.Shape), fixedArgs(n)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		pairs(w, out.Floats, args[0].Floats, args[1].Floats, f)
		return out, nil
	}
}

// pairWhole evaluates a function of two whole numbers modulo 2^W.
func pairWhole(n *ir.Node, f func(a, b int64) int64) ir.Kernel {
	w := broadcastWalk(n.Type.Shape, n.Args[0].Type.Shape, n.Args[1].Type.Shape)
	fill, cut := fixedArgs(n), wrapped(n.Type.Format.(format.Fixed))
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		pairs(w, out.Codes, args[0].Codes, args[1].Codes, func(a, b int64) int64 { return cut(f(a, b)) })
		return out, nil
	}
}

func (p pairwise) print(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if err := inFloatGraph(n); err != nil {
		return hlo.Value{}, err
	}
	v, err := operands(b, n, args)
	if err != nil {
		return hlo.Value{}, err
	}
	if n.Type.IsFloat() {
		return p.float(b, n, v[0], v[1]), b.Err()
	}
	f := n.Type.Format.(format.Fixed)
	return wrapHLO(b, p.codes(b, n, f, v[0], v[1]), f), b.Err()
}
