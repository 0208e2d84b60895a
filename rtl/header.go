// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"go/ast"

	"lathe/internal/diag"
)

// Header is what the text of a module says about it.
type Header struct {
	Name    string
	Family  string // folder: stream, num, mem, op
	Purpose string // first sentences of the header comment
	Params  []ParamDecl
	Ports   []PortDecl
	Latency Expr   // cycles, as the header comment states it
	II      Expr   // cycles
	Order   string // order of the beats
	Deps    []string
	flows   Expr   // see Unit.Flow
	front   Expr   // see Unit.Front
	turns   []Expr // see Unit.Turns
	costs   costs
}

// ParamDecl is a declared parameter. Default is its text; it may use parameters declared before it. A local one
// cannot be set.
type ParamDecl struct {
	Name    string
	Default string
	Local   bool
}

// PortDecl is a declared port. Msb is the upper bound of its range, as text; empty for a single bit.
type PortDecl struct {
	Name   string
	Output bool
	Msb    string
}

// Values returns the integer value of every parameter that has one: set, completed by the declared defaults.
// Parameters whose value is no integer (file names, wide literals) are left out. Error L0604 if set names a parameter
// that the module does not have.
func (h *Header) Values(set []Param) (map[string]int, error) {
	given := map[string]string{}
	for _, p := range set {
		if !h.has(p.Name) {
			return nil, diag.New(diag.UnknownParameter, "", "module %s has no parameter %s", h.Name, p.Name)
		}
		given[p.Name] = p.Value
	}
	values := map[string]int{}
	for _, decl := range h.Params {
		text := decl.Default
		if v, ok := given[decl.Name]; ok {
			text = v
		}
		if v, ok := integer(text, values); ok {
			values[decl.Name] = v
		}
	}
	return values, nil
}

func (h *Header) has(param string) bool {
	for _, decl := range h.Params {
		if decl.Name == param && !decl.Local {
			return true
		}
	}
	return false
}

// Width returns the width of the named port in bits under the given parameter values.
func (h *Header) Width(port string, values map[string]int) (int, error) {
	for _, p := range h.Ports {
		if p.Name != port {
			continue
		}
		if p.Msb == "" {
			return 1, nil
		}
		e, err := ParseExpr(p.Msb)
		if err != nil {
			return 0, err
		}
		msb, err := e.Eval(values)
		return msb + 1, err
	}
	return 0, diag.New(diag.UnknownParameter, "", "module %s has no port %s", h.Name, port)
}

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
