// SPDX-License-Identifier: Apache-2.0

package curve

import (
	"math"
	"math/big"
	"math/rand/v2"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/bigmath"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/pointwise"
	"lathe/rtl"
)

// function is a real function of one argument. As an operation on codes it is the table of the correctly rounded
// results of all argument codes, or with a domain, of arguments of more bits, an interpolation.
type function struct {
	name, doc string
	// attrs is a zero value of the attributes, nil if there are none; params lists their numbers, which must be finite.
	attrs  any
	params func(attrs any) []float32
	// monotone: it never falls. bends lists the places where it stops rising or falling, nil if it is monotone.
	monotone bool
	bends    func(attrs any) []float64
	// near computes it in float64. Its relative error stays below 2^-36 where it is neither 0 nor extreme.
	near func(attrs any) func(x float64) float64
	// exact computes it such that encoding the result in any format is encoding the real number. A pole is an infinity.
	exact func(attrs any) func(x *big.Rat) format.Exact
	// fraction: exact is fast, and near has no such bound where its terms cancel.
	fraction bool
	// hlo prints it on floats.
	hlo func(b *hlo.Builder, attrs any, x hlo.Value) hlo.Value
	// kernel is the name of the function in chains of the kernel library; nil where they have none.
	kernel func(attrs any) string
	// whole computes it on whole numbers of float graphs, nil if it does not; hlo then prints it on those, too.
	whole func(v int64) int64
	// domain is where the function is more than its limits on either side; false, or nil, for functions without limits.
	domain func(attrs any) (domain, bool)
	// draw makes random attributes.
	draw func(r *rand.Rand) any
}

// op makes the operation of a function.
func (f function) op() *ir.Op {
	o := &ir.Op{
		Name: f.name, Doc: f.doc, Attrs: f.attrs, Arity: [2]int{1, 1},
		Traits: ir.Traits{Elementwise: true, Table: true, Curve: true, Monotone: f.monotone, Bends: f.bends,
			Whole: f.whole != nil},
		Infer: column.SameShape,
		Eval:  f.eval,
		HLO:   f.print,
		RTL:   f.rtl,
		Chain: f.chain,
		CUDA:  pointwise.ChainCUDA,
		Legal: f.legal,
		Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
			if f.domain != nil && draw.Chance(r, 30) {
				return genWide(r, o, f.draw)
			}
			return genTable(r, o, f.draw)
		},
	}
	return o
}

func (f *function) eval(n *ir.Node) (ir.Kernel, error) {
	if n.Type.IsFloat() {
		near := f.near(n.Attrs)
		return pointwise.Unary{Float: func(*ir.Node) func(float32) float32 {
			return func(x float32) float32 { return float32(near(float64(x))) }
		}}.Eval(n)
	}
	if arith.OnWhole(n) && f.whole != nil {
		return column.WholeUnary(n, f.whole), nil
	}
	p, err := f.planned(n)
	if err != nil {
		return nil, err
	}
	if p != nil {
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			out := ir.NewTensor(n.Type)
			for i, c := range args[0].Codes {
				out.Codes[i] = p.code(c)
			}
			return out, nil
		}, nil
	}
	table := f.codes(n)
	mask := int64(len(table) - 1)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		for i, c := range args[0].Codes {
			out.Codes[i] = table[c&mask]
		}
		return out, nil
	}, nil
}

func (f *function) legal(n *ir.Node) error {
	if err := column.Plain(n); err != nil {
		return err
	}
	if f.params != nil {
		for _, p := range f.params(n.Attrs) {
			if err := column.Finite("an attribute", float64(p)); err != nil {
				return err
			}
		}
	}
	_, err := f.interpolates(n)
	return err
}

// planned is the interpolation that n is computed by; nil for a table.
func (f *function) planned(n *ir.Node) (*interpolation, error) {
	if err := f.legal(n); err != nil {
		return nil, n.Errorf(diag.OpFormats, "%v", err)
	}
	p, err := f.interpolates(n)
	if p != nil {
		p.fill(f, n.Attrs)
	}
	return p, err
}

// codes lists the result code of n, a table that is legal, for every argument code, indexed by the low W bits of the
// code.
func (f *function) codes(n *ir.Node) []int64 {
	in := n.Args[0].Type.Format
	w := in.Width()
	table := make([]int64, 1<<w)
	signed := format.SignedCodes(in)
	near, exact := f.near(n.Attrs), f.exact(n.Attrs)
	for i := range table {
		code := int64(i)
		if signed && code >= 1<<(w-1) {
			code -= 1 << w
		}
		table[i] = encodeNear(n.Type.Format, in.Decode(code), f.fraction, near, exact)
	}
	return table
}

// slack bounds the relative error of the float64 forms.
const slack = 0x1p-36

