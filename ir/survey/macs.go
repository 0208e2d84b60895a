// SPDX-License-Identifier: Apache-2.0

package survey

import "lathe/ir"

// MACs counts the multiplications of a node whose products are summed, for one sample: those of linear layers,
// convolutions, products of matrices and attention. Element-wise work counts nothing.
func MACs(n *ir.Node) int {
	out := n.Type.Elems()
	if n.Op.Traits.Weighted { // a row of axis 0 of the weights for each element of the result
		w := n.Args[1].Type.Shape
		if len(w) == 0 || w[0] == 0 {
			return 0
		}
		return out * (n.Args[1].Type.Elems() / w[0])
	}
	switch n.Op.Name {
	case "matmul": // a [.., M, K], b [.., K, N]
		a := n.Args[0].Type.Shape
		return out * a[len(a)-1]
	case "attention": // q [B, H, T, D], k [B, G, S, D], v [B, G, S, E]
		q, v := n.Args[0].Type.Shape, n.Args[2].Type.Shape
		if len(q) != 4 || len(v) != 4 {
			return 0
		}
		return q[0] * q[1] * q[2] * v[2] * (q[3] + v[3])
	}
	return 0
}
