// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"lathe/ir"
)

// Run evaluates n on the values of its arguments.
func Run(n *ir.Node, args []*ir.Tensor) (*ir.Tensor, error) {
	k, err := n.Kernel()
	if err != nil {
		return nil, err
	}
	return k(args)
}
