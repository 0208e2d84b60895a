// SPDX-License-Identifier: Apache-2.0

// Package dot plans sums of products with constant weights, for every engine: kinds of operands, exact products, the
// accumulator, one rounding.
package dot

import (
	"lathe/cuda"
	"lathe/cuda/gemm"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/column"
	"lathe/rtl"
)

// Sum is how sums of products with constant weights are computed, in every engine. Row c of the weights, in runs
// j of terms i that share an exponent, gives
//
//	D[c][j] = sum_i x[i]*w[c][i]                               exact products and sums of integers
//	exact:   t[c] = (D[c] << up[c]) + bias[c]                  one run; as wide as the weights can make it
//	window:  t[c] = bias[c] + sum_j sat(floor(D[c][j]*2^g))    in steps of the result fixed(W,F), g of data and weights
//	code[c]: RS(t, shift), zero + RS(t*mul[c], shift[c]), or sat(t)
//
// The kinds of the operands decide which, in New; columns of ops ask the plan and no format.
type Sum interface {
	// Size is the number of rows, which are output channels, and of terms in a row.
	Size() (rows, terms int)
	// Input views a value of the data as integers.
	Input(n *ir.Node, t *ir.Tensor) (Input, error)
	// Kernel computes all rows; weights stay where they are.
	Kernel() Kernel
	// Groups computes rows in n equal runs, one kernel each.
	Groups(n int) []Kernel
	// Dot prints the sums of the data x in StableHLO, as codes of the result.
	Dot(b *hlo.Builder, n *ir.Node, x hlo.Value, d Form) (hlo.Value, error)
	// Products is the column of that name, for the unit behind front.
	Products(n *ir.Node, f Front) ([]ir.ProductForm, error)
	// Unit is the hardware behind front, for the lanes of n.
	Unit(n *ir.Node, f Front) (*rtl.Unit, error)
	// DSPCause is the column of that name.
	DSPCause(n *ir.Node, how string) (lanes int, cause string, err error)
	// Product is the kernel of the library for all data of a sample, as the rows of a matrix, or as w says.
	Product(n *ir.Node, w *Windows, t cuda.Target) (*cuda.Unit, error)
}

// Windows are images whose windows are the rows of a product, and what is added to its codes, which is input 1.
type Windows struct {
	gemm.Images
	Added *gemm.Added
}

// Input is the data of a sum: integers, and the scale fields of their blocks where they have any.
type Input struct{ Ints, Fields []int64 }

// Row is vector v of vectors of the given number of terms.
func (x Input) Row(v, terms int) Input {
	blocks := len(x.Fields) * terms / len(x.Ints)
	return Input{x.Ints[v*terms : (v+1)*terms], x.Fields[v*blocks : (v+1)*blocks]}
}

// Kernel computes codes from the integers of one row of data and the scale fields of its runs.
type Kernel func(x Input, out []int64)

// New reads the constant weights (first axis: output channels) and the bias, if there is one, of the weighted node
// n. Errors are L0308, L0315, L0340, L0347 and L0348.
func New(n *ir.Node) (Sum, error) {
	if KindsOf(n).Window() {
		return asPlan(planWindow(n))
	}
	return asPlan(keptExact(n))
}

// NamesWindow says that the plan of n, a weighted node or a product of two values, as its types have it, names the
// format of its result: that of the window accumulator. All other sums are exact, and are rounded to any format.
func NamesWindow(n *ir.Node) bool {
	return PairNamesWindow(n) || n.Op.Traits.Weighted && len(n.Args) > 1 && KindsOf(n).Window() && column.TakesBlocks(n)
}

