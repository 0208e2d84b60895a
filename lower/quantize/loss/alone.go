// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"lathe/ir"
	"lathe/ir/format/array"
)

// counterparts finds, for each argument of a quantized node, the node of the float graph that computes the same value.
// Constants keep the codes that they have, -1. nil: an argument has no counterpart.
func (m *Meter) counterparts(n *ir.Node, named map[string]int) []int {
	args := make([]int, 0, len(n.Args)) // not nil for an input, whose error alone is that of its encoding
	for _, a := range n.Args {
		at := -1
		if !a.IsConst() {
			if at = m.counterpart(a, named); at < 0 {
				return nil
			}
		}
		args = append(args, at)
	}
	return args
}

// counterpart is the position of the float node with the value of a; casts change but its format. -1: there
// is none.
func (m *Meter) counterpart(a *ir.Node, named map[string]int) int {
	for {
		if at, ok := named[a.Name]; ok {
			if m.before.Nodes[at].Type.Elems() == a.Type.Elems() {
				return at
			}
			return -1
		}
		if !a.Op.Traits.Casts {
			return -1
		}
		a = a.Args[0]
	}
}

// single computes the node of a match on values of the float graph.
func (m *Meter) single(p *match, values []*ir.Tensor) ([]float64, error) {
	n := m.after.Nodes[p.to]
	if len(n.Args) == 0 {
		t, err := encode(values[p.from], n.Type)
		if err != nil {
			return nil, err
		}
		return t.Decode()
	}
	args := make([]*ir.Tensor, len(p.args))
	for i, at := range p.args {
		if at < 0 {
			continue
		}
		var err error
		if args[i], err = encode(values[at], n.Args[i].Type); err != nil {
			return nil, err
		}
	}
	t, err := m.exact.Apply(p.to, args)
	if err != nil {
		return nil, err
	}
	return t.Decode()
}

// encode rounds float values to the nearest codes of type typ.
func encode(t *ir.Tensor, typ ir.Type) (*ir.Tensor, error) {
	x, err := t.Decode()
	if err != nil {
		return nil, err
	}
	e, err := array.Encode(typ.Format, typ.Shape, x, 0)
	if err != nil {
		return nil, err
	}
	return &ir.Tensor{Type: typ, Codes: e.Codes, BlockScales: e.Scales}, nil
}
