// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/source"
	"lathe/internal/diag"
)

// defs maps each name to its definition: a node index, or initial for inputs and initializers.
type defs map[string]int

const initial = -1

// order checks that every name is defined once and before it is read, and finds the live nodes. In a subgraph, names
// from outside are read, too.
func (im *importer) order(fr *frame, g *graph) (live []bool, err error) {
	made := make(defs, len(g.nodes)+len(g.inits)+len(g.inputs))
	for i := range g.inits {
		if _, twice := made[g.inits[i].name]; twice {
			return nil, diag.New(diag.DuplicateName, "", "initializer %s is defined twice", quote(g.inits[i].name))
		}
		made[g.inits[i].name] = initial
	}
	inputs := make(map[string]bool, len(g.inputs))
	for _, v := range g.inputs {
		if inputs[v.name] || v.name == "" {
			return nil, diag.New(diag.DuplicateName, "", "input %s is defined twice or has no name", quote(v.name))
		}
		inputs[v.name], made[v.name] = true, initial
	}
	for i := range g.nodes {
		for _, o := range g.nodes[i].out {
			if _, twice := made[o]; twice && o != "" {
				return nil, diag.New(diag.DuplicateName, im.at(fr, &g.nodes[i]), "its result %s is defined twice", quote(o))
			}
			if o != "" {
				made[o] = i
			}
		}
	}
	o := orderer{im: im, fr: fr, g: g, made: made}
	for i := range g.nodes {
		for _, in := range g.nodes[i].reads() {
			if err := o.defined(i, in); err != nil {
				return nil, err
			}
		}
	}
	return o.findLive()
}

// reads lists the names that a node reads, its subgraphs included.
func (n *node) reads() []string {
	if len(n.captures) == 0 {
		return n.in
	}
	return slices.Concat(n.in, n.captures)
}

// orderer holds what the checks of one graph share.
type orderer struct {
	im   *importer
	fr   *frame
	g    *graph
	made defs
}

// at is the position of a node in messages.
func (im *importer) at(fr *frame, n *node) string {
	return im.base + ": " + clip(im.label(fr, n)) + " (" + clip(n.op) + ")"
}

// defined checks one read of a node.
func (o *orderer) defined(reader int, name string) error {
	made, where := o.made, o.im.at(o.fr, &o.g.nodes[reader])
	at, ok := made[name]
	switch {
	case name == "":
		return nil
	case !ok && o.fr.outer.find(name) != nil:
		return nil
	case !ok:
		e := diag.New(diag.UndefinedValue, where, "reads %s, which no node, input or initializer defines", quote(name))
		if near := source.Near(name, sortedKeys(made)); near != "" {
			e = e.WithHint("did you mean %s?", quote(near))
		}
		return e
	case at < reader:
		return nil
	case o.reaches(at, reader):
		return diag.New(diag.ModelCycle, where, "stands on a cycle: it needs %s, which needs its own result", quote(name))
	}
	return diag.New(diag.ReadBeforeDefined, where, "reads %s, which a later node defines", quote(name)).
		WithHint("sort the nodes topologically")
}

// reaches says that node from needs a result of node to.
func (o *orderer) reaches(from, to int) bool {
	seen := make([]bool, len(o.g.nodes))
	for stack := []int{from}; len(stack) > 0; {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if at == to {
			return true
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		for _, in := range o.g.nodes[at].reads() {
			if d, ok := o.made[in]; ok && d != initial {
				stack = append(stack, d)
			}
		}
	}
	return false
}

// findLive marks the nodes that the outputs need; the others are leftovers and are not looked at.
func (o *orderer) findLive() (live []bool, err error) {
	g, made := o.g, o.made
	live = make([]bool, len(g.nodes))
	var stack []int
	outputs := make(map[string]bool, len(g.outputs))
	for _, out := range g.outputs {
		at, ok := made[out.name]
		if !ok && o.fr.outer.find(out.name) == nil {
			e := diag.New(diag.UndefinedValue, "", "output %s is computed by no node", quote(out.name))
			if near := source.Near(out.name, sortedKeys(made)); near != "" {
				e = e.WithHint("did you mean %s?", quote(near))
			}
			return nil, e
		}
		if outputs[out.name] {
			return nil, diag.New(diag.DuplicateName, "", "output %s is listed twice", quote(out.name))
		}
		outputs[out.name] = true
		if ok && at != initial {
			stack = append(stack, at)
		}
	}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if live[at] {
			continue
		}
		live[at] = true
		for _, in := range g.nodes[at].reads() {
			if d, ok := made[in]; ok && d != initial {
				stack = append(stack, d)
			}
		}
	}
	return live, nil
}
