// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"lathe/frontend/source"
	"lathe/internal/diag"
)

// wrapped is an operation around a graph that is computed without gradients: inference computes it as it stands.
const wrapped = "torch.ops.higher_order.wrap_with_set_grad_enabled"

// inline converts the graph that is an argument: whether gradients are on, the graph, and its inputs.
func (c *call) inline() {
	if len(c.n.in) < 2 || c.n.in[1].arg.kind != "as_graph" {
		c.fail(diag.ProgramSchema, "takes a truth value, a graph and tensors")
		return
	}
	if c.depth++; c.depth > maxNesting {
		c.fail(diag.ModelLimit, "graphs are nested more than %d deep", maxNesting)
		return
	}
	defer func() { c.depth-- }()
	r := reader{}
	g := r.graph(r.need(c.n.in[1].arg.v, "graph"), c.depth)
	if c.wrap(r.err); c.err != nil {
		return
	}
	in := c.n.in[2:]
	if len(in) != len(g.inputs) {
		c.fail(diag.OperandCount, "gives %d inputs to a graph of %d", len(in), len(g.inputs))
		return
	}
	outer := c.scope
	values := map[string]*value{}
	for i, a := range g.inputs {
		from, to := tensorNames(in[i].arg), tensorNames(a)
		if len(from) != 1 || len(to) != 1 {
			continue // a number, which the graph holds already
		}
		v := outer.values[from[0]]
		if v == nil {
			c.fail(diag.UndefinedValue, "reads %s, which is computed by nothing", source.Quote(from[0]))
			return
		}
		values[to[0]] = v
	}
	c.scope = scope{g, values}
	for i := range g.nodes {
		c.convert(&g.nodes[i])
	}
	c.scope = outer
	outs := c.outs()
	for i, a := range g.outputs {
		if names := tensorNames(a); len(names) == 1 && i < len(outs) && values[names[0]] != nil {
			outer.values[outs[i]] = values[names[0]]
		}
	}
}
