// SPDX-License-Identifier: Apache-2.0

// Package diff tells in what two graphs differ: nodes and their attributes, and the values of constants.
package diff

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"lathe/ir"
	"lathe/ir/survey"
	"lathe/ir/text"
)

// Options say what counts as a difference.
type Options struct {
	// Tolerance is the greatest absolute difference of two weights that are still the same.
	Tolerance float64
	// Names: partners must have the same names too, and so must inputs and outputs.
	Names bool
}

// Result lists the differences of two graphs, a the first and b the second.
type Result struct {
	// Removed stand in a only, Added in b only; nodes in graph order, then constants.
	Removed []Item `json:"removed,omitempty"`
	Added   []Item `json:"added,omitempty"`
	// Changed are nodes that both have.
	Changed []Change `json:"changed,omitempty"`
	// Weights are constants that both have with other values.
	Weights []Weight `json:"weights,omitempty"`
	// Renamed are partners of different names, Outputs those of outputs.
	Renamed []Names `json:"renamed,omitempty"`
	Outputs []Names `json:"outputs_renamed,omitempty"`
	// Matched counts the nodes that have partners, Equal the constants with the same values, Bytes those of them that
	// have the same bytes.
	Matched int  `json:"nodes_matched"`
	Equal   int  `json:"weights_equal"`
	Bytes   int  `json:"weights_of_same_bytes"`
	Same    bool `json:"same"`
}

// Item is a node of one graph.
type Item struct {
	Name   string `json:"name"`
	Op     string `json:"op"`
	Type   string `json:"type"`
	Source string `json:"source,omitempty"`
}

// Names are those of one thing in the two graphs.
type Names struct {
	A string `json:"a"`
	B string `json:"b"`
}

// Change is a node and the aspects in which it differs.
type Change struct {
	Names
	Op      string   `json:"op"`
	Aspects []Aspect `json:"aspects"`
}

