// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/dense"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// MatMul is y[..., i, j] = sum over k of a[..., i, k]*b[..., k, j], for arguments of two axes or more; the axes before
// them broadcast. It is NumPy's matmul but for vectors, which importers reshape. Both are floats, or whole numbers of
// one format, whose sums are modulo 2^W.
var MatMul = &ir.Op{
	Name: "matmul", Doc: "product of matrices; the axes before the last two broadcast", Arity: [2]int{2, 2},
	Traits: ir.Traits{FloatOnly: true},
	Infer:  matmulInfer,
	Format: func(n *ir.Node) (format.Format, error) { return n.OneFormat(n.Args...) },
	Eval:   matmulEval,
	HLO:    matmulHLO,
	Legal:  column.NoInteger,
	MACs:   matmulMACs,
	Gen:    genMatMul,
}

func matmulMACs(n *ir.Node) int {
	a := n.Args[0].Type.Shape
	return n.Type.Elems() * a[len(a)-1]
}

func matmulInfer(n *ir.Node) ([]int, error) {
	a, b := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	if len(a) < 2 || len(b) < 2 {
		return nil, fmt.Errorf("cannot multiply %s by %s: matrices have two axes or more", ir.ShapeString(a),
			ir.ShapeString(b))
	}
	if a[len(a)-1] != b[len(b)-2] {
		return nil, fmt.Errorf("cannot multiply %s by %s: rows of %d by columns of %d", ir.ShapeString(a),
			ir.ShapeString(b), a[len(a)-1], b[len(b)-2])
	}
	batch, err := walk.Broadcast(a[:len(a)-2], b[:len(b)-2])
	return append(slices.Clone(batch), a[len(a)-2], b[len(b)-1]), err
}

func matmulEval(n *ir.Node) (ir.Kernel, error) {
	whole := arith.OnWhole(n)
	if !n.Type.IsFloat() && !whole {
		return nil, n.Errorf(diag.NoIntegerForm, "matmul has no integer form in this version")
	}
	a, b, y := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Type.Shape
	batch := y[:len(y)-2]
	ia, ib := walk.BroadcastIndex(a[:len(a)-2], batch), walk.BroadcastIndex(b[:len(b)-2], batch)
	rows, inner, cols := y[len(y)-2], a[len(a)-1], y[len(y)-1]
	if walk.Size(b) == inner*cols && walk.Size(a) == walk.Size(batch)*rows*inner { // rows of all matrices by one matrix
		rows, ia, ib = walk.Size(batch)*rows, []int{0}, []int{0}
	}
	fill, wrap := column.FixedArgs(n), arith.Wrap(n.Type)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		args, err := fill(args)
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		workers.Ranges(len(ia), 1+walk.Grain/max(1, rows*inner), func(from, to int) {
			for i := from; i < to; i++ {
				x, w, y := ia[i]*rows*inner, ib[i]*inner*cols, i*rows*cols
				if whole {
					matmulWhole(args[0].Codes[x:][:rows*inner], args[1].Codes[w:][:inner*cols],
						out.Codes[y:][:rows*cols], inner, cols, wrap)
					continue
				}
				p := dense.Product{M: rows, N: cols, K: inner, Row: cols, Col: 1, Out: out.Floats[y:][:rows*cols],
					Left:  dense.Left(args[0].Floats[x:][:rows*inner], inner),
					Right: dense.Columns(args[1].Floats[w:][:inner*cols], cols)}
				p.Run()
			}
		})
		return out, nil
	}, nil
}

// matmulWhole multiplies matrices of whole numbers: rows of inner elements, and rows of cols; wrap cuts the sums.
func matmulWhole(a, b, y []int64, inner, cols int, wrap func(int64) int64) {
	for i := range y {
		sum := int64(0)
		for k := range inner {
			sum += a[i/cols*inner+k] * b[k*cols+i%cols]
		}
		y[i] = wrap(sum)
	}
}

