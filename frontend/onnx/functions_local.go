// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/internal/diag"
)

// function is a FunctionProto: a graph whose inputs have no types, and attributes.
type function struct {
	name, domain, overload string
	body                   graph // inputs and outputs by name only
	attrs                  []string
	defaults               []attr
	opset                  int64 // of the default domain; 0 if the function names none
}

// find is the local function that a node calls, nil for none.
func (m *model) find(n *node) *function {
	for i := range m.functions {
		if f := &m.functions[i]; f.name == n.op && f.domain == n.domain && f.overload == n.overload {
			return f
		}
	}
	return nil
}

// bindAttrs replaces attributes that refer to those of the function around by what the call gives; those that the call
// leaves out are absent.
func (c *call) bindAttrs() {
	if !slices.ContainsFunc(c.n.attrs, func(a attr) bool { return a.ref != "" }) {
		return
	}
	bound := *c.n
	bound.attrs = nil
	for _, a := range c.n.attrs {
		if a.ref == "" {
			bound.attrs = append(bound.attrs, a)
			continue
		}
		if c.fr.attrs == nil {
			c.fail(diag.BadAttribute, "attribute %s refers to one of a function, but stands in none", quote(a.name))
			return
		}
		if given := c.fr.attrs[a.ref]; given != nil {
			named := *given
			named.name = a.name
			bound.attrs = append(bound.attrs, named)
		}
	}
	c.n = &bound
}

// maxDepth bounds subgraphs and calls of functions inside each other.
const maxDepth = 64

// inline converts the body of a function in the place of its call.
func (c *call) inline(f *function) {
	switch {
	case c.err != nil:
		return
	case slices.Contains(c.fr.calls, f):
		c.fail(diag.RecursiveFunction, "function %s calls itself", quote(f.name))
		return
	case c.nodes > maxInlined:
		return
	case len(c.fr.calls) >= maxDepth:
		c.fail(diag.ModelLimit, "functions call each other %d deep", maxDepth)
		return
	case len(c.in) > len(f.body.inputs) || len(c.n.out) > len(f.body.outputs):
		c.fail(diag.OperandCount, "function %s takes %d inputs and gives %d results, the call has %d and %d", quote(f.name),
			len(f.body.inputs), len(f.body.outputs), len(c.in), len(c.n.out))
		return
	}
	fr := &frame{
		values: map[string]*value{}, opset: c.fr.opset, prefix: c.label + ".", attrs: map[string]*attr{},
		calls: append(slices.Clip(c.fr.calls), f),
	}
	if f.opset != 0 {
		fr.opset = int(f.opset)
	}
	for i := range f.defaults {
		fr.attrs[f.defaults[i].name] = &f.defaults[i]
	}
	for i := range c.n.attrs {
		fr.attrs[c.n.attrs[i].name] = &c.n.attrs[i]
	}
	body := f.body
	body.nodes = slices.Clone(f.body.nodes)
	for i, in := range f.body.inputs {
		if i < len(c.in) && c.in[i] != nil {
			fr.values[in.name] = c.in[i]
			continue
		}
		body.withoutInput(in.name) // an absent one is absent wherever it is read
	}
	c.body(fr, &body)
}

// withoutInput makes a name that nothing defines an absent input of all nodes.
func (g *graph) withoutInput(name string) {
	for i := range g.nodes {
		n := &g.nodes[i]
		if k := slices.Index(n.in, name); k >= 0 {
			n.in = slices.Clone(n.in)
			for k := range n.in {
				if n.in[k] == name {
					n.in[k] = ""
				}
			}
		}
	}
}

// body converts a graph in a frame of its own; its outputs become the results of this node.
func (c *call) body(fr *frame, g *graph) {
	live, err := c.prepare(fr, g)
	if err != nil {
		c.wrap(diag.CodeOf(err), err)
		return
	}
	c.convertAll(fr, g, live)
	for i, name := range c.n.out {
		if v := fr.find(g.outputs[i].name); v != nil && !v.bad && name != "" {
			result := *v
			c.fr.values[name] = &result
		}
	}
}

// convertIf takes the branch that a constant condition chooses. Its names see those around.
func convertIf(c *call) {
	branch := "else_branch"
	if c.scalar(0, "the condition") != 0 {
		branch = "then_branch"
	}
	a := c.attr(branch, kindGraph)
	switch {
	case c.err != nil:
		return
	case a == nil || a.g == nil:
		c.fail(diag.BadAttribute, "has no attribute %s", branch)
		return
	case len(a.g.inputs) > 0 || len(a.g.outputs) < len(c.n.out):
		c.fail(diag.OperandCount, "%s has %d inputs and %d results, the node has %d results", branch, len(a.g.inputs),
			len(a.g.outputs), len(c.n.out))
		return
	}
	c.body(&frame{
		values: map[string]*value{}, outer: c.fr, opset: c.fr.opset, prefix: c.fr.prefix, attrs: c.fr.attrs,
		calls: c.fr.calls,
	}, a.g)
}

// decodeFunction reads a FunctionProto.
func decodeFunction(m message, f *function) error {
	var domains []string
	err := m.each(func(fd *field) (err error) {
		switch fd.num {
		case 1, 4, 5, 6, 10, 13:
			err = f.decodeText(fd)
		case 7:
			f.body.nodes, err = appendDecoded(f.body.nodes, fd, decodeNode)
		case 9:
			err = decodeOpset(fd, &f.opset, &domains)
		case 11:
			f.defaults, err = appendDecoded(f.defaults, fd, decodeAttr)
		}
		return err
	})
	if err != nil {
		return err
	}
	if f.name == "" {
		return broken(m.at, "a function has no name")
	}
	return limit("nodes of a function", len(f.body.nodes), maxNodes)
}

func (f *function) decodeText(fd *field) error {
	s, err := fd.text()
	switch fd.num {
	case 1:
		f.name = s
	case 4:
		f.body.inputs = append(f.body.inputs, valueInfo{name: s})
	case 5:
		f.body.outputs = append(f.body.outputs, valueInfo{name: s})
	case 6:
		f.attrs = append(f.attrs, s)
	case 10:
		if f.domain = s; s == "ai.onnx" {
			f.domain = ""
		}
	case 13:
		f.overload = s
	}
	return err
}