// asPlan keeps a plan that failed from becoming an interface that is not nil.
func asPlan[P Sum](p P, err error) (Sum, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// operandKind is how the codes of an operand become the integers that are multiplied.
type operandKind uint8

// The kinds. Formats of floats, logarithms and signs have lattices: they are decoded to integers of one step before.
const (
	stepped operandKind = iota // integers of one step, or of one a channel, all powers of two
	scaled                     // q - zero, in steps of any size
	blocked                    // runs of integers with an exponent each
)

// Kinds are the kinds of the operands of a sum and of its result, as types have them: no constant is read.
type Kinds struct{ data, weights, bias, result operandKind }

// KindsOf are the kinds of the operands and of the result of n.
func KindsOf(n *ir.Node) Kinds {
	k := Kinds{data: streamKind(n.Args[0].Type), weights: constKind(n.Args[1].Type), result: streamKind(n.Type)}
	if len(n.Args) > 2 {
		k.bias = constKind(n.Args[2].Type)
	}
	return k
}

// Window says that products have exponents of their own, so that sums go into a window accumulator.
func (k Kinds) Window() bool { return k.data == blocked || k.weights == blocked }

// factors says that some step is no power of two, or some data have a zero point.
func (k Kinds) factors() bool {
	return k.data == scaled || k.weights == scaled || k.bias == scaled || k.result == scaled
}

// streamKind is the kind of values that are not known.
func streamKind(t ir.Type) operandKind {
	if t.Format == nil {
		return stepped
	}
	if _, blocks := t.BlockFormat(); blocks {
		return blocked
	}
	if _, integers := format.IntegersOf(t.Format); integers && !arith.IsFixed(t.Format) {
		return scaled
	}
	return stepped
}

// constKind is the kind of constants, whose zero points go into their integers.
func constKind(t ir.Type) operandKind {
	if _, blocks := t.BlockFormat(); blocks {
		return blocked
	}
	c, integers := format.IntegersOf(t.Format)
	if _, power := arith.Log2(c.Step.Rat()); integers && !power {
		return scaled
	}
	for _, s := range t.Scales {
		if _, power := format.Log2(s); !power && s != 0 {
			return scaled
		}
	}
	return stepped
}

// terms are the operands of a sum: data of one kind, and rows of integers as weights.
type terms struct {
	out, in int // rows, and terms of a row
	data    Data
	weights []int64    // row-major, out x in; nil: in codesAt, and row reads them
	codesAt []*ir.Blob // weights whose codes are their integers, one a turn
}

// Size is the number of rows and of terms in each.
func (s *terms) Size() (rows, terms int) { return s.out, s.in }

// Data is how codes q of data become the integers x that are multiplied.
type Data struct {
	kind   operandKind
	ints   format.Fixed // q as numbers, F = 0; of no bits: x are the lattice integers of codes
	zero   int64        // x = q - zero
	lo, hi int64        // the range of x over all codes, those included that encoding never returns
	exp    int          // x counts steps of 2^exp, but for scaled data; scale fields of blocks are added to it
	fields bool         // there are scale fields
	// coded is how the codes are multiplied as they are, where they are those of a float: ints has no bits then.
	coded format.Minifloat
	block format.BlockCodec
}

// Input views t as integers.
func (s *terms) Input(n *ir.Node, t *ir.Tensor) (Input, error) {
	x := Input{Ints: t.Codes}
	switch d := s.data; {
	case d.fields:
		x.Ints, x.Fields = elements(d.block, t.Codes), t.BlockScales
		if format.Falls(d.block) {
			x.Fields = make([]int64, len(t.BlockScales))
			for i, s := range t.BlockScales {
				x.Fields[i] = format.RisingField(d.block, s)
			}
		}
	case d.ints.W == 0:
		l, err := t.Lattice()
		if err != nil {
			return x, n.Errorf(diag.OpFormats, "%v", err)
		}
		x.Ints = l.Ints
	case d.zero != 0:
		x.Ints = make([]int64, len(t.Codes))
		for i, q := range t.Codes {
			x.Ints[i] = q - d.zero
		}
	}
	return x, nil
}

// fixedData is data of one step: integers, or codes of floats, which units multiply as they are. Others with a lattice
// are left to the reference engine.
func fixedData(n *ir.Node) (Data, error) {
	f := n.Args[0].Type.Format
	exp, ok := arith.Step(n.Args[0].Type)
	if !ok {
		return Data{}, n.Errorf(diag.OpFormats, "%s takes formats with a common step, not %s", n.Op.Name, f)
	}
	lo, hi := arith.Range(f)
	d := Data{exp: exp, lo: lo.Int64(), hi: hi.Int64()}
	if fx, ok := format.AsFixed(f); ok {
		d.ints = format.Fixed{W: fx.W, Signed: fx.Signed}
	} else {
		d.coded, _ = format.MinifloatOf(f)
	}
	return d, nil
}

// scaledData is data of a sum whose steps are scales.
func scaledData(kind operandKind, c format.Integers) Data {
	lo, hi := c.Span()
	return Data{kind: kind, ints: format.Fixed{W: c.Codes.W, Signed: c.Codes.Signed}, zero: c.Zero, lo: lo, hi: hi}
}
