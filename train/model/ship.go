// SPDX-License-Identifier: Apache-2.0

package model

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/lower/quantize/formats"
)

// Ship is the graph with other values of the parameters, one slice each, in the order of Params, and of Buffers, nil
// for those that stand. In a quantized graph parameters are encoded in the formats that stand. places are what the
// codes of channels lose, one slice for each of Each, nil for what they begin with.
func (m *Model) Ship(values, buffers, places [][]float32) (*ir.Graph, error) {
	g := m.graph.Clone()
	for _, s := range m.slots {
		n, old := g.Nodes[s.node], m.graph.Nodes[s.node].Args[s.arg]
		c := *old
		x := values[s.param]
		if old.Type.IsFloat() {
			c.Attrs = ir.Computed(ir.FloatBlob(x), old)
		} else {
			typ, data, ok := formats.Again(old.Type, s.grid, x)
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
