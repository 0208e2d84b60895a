// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"

	"lathe/ir"
	"lathe/ir/format"
)

// LeakyAttrs is the slope of the negative side.
type LeakyAttrs struct {
	Alpha float32
}

// LeakyRelu is x for x >= 0, else alpha*x; alpha is the exact float32 value.
var LeakyRelu = &ir.Op{
	Name: "leaky_relu", Doc: "x for x >= 0, else alpha*x", Attrs: LeakyAttrs{}, Arity: [2]int{1, 1},
	Traits: ir.Traits{Elementwise: true, Table: true, Turns: atZero}, // with a negative alpha it falls and rises
	Infer:  sameShape,
	Eval: unary{
		fl: func(n *ir.Node) func(float32) float32 {
			alpha := n.Attrs.(*LeakyAttrs).Alpha
			return func(x float32) float32 {
				if x < 0 {
					return alpha * x
				}
				return x
			}
		},
		ex: leakyExact,
	}.eval,
	HLO: affineHLO(leakyHLO),
	RTL: affineRTL(leakyRTL),
	Gen: genLeaky,
	Legal: func(n *ir.Node) error {
		if err := plain(n); err != nil {
			return err
		}
		return finite("alpha", float64(n.Attrs.(*LeakyAttrs).Alpha))
	},
}

func leakyExact(n *ir.Node, exp int) (func(int64) int64, error) {
	pos := encoder(n.Type.Format, exp)
	sig, aexp := significand(n.Attrs.(*LeakyAttrs).Alpha)
	neg := encoder(n.Type.Format, exp+aexp)
	f := n.Type.Format
	return func(v int64) int64 {
		switch {
		case v >= 0:
			return pos(v)
		case v > -1<<37:
			return neg(v * sig)
		}
		return f.Encode(format.FromInt(v, exp).Mul(format.FromInt(sig, aexp)))
	}, nil
}

// significand splits a finite float32 into sig*2^exp with sig odd (or 0) and |sig| < 2^24.
func significand(x float32) (sig int64, exp int) {
	if x == 0 {
		return 0, 0
	}
	frac, e := math.Frexp(float64(x))
	sig, exp = int64(frac*(1<<24)), e-24
	for sig&1 == 0 {
		sig, exp = sig>>1, exp+1
	}
	return sig, exp
}

// finite refuses NaN and infinities among attributes.
func finite(name string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%s is %g", name, v)
	}
	return nil
}
