// SPDX-License-Identifier: Apache-2.0

package rtl

import "go/ast"

// Timing is the latency and the initiation interval that the header states under the given parameters. Errors are
// those of Expr.Eval, and of Lookup for what is inside.
func (h *Header) Timing(set []Param) (latency, ii int, err error) {
	env := h.scope(set)
	if latency, err = h.value(h.Latency, env, latencyOf); err != nil {
		return 0, 0, err
	}
	ii, err = h.value(h.II, env, func(h *Header) Expr { return h.II })
	return latency, ii, err
}

func latencyOf(h *Header) Expr { return h.Latency }

// value is that of an expression of the header. Where it is the name of an instance alone, it is what the header of
// that module states in the same place.
func (h *Header) value(e Expr, env map[string]int, same func(*Header) Expr) (int, error) {
	if name, ok := e.tree.(*ast.Ident); ok {
		if _, ok := h.costs.instances[name.Name]; ok {
			sub, inner, err := h.inside(name.Name, env)
			if err != nil {
				return 0, err
			}
			if inside := same(sub); inside.tree != nil {
				sub.derive(inner)
				return sub.value(inside, inner, same)
			}
			return 0, nil
		}
	}
	v, err := e.Eval(env)
	return v, h.blame(err)
}