// Aspect is something that differs: op, shape, format, an attribute, an argument.
type Aspect struct {
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Of compares two graphs. An error is one of reading constants.
func Of(a, b *ir.Graph, o Options) (*Result, error) {
	r, err := compare(match(a, b, true), o)
	if err != nil || o.Names || r.structure() == 0 {
		return r, err
	}
	// Names that exporters count (view_2) may stand for other nodes.
	other, err := compare(match(a, b, false), o)
	if err == nil && other.structure() < r.structure() {
		return other, nil
	}
	return r, err
}

// structure counts the differences that are none of values.
func (r *Result) structure() int { return len(r.Removed) + len(r.Added) + len(r.Changed) }

// compare tells in what partners differ, and who has none.
func compare(m *matching, o Options) (*Result, error) {
	m.options = o
	a, b := m.a, m.b
	r := &Result{}
	for _, n := range a.Nodes {
		p := m.of[n]
		switch {
		case p == nil:
			r.Removed = append(r.Removed, itemOf(n))
			continue
		case n.Name != p.Name && !n.IsConst():
			r.Renamed = append(r.Renamed, Names{n.Name, p.Name})
		}
		if n.IsConst() {
			if err := r.weight(n, p, o); err != nil {
				return nil, err
			}
			continue
		}
		r.Matched++
		if list := m.aspects(n, p); len(list) > 0 {
			r.Changed = append(r.Changed, Change{Names{n.Name, p.Name}, n.Op.Name, list})
		}
	}
	for _, n := range b.Nodes {
		if m.of[n] == nil {
			r.Added = append(r.Added, itemOf(n))
		}
	}
	r.outputs(m)
	r.Same = len(r.Removed)+len(r.Added)+len(r.Changed)+len(r.Weights) == 0 &&
		(!o.Names || len(r.Renamed)+len(r.Outputs) == 0)
	return r, nil
}

func itemOf(n *ir.Node) Item {
	return Item{n.Name, n.Op.Name, ir.ShapeString(n.Type.Shape) + " " + survey.FormatName(n.Type), n.Pos}
}

// aspects lists in what partners differ.
func (m *matching) aspects(x, y *ir.Node) []Aspect {
	var list []Aspect
	add := func(what, a, b string) {
		if a != b || strings.HasPrefix(what, "argument") {
			list = append(list, Aspect{what, a, b})
		}
	}
	add("op", x.Op.Name, y.Op.Name)
	add("shape", ir.ShapeString(x.Type.Shape), ir.ShapeString(y.Type.Shape))
	add("format", survey.FormatName(x.Type), survey.FormatName(y.Type))
	if x.Op == y.Op {
		other := attrs(y)
		for i, at := range attrs(x) {
			if !rounded(at[1], other[i][1]) {
				add(at[0], at[1], other[i][1])
			}
		}
	}
	add("number of arguments", fmt.Sprint(len(x.Args)), fmt.Sprint(len(y.Args)))
	for i := range min(len(x.Args), len(y.Args)) {
		if p := m.of[x.Args[i]]; p != y.Args[i] && !m.swapped(x, y) && !m.sameValue(x.Args[i], y.Args[i]) {
			add(fmt.Sprintf("argument %d", i), called(x.Args[i]), called(y.Args[i]))
		}
	}
	return list
}

// attrs are the attributes of n, those that say one thing in two ways in one: axes counted from the end, and what an
// operation makes of an attribute that is left to it.
func attrs(n *ir.Node) [][2]string {
	if a, ok := n.Attrs.(interface{ Resolved(n *ir.Node) any }); ok {
		c := *n
		c.Attrs = a.Resolved(n)
		n = &c
	}
	list := text.Attrs(n)
	for i, at := range list {
		if v, err := strconv.Atoi(at[1]); at[0] == "axis" && err == nil && v < 0 {
			list[i][1] = strconv.Itoa(v + len(n.Args[0].Type.Shape))
		}
	}
	return list
}

// rounded says that a and b are one number but for the last bits of a float32: exporters compute factors.
func rounded(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= math.Abs(x)/(1<<20) && strings.ContainsAny(a+b, ".e")
}

// sameValue says that two constants hold the same, though each has another partner: one file stores a number once for
// several readers, the other for each.
func (m *matching) sameValue(x, y *ir.Node) bool {
	if !x.IsConst() || !y.IsConst() {
		return false
	}
	var r Result
	return r.weight(x, y, m.options) == nil && len(r.Weights) == 0
}

// called is a node as an argument: its operation too, since two nodes of one name may differ.
func called(n *ir.Node) string { return "%" + n.Name + " (" + n.Op.Name + ")" }

// swapped says that x and y read the same two values in the other order, where that makes no difference.
func (m *matching) swapped(x, y *ir.Node) bool {
	return x.Op.Traits.Commutes && y.Op.Traits.Commutes && m.of[x.Args[0]] == y.Args[1] &&
		m.of[x.Args[1]] == y.Args[0]
}

// outputs compares what the outputs are and what they are called.
func (r *Result) outputs(m *matching) {
	for i := range max(len(m.a.Out), len(m.b.Out)) {
		switch {
		case i >= len(m.a.Out):
			o := m.b.Out[i]
			r.Added = append(r.Added, Item{Name: o.Name, Op: "(output)", Type: "%" + o.Node.Name})
		case i >= len(m.b.Out):
			o := m.a.Out[i]
			r.Removed = append(r.Removed, Item{Name: o.Name, Op: "(output)", Type: "%" + o.Node.Name})
		default:
			x, y := m.a.Out[i], m.b.Out[i]
			if m.of[x.Node] != y.Node {
				r.Changed = append(r.Changed, Change{Names{x.Name, y.Name}, "(output)",
					[]Aspect{{"value", called(x.Node), called(y.Node)}}})
			}
			if x.Name != y.Name {
				r.Outputs = append(r.Outputs, Names{x.Name, y.Name})
			}
		}
	}
}
