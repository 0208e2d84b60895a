// SPDX-License-Identifier: Apache-2.0

package arith

import (
	"lathe/internal/diag"
	"lathe/ir"
)

// ConstArg returns the value of a constant argument.
func ConstArg(n *ir.Node, i int) (*ir.Tensor, error) {
	if !n.Args[i].IsConst() {
		return nil, n.Errorf(diag.ArgumentNotConstant, "argument %d (%s) must be a constant", i, n.Args[i].Name)
	}
	return n.Args[i].Value()
}

// ConstLattice reads a constant argument as integers.
func ConstLattice(n *ir.Node, i int) (*ir.Lattice, error) {
	t, err := ConstArg(n, i)
	if err != nil {
		return nil, err
	}
	l, err := t.Lattice()
	if err != nil {
		return nil, n.Errorf(diag.OpFormats, "%s: %v", n.Args[i].Name, err)
	}
	return l, nil
}
