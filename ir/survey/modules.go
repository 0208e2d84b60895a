// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"strings"

	"lathe/ir"
)

// Module is a module of the source model and what its nodes and those of the modules in it consist of.
type Module struct {
	// Path is "" for the model itself. Class is "" where the file does not tell.
	Path  string `json:"path"`
	Class string `json:"class,omitempty"`
	Depth int    `json:"depth"`
	Nodes int    `json:"nodes"`
	Sizes
	// Own are the parameters that nodes of the module itself read.
	Own int `json:"own_parameters"`
}

// branch is a module while the tree grows.
type branch struct {
	Module
	children []*branch
	seen     map[storage]bool // parameters that nodes in it read
	own      map[storage]bool
}

// tree holds the modules of a graph by path.
type tree struct {
	root    *branch
	byPath  map[string]*branch
	classes map[string]bool // paths that the file calls modules
}

// newTree begins with the modules that the file names.
func newTree(g *ir.Graph) *tree {
	t := &tree{root: newBranch("", 0), classes: map[string]bool{}}
	t.byPath = map[string]*branch{"": t.root}
	if g.Origin == nil {
		return t
	}
	for _, m := range g.Origin.Modules {
		if strings.Count(m.Path, ".") >= deepest {
			continue
		}
		t.at(m.Path).Class = m.Class
		t.classes[m.Path] = true
	}
	return t
}

func newBranch(path string, depth int) *branch {
	return &branch{Module: Module{Path: path, Depth: depth}, seen: map[storage]bool{}, own: map[storage]bool{}}
}

// at is the module at path, made with those around it where it is new.
func (t *tree) at(path string) *branch {
	if b := t.byPath[path]; b != nil {
		return b
	}
	outer := t.at(outerOf(path))
	b := newBranch(path, outer.Depth+1)
	outer.children = append(outer.children, b)
	t.byPath[path] = b
	return b
}

func outerOf(path string) string {
	if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
		return path[:dot]
	}
	return ""
}

// owner is the path of the module that a node belongs to, by its name: the longest one that the file calls a module. In
// graphs without such facts all that stands before a dot is one, and the name too.
func (t *tree) owner(name string) string {
	if len(t.classes) == 0 {
		return name
	}
	for path := name; path != ""; path = outerOf(path) {
		if t.classes[path] {
			return path
		}
		if base := strings.TrimRight(path, "0123456789"); strings.HasSuffix(base, "_") && t.classes[base[:len(base)-1]] {
			return base[:len(base)-1] // a module that is called again
		}
	}
	return ""
}

// deepest bounds the modules around a node; deeper names come from broken files.
const deepest = 64

// add finds the module of a node, and counts the node for it and for those around it.
func (t *tree) add(row *Node, n *ir.Node) {
	if n.IsInput() {
		return
	}
	if strings.Count(n.Name, ".") < deepest {
		row.Module = t.owner(n.Name)
	}
	inner := t.at(row.Module)
	for _, arg := range n.Args {
		elems, _ := counted(inner.own, stored(arg, ir.Parameter))
		inner.Own += elems
	}
	for b := inner; ; b = t.byPath[outerOf(b.Path)] {
		b.Nodes++
		b.MACs, b.Bytes = b.MACs+row.MACs, b.Bytes+row.Bytes
		for _, arg := range n.Args {
			elems, _ := counted(b.seen, stored(arg, ir.Parameter))
			b.Params += elems
		}
		if b == t.root {
			return
		}
	}
}

// modules lists the tree, outer before inner.
func (t *tree) modules() []Module {
	var list []Module
	var walk func(*branch)
	walk = func(b *branch) {
		list = append(list, b.Module)
		for _, c := range b.children {
			walk(c)
		}
	}
	walk(t.root)
	return list
}
