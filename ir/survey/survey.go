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
	// Buffers is the number of elements that the model stores and does not train: running statistics, tables, masks.
	Buffers int `json:"buffers,omitempty"`
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
	// Params is the number of elements of distinct parameters: trained ones, as the model has them, without buffers and
	// literals. What shares its bytes in the file counts once.
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

// tensor is a constant of the source model: where it lies, and its elements.
type tensor struct {
	storage
	elems int
}

// stored are the tensors of a role that the values of n come from. Plain whole numbers are of none.
func stored(n *ir.Node, role ir.Role) []tensor {
	c, isConst := n.Attrs.(*ir.Const)
	if !isConst || ir.IsWhole(n.Type.Format) {
		return nil
	}
	var list []tensor
	for _, s := range c.Sources() {
		if s.Role == role && len(s.Data.Bytes) > 0 {
			list = append(list, tensor{storage{&s.Data.Bytes[0], len(s.Data.Bytes)}, s.Data.Len()})
		}
	}
	return list
}

// counted adds up the elements of the tensors that are new, and their bytes.
func counted(known map[storage]bool, list []tensor) (elems, bytes int) {
	for _, t := range list {
		if !known[t.storage] {
			known[t.storage] = true
			elems, bytes = elems+t.elems, bytes+t.size
		}
	}
	return elems, bytes
}

// Of surveys a graph.
func Of(g *ir.Graph) *Graph {
	s := &Graph{Name: g.Name, Stage: g.Stage.String(), Source: g.Origin, Peak: peak(g)}
	readers := g.Readers()
	tree := newTree(g)
	known, buffers := map[storage]bool{}, map[storage]bool{}
	for _, n := range g.Nodes {
		if n.IsConst() {
			elems, bytes := counted(known, stored(n, ir.Parameter))
			s.Params, s.ParamBytes = s.Params+elems, s.ParamBytes+bytes
			elems, _ = counted(buffers, stored(n, ir.Buffer))
			if s.Buffers += elems; ir.IsWhole(n.Type.Format) {
				s.Whole += n.Type.Elems()
			}
			continue
		}
		row := describe(n)
		tree.add(&row, n)
		s.MACs, s.Bytes, s.Used = s.MACs+row.MACs, s.Bytes+row.Bytes, s.Used+row.Params
		switch {
		case n.IsInput():
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
	known := map[storage]bool{}
	for _, arg := range n.Args {
		if !arg.IsConst() {
			row.Args = append(row.Args, arg.Name)
		}
		elems, _ := counted(known, stored(arg, ir.Parameter))
		row.Params += elems
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
