// SPDX-License-Identifier: Apache-2.0

package column

import "lathe/ir"

// Between bounds every element of the result of n by the same two numbers.
func Between(n *ir.Node, lo, hi float64) ir.Bounds {
	b := ir.Bounds{Lo: ir.NewTensor(ir.Float(n.Type.Shape...)), Hi: ir.NewTensor(ir.Float(n.Type.Shape...))}
	for i := range b.Lo.Floats {
		b.Lo.Floats[i], b.Hi.Floats[i] = float32(lo), float32(hi)
	}
	return b
}

// Apply evaluates n on values of its arguments; constants may be nil.
func Apply(n *ir.Node, args ...*ir.Tensor) (*ir.Tensor, error) {
	k, err := n.Op.Eval(n)
	if err != nil {
		return nil, err
	}
	return k(args)
}

// Extremes bounds the result of n by the least and the greatest of what it makes of some values of its arguments,
// element by element.
func Extremes(n *ir.Node, values ...[]*ir.Tensor) (b ir.Bounds, err error) {
	for i, args := range values {
		t, err := Apply(n, args...)
		if err != nil {
			return b, err
		}
		if i == 0 {
			b = ir.Bounds{Lo: CloneFloats(t), Hi: CloneFloats(t)}
			continue
		}
		for k, v := range t.Floats {
			b.Lo.Floats[k], b.Hi.Floats[k] = min(b.Lo.Floats[k], v), max(b.Hi.Floats[k], v)
		}
	}
	return b, nil
}

// CloneFloats is a float tensor with elements of its own.
func CloneFloats(t *ir.Tensor) *ir.Tensor {
	return &ir.Tensor{Type: t.Type, Floats: append([]float32(nil), t.Floats...)}
}
