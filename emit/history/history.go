// SPDX-License-Identifier: Apache-2.0

// Package history keeps what every pass made of a graph, and prints it as one page with the passes side by side.
package history

import (
	"fmt"
	"strings"

	"lathe/ir"
	"lathe/ir/text"
)

// History is graphs after each of the passes that ran over them. A pass changes its graph in place; where the compiler
// tries several ways, each has a graph of its own.
type History struct {
	Title   string // of the page: the model
	Version string // that of the compiler
	runs    map[*ir.Graph][]column
}

// Pass says which pass a column is about.
type Pass struct {
	Pipeline, Name string
	Doc            string // what it does, in a sentence
	Effect         string // what it may do to values
}

// column is the graph after a pass: its nodes in order, and behind them what it returns.
type column struct {
	Pass
	states []state
}

// state is a node as one pass left it. The name stays the same from pass to pass; what else differs is a change.
type state struct {
	name   string
	pos    string // the place in the source model
	fields [fieldCount]string
	args   []string // names of the arguments
	fixed  bool     // a constant
}

// The fields of a state, in the order in which a cell shows them.
const (
	fieldOp = iota
	fieldArgs
	fieldType
	fieldLanes
	fieldAttrs
	fieldHW
	fieldStats
	fieldCount
)

// Record adds g as p left it; g may change afterwards.
func (h *History) Record(p Pass, g *ir.Graph) {
	c := column{Pass: p}
	for _, n := range g.Nodes {
		c.states = append(c.states, stateOf(n))
	}
	for _, o := range g.Out {
		s := state{name: "return " + o.Name, args: []string{o.Node.Name}}
		s.fields[fieldOp], s.fields[fieldArgs], s.fields[fieldType] = "return", o.Node.Name, o.Node.Type.String()
		if o.Perm != nil {
			s.fields[fieldAttrs] = "perm " + shape(o.Perm)
		}
		c.states = append(c.states, s)
	}
	if h.runs == nil {
		h.runs = map[*ir.Graph][]column{}
	}
	h.runs[g] = append(h.runs[g], c)
}

// Has says that a pass left g.
func (h *History) Has(g *ir.Graph) bool { return len(h.runs[g]) > 0 }

func shape(axes []int) string { return strings.ReplaceAll(ir.ShapeString(axes), "x", ", ") }

func stateOf(n *ir.Node) state {
	l := text.LineOf(n)
	s := state{name: n.Name, pos: n.Pos, fixed: n.IsConst()}
	for _, a := range n.Args {
		s.args = append(s.args, a.Name)
	}
	s.fields = [fieldCount]string{
		fieldOp: l.Op, fieldArgs: strings.Join(s.args, ", "), fieldType: l.Type, fieldLanes: lanes(n),
		fieldAttrs: bare(l.Attrs), fieldHW: bare(l.HW), fieldStats: values(n.Stats),
	}
	return s
}

// values says what is known of the values of a node.
func values(s ir.Stats) string {
	switch {
	case !s.Known:
		return ""
	case s.Samples == 0:
		return fmt.Sprintf("values %.4g to %.4g, by interval analysis", s.Min, s.Max)
	}
	return fmt.Sprintf("values %.4g to %.4g, of %d samples", s.Min, s.Max, s.Samples)
}

// bare is a text of ir/text without its braces.
func bare(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}") }

// same says that nothing of a node has changed.
func (s *state) same(o *state) bool { return s.fields == o.fields && s.pos == o.pos }

// rows are the names of all nodes that there ever were: a node that a pass adds stands behind the one that it follows
// in the graph after this pass.
func rows(columns []column) []string {
	next, known := map[string]string{}, map[string]bool{} // "" is in front of the first
	for _, c := range columns {
		at := ""
		for _, s := range c.states {
			if !known[s.name] {
				known[s.name] = true
				next[s.name], next[at] = next[at], s.name
			}
			at = s.name
		}
	}
	var order []string
	for n := next[""]; n != ""; n = next[n] {
		order = append(order, n)
	}
	return order
}
