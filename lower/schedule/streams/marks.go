// SPDX-License-Identifier: Apache-2.0

package streams

import (
	"fmt"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/stream"
	"lathe/ir/unit"
)

// MarkFrames marks the ends of frames where units need them.
func MarkFrames(units *unit.Cache, g *ir.Graph) error {
	i := slices.IndexFunc(g.In, func(n *ir.Node) bool { return n.HW.Ends })
	if i < 0 {
		return nil
	}
	for _, n := range g.Nodes {
		if n.HW.Tokens > 0 && n.Beats()%n.HW.Tokens != 0 {
			return n.Errorf(diag.FixedLength, "%d lanes put elements of two tokens into one beat", n.HW.OutLanes).
				WithHint("choose lanes that divide the %d elements of a token", n.Type.OfToken())
		}
	}
	return stream.InsertMarks(g, g.In[i], func(n *ir.Node) (int, error) {
		u, err := units.Of(n)
		if err != nil || u == nil || u.Ends == "" {
			return -1, err
		}
		at := max(slices.Index(u.In, u.Ends), 0)
		for i, a := range n.Args {
			if a.IsConst() {
				continue
			}
			if at--; at < 0 {
				return i, nil
			}
		}
		return -1, fmt.Errorf("%s has no stream %s", n.Name, u.Ends)
	})
}
