// SPDX-License-Identifier: Apache-2.0

package rtl

import "lathe/internal/diag"

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
			return nil, diag.New("L0604", "", "module %s has no parameter %s", h.Name, p.Name)
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
	return 0, diag.New("L0604", "", "module %s has no port %s", h.Name, port)
}
