// SPDX-License-Identifier: Apache-2.0

// Package survey counts what a graph consists of: parameters, multiplications, sizes of values, by node and by module.
// It reads no weights, so that models of any size take no time.
package survey

import (
	"slices"

	"lathe/ir"
)

// Graph is what a graph consists of.
type Graph struct {
	Name    string   `json:"name"`
	Stage   string   `json:"stage"`
	Inputs  []Node   `json:"inputs"`
	Outputs []string `json:"outputs"`
	Nodes   []Node   `json:"nodes"`
	// Modules is the tree of modules, outer before inner; the first is the model itself.
	Modules []Module `json:"modules"`
	Sizes
	// ParamBytes is what the distinct parameters take in the file, Used their number where tied ones count at each use.
	ParamBytes int `json:"parameter_bytes"`
	Used       int `json:"parameters_used"`
	// Whole is the number of elements of constants of whole numbers, which are no parameters: positions, masks.
	Whole int `json:"whole_constants,omitempty"`
	// Peak is the bytes of all values that are needed at one time, at most, when nodes run in order.
	Peak int `json:"peak_bytes"`
	// Unread names the inputs that no node reads, Dangling what is computed and read by nobody, in the model file or here.
	Unread   []string   `json:"unread_inputs,omitempty"`
	Dangling []string   `json:"dangling,omitempty"`
	Source   *ir.Origin `json:"-"`
}

// Sizes are numbers of a node, of a module or of a graph.
type Sizes struct {
	// Params is the number of elements of distinct parameters: what shares its bytes in the file counts once.
	Params int `json:"parameters"`
	// MACs is the number of multiplications whose products are summed, for one sample.
	MACs int `json:"macs"`
	// Bytes is the size of the values that are computed, of one sample.
	Bytes int `json:"activation_bytes"`
}

// Node is a node that is no constant.
type Node struct {
	Name   string   `json:"name"`
	Op     string   `json:"op"`
	Args   []string `json:"args"`
	Shape  []int    `json:"shape"`
	Format string   `json:"format"`
	Sizes
	// Module is the path of the module that the node belongs to.
	Module string `json:"module,omitempty"`
	Source string `json:"source"`
}

// storage tells constants apart by the bytes that they view.
type storage struct {
	first *byte
	size  int
}

// parameters are the constants of a graph that are no plain whole numbers.
func storageOf(n *ir.Node) (s storage, ok bool) {
	c, isConst := n.Attrs.(*ir.Const)
	if !isConst || ir.IsWhole(n.Type.Format) || len(c.Data.Bytes) == 0 {
		return s, false
	}
	return storage{&c.Data.Bytes[0], len(c.Data.Bytes)}, true
}

// Of surveys a graph.
func Of(g *ir.Graph) *Graph {
	s := &Graph{Name: g.Name, Stage: g.Stage.String(), Source: g.Origin, Peak: peak(g)}
	readers := g.Readers()
	tree := newTree(g)
	known := map[storage]bool{}
	for _, n := range g.Nodes {
		key, param := storageOf(n)
		switch {
		case param && !known[key]:
			known[key] = true
			s.Params, s.ParamBytes = s.Params+n.Type.Elems(), s.ParamBytes+key.size
			continue
		case n.IsConst():
			if !param {
				s.Whole += n.Type.Elems()
			}
			continue
		}
		row := describe(n)
		tree.add(&row, n)
		s.MACs, s.Bytes, s.Used = s.MACs+row.MACs, s.Bytes+row.Bytes, s.Used+row.Params
		switch {
		case n.Op.Name == "input":
			s.Inputs = append(s.Inputs, row)
			if readers[n] == 0 {
				s.Unread = append(s.Unread, n.Name)
			}
		case readers[n] == 0:
			s.Dangling = append(s.Dangling, n.Name)
		}
		s.Nodes = append(s.Nodes, row)
	}
	if g.Origin != nil {
		s.Dangling = append(s.Dangling, g.Origin.Dangling...)
	}
	for _, o := range g.Out {
		s.Outputs = append(s.Outputs, o.Name)
	}
	s.Modules = tree.modules()
	return s
}

// describe tells of one node; a constant is a parameter of every node that reads it.
func describe(n *ir.Node) Node {
	row := Node{Name: n.Name, Op: n.Op.Name, Shape: n.Type.Shape, Format: FormatName(n.Type), Source: n.Pos,
		Args: []string{}}
	if row.Shape == nil {
		row.Shape = []int{}
	}
	row.MACs, row.Bytes = MACs(n), size(n.Type)
	for i, arg := range n.Args {
		if !arg.IsConst() {
			row.Args = append(row.Args, arg.Name)
		} else if _, ok := storageOf(arg); ok && !slices.Contains(n.Args[:i], arg) {
			row.Params += arg.Type.Elems()
		}
	}
	return row
}

// FormatName is the format of values: whole numbers by the name of their storage type (i64, bool).
func FormatName(t ir.Type) string {
	if ir.IsWhole(t.Format) {
		return string(ir.StoredAs(t.Format))
	}
	return t.Format.String()
}

// size is the bytes that a value takes, each element in whole bits.
func size(t ir.Type) int {
	bits := max(1, t.Format.Width())
	if ir.IsWhole(t.Format) {
		bits = 8 * ir.StoredAs(t.Format).Size()
	}
	return (t.Elems()*bits + 7) / 8
}

// peak is the bytes of the values that are alive at one time, at most: from their node to the last reader.
func peak(g *ir.Graph) int {
	last := make(map[*ir.Node]int, len(g.Nodes))
	for i, n := range g.Nodes {
		last[n] = i
		for _, a := range n.Args {
			last[a] = i
		}
	}
	for _, o := range g.Out {
		last[o.Node] = len(g.Nodes)
	}
	most, live := 0, 0
	for i, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		live += size(n.Type)
		most = max(most, live)
		for k, a := range append(slices.Clone(n.Args), n) {
			if last[a] == i && !a.IsConst() && !slices.Contains(n.Args[:min(k, len(n.Args))], a) {
				live -= size(a.Type)
			}
		}
	}
	return most
}
