// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/ring"
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

// behindFailed says that a node in front of n has no unit, which is reported already.
func (b *builder) behindFailed(n *ir.Node) bool {
	return slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return !a.IsConst() && b.byNode[a] == nil })
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
	turns := map[string][]string{}
	note := func(first string, turn int, name string) {
		if list := turns[first]; len(list) <= turn {
			turns[first] = append(list, make([]string, turn+1-len(list))...)
		}
		turns[first][turn] = name
	}
	for n, count := range ring.Turns(units) {
		note(n.Name, count-1, "")
		note(n.Name, 0, n.Name)
	}
	for _, n := range g.Nodes {
		switch {
		case n.HW.Unit != "":
			note(n.HW.Unit, n.HW.Turn, n.Name)
			turns[n.HW.Unit][0] = n.HW.Unit
		case n.Op.Traits.Ring == ir.Replays && n.HW.Branches > 1:
			turns[n.Name] = slices.Repeat([]string{n.Name}, n.HW.Branches)
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
