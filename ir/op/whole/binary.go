// SPDX-License-Identifier: Apache-2.0

// Package whole holds the operations on whole numbers and truth values, and those that read positions: gather,
// scatter, top-k.
package whole

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// binaryOp is an operation of float graphs on two arguments of one format, element by element.
type binaryOp struct {
	name, doc string
	attrs     any
	// floats computes it on floats, nil if it takes whole numbers only.
	floats func(n *ir.Node) func(a, b float64) float64
	// whole computes it on whole numbers; the result is cut to W bits behind.
	whole func(n *ir.Node, f format.Fixed) func(a, b int64) int64
	// float and codes print the two.
	float func(b *hlo.Builder, n *ir.Node, x, y hlo.Value) hlo.Value
	codes func(b *hlo.Builder, n *ir.Node, f format.Fixed, x, y hlo.Value) hlo.Value
	draw  func(r *rand.Rand) any
}

func (p binaryOp) op() *ir.Op {
	return &ir.Op{
		Name: p.name, Doc: p.doc + " with broadcasting", Attrs: p.attrs, Arity: [2]int{2, 2},
		Traits: ir.Traits{FloatOnly: true, Elementwise: true},
		Infer:  walk.BroadcastArgs,
		Format: p.format,
		Eval:   p.eval,
		HLO:    p.print,
		Legal:  column.NoInteger,
		Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
			f, attrs := draw.Whole(r), any(nil)
			if p.floats != nil {
				f = draw.Either(r)
			}
			if p.draw != nil {
				attrs = p.draw(r)
			}
			return draw.Element(r, o, attrs, f, f)
		},
	}
}

func (p binaryOp) format(n *ir.Node) (format.Format, error) {
	f, err := n.OneFormat(n.Args...)
	if err == nil && p.floats == nil && !ir.IsWhole(f) {
		err = fmt.Errorf("%s takes integers and booleans, %q is %s", n.Op.Name, n.Args[0].Name, f)
	}
	return f, err
}

func (p binaryOp) eval(n *ir.Node) (ir.Kernel, error) {
	if err := column.InFloatGraph(n); err != nil {
		return nil, err
	}
	if n.Type.IsFloat() {
		f := p.floats(n)
		return column.BinaryFloat(n, func(a, b float32) float32 { return float32(f(float64(a), float64(b))) }), nil
	}
	ints, _ := ir.WholeOf(n.Type.Format)
	return column.BinaryWhole(n, p.whole(n, ints)), nil
}

func (p binaryOp) print(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if err := column.InFloatGraph(n); err != nil {
		return hlo.Value{}, err
	}
	v, err := carrier.Operands(b, n, args)
	if err != nil {
		return hlo.Value{}, err
	}
	if n.Type.IsFloat() {
		return p.float(b, n, v[0], v[1]), b.Err()
	}
	ints, _ := ir.WholeOf(n.Type.Format)
	return carrier.Wrap(b, p.codes(b, n, ints, v[0], v[1]), n.Type), b.Err()
}
