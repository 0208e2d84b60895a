// SPDX-License-Identifier: Apache-2.0

// Package golden prints graphs as StableHLO, runs them on PJRT, and compares engines with the reference code by code.
package golden

import (
	"slices"

	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op"
)

// Print prints a graph that computes samples samples at once. A value in a block format is two arguments, or two
// results: codes, then scale fields. Its results are the graph outputs, in order, or with
// trace every node that is neither input nor constant, in graph order (see Traced).
func Print(g *ir.Graph, samples int, trace bool) (*hlo.Builder, error) {
	b := hlo.New("main")
	values := make(map[*ir.Node]hlo.Value, len(g.Nodes))
	for _, n := range g.In {
		values[n] = b.Arg(n.Name, op.Carry(n.Type, samples))
		if _, block := n.Type.BlockFormat(); block {
			values[n] = values[n].WithScale(b.Arg(n.Name+" scales", op.ScaleCarry(n.Type, samples)))
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
			errs = append(errs, asDiag(n, err))
			failed[n] = true
		}
		values[n] = v
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	var results []hlo.Value
	for _, n := range wanted(g, trace) {
		v := values[n]
		if c := known[n]; c != nil {
			n = c
		}
		if n.IsConst() { // an output that depends on nothing
			c, err := op.Print(b, n, nil)
			if err != nil {
				return nil, asDiag(n, err)
			}
			v = spread(b, c, samples)
		}
		results = append(results, v)
		if _, block := n.Type.BlockFormat(); block {
			results = append(results, v.Scale())
		}
	}
	b.Return(results...)
	return b, b.Err()
}

// spread repeats a constant for every sample.
func spread(b *hlo.Builder, v hlo.Value, samples int) hlo.Value {
	dims, axes := []int{samples}, []int{}
	for i, d := range v.Type().Dims {
		dims, axes = append(dims, d), append(axes, i+1)
	}
	return b.BroadcastInDim(v, dims, axes)
}

func printNode(b *hlo.Builder, n *ir.Node, values map[*ir.Node]hlo.Value) (hlo.Value, error) {
	args := make([]hlo.Value, len(n.Args))
	for i, a := range n.Args {
		args[i] = values[a]
	}
	b.At(n.Name)
	return op.Print(b, n, args)
}

func asDiag(n *ir.Node, err error) *diag.Error {
	if d, ok := err.(*diag.Error); ok {
		return d
	}
	return n.Errorf("L0310", "%v", err)
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
