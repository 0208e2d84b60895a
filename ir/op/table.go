// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
)

// tableBits bounds the argument width of a table: 2^16 entries.
const tableBits = 16

// Sigmoid is 1/(1+exp(-x)); quantized it is the correctly rounded real function as a table over all argument codes.
var Sigmoid = tableOp("sigmoid", "1/(1+exp(-x))",
	func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, realSigmoid)

// Tanh is (exp(2x)-1)/(exp(2x)+1); quantized it is the correctly rounded real function as a table.
var Tanh = tableOp("tanh", "hyperbolic tangent", math.Tanh, realTanh)

// real computes a function of an exact value to at least 96 bits.
type real func(x *big.Float) *big.Float

func tableOp(name, doc string, fl func(float64) float64, exact real) *ir.Op {
	codes := func(n *ir.Node) ([]int64, error) { return tableCodes(n, exact) }
	return &ir.Op{
		Name: name, Doc: doc, Arity: [2]int{1, 1},
		Traits: ir.Traits{Elementwise: true, Monotone: true},
		Infer:  sameShape,
		Eval: func(n *ir.Node) (ir.Kernel, error) {
			if n.Type.IsFloat() {
				return unary{fl: func(*ir.Node) func(float32) float32 {
					return func(x float32) float32 { return float32(fl(float64(x))) }
				}}.eval(n)
			}
			table, err := codes(n)
			if err != nil {
				return nil, err
			}
			mask := int64(len(table) - 1)
			return func(args []*ir.Tensor) (*ir.Tensor, error) {
				out := ir.NewTensor(n.Type)
				for i, c := range args[0].Codes {
					out.Codes[i] = table[c&mask]
				}
				return out, nil
			}, nil
		},
		HLO:   tableHLO(name, codes),
		RTL:   tableRTL(codes),
		Legal: tableLegal,
		Gen:   genTable,
	}
}

func tableLegal(n *ir.Node) error {
	if err := plain(n); err != nil {
		return err
	}
	if w := n.Args[0].Type.Format.Width(); w > tableBits {
		return fmt.Errorf("%s is a table of 2^W entries and takes arguments of up to %d bits, not %d (%s)",
			n.Op.Name, tableBits, w, n.Args[0].Type.Format)
	}
	return nil
}

// tableCodes lists the result code for every argument code, indexed by the low W bits of the code.
func tableCodes(n *ir.Node, exact real) ([]int64, error) {
	in := n.Args[0].Type.Format
	if err := tableLegal(n); err != nil {
		return nil, n.Errorf("L0308", "%v", err)
	}
	w := in.Width()
	table := make([]int64, 1<<w)
	signed := format.SignedCodes(in)
	for i := range table {
		code := int64(i)
		if signed && code >= 1<<(w-1) {
			code -= 1 << w
		}
		table[i] = n.Type.Format.Encode(applyReal(exact, in.Decode(code)))
	}
	return table, nil
}

// applyReal evaluates f on an exact value; an infinity counts as a number whose exponent no format reaches.
func applyReal(f real, x format.Exact) format.Exact {
	switch {
	case x.IsNaN():
		return x
	case x.IsInf():
		x = format.FromInt(int64(1-2*flag(x.Signbit())), 1<<11)
	}
	return exactOf(f(new(big.Float).SetPrec(realPrec).SetRat(x.Rat())))
}

// exactOf converts a big.Float without loss.
func exactOf(y *big.Float) format.Exact {
	if y.Sign() == 0 {
		return format.FromInt(0, 0)
	}
	mant := new(big.Float)
	exp := y.MantExp(mant)
	prec := int(y.MinPrec())
	v, _ := mant.SetMantExp(mant, prec).Int(nil)
	return format.FromBig(v, exp-prec)
}
