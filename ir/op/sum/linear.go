// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/dense"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/dot"
	"lathe/ir/op/draw"
	"lathe/ir/op/hardware"
	"lathe/ir/op/lane"
	"lathe/ir/op/walk"
	"lathe/rtl"
)

// Linear is y = x*transpose(w) + b: x [..., in], w [out, in], b [out] (optional), y [..., out].
//
// Quantized, weights and bias are constants, and the sum is exact with one rounding into the result format.
var Linear = &ir.Op{
	Name: "linear", Doc: "x*transpose(w) + b over the last axis", Arity: [2]int{2, 3},
	Traits:   ir.Traits{Weighted: true, Blocks: column.SumsInBlocks},
	Infer:    linearInfer,
	Eval:     linearEval,
	Bounds:   linearBounds,
	Exact:    dot.ExactSum,
	HLO:      linearHLO,
	RTL:      linearUnit,
	Products: linearProducts,
	Lanes:    linearLanes,
	CUDA:     linearCUDA,
	Legal:    dot.Legal,
	Gen:      genLinear,

	DSPCause: dspCause,
}

func linearInfer(n *ir.Node) ([]int, error) {
	x, w := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	if len(w) != 2 {
		return nil, fmt.Errorf("weights have shape %s, not out x in", ir.ShapeString(w))
	}
	if len(x) < 1 || x[len(x)-1] != w[1] {
		return nil, fmt.Errorf("input %s does not match %d columns of weights %s", ir.ShapeString(x), w[1], ir.ShapeString(w))
	}
	if len(n.Args) > 2 {
		if b := n.Args[2].Type.Shape; len(b) != 1 || b[0] != w[0] {
			return nil, fmt.Errorf("bias has shape %s, %d output features need %d", ir.ShapeString(b), w[0], w[0])
		}
	}
	y := append([]int(nil), x...)
	y[len(y)-1] = w[0]
	return y, nil
}

func linearEval(n *ir.Node) (ir.Kernel, error) {
	if n.Type.IsFloat() {
		return linearFloat(n)
	}
	p, err := dot.New(n)
	if err != nil {
		return nil, err
	}
	kernel := p.Kernel()
	rows, terms := p.Size()
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, err := p.Input(n, args[0])
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		for v := 0; v*terms < len(x.Ints); v++ {
			kernel(x.Row(v, terms), out.Codes[v*rows:(v+1)*rows])
		}
		return out, nil
	}, nil
}

func linearFloat(n *ir.Node) (ir.Kernel, error) {
	operand, err := floatOperand(n)
	if err != nil {
		return nil, err
	}
	x, err := fixedFloats(n, 0)
	if err != nil {
		return nil, err
	}
	in, out := n.Args[1].Type.Shape[1], n.Args[1].Type.Shape[0]
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(n.Type)
		w, bias := operand(args)
		p := dense.Product{M: walk.Size(n.Type.Shape[:len(n.Type.Shape)-1]), N: out, K: in,
			Left: dense.Left(x(args), in), Right: w, Bias: bias, Out: y.Floats, Row: out, Col: 1}
		p.Run()
		return y, nil
	}, nil
}

// floatOperand gives the weights of n, one row for each of the first axis, and the bias, nil if there is none, for the
// arguments of a sample. Constants are read once; weights stay where they lie.
func floatOperand(n *ir.Node) (func(args []*ir.Tensor) (w dense.Operand, bias []float32), error) {
	row := walk.Size(n.Args[1].Type.Shape[1:])
	fixed, err := constOperand(n, row)
	if err != nil {
		return nil, err
	}
	bias, err := fixedFloats(n, 2)
	if err != nil {
		return nil, err
	}
	return func(args []*ir.Tensor) (dense.Operand, []float32) {
		if args[1] == nil {
			return fixed, bias(args)
		}
		return dense.Rows(args[1].Floats, row), bias(args)
	}, nil
}

// constOperand is the constant weights of n, none where they are computed.
func constOperand(n *ir.Node, row int) (dense.Operand, error) {
	if !n.Args[1].IsConst() {
		return dense.Operand{}, nil
	}
	switch data := n.Args[1].Attrs.(*ir.Const).Data; {
	case data.Len() != n.Args[1].Type.Shape[0]*row || !n.Args[1].Type.IsFloat():
		t, err := n.Args[1].Value()
		if err != nil {
			return dense.Operand{}, err
		}
		return dense.Rows(t.Floats, row), nil
	case data.DType == ir.F32:
		return dense.ByteRows(data.Bytes, row), nil
	default:
		return dense.Operand{Row: row, Step: 1, Read: data.FloatsAt}, nil
	}
}

