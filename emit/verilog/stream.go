// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/stream"
	"lathe/rtl"
	"lathe/rtl/netlist"
)

// handshake is the three signals of a stream in the core.
type handshake struct{ data, valid, ready netlist.Expr }

// wiresOf is the stream whose signals have the given prefix.
func wiresOf(prefix string) handshake {
	return handshake{netlist.Ref(prefix + "_data"), netlist.Ref(prefix + "_valid"), netlist.Ref(prefix + "_ready")}
}

// branch is branch i of the fork whose stream has the given prefix: the branches share the data.
func branch(prefix string, i int) handshake {
	return handshake{netlist.Ref(prefix + "_data"), netlist.Bit{Of: prefix + "_valid", At: i},
		netlist.Bit{Of: prefix + "_ready", At: i}}
}

// to binds the three ports of a stream.
func (s handshake) to(prefix string) []netlist.Connection {
	return netlist.Stream(prefix, s.data, s.valid, s.ready)
}

// reads hands the result of n to its next reader: readers come in graph order, outputs last.
func (b *builder) reads(n *ir.Node) handshake {
	i := b.read[n]
	b.read[n]++
	if n.HW.Branches > 0 {
		return branch(b.byNode[n].out, i)
	}
	return b.byNode[n].result
}

// turnsOf lists the nodes of units of g that layers share, by the first of them, which stands in front; "" where nobody
// needs what a unit computes in a turn.
func turnsOf(g, units *ir.Graph) map[string][]string {
	later := map[string][]*ir.Node{}
	for _, n := range g.Nodes {
		if n.HW.Unit != "" {
			later[n.HW.Unit] = append(later[n.HW.Unit], n)
		}
	}
	turns := map[string][]string{}
	for first, nodes := range later {
		slices.SortFunc(nodes, func(a, b *ir.Node) int { return a.HW.Turn - b.HW.Turn })
		turns[first] = []string{first}
		for _, n := range nodes {
			turns[first] = append(turns[first], n.Name)
		}
	}
	for _, n := range g.Nodes {
		if n.Op.Traits.Ring == ir.Replays && n.HW.Branches > 1 {
			turns[n.Name] = slices.Repeat([]string{n.Name}, n.HW.Branches)
		}
	}
	for n, count := range stream.Turns(units) {
		if list := turns[n.Name]; len(list) < count {
			turns[n.Name] = append(list, make([]string, count-len(list))...)
		}
	}
	return turns
}

// prefixes lists the prefixes of the input streams of a unit.
func prefixes(u *rtl.Unit) []string {
	if u.In == nil {
		return []string{"in"}
	}
	return u.In
}

// drained lists the instances whose result nobody reads: their beats are taken and forgotten.
func (b *builder) drained() (list []*instance) {
	for _, inst := range b.order {
		if b.read[inst.node] == 0 && inst.node.HW.Back == "" {
			list = append(list, inst)
		}
	}
	return list
}
