// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"testing"

	"lathe/ir"
)

// evaluate runs a float graph on one sample a input, in input order, and returns the outputs in order.
func evaluate(t testing.TB, g *ir.Graph, inputs ...[]float32) []*ir.Tensor {
	t.Helper()
	values := map[*ir.Node]*ir.Tensor{}
	for i, n := range g.In {
		values[n] = &ir.Tensor{Type: n.Type, Floats: inputs[i]}
	}
	for _, n := range g.Nodes {
		if values[n] != nil {
			continue
		}
		run, err := n.Op.Eval(n)
		if err != nil {
			t.Fatalf("%s: %v", n.Name, err)
		}
		args := make([]*ir.Tensor, len(n.Args))
		for i, a := range n.Args {
			args[i] = values[a]
		}
		if values[n], err = run(args); err != nil {
			t.Fatalf("%s: %v", n.Name, err)
		}
	}
	var out []*ir.Tensor
	for _, o := range g.Out {
		out = append(out, values[o.Node])
	}
	return out
}
