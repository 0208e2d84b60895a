// SPDX-License-Identifier: Apache-2.0

package survey

import "lathe/ir"

// MACs counts the multiplications of a node whose products are summed, for one sample: those of its operation's column,
// or one for each weight that an element of the result is made of. Element-wise work counts nothing.
func MACs(n *ir.Node) int {
	if n.Op.MACs != nil {
		return n.Op.MACs(n)
	}
	if n.Op.Traits.Weighted { // a row of axis 0 of the weights for each element of the result
		w := n.Args[1].Type.Shape
		if len(w) == 0 || w[0] == 0 {
			return 0
		}
		return n.Type.Elems() * (n.Args[1].Type.Elems() / w[0])
	}
	return 0
}
