// SPDX-License-Identifier: Apache-2.0

package syntax

import "lathe/internal/diag"

// commas demands, of the items of an operation or of what stands in brackets, a comma between values, and something on
// each side of a comma, something behind a colon and an arrow. The grammar does not: it repeats tokens.
func (f *File) commas(nodes []Node) {
	if f.bad != nil {
		return
	}
	for i := range nodes {
		n := &nodes[i]
		switch {
		case n.Kind == Value && i > 0 && nodes[i-1].Kind == Value:
			f.bad = f.errorAt(diag.MLIRSyntax, n.At, "a comma is missing between %%%s and %%%s", nodes[i-1].Text, n.Text)
			return
		case !n.mark(","):
		case i == 0 || i == len(nodes)-1 || nodes[i-1].joins() || nodes[i+1].joins():
			f.bad = f.errorAt(diag.MLIRSyntax, n.At, "a comma without something on each side")
			return
		}
		if (n.mark(":") || n.mark("->")) && (i == len(nodes)-1 || nodes[i+1].joins()) {
			f.bad = f.errorAt(diag.MLIRSyntax, n.At, "nothing stands behind %q", n.Text)
			return
		}
	}
}

// mark says that the node is the given punctuation.
func (n *Node) mark(text string) bool { return n.Kind == Punct && n.Text == text }

// joins says that the node is punctuation that stands between items as a comma does.
func (n *Node) joins() bool { return n.mark(",") || n.mark(":") || n.mark("->") || n.mark("=") }
