// SPDX-License-Identifier: Apache-2.0

package syntax

// maxAlias bounds how many aliases a location leads through.
const maxAlias = 64

// location finds the name in loc(...): the outermost text that is no file with a line. It is "" where there is none.
func (f *File) location(n *Node) string { return f.locName(n.Kids, maxAlias) }

// locName reads #loc1, "name", "name"(inner), fused[...], callsite(inner at inner), "file":1:2.
func (f *File) locName(nodes []Node, depth int) string {
	if depth == 0 || len(nodes) == 0 {
		return ""
	}
	switch n := &nodes[0]; {
	case n.Kind == Hash:
		if a := f.aliases[n.Text]; a != nil {
			return f.aliasName(a, depth-1)
		}
	case n.Kind == Text:
		if len(nodes) > 1 && nodes[1].Is(":") {
			return ""
		}
		return n.Text
	case n.Is("fused"):
		for i := range nodes[1:] {
			if k := &nodes[1+i]; k.Kind == Bracket {
				for _, part := range split(k.Kids) {
					if name := f.locName(part, depth-1); name != "" {
						return name
					}
				}
			}
		}
	case n.Is("callsite"):
		if len(nodes) > 1 && nodes[1].Kind == Paren {
			return f.locName(nodes[1].Kids, depth-1)
		}
	}
	return ""
}

// aliasName reads the value of an alias: loc(...).
func (f *File) aliasName(a *Node, depth int) string {
	if len(a.Kids) > 1 && a.Kids[0].Is("loc") && a.Kids[1].Kind == Paren {
		return f.locName(a.Kids[1].Kids, depth)
	}
	return ""
}
