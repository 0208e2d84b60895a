// SPDX-License-Identifier: Apache-2.0

package unit

import (
	"lathe/ir"
	"lathe/rtl"
)

// Sweeps is how often all weights of n, which has some, are used for a sample: once for each of the vectors that a
// linear layer reads, or for each pixel of the result of a convolution.
func Sweeps(n *ir.Node) int { return n.Type.Elems() / max(n.Args[1].Type.Shape[0], 1) }

// Traffic is the beats of weights that u, the unit of n, reads from a memory outside for each sample, in which it works
// in so many turns; 0 is 1.
func Traffic(n *ir.Node, u *rtl.Unit, turns int) int {
	if u.Weights == nil {
		return 0
	}
	return u.Weights.Traffic(Sweeps(n) * max(turns, 1))
}