// matmulHLO prints the product, and cuts whole numbers to their bits.
func matmulHLO(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	if !n.Type.IsFloat() && !arith.OnWhole(n) {
		return hlo.Value{}, n.Errorf(diag.NoIntegerForm, "matmul has no integer form in this version")
	}
	y, err := matmulDot(b, n, args)
	if err != nil {
		return y, err
	}
	return carrier.Wrap(b, y, n.Type), b.Err()
}

// matmulDot prints a product by one matrix, which all samples share or each has its own, without broadcasting it.
func matmulDot(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
	x, y, err := matmulSides(b, n, args)
	if err != nil {
		return hlo.Value{}, err
	}
	sx, sy, out := n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Type.Shape
	inner, cols := sy[len(sy)-2], sy[len(sy)-1]
	result, sum := b.Dims(out...), carrier.DType(n.Type)
	if walk.Size(sy) == inner*cols && walk.Size(sx) == walk.Size(out)/cols*inner { // rows of all matrices by one matrix
		x = b.Reshape(x, b.Dims(walk.Size(out)/cols, inner)...)
		if !carrier.PerSample(n, 1, y) {
			d := hlo.Dot{LhsContract: []int{b.Axis(1)}, RhsContract: []int{0}}
			return b.Reshape(b.DotGeneral(x, b.Reshape(y, inner, cols), d, sum), result...), b.Err()
		}
		d := hlo.Dot{LhsContract: []int{2}, RhsContract: []int{1}, LhsBatch: []int{0}, RhsBatch: []int{0}}
		return b.Reshape(b.DotGeneral(x, b.Reshape(y, b.Dims(inner, cols)...), d, sum), result...), b.Err()
	}
	rank := len(result)
	x, y = matrices(b, x, sx, result), matrices(b, y, sy, result)
	lead := make([]int, rank-2)
	for i := range lead {
		lead[i] = i
	}
	d := hlo.Dot{LhsContract: []int{rank - 1}, RhsContract: []int{rank - 2}, LhsBatch: lead, RhsBatch: lead}
	return b.DotGeneral(x, y, d, sum), b.Err()
}

// matmulSides are the arguments, the first with the axis of samples that the node has; the second one as it is.
func matmulSides(b *hlo.Builder, n *ir.Node, args []hlo.Value) (x, y hlo.Value, err error) {
	if y, err = carrier.Value(b, n, args, 1); err != nil {
		return x, y, err
	}
	x, err = carrier.EachSample(b, n, args, 0)
	return x, y, err
}

// matrices repeats the matrices of v, which has the given shape, behind a sample axis or without one, along the axes
// that lead result.
func matrices(b *hlo.Builder, v hlo.Value, shape, result []int) hlo.Value {
	dims := append(slices.Clone(result[:len(result)-2]), shape[len(shape)-2:]...)
	var axes []int
	if v.Type().Rank() > len(shape) {
		axes = append(axes, 0)
	}
	for i := range shape {
		axes = append(axes, len(dims)-len(shape)+i)
	}
	return carrier.Spread(b, v, dims, axes)
}

// genMatMul draws matrices, batches of them that broadcast, and constants on either side.
func genMatMul(r *rand.Rand, o *ir.Op) *ir.Graph {
	batch := draw.Shape(r, 0, 2)
	for i := range batch {
		batch[i] = min(batch[i], 3)
	}
	m, k, n := draw.Between(r, 1, 5), draw.Between(r, 1, 9), draw.Between(r, 1, 5)
	side := func(rows, cols int) []int {
		shape := append([]int(nil), batch...)
		for i := range shape {
			if draw.Chance(r, 30) {
				shape[i] = 1
			}
		}
		return append(shape[r.IntN(len(shape)+1):], rows, cols)
	}
	a, b := side(m, k), side(k, n)
	f := draw.Either(r)
	x, y := draw.Input("a", ir.Type{Shape: a, Format: f}), draw.Input("b", ir.Type{Shape: b, Format: f})
	switch r.IntN(6) {
	case 0:
		x = draw.Values(r, "a", x.Type)
	case 1, 2:
		y = draw.Values(r, "b", y.Type)
	}
	return draw.FloatGraph(o, nil, x, y)
}
