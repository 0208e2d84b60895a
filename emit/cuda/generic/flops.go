// SPDX-License-Identifier: Apache-2.0

package generic

import "lathe/ir/hlo"

// Flops are the arithmetic operations on floats of one sample, each value computed once: two for a product in a sum,
// one for an element of a sum or a maximum, one for an element of any other operation or function. Comparisons,
// conversions and moves are none, nor is what depends on constants only. Taps that fall on padding count.
func (p *Program) Flops() int64 {
	needed := make([]bool, len(p.Ops))
	for _, r := range p.Results {
		needed[r.Op] = true
	}
	for n := len(p.Ops) - 1; n >= 0; n-- {
		for _, k := range p.Ops[n].Operands {
			needed[k] = needed[k] || needed[n]
		}
	}
	varies := make([]bool, len(p.Ops))
	sum := int64(0)
	for n, o := range p.Ops {
		varies[n] = o.Kind == hlo.KindInput
		for _, k := range o.Operands {
			varies[n] = varies[n] || varies[k]
		}
		if needed[n] && varies[n] && o.Type.DType.IsFloat() {
			sum += p.operations(n)
		}
	}
	return sum
}

// operations are those that operation n takes.
func (p *Program) operations(n int) int64 {
	o := p.Ops[n]
	elems := int64(o.Type.Len())
	_, infix := infixFloat[o.Kind]
	_, own := floatFunctions[o.Kind]
	_, function := mathFunctions[o.Kind]
	switch {
	case o.Kind == hlo.KindDot || o.Kind == hlo.KindConvolution:
		return 2 * int64(iterations(p, n)) * elems
	case o.Kind == hlo.KindScatter && o.Attrs.Reducer == hlo.ReduceLast:
		return 0
	case o.Kind == hlo.KindScatter:
		return int64(p.Ops[o.Operands[2]].Type.Len())
	case looped(o.Kind):
		return int64(iterations(p, n)) * elems
	case infix || own || function:
		return elems
	}
	return 0
}
