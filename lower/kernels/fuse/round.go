// SPDX-License-Identifier: Apache-2.0

package fuse

import "lathe/ir"

// Round leaves rounding to floats of 16 bits to the results of groups: what is computed within them is fp32.
func Round(g *ir.Graph) error {
	users := g.Users()
	group := func(n *ir.Node) string {
		if n.HW.Group != "" {
			return n.HW.Group
		}
		return n.Name
	}
	rounds := map[*ir.Node]bool{} // to what the node rounds is what leaves the group
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		rounds[n] = g.IsOutput(n)
		for _, u := range users[n] {
			rounds[n] = rounds[n] || group(u) != group(n) || moves(u) && rounds[u]
		}
	}
	for _, n := range g.Nodes {
		if _, half := n.Type.Half(); !half || n.Op.Traits.Source {
			continue
		}
		if moves(n) {
			n.Type.Format = n.Args[0].Type.Format
		} else if !rounds[n] {
			n.Type.Format = ir.Float().Format
		}
	}
	return nil
}