// fixedFloats gives the elements of argument i for the arguments of a sample, nil if n has none; a constant is read
// once.
func fixedFloats(n *ir.Node, i int) (func(args []*ir.Tensor) []float32, error) {
	var fixed []float32
	if i < len(n.Args) && n.Args[i].IsConst() {
		t, err := n.Args[i].Value()
		if err != nil {
			return nil, err
		}
		fixed = t.Floats
	}
	return func(args []*ir.Tensor) []float32 {
		if i >= len(args) || args[i] == nil {
			return fixed
		}
		return args[i].Floats
	}, nil
}

func linearHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	x, err := carrier.EachSample(b, n, args, 0)
	if err != nil {
		return hlo.Value{}, err
	}
	last := len(x.Type().Dims) - 1
	contract := hlo.Dot{LhsContract: []int{last}, RhsContract: []int{1}}
	if n.Type.IsFloat() {
		w, err := carrier.Value(b, n, args, 1)
		if err != nil {
			return hlo.Value{}, err
		}
		if carrier.PerSample(n, 1, w) {
			contract = hlo.Dot{LhsContract: []int{last}, RhsContract: []int{2}, LhsBatch: []int{0}, RhsBatch: []int{0}}
		}
		return addBias(b, n, args, b.DotGeneral(x, w, contract, x.Type().DType), last)
	}
	p, err := dot.New(n)
	if err != nil {
		return hlo.Value{}, err
	}
	return p.Dot(b, n, x, dot.Form{Shape: n.Args[1].Type.Shape, Bytes: true,
		Products: func(x, w hlo.Value, bits int) (hlo.Value, error) { return b.DotInt(x, w, contract, bits), b.Err() }})
}

func linearLanes(n *ir.Node) (*ir.Lanes, error) {
	if dot.KindsOf(n).Window() {
		return dot.WindowLanes(n)
	}
	w := n.Args[1].Type.Shape
	return &ir.Lanes{In: lane.Counts(w[1], "inputs"), Out: lane.Counts(w[0], "outputs"), Mem: true,
		Styles: []ir.Style{ir.StyleFold, ir.StyleUnroll}}, nil
}

func genLinear(r *rand.Rand, o *ir.Op) *ir.Graph {
	in, out := draw.Between(r, 1, 24), draw.Between(r, 1, 10)
	if draw.Chance(r, 50) { // sizes with many divisors
		in, out = []int{4, 6, 8, 12, 16, 24}[r.IntN(6)], []int{1, 2, 4, 6, 8}[r.IntN(5)]
	}
	shape := []int{in}
	for range r.IntN(3) {
		shape = append([]int{draw.Between(r, 1, 3)}, shape...)
	}
	x := draw.Input("x", ir.Type{Shape: shape, Format: draw.Format(r)})
	return genSum(r, o, nil, x, []int{out, in}, draw.Chance(r, 80))
}

// linearUnit reads its data as they come.
func linearUnit(n *ir.Node) (*rtl.Unit, error) { return linearUnitEach(n, nil) }

// linearProducts is the Products column.
func linearProducts(n *ir.Node) ([]ir.ProductForm, error) {
	p, err := dot.New(n)
	if err != nil {
		return nil, err
	}
	return p.Products(n, linearFront(n, p, nil))
}

// linearUnitEach is the unit of n, whose rows have codes of their own where each is not nil.
func linearUnitEach(n *ir.Node, each *format.Each) (*rtl.Unit, error) {
	p, err := dot.New(n)
	if err != nil {
		return nil, err
	}
	u, err := p.Unit(n, linearFront(n, p, each))
	if err == nil {
		_, terms := p.Size()
		u.Frames = n.Args[0].Type.Elems() / terms // the header speaks of one vector
	}
	return u, err
}

// linearFront is what stands before the multipliers of n.
func linearFront(n *ir.Node, p dot.Sum, each *format.Each) dot.Front {
	rows, terms := p.Size()
	f := dot.Front{Name: "linear", Vector: &dot.Vector{Terms: terms, Each: each}, Coded: true, Kept: true,
		Size: []any{"IN", terms, "OUT", rows}, In: n.HW.InLanes,
		Out: n.HW.OutLanes, Exact: []any{"IN_LANES", n.HW.InLanes, "OUT_LANES", n.HW.OutLanes},
		Window: []any{"RUN", terms}, Tail: append(hardware.RomStyle(n), dot.Multipliers(n)...),
		Sweeps: n.Type.Elems() / rows}
	if e := lane.CheckDivisor(n, "in_lanes", n.HW.InLanes, terms, "inputs"); e != nil {
		f.Lanes = e
	} else if e := lane.CheckDivisor(n, "out_lanes", n.HW.OutLanes, rows, "outputs"); e != nil {
		f.Lanes = e
	}
	return f
}
