// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/lower/quantize/formats"
)

// Ship is the graph with other values of the parameters, one slice each, in the order of Params, and of Buffers, nil
// for those that stand. In a quantized graph parameters are encoded in the formats that stand. places are what the
// codes of channels lose, one slice for each of Each, nil for what they begin with; scales are what is trained of
// steps, a slice for each of Scales.
func (m *Model) Ship(values, buffers, places, scales [][]float32) (*ir.Graph, error) {
	g := m.graph.Clone()
	steps := m.shipScales(g, scales)
	for _, s := range m.slots {
		n, old := g.Nodes[s.node], m.graph.Nodes[s.node].Args[s.arg]
		c := *old
		x := values[s.param]
		w, weighs := m.weighings[n.Name]
		if k, ok := m.learnedWeights[old.Name]; ok {
			c.Type = m.Scales[k].weights(old.Type, steps[k])
			s.grid = c.Type.Format
		}
		if old.Type.IsFloat() {
			c.Attrs = ir.Computed(ir.FloatBlob(x), old)
		} else if weighs && w.factored && s.arg == 2 {
			c.Type, c.Attrs = m.shipBias(w, old, steps, x)
		} else {
			typ, data, ok := formats.Again(c.Type, s.grid, x)
			if !ok {
				return nil, n.Errorf(diag.ConstantNotFinite, "parameter %q has values without a code in %s",
					m.Params[s.param].Name, s.grid)
			}
			c.Type, c.Attrs = typ, ir.Computed(data, old)
		}
		*n.Args[s.arg] = c // the copy in g, which all that share it read
	}
	m.shipBuffers(g, buffers)
	for i := range places {
		m.Each[i].ship(g.Nodes[m.Each[i].at], places[i])
	}
	return g, g.Check()
}

// shipScales gives the nodes of g the steps where training has come to, and returns the steps of each of Scales.
func (m *Model) shipScales(g *ir.Graph, leaves [][]float32) [][]float32 {
	var steps [][]float32
	for i, leaf := range leaves {
		s := &m.Scales[i]
		steps = append(steps, s.Steps(leaf))
		for _, at := range s.nodes {
			g.Nodes[at].Type.Format = format.WithStep(g.Nodes[at].Type.Format, steps[i][0])
		}
	}
	return steps
}

// weights is t, a type of weights, with other steps.
func (s *Scale) weights(t ir.Type, steps []float32) ir.Type {
	if !s.Powers {
		t.Format = format.WithStep(t.Format, steps[0])
		return t
	}
	fracs := make([]int, len(steps))
	for c, v := range steps {
		e, _ := format.Log2(v)
		fracs[c] = -e
	}
	return formats.InSteps(ir.Type{Shape: t.Shape}, s.codes.Codes, fracs)
}

// shipBias is the bias x of a layer in steps of its products, which are one number, or one a channel.
func (m *Model) shipBias(w weighing, old *ir.Node, steps [][]float32, x []float32) (ir.Type, *ir.Const) {
	of := func(r stepRef) []float32 {
		if r.scale < 0 {
			return []float32{float32(r.stands)}
		}
		return steps[r.scale]
	}
	f := format.Affine{W: biasBits, Signed: true, Axis: format.PerTensor}
	data, weights := of(w.data)[0], of(w.weights)
	codes := make([]int64, len(x))
	for i, v := range x {
		step := float64(data) * float64(weights[i*len(weights)/len(x)])
		most := float64(f.Integers().Max())
		codes[i] = int64(math.Min(math.Max(math.RoundToEven(float64(v)/step), -most), most))
	}
	t := ir.Type{Shape: old.Type.Shape, Format: f}
	if f.Scale = data * weights[0]; len(weights) > 1 {
		f.Axis, f.Scale = 0, 0
		for _, v := range weights {
			t.Scales = append(t.Scales, data*v)
		}
	}
	t.Format = f
	return t, ir.Computed(ir.CodeBlob(codes), old)
}
