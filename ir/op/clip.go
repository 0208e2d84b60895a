// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"

	"lathe/ir"
	"lathe/ir/format"
)

// ClipAttrs are the bounds of clip; a missing bound is an infinity.
type ClipAttrs struct {
	Min, Max float32
}

// Clip is min(max(x, lo), hi); the bounds are exact float32 values.
var Clip = &ir.Op{
	Name: "clip", Doc: "min(max(x, lo), hi)", Attrs: ClipAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Whole: true, Elementwise: true, Table: true, Monotone: true, Cuts: true},
	Infer:  sameShape,
	Eval:   clipEval,
	HLO:    affineHLO(clipHLO),
	RTL:    affineRTL(clipRTL),
	Legal: func(n *ir.Node) error {
		if a := n.Attrs.(*ClipAttrs); math.IsNaN(float64(a.Min)) || math.IsNaN(float64(a.Max)) {
			return fmt.Errorf("a bound is NaN: %g, %g", a.Min, a.Max)
		}
		return plain(n)
	},
	Gen: genClip,
}

func clipEval(n *ir.Node) (ir.Kernel, error) {
	if _, ok := wholeOf(n); ok {
		f, err := clipUnary.ex(n, 0)
		return wholeUnary(n, f), err
	}
	return clipUnary.eval(n)
}

var clipUnary = unary{
	fl: func(n *ir.Node) func(float32) float32 {
		a := n.Attrs.(*ClipAttrs)
		return func(x float32) float32 { return min(max(x, a.Min), a.Max) }
	},
	ex: func(n *ir.Node, exp int) (func(int64) int64, error) {
		c := clipOf(n, exp)
		enc := encoder(n.Type.Format, exp)
		return func(v int64) int64 {
			switch {
			case v > c.xhi: // the upper bound wins where the bounds cross, as in the formula
				return c.codeHi
			case v < c.xlo:
				return c.codeLo
			}
			return enc(v)
		}, nil
	},
}

// clipBounds is clip in threshold form on lattice integers: below xlo the result is codeLo, above xhi codeHi.
type clipBounds struct {
	xlo, xhi       int64
	codeLo, codeHi int64
}

// clipOf computes the threshold form for arguments at exponent exp. Where lo > hi every result is hi.
func clipOf(n *ir.Node, exp int) clipBounds {
	a := n.Attrs.(*ClipAttrs)
	lo := min(a.Min, a.Max)
	c := clipBounds{
		xlo: threshold(lo, exp, format.RoundCeil),
		xhi: threshold(a.Max, exp, format.RoundFloor),
	}
	c.codeLo = n.Type.Format.Encode(format.FromFloat32(lo))
	c.codeHi = n.Type.Format.Encode(format.FromFloat32(a.Max))
	if a.Min > a.Max {
		c.xlo, c.codeLo = math.MaxInt64, c.codeHi
	}
	return c
}

// threshold is a bound in steps of 2^exp, rounded to an integer; beyond 64 bits it is the last one.
func threshold(bound float32, exp int, r format.Round) int64 {
	x := format.FromFloat32(bound)
	switch v, ok := x.RoundTo(exp, r).Int64(exp); {
	case ok:
		return v
	case x.Sign() > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}
