// SPDX-License-Identifier: Apache-2.0

// Package recognize finds operations that exporters have written as several simpler ones, and makes them whole again:
// GELU, SiLU, softmax, normalizations, linear layers, rotary embeddings, attention.
//
// A pattern looks at the last node of what it knows. It does not compare trees, of which there is one for each
// exporter, but normal forms: a product of powers, a sum with coefficients, a polynomial in one value (normal.go).
// Constants are compared with a tolerance. What a pattern replaces is dropped where nothing else reads it.
package recognize

import (
	"slices"
	"strings"

	"lathe/ir"
	"lathe/ir/op/move"
)

// Pattern is one form that is recognized.
type Pattern struct {
	// Makes is the name of the operation that stands for it.
	Makes string
	// Form is the formula, for people.
	Form string
	// match returns what computes the value of n, nil if n is not the end of such a form.
	match func(m *matcher, n *ir.Node) *made
}

// made is the operation that takes the place of a node. before are nodes that it needs, in order.
type made struct {
	op     *ir.Op
	attrs  any
	args   []*ir.Node
	before []*ir.Node
	// name is the node whose name fits best, nil for that of the last one; self is another name for that.
	name *ir.Node
	self string
}

// Found counts what patterns have made, by operation, in the order of the table.
type Found struct {
	Op string
	// Nodes are the names of the nodes that were made.
	Nodes []string
}

// Group is patterns that one pass recognizes, under its name and sentence.
type Group struct {
	Name, Doc string
	Patterns  []Pattern
}

// The groups; a later one reads what earlier ones make.
var (
	Functions = Group{"recognize_functions",
		"decomposed functions of single elements become gelu, silu, mish, hard_swish " +
			"and the like", functions}
	Softmax = Group{"recognize_softmax", "exponential functions and their sums become softmax and log_softmax",
		softmaxes}
	Norms     = Group{"recognize_norms", "decomposed normalizations become layer_norm and rms_norm", norms}
	Linear    = Group{"recognize_linear", "matmul by constants and the addition after it become linear", linears}
	Rotary    = Group{"recognize_rotary", "decomposed rotary embeddings become rotary", rotaries}
	Attention = Group{"recognize_attention", "products, scale, mask and softmax become attention", attentions}
)

// Groups lists all groups in their order.
var Groups = []Group{Functions, Softmax, Norms, Linear, Rotary, Attention}

// Run rewrites g by the patterns of one group, from its inputs to its outputs.
func Run(g *ir.Graph, patterns []Pattern) []Found {
	m := newMatcher(g)
	found := make([]Found, len(patterns))
	type ending struct {
		at int
		n  *ir.Node
	}
	var ends []ending
	had := map[string]bool{}
	for _, n := range slices.Clone(g.Nodes) {
		had[n.Name] = true
		if n.IsConst() || !n.Type.IsFloat() {
			continue
		}
		for i, p := range patterns {
			m.left = mostWork
			r := p.match(m, n)
			if r == nil || !m.apply(n, r) {
				continue
			}
			if dot := strings.LastIndexByte(n.Name, '.'); r.name != nil {
				m.wanted[n] = r.name.Name
				if better := m.wanted[r.name]; better != "" {
					m.wanted[n] = better
				}
			} else if dot > 0 && had[n.Name[:dot]] { // the first part had the name of the module
				m.wanted[n] = n.Name[:dot]
			}
			ends = append(ends, ending{i, n})
			break
		}
	}
	g.DropDead()
	rename(g, m.wanted)
	live := map[*ir.Node]bool{}
	for _, n := range g.Nodes {
		live[n] = true
	}
	for _, e := range ends {
		n := e.n
		if n.Op == move.Reshape && n.Op.Name != patterns[e.at].Makes {
			n = n.Args[0] // what was made stands before it
		}
		if live[e.n] && n.Op.Name == patterns[e.at].Makes { // no part of what a later pattern made
			found[e.at].Op = patterns[e.at].Makes
			found[e.at].Nodes = append(found[e.at].Nodes, n.Name)
		}
	}
	return merge(found)
}

// merge joins the counts of patterns that make the same operation.
func merge(found []Found) []Found {
	var out []Found
	for _, f := range found {
		if f.Op == "" {
			continue
		}
		if i := slices.IndexFunc(out, func(o Found) bool { return o.Op == f.Op }); i >= 0 {
			out[i].Nodes = append(out[i].Nodes, f.Nodes...)
			continue
		}
		out = append(out, f)
	}
	return out
}

// rename gives nodes the names of parts that are gone.
func rename(g *ir.Graph, wanted map[*ir.Node]string) {
	taken := map[string]bool{}
	for _, n := range g.Nodes {
		taken[n.Name] = true
	}
	for _, n := range g.Nodes {
		if name := wanted[n]; name != "" && !taken[name] {
			delete(taken, n.Name)
			n.Name = name
			taken[name] = true
		}
	}
}
