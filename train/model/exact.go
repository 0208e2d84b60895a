// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/leaf"
)

// exact prints what the hardware of q computes of the codes that args are the values of, as values. ok is false where
// codes are no integers of one step, or where the operation wants constants that are trained here.
func (p *Forward) exact(q *ir.Node, args []hlo.Value) (v hlo.Value, ok bool) {
	to, ok := format.IntegersOf(q.Type.Format)
	if _, step := format.Log2(float32(to.Step.Float64())); !ok || !step || len(q.Type.Scales) > 0 {
		return v, false
	}
	n := *q
	n.Args = slices.Clone(q.Args)
	codes := make([]hlo.Value, len(args))
	for i, a := range q.Args {
		if args[i].Number() < 0 {
			continue // a constant, which the operation reads
		}
		if a.IsConst() {
			n.Args[i] = &ir.Node{Name: a.Name, Op: leaf.Input, Attrs: &ir.Input{}, Type: a.Type, Pos: q.Pos}
		}
		if !args[i].Type().DType.IsFloat() {
			codes[i] = args[i]
			continue
		}
		if codes[i], ok = p.codes(a.Type, args[i]); !ok {
			return v, false
		}
	}
	y, err := carrier.Print(p.b, &n, codes)
	if err != nil {
		return v, false
	}
	wide := p.b.Convert(y, hlo.F64)
	if to.Zero != 0 {
		wide = p.b.Sub(wide, p.b.Float(hlo.F64, float64(to.Zero)))
	}
	return p.b.Convert(p.b.Mul(wide, p.b.Float(hlo.F64, to.Step.Float64())), hlo.F32), true
}

// codes are the codes that v, floats on the grid of a format of integers with a step of a power of two, stand for.
func (p *Forward) codes(t ir.Type, v hlo.Value) (hlo.Value, bool) {
	from, ok := format.IntegersOf(t.Format)
	if !ok || len(t.Scales) > 0 {
		return hlo.Value{}, false
	}
	if _, step := format.Log2(float32(from.Step.Float64())); !step {
		return hlo.Value{}, false
	}
	q := p.b.Mul(p.b.Convert(v, hlo.F64), p.b.Float(hlo.F64, 1/from.Step.Float64()))
	q = p.b.Add(q, p.b.Float(hlo.F64, float64(from.Zero)))
	return p.b.Convert(q, carrier.DType(t)), true
}
