// SPDX-License-Identifier: Apache-2.0

// Package golden prints graphs as StableHLO, runs them on PJRT, and compares engines with the reference code by code.
package golden

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/ref"
)

// Print prints a graph that computes samples samples at once; trace is that of Form.
func Print(g *ir.Graph, samples int, trace bool) (*hlo.Program, error) {
	return PrintForm(g, Form{Samples: samples, Trace: trace})
}

// PrintForm prints a graph in a form. A value in a block format is two arguments, or two results: codes, then scale
// fields. The results are the graph outputs, in order, or what the form traces.
func PrintForm(g *ir.Graph, f Form) (*hlo.Program, error) {
	b := hlo.New("main")
	values := make(map[*ir.Node]hlo.Value, len(g.Nodes))
	for _, n := range g.In {
		values[n] = carrier.Rounded(b, n, b.Arg(n.Name, carrier.Type(n.Type, f.of(n))))
		if _, block := n.Type.BlockFormat(); block {
			values[n] = values[n].WithScale(b.Arg(n.Name+" scales", carrier.ScaleType(n.Type, f.of(n))))
		}
	}
	known, err := ref.Constants(g)
	if err != nil {
		return nil, err
	}
	var errs diag.List
	failed := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		if _, isInput := values[n]; isInput || n.IsConst() || known[n] != nil {
			continue
		}
		if slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return failed[a] }) {
			failed[n] = true // reported there
			continue
		}
		v, err := printNode(b, ref.Reading(n, known), values)
		if err != nil {
			errs = append(errs, n.Diag(diag.ReferenceOnly, err))
			failed[n] = true
		}
		values[n] = v
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	var results []hlo.Value
	for _, n := range wanted(g, f.Trace) {
		v := values[n]
		if c := known[n]; c != nil {
			n = c
		}
		if n.IsConst() { // an output that depends on nothing
			if v, err = carrier.Print(b, n, nil); err != nil {
				return nil, n.Diag(diag.ReferenceOnly, err)
			}
		}
		if v.Type().Rank() == len(n.Type.Shape) {
			v = f.spread(b, v)
		}
		results = append(results, v)
		if _, block := n.Type.BlockFormat(); block {
			results = append(results, v.Scale())
		}
	}
	b.Return(results...)
	return b.Program(), b.Err()
}

func printNode(b *hlo.Builder, n *ir.Node, values map[*ir.Node]hlo.Value) (hlo.Value, error) {
	args := make([]hlo.Value, len(n.Args))
	for i, a := range n.Args {
		args[i] = values[a]
	}
	b.At(n.Name)
	return carrier.Print(b, n, args)
}

// wanted lists the nodes that a program returns.
func wanted(g *ir.Graph, trace bool) []*ir.Node {
	if trace {
		return Traced(g)
	}
	var nodes []*ir.Node
	for _, o := range g.Out {
		nodes = append(nodes, o.Node)
	}
	return nodes
}

// Traced lists the nodes whose values a trace compares: all but inputs and constants, in graph order.
func Traced(g *ir.Graph) []*ir.Node {
	inputs := make(map[*ir.Node]bool, len(g.In))
	for _, n := range g.In {
		inputs[n] = true
	}
	var nodes []*ir.Node
	for _, n := range g.Nodes {
		if !inputs[n] && !n.IsConst() {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
