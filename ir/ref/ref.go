// SPDX-License-Identifier: Apache-2.0

// Package ref is the reference engine: it evaluates a graph in pure Go. On a float graph it computes in float32; on a
// quantized graph it is the exact integer meaning that every other engine must reproduce bit for bit.
package ref

import (
	"context"
	"runtime"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
)

// Program is a graph made ready for evaluation. It is safe for concurrent use.
type Program struct {
	graph   *ir.Graph
	kernels []ir.Kernel // nil for inputs and constants
	args    [][]int     // positions of the arguments in the node order, -1 for constants
	inputs  []int       // positions of the graph inputs
	last    []int       // position of the last reader of each value; outputs live to the end
}

// Sample is one value for each input of the graph, in the order of Graph.In, or one for each output, in the order of
// Graph.Out.
type Sample []*ir.Tensor

// New prepares every node: tables are filled and weights packed here, once.
func New(g *ir.Graph) (*Program, error) {
	p := &Program{graph: g, last: make([]int, len(g.Nodes))}
	at := make(map[*ir.Node]int, len(g.Nodes))
	known, err := Constants(g)
	if err != nil {
		return nil, err
	}
	var errs diag.List
	for i, n := range g.Nodes {
		at[n] = i
		var args []int
		for _, a := range n.Args {
			j := at[a]
			p.last[j] = i
			if a.IsConst() || known[a] != nil {
				j = -1
			}
			args = append(args, j)
		}
		p.args = append(p.args, args)
		var k ir.Kernel
		if !slices.Contains(g.In, n) && (!n.IsConst() || g.IsOutput(n)) {
			m := Reading(n, known)
			if c := known[n]; c != nil {
				m = c
			}
			if k, err = m.Kernel(); err != nil {
				errs = append(errs, n.Diag(diag.OpFormats, err))
			}
		}
		p.kernels = append(p.kernels, k)
	}
	for _, n := range g.In {
		p.inputs = append(p.inputs, at[n])
	}
	for _, o := range g.Out {
		p.last[at[o.Node]] = len(g.Nodes)
	}
	return p, errs.Err()
}

// Run evaluates all samples, in parallel, and returns the outputs of each.
func (p *Program) Run(ctx context.Context, samples []Sample) ([]Sample, error) {
	out := make([]Sample, len(samples))
	err := p.each(ctx, samples, func(ctx context.Context, i int) error {
		values, err := p.one(ctx, samples[i], false, nil)
		if err == nil {
			out[i] = p.outputs(values)
		}
		return err
	})
	return out, err
}

// Trace evaluates all samples, in parallel, and hands every value of each to visit: values[k] belongs to Graph.Nodes[k]
// and is nil for constants. visit is called concurrently.
func (p *Program) Trace(ctx context.Context, samples []Sample,
	visit func(sample int, values []*ir.Tensor) error) error {
	return p.each(ctx, samples, func(ctx context.Context, i int) error {
		values, err := p.one(ctx, samples[i], true, nil)
		if err != nil {
			return err
		}
		return visit(i, values)
	})
}

// Each evaluates all samples, in parallel, and hands each value to visit as soon as it is there, of one sample in the
// order of Graph.Nodes: so that only those are in memory that others still read. visit is called concurrently.
func (p *Program) Each(ctx context.Context, samples []Sample,
	visit func(sample, node int, value *ir.Tensor) error) error {
	return p.each(ctx, samples, func(ctx context.Context, i int) error {
		_, err := p.one(ctx, samples[i], false, func(k int, v *ir.Tensor) error { return visit(i, k, v) })
		return err
	})
}

// Apply evaluates node k of the graph alone, on arguments of its types; those that are constants are nil.
func (p *Program) Apply(k int, args []*ir.Tensor) (*ir.Tensor, error) {
	n := p.graph.Nodes[k]
	if p.kernels[k] == nil {
		return nil, n.Errorf(diag.OpFormats, "%s computes nothing", n.Op.Name)
	}
	v, err := p.kernels[k](args)
	if err != nil {
		return nil, n.Diag(diag.OpFormats, err)
	}
	return v, nil
}

// outputs picks the graph outputs out of traced values.
func (p *Program) outputs(values []*ir.Tensor) Sample {
	out := make(Sample, len(p.graph.Out))
	for i, o := range p.graph.Out {
		out[i] = values[slices.Index(p.graph.Nodes, o.Node)]
	}
	return out
}

// each evaluates samples on all processors; the first error stops the rest.
func (p *Program) each(ctx context.Context, samples []Sample, one func(ctx context.Context, sample int) error) error {
	return workers.Try(ctx, len(samples), runtime.GOMAXPROCS(0), func(i int) error { return one(ctx, i) })
}

// one evaluates a single sample, and shows visit, if it is not nil, every value. Values are dropped after their last
// reader unless keep is set.
func (p *Program) one(ctx context.Context, s Sample, keep bool, visit func(node int, v *ir.Tensor) error) (
	[]*ir.Tensor, error) {
	values, err := p.enter(s)
	if err != nil {
		return nil, err
	}
	var args []*ir.Tensor
	for i, k := range p.kernels {
		if k != nil {
			args = args[:0]
			for _, j := range p.args[i] {
				if j < 0 {
					args = append(args, nil)
				} else {
					args = append(args, values[j])
				}
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if values[i], err = k(args); err != nil {
				return nil, p.graph.Nodes[i].Diag(diag.OpFormats, err)
			}
		}
		if visit != nil && values[i] != nil {
			if err := visit(i, values[i]); err != nil {
				return nil, err
			}
		}
		for _, j := range p.args[i] {
			if !keep && j >= 0 && p.last[j] <= i {
				values[j] = nil
			}
		}
	}
	return values, nil
}

// enter is the values of the inputs of a sample, in their places.
func (p *Program) enter(s Sample) ([]*ir.Tensor, error) {
	if len(s) != len(p.inputs) {
		return nil, diag.New(diag.SampleShape, p.graph.Name, "%d values for %d inputs", len(s), len(p.inputs))
	}
	values := make([]*ir.Tensor, len(p.graph.Nodes))
	for i, at := range p.inputs {
		n := p.graph.Nodes[at]
		if !slices.Equal(s[i].Type.Shape, n.Type.Shape) {
			return nil, n.Errorf(diag.SampleShape, "a sample of shape %s, the input takes %s", ir.ShapeString(s[i].Type.Shape),
				ir.ShapeString(n.Type.Shape))
		}
		if s[i].Type.IsFloat() != n.Type.IsFloat() {
			return nil, n.Errorf(diag.SampleShape, "a sample in %s, the input takes %s", s[i].Type.Format, n.Type.Format)
		}
		values[at] = s[i].Entered(n.Type)
	}
	return values, nil
}
