// SPDX-License-Identifier: Apache-2.0

package streams

import (
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/unit"
)

// AbsorbDecoders takes away exact decoders of floats whose readers all multiply the codes as they are: fewer bits
// travel, and significands are shorter factors. The bits of all other values stay as they were.
func AbsorbDecoders(units *unit.Cache, g *ir.Graph) error {
	users := g.Users()
	for _, c := range g.Nodes {
		if !decodesFloats(c) || len(users[c]) != 1 || g.IsOutput(c) {
			continue
		}
		fork, readers := users[c][0], users[c]
		if fork.Op.Traits.Forks {
			readers = users[fork]
			if g.IsOutput(fork) {
				continue
			}
		}
		reconnect(c, c.Args[0], fork, readers)
		for _, n := range readers {
			if u, err := units.Of(n); err != nil || u == nil || !n.Op.Traits.Weighted {
				reconnect(c.Args[0], c, fork, readers)
				break
			}
		}
	}
	g.DropDead()
	return nil
}

// reconnect has the readers of the value from, which may come by a fork, read the value to.
func reconnect(from, to, fork *ir.Node, readers []*ir.Node) {
	if fork != readers[0] {
		fork.Args[0], fork.Type, fork.Stats = to, to.Type, to.Stats
		return
	}
	for i, a := range fork.Args {
		if a == from {
			fork.Args[i] = to
		}
	}
}

// decodesFloats says that c is the exact cast of codes of a float, of so many bits that products of integers are dear.
func decodesFloats(c *ir.Node) bool {
	if !c.Op.Traits.Casts || len(c.Args) != 1 {
		return false
	}
	f := c.Args[0].Type.Format
	exact, ok := format.ExactFixed(f)
	_, mini := format.MinifloatOf(f)
	return ok && mini && format.SameType(c.Type.Format, exact)
}
