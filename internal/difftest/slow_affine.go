// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
)

// slowQuant is the value of the code of x; in a quantized graph the encoding follows.
func slowQuant(n *ir.Node, x value) ([]*big.Rat, error) {
	a := n.Attrs.(*op.QuantAttrs)
	f, err := format.Parse(a.Format)
	if err != nil {
		return nil, err
	}
	t := ir.Type{Shape: x.shape, Format: f}
	return fill(x.shape, func(i []int) *big.Rat {
		v := x.at(i...)
		switch {
		case a.Bipolar && v.Sign() < 0:
			return decodeOne(t, 0, -1)
		case a.Bipolar:
			return decodeOne(t, 0, 1)
		case n.Type.IsFloat():
			return decodeOne(t, 0, encode(f, v))
		}
		return v
	}), nil
}
