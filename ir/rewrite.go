// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"reflect"
)

// Replace makes every user of old, and every graph output that is old, use new instead.
// new itself keeps its arguments, so it may read old. Call Sort afterwards when new stands behind a user.
func (g *Graph) Replace(old, new *Node) {
	for _, n := range g.Nodes {
		if n == new {
			continue
		}
		for i, a := range n.Args {
			if a == old {
				n.Args[i] = new
			}
		}
	}
	for i, o := range g.Out {
		if o.Node == old {
			g.Out[i].Node = new
		}
	}
}

// InsertAfter puts n directly behind at in the node order.
func (g *Graph) InsertAfter(at, n *Node) {
	for i, m := range g.Nodes {
		if m == at {
			g.Nodes = append(g.Nodes[:i+1], append([]*Node{n}, g.Nodes[i+1:]...)...)
			return
		}
	}
	g.Nodes = append(g.Nodes, n)
}

// InsertBefore puts n directly before at in the node order.
func (g *Graph) InsertBefore(at, n *Node) {
	for i, m := range g.Nodes {
		if m == at {
			g.Nodes = append(g.Nodes[:i], append([]*Node{n}, g.Nodes[i:]...)...)
			return
		}
	}
	g.Nodes = append(g.Nodes, n)
}

// DropDead removes nodes that no output needs and returns how many went. Inputs stay: they are the interface.
func (g *Graph) DropDead() int {
	live := make(map[*Node]bool, len(g.Nodes))
	names := make(map[string]bool)
	mark := func(stack ...*Node) {
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !live[n] {
				live[n], names[n.Name] = true, true
				stack = append(stack, n.Args...)
			}
		}
	}
	for _, o := range g.Out {
		mark(o.Node)
	}
	for _, n := range g.In {
		live[n] = true
	}
	for _, n := range g.Nodes { // in a graph of units nobody reads what goes round
		if n.HW.Back != "" && names[n.HW.Back] {
			mark(n)
		}
	}
	kept := g.Nodes[:0:0]
	for _, n := range g.Nodes {
		if live[n] {
			kept = append(kept, n)
		}
	}
	dropped := len(g.Nodes) - len(kept)
	g.Nodes = kept
	return dropped
}

// CloneAttrs copies the struct behind the pointer; slices in it and in structs that it holds are copied one level deep,
// constant data is shared.
func CloneAttrs(attrs any) any {
	if attrs == nil {
		return nil
	}
	src := reflect.ValueOf(attrs).Elem()
	dst := reflect.New(src.Type())
	copyFields(dst.Elem(), src)
	return dst.Interface()
}

// copyFields copies a struct with the lists in it and in the structs that it embeds.
func copyFields(dst, src reflect.Value) {
	dst.Set(src)
	for i := range src.NumField() {
		switch f := src.Field(i); {
		case !dst.Field(i).CanSet():
		case f.Kind() == reflect.Struct:
			copyFields(dst.Field(i), f)
		case f.Kind() == reflect.Slice && !f.IsNil():
			c := reflect.MakeSlice(f.Type(), f.Len(), f.Len())
			reflect.Copy(c, f)
			dst.Field(i).Set(c)
		}
	}
}
