// SPDX-License-Identifier: Apache-2.0

package op

import (
	"lathe/ir"
	"lathe/ir/hlo"
)

// keepNaN is x where that is NaN, else y: plugins take the number of a NaN and a number for the maximum.
func keepNaN(b *hlo.Builder, x, y hlo.Value) hlo.Value {
	return b.Select(b.Compare(hlo.NE, x, x), x, y)
}

// binaryHLO prints a pair: both operands aligned in i64, then one rounding.
func binaryHLO(o pairOp, print func(b *hlo.Builder, x, y hlo.Value) hlo.Value) hloColumn {
	return func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		v, err := operands(b, n, args)
		if err != nil {
			return hlo.Value{}, err
		}
		if n.Type.IsFloat() {
			y := print(b, v[0], v[1])
			if o.kind == pairMin || o.kind == pairMax {
				y = keepNaN(b, v[0], keepNaN(b, v[1], y))
			}
			return y, b.Err()
		}
		if f, ok := wholeOf(n); ok {
			return wrapHLO(b, print(b, v[0], v[1]), f), b.Err()
		}
		p, err := planPair(n, o)
		if err != nil {
			return hlo.Value{}, n.Errorf("L0308", "%v", err)
		}
		for i, s := range p.sides {
			if p.scale == nil {
				if _, err := fixedOf(n, n.Args[i].Type); err != nil {
					return hlo.Value{}, err
				}
			}
			v[i] = wide(b, v[i])
			if s.zero != 0 {
				v[i] = b.Sub(v[i], b.Int(hlo.I64, s.zero))
			}
			if s.mul != 1 && s.mul != -1 { // a difference is printed as one
				v[i] = b.Mul(v[i], b.Int(hlo.I64, max(s.mul, -s.mul)))
			}
			v[i] = b.ShiftLeft(v[i], b.Int(hlo.I64, int64(s.shift)))
		}
		if p.bits > 63 {
			return hlo.Value{}, n.Errorf("L0317", "%s needs %d bits, StableHLO integers have 63", n.Op.Name, p.bits)
		}
		t := print(b, v[0], v[1])
		if p.scale != nil {
			return p.scale.print(b, n, t, p.bits)
		}
		return requant(b, n, t, p.exp, p.bits)
	}
}
