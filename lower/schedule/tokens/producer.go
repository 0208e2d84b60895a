// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"lathe/ir"
)

// Producer finds the node that computes x, behind wires.
func Producer(x *ir.Node) *ir.Node {
	for x.Op.Traits.Wire {
		x = x.Args[0]
	}
	return x
}
