// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/op/arith"
	"lathe/ir/op/walk"
)

// Unary is an element-wise operation: fl computes it on float32; ex prepares the exact function from the lattice
// integer of an argument code (at exponent exp) to the code of the result.
type Unary struct {
	Float func(n *ir.Node) func(float32) float32
	Exact func(n *ir.Node, exp int) (func(v int64) int64, error)
}

// Eval is the Eval column of a unary operation.
func (u Unary) Eval(n *ir.Node) (ir.Kernel, error) {
	if n.Type.IsFloat() {
		f := u.Float(n)
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			out := ir.NewTensor(n.Type)
			workers.Ranges(len(out.Floats), walk.Grain, func(from, to int) {
				x, y := args[0].Floats[from:to], out.Floats[from:to]
				for i, v := range x {
					y[i] = f(v)
				}
			})
			return out, nil
		}, nil
	}
	exp, err := arith.CommonStep(n)
	if err != nil {
		return nil, err
	}
	f, err := u.Exact(n, exp)
	if err != nil {
		return nil, err
	}
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		l, err := args[0].Lattice()
		if err != nil {
			return nil, n.Errorf(diag.OpFormats, "%v", err)
		}
		out := ir.NewTensor(n.Type)
		for i, v := range l.Ints {
			out.Codes[i] = f(v)
		}
		return out, nil
	}, nil
}
