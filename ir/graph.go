// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"fmt"

	"lathe/internal/diag"
)

// Output is one named result of a graph.
type Output struct {
	Name string
	Node *Node
	// Perm, if not nil, restores the caller's layout: axis i of the array that the caller gets is axis Perm[i] of the
	// node's value. Lowering sets it where it pushes a transpose out of the graph.
	Perm []int
}

// Graph is a dataflow graph. Nodes are in topological order: arguments before users.
type Graph struct {
	Name string
	// In lists the input nodes in the order of the source model; they also stand in Nodes.
	In    []*Node
	Out   []Output
	Nodes []*Node
	// Stage says how far lowering has come.
	Stage Stage
	// Origin is what the importer saw in the model file; nil in saved graphs and in graphs made elsewhere.
	Origin *Origin
}

// Stage is how far a graph is lowered; each stage has its own checks.
type Stage uint8

// Stages, in order.
const (
	StageFloat     Stage = iota // as imported: float values
	StageQuantized              // every value has a number format
	StageScheduled              // every node has lanes, latency and memory
)

// String is the word used in the text form.
func (s Stage) String() string { return [...]string{"float", "quantized", "scheduled"}[s] }

// Find returns the node called name, or nil.
func (g *Graph) Find(name string) *Node {
	for _, n := range g.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// Users maps every node to the nodes that read it, in graph order; a node that reads it twice stands twice.
func (g *Graph) Users() map[*Node][]*Node {
	users := make(map[*Node][]*Node, len(g.Nodes))
	for _, n := range g.Nodes {
		for _, a := range n.Args {
			users[a] = append(users[a], n)
		}
	}
	return users
}

// Readers counts for every node the arguments and outputs that are its value.
func (g *Graph) Readers() map[*Node]int {
	readers := make(map[*Node]int, len(g.Nodes))
	for _, n := range g.Nodes {
		for _, a := range n.Args {
			readers[a]++
		}
	}
	for _, o := range g.Out {
		readers[o.Node]++
	}
	return readers
}

// IsOutput says that n is a result of the graph.
func (g *Graph) IsOutput(n *Node) bool {
	for _, o := range g.Out {
		if o.Node == n {
			return true
		}
	}
	return false
}

// Clone copies the graph and its nodes; attributes are copied, constant data is shared.
func (g *Graph) Clone() *Graph {
	c := &Graph{Name: g.Name, Stage: g.Stage, Origin: g.Origin.Clone()}
	copies := make(map[*Node]*Node, len(g.Nodes))
	for _, n := range g.Nodes {
		m := *n
		m.Attrs = CloneAttrs(n.Attrs)
		m.Args = make([]*Node, len(n.Args))
		for i, a := range n.Args {
			m.Args[i] = copies[a]
		}
		copies[n] = &m
		c.Nodes = append(c.Nodes, &m)
	}
	for _, n := range g.In {
		c.In = append(c.In, copies[n])
	}
	for _, o := range g.Out {
		c.Out = append(c.Out, Output{o.Name, copies[o.Node], o.Perm})
	}
	return c
}

// Sort puts Nodes into topological order (stable: by the order they stand in) and adds nodes that are only reachable
// through arguments. A cycle is an error that names a node on it.
func (g *Graph) Sort() error {
	const (
		fresh = iota
		open
		done
	)
	state := make(map[*Node]int, len(g.Nodes))
	sorted := make([]*Node, 0, len(g.Nodes))
	type frame struct {
		n    *Node
		next int
	}
	for _, root := range g.Nodes {
		stack := []frame{{n: root}}
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if state[f.n] == done {
				stack = stack[:len(stack)-1]
				continue
			}
			state[f.n] = open
			if f.next == len(f.n.Args) {
				state[f.n] = done
				sorted = append(sorted, f.n)
				stack = stack[:len(stack)-1]
				continue
			}
			arg := f.n.Args[f.next]
			f.next++
			switch state[arg] {
			case open:
				return diag.New(diag.NodeOrder, arg.Pos, "the graph has a cycle through %q", arg.Name)
			case fresh:
				stack = append(stack, frame{n: arg})
			}
		}
	}
	g.Nodes = sorted
	return nil
}

// FreshName returns base, or base with the first number that makes it unused: base_2, base_3, ...
func (g *Graph) FreshName(base string) string {
	used := make(map[string]bool, len(g.Nodes))
	for _, n := range g.Nodes {
		used[n.Name] = true
	}
	return freshIn(used, base)
}

func freshIn(used map[string]bool, base string) string {
	name := base
	for i := 2; used[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	return name
}
