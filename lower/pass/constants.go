// SPDX-License-Identifier: Apache-2.0

package pass

import (
	"slices"

	"lathe/golden/ref"
	"lathe/ir"
	"lathe/ir/op/leaf"
)

// Constants computes every node whose arguments are all constants. The node keeps its name.
func Constants(g *ir.Graph) error {
	for _, n := range g.Nodes {
		if len(n.Args) == 0 || slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return !a.IsConst() }) {
			continue
		}
		t, err := ref.Constant(n)
		if err != nil {
			return err
		}
		data := ir.FloatBlob(t.Floats)
		if t.Codes != nil { // whole numbers
			data = ir.CodeBlob(t.Codes)
		}
		n.Op, n.Args, n.Attrs = leaf.Const, nil, ir.Computed(data, n.Args...)
	}
	g.DropDead()
	return nil
}
