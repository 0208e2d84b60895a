// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/sum"
)

// The arguments of a batch normalization.
const (
	normGain = iota + 1
	normBias
	normMean
	normVariance
)

// findNorms finds the batch normalizations whose statistics are constants of their own.
func (m *Model) findNorms() error {
	for i, n := range m.graph.Nodes {
		if _, _, ok := sum.Statistics(n); !ok {
			continue
		}
		m.norms[m.float.Nodes[i]] = len(m.Buffers)
		for _, a := range n.Args[normMean : normVariance+1] {
			t, err := a.Value()
			if err != nil {
				return n.Errorf(diag.ConstantNotFinite, "%v", err)
			}
			m.Buffers = append(m.Buffers, Param{Name: a.Name, Shape: a.Type.Shape, Start: slices.Clone(t.Floats),
				Node: n.Name, Pos: n.Pos})
		}
	}
	return nil
}

// shipBuffers puts values of Buffers into g, a copy of the graph.
func (m *Model) shipBuffers(g *ir.Graph, values [][]float32) {
	if values == nil {
		return
	}
	for i, n := range m.float.Nodes {
		at, ok := m.norms[n]
		if !ok {
			continue
		}
		for k := range 2 {
			a := g.Nodes[i].Args[normMean+k]
			a.Attrs = ir.Computed(ir.FloatBlob(values[at+k]), a)
		}
	}
}

// batchNorm prints a batch normalization by the mean and the variance of the batch (Ioffe and Szegedy 2015), and keeps
// both; the variance that it keeps is that of the population, as the samples estimate it.
func (p *Forward) batchNorm(n *ir.Node, args []hlo.Value) hlo.Value {
	b, x := p.b, args[0]
	axis, epsilon, _ := sum.Statistics(n)
	axis++ // samples lead
	dims := x.Type().Dims
	var others []int
	for a := range dims {
		if a != axis {
			others = append(others, a)
		}
	}
	count := float64(x.Type().Len() / max(dims[axis], 1))
	mean := func(v hlo.Value) hlo.Value {
		return b.Mul(b.Reduce(hlo.ReduceAdd, v, others...), b.Float(hlo.F32, 1/count))
	}
	mu := mean(x)
	off := b.Sub(x, b.Along(mu, dims, axis))
	variance := mean(b.Mul(off, off))
	root := b.Sqrt(b.Add(variance, b.Float(hlo.F32, float64(epsilon))))
	at := p.norms[n]
	p.Stats[at] = mu
	p.Stats[at+1] = b.Mul(variance, b.Float(hlo.F32, count/max(count-1, 1)))
	gain := b.Div(args[normGain], root)
	return b.Add(b.Mul(off, b.Along(gain, dims, axis)), b.Along(args[normBias], dims, axis))
}
