// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"lathe/frontend/source"
	"lathe/internal/diag"
)

// defs maps each name to its definition: a node index, or initial for inputs and initializers.
type defs map[string]int

const initial = -1

// order checks that every name is defined once and before it is read, and finds the live nodes.
func (im *importer) order() error {
	g := im.model.graph
	made := make(defs, len(g.nodes)+len(g.inits)+len(g.inputs))
	for i := range g.inits {
		if _, twice := made[g.inits[i].name]; twice {
			return diag.New(source.CodeDuplicate, "", "initializer %s is defined twice", quote(g.inits[i].name))
		}
		made[g.inits[i].name] = initial
	}
	inputs := make(map[string]bool, len(g.inputs))
	for _, v := range g.inputs {
		if inputs[v.name] || v.name == "" {
			return diag.New(source.CodeDuplicate, "", "input %s is defined twice or has no name", quote(v.name))
		}
		inputs[v.name], made[v.name] = true, initial
	}
	for i := range g.nodes {
		for _, o := range g.nodes[i].out {
			if _, twice := made[o]; twice && o != "" {
				return diag.New(source.CodeDuplicate, im.at(&g.nodes[i]), "its result %s is defined twice", quote(o))
			}
			if o != "" {
				made[o] = i
			}
		}
	}
	for i := range g.nodes {
		for _, in := range g.nodes[i].in {
			if err := im.defined(made, i, in); err != nil {
				return err
			}
		}
	}
	return im.findLive(made)
}

// at is the position of a node in messages.
func (im *importer) at(n *node) string {
	return im.base + ": " + clip(im.label(n)) + " (" + clip(n.op) + ")"
}

// defined checks one read of a node.
func (im *importer) defined(made defs, reader int, name string) error {
	n := &im.model.graph.nodes[reader]
	at, ok := made[name]
	switch {
	case name == "":
		return nil
	case !ok:
		e := diag.New(source.CodeUndefined, im.at(n), "reads %s, which no node, input or initializer defines", quote(name))
		if near := nearest(name, sortedKeys(made)); near != "" {
			e = e.WithHint("did you mean %s?", quote(near))
		}
		return e
	case at < reader:
		return nil
	case im.reaches(made, at, reader):
		return diag.New(source.CodeCycle, im.at(n), "stands on a cycle: it needs %s, which needs its own result", quote(name))
	}
	return diag.New(source.CodeOrder, im.at(n), "reads %s, which a later node defines", quote(name)).
		WithHint("sort the nodes topologically")
}

// reaches says that node from needs a result of node to.
func (im *importer) reaches(made defs, from, to int) bool {
	seen := make([]bool, len(im.model.graph.nodes))
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
		for _, in := range im.model.graph.nodes[at].in {
			if d, ok := made[in]; ok && d != initial {
				stack = append(stack, d)
			}
		}
	}
	return false
}

// findLive marks the nodes that the outputs need; the others are leftovers and are not looked at.
func (im *importer) findLive(made defs) error {
	g := im.model.graph
	im.live = make([]bool, len(g.nodes))
	var stack []int
	outputs := make(map[string]bool, len(g.outputs))
	for _, o := range g.outputs {
		at, ok := made[o.name]
		if !ok {
			e := diag.New(source.CodeUndefined, "", "output %s is computed by no node", quote(o.name))
			if near := nearest(o.name, sortedKeys(made)); near != "" {
				e = e.WithHint("did you mean %s?", quote(near))
			}
			return e
		}
		if outputs[o.name] {
			return diag.New(source.CodeDuplicate, "", "output %s is listed twice", quote(o.name))
		}
		outputs[o.name] = true
		if at != initial {
			stack = append(stack, at)
		}
	}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if im.live[at] {
			continue
		}
		im.live[at] = true
		for _, in := range g.nodes[at].in {
			if d, ok := made[in]; ok && d != initial {
				stack = append(stack, d)
			}
		}
	}
	return nil
}
