// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"context"
	"errors"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/ref"
	"lathe/lower/pass"
	"lathe/lower/quantize/formats"
)

// walk evaluates a graph on samples, one node after the other: a pass that changes a node on the way sees what all
// behind it make of that, and the graph is evaluated once. Values are dropped after their last reader.
type walk struct {
	ctx     context.Context
	graph   *ir.Graph
	samples []ref.Sample
	next    int // the node that is evaluated next
	last    map[*ir.Node]int
	// values holds those of nodes that somebody still reads, by sample.
	values map[*ir.Node][]*ir.Tensor
}

func newWalk(ctx context.Context, g *ir.Graph, samples []ref.Sample) *walk {
	w := &walk{ctx: ctx, graph: g, samples: samples, last: map[*ir.Node]int{}}
	for i, n := range g.Nodes {
		for _, a := range n.Args {
			w.last[a] = i
		}
	}
	w.begin()
	return w
}

// begin goes back to the inputs.
func (w *walk) begin() {
	w.next, w.values = 0, map[*ir.Node][]*ir.Tensor{}
	for _, n := range w.graph.In {
		w.values[n] = make([]*ir.Tensor, len(w.samples))
	}
	for i, s := range w.samples {
		for k, t := range pass.Enter(w.graph, s) {
			n := w.graph.In[k]
			w.values[n][i] = t.Entered(n.Type)
		}
	}
}

// read is the values of argument 0 of n, by sample: all in front of n is evaluated.
func (w *walk) read(n *ir.Node) ([]*ir.Tensor, error) {
	for w.next < len(w.graph.Nodes) && w.graph.Nodes[w.next] != n {
		if err := w.step(); err != nil {
			return nil, err
		}
	}
	return w.values[n.Args[0]], nil
}

// through is the values of n, by sample. It begins again where they are dropped already, as those of n may be where
// another graph has its nodes in another order.
func (w *walk) through(n *ir.Node) ([]*ir.Tensor, error) {
	if w.values[n] == nil && slices.Contains(w.graph.Nodes[:w.next], n) {
		w.begin()
	}
	for w.next < len(w.graph.Nodes) && w.values[n] == nil {
		if err := w.step(); err != nil {
			return nil, err
		}
	}
	return w.values[n], nil
}

// step evaluates one node.
func (w *walk) step() error {
	n, at := w.graph.Nodes[w.next], w.next
	w.next++
	if n.IsConst() || slices.Contains(w.graph.In, n) {
		return w.ctx.Err()
	}
	kernel, err := n.Kernel()
	if err != nil {
		return n.Errorf(diag.OpFormats, "%v", err)
	}
	out := make([]*ir.Tensor, len(w.samples))
	errs := make([]error, len(out))
	formats.Rows(len(out), func(i int) {
		args := make([]*ir.Tensor, len(n.Args))
		for k, a := range n.Args {
			if v := w.values[a]; v != nil {
				args[k] = v[i]
			}
		}
		out[i], errs[i] = kernel(args)
	})
	if err := errors.Join(errs...); err != nil {
		return n.Errorf(diag.OpFormats, "%v", err)
	}
	w.values[n] = out
	for _, a := range n.Args {
		if w.last[a] <= at {
			delete(w.values, a)
		}
	}
	return w.ctx.Err()
}
