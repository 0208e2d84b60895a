// SPDX-License-Identifier: Apache-2.0

package move

import "lathe/ir"

// PadsWith is the constant that n, a pad, puts around values; false for other nodes.
func PadsWith(n *ir.Node) (v float32, ok bool) {
	a, ok := n.Attrs.(*PadAttrs)
	if !ok {
		return 0, false
	}
	return a.Value, true
}

// PadWith lets n, a pad, put v around values.
func PadWith(n *ir.Node, v float32) {
	a := *n.Attrs.(*PadAttrs)
	a.Value = v
	n.Attrs = &a
}
