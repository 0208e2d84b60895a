// SPDX-License-Identifier: Apache-2.0

// Package leaf holds the operations that read nothing: inputs and constants.
package leaf

import (
	"errors"

	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
)

// Input is a value that the caller supplies.
var Input = &ir.Op{
	Name:   "input",
	Doc:    "a value supplied by the caller",
	Attrs:  ir.Input{},
	Traits: ir.Traits{Source: true},
	Infer:  ownShape,
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		return nil, errors.New("an input has no value of its own")
	},
	HLO: func(*hlo.Builder, *ir.Node, []hlo.Value) (hlo.Value, error) {
		return hlo.Value{}, errors.New("an input has no value of its own")
	},
}

// Const is a constant; quantized constants hold codes.
var Const = &ir.Op{
	Name:   "const",
	Doc:    "a constant",
	Attrs:  ir.Const{},
	Traits: ir.Traits{Source: true},
	Infer:  ownShape,
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		t, err := n.Value()
		return func([]*ir.Tensor) (*ir.Tensor, error) { return t, nil }, err
	},
	HLO: func(b *hlo.Builder, n *ir.Node, _ []hlo.Value) (hlo.Value, error) { return carrier.Const(b, n) },
}

// ownShape is for nodes whose shape nothing else determines.
func ownShape(n *ir.Node) ([]int, error) { return n.Type.Shape, nil }
