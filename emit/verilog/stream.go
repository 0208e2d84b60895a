// SPDX-License-Identifier: Apache-2.0

package verilog

import (
	"fmt"

	"lathe/ir"
	"lathe/ir/op"
	"lathe/rtl"
)

// stream names the three signals of a stream in the core.
type stream struct{ data, valid, ready string }

// wiresOf is the stream whose signals have the given prefix.
func wiresOf(prefix string) stream {
	return stream{prefix + "_data", prefix + "_valid", prefix + "_ready"}
}

// branch is branch i of a fork: the branches share the data.
func (s stream) branch(i int) stream {
	return stream{s.data, fmt.Sprintf("%s[%d]", s.valid, i), fmt.Sprintf("%s[%d]", s.ready, i)}
}

// reads hands the result of n to its next reader: readers come in graph order, outputs last.
func (b *builder) reads(n *ir.Node) stream {
	i := b.read[n]
	b.read[n]++
	if n.Op == op.Fork {
		return b.byNode[n].result.branch(i)
	}
	return b.byNode[n].result
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
		if b.read[inst.node] == 0 {
			list = append(list, inst)
		}
	}
	return list
}