// encodeNear is the code of a function at x. Where the ends of an interval that holds the real number have one code,
// that is it (Ziv's strategy); only next to a rounding boundary the exact form is needed.
func encodeNear(out format.Format, x format.Exact, fraction bool, near func(float64) float64,
	exact func(*big.Rat) format.Exact) int64 {
	switch {
	case x.IsNaN():
		return out.Encode(x)
	case x.IsInf(): // it counts as a number whose exponent no format reaches
		x = format.FromInt(int64(1-2*rtl.Flag(x.Signbit())), 1<<11)
	default:
		codes, _ := format.IntegersOf(out)
		y := near(x.Float64())
		if a := math.Abs(y); fraction || !pointwise.ScalarCodes(out) || codes.Codes.Over == format.Wrap ||
			!(a > 1e-250 && a < 1e250) {
			break
		}
		lo, hi := out.Encode(format.FromFloat64(y*(1-slack))), out.Encode(format.FromFloat64(y*(1+slack)))
		if lo == hi {
			return lo
		}
	}
	return out.Encode(bigmath.Limited(exact(x.Rat())))
}

// print looks codes up; float graphs use the function itself.
func (f *function) print(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if n.Type.IsFloat() {
		return f.hlo(b, n.Attrs, args[0]), b.Err()
	}
	if arith.OnWhole(n) && f.whole != nil {
		return carrier.Wrap(b, f.hlo(b, n.Attrs, args[0]), n.Type), b.Err()
	}
	if err := integerCodes(n); err != nil {
		return hlo.Value{}, err
	}
	p, err := f.planned(n)
	if err != nil {
		return hlo.Value{}, err
	}
	if p != nil {
		return p.print(b, n, args[0])
	}
	table := f.codes(n)
	return pointwise.LookUp(b, n, args[0], table)
}

// integerCodes refuses formats whose codes are no integers: they have neither StableHLO nor hardware.
func integerCodes(n *ir.Node) error {
	for _, t := range []ir.Type{n.Args[0].Type, n.Type} {
		if !pointwise.ScalarCodes(t.Format) {
			_, err := arith.FixedOf(n, t)
			return err
		}
	}
	return nil
}

func (f *function) rtl(n *ir.Node) (*rtl.Unit, error) {
	if err := integerCodes(n); err != nil {
		return nil, err
	}
	p, err := f.planned(n)
	if err != nil {
		return nil, err
	}
	if p != nil {
		return p.rtl(n)
	}
	table := f.codes(n)
	return hardware.Table(n, table)
}

// chain is the name of the function in chains.
func (f *function) chain(n *ir.Node) string {
	if f.kernel == nil {
		return ""
	}
	return f.kernel(n.Attrs)
}

// genTable is a function of up to 10 bits. The results of most stay within [-1, 1] or the range of the argument.
func genTable(r *rand.Rand, o *ir.Op, pick func(r *rand.Rand) any) *ir.Graph {
	f := draw.Fixed(r, 10)
	if draw.Chance(r, 70) { // steps at which the function is neither flat nor straight
		f.F = f.W - draw.Between(r, 0, 4)
	}
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 3), Format: f})
	y := draw.Result(r, draw.Between(r, 0, max(0, draw.Top(x.Type))))
	if draw.Chance(r, 20) { // shows whether the function is computed well beyond float64
		y.W, y.F = 60, draw.Between(r, 55, 60)
	}
	var attrs any
	if pick != nil {
		attrs = pick(r)
	}
	return draw.Graph(o, attrs, ir.Type{Format: y}, x)
}

// genWide is a function of 13 to 24 bits, inside of its domain and beyond.
func genWide(r *rand.Rand, o *ir.Op, pick func(r *rand.Rand) any) *ir.Graph {
	f := draw.Fixed(r, 16)
	f.W = draw.Between(r, LookedUp+1, 20)
	f.F = f.W - draw.Between(r, 2, 7)
	if draw.Chance(r, 20) {
		f.F = draw.Between(r, -3, f.W+2)
	}
	if f.Over > format.Wrap {
		f.Over = format.Sat
	}
	y := draw.Result(r, draw.Between(r, 0, 4))
	if draw.Chance(r, 30) { // all bits show
		y.W, y.F = 40, draw.Between(r, 10, 20)
	}
	var attrs any
	if pick != nil {
		attrs = pick(r)
	}
	g := draw.Graph(o, attrs, ir.Type{Format: y}, draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 3), Format: f}))
	if n := g.Out[0].Node; o.Legal(n) != nil { // of attributes without a domain, which have tables only
		n.Args[0].Type.Format = format.Fixed{W: 14, F: f.F, Signed: f.Signed}
	}
	return g
}
