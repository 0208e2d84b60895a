// SPDX-License-Identifier: Apache-2.0

// Package reduce holds the operations that make one element of many along axes.
package reduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// Attrs are the axes of a reduction, ascending; the result has size 1 there.
type Attrs struct {
	Axes []int
}

// reduction is what a reduction computes.
type reduction int

const (
	reduceMax reduction = iota
	reduceMin
	reduceSum
	reduceMean
)

// The reductions: one exact sum or mean with one rounding, or an element.
var (
	Sum  = reduceOp("reduce_sum", "sum along axes", reduceSum, ir.Traits{Monotone: true})
	Mean = reduceOp("reduce_mean", "mean along axes", reduceMean, ir.Traits{Monotone: true})
	Max  = reduceOp("reduce_max", "largest value along axes", reduceMax,
		ir.Traits{Monotone: true, KeepsCodes: true, Compares: true})
	Min = reduceOp("reduce_min", "least value along axes", reduceMin,
		ir.Traits{Monotone: true, KeepsCodes: true, Compares: true})
)

func reduceOp(name, doc string, kind reduction, traits ir.Traits) *ir.Op {
	traits.Whole = kind != reduceMean
	traits.Axes = func(attrs any) []int { return attrs.(*Attrs).Axes }
	o := &ir.Op{
		Name: name, Doc: doc, Attrs: Attrs{}, Arity: [2]int{1, 1},
		Traits: traits,
		Infer:  reduceInfer,
		Eval:   func(n *ir.Node) (ir.Kernel, error) { return reduceEval(n, kind) },
		HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
			return reduceHLO(b, n, args[0], kind)
		},
		Gen: genReduce,
	}
	o.RTL, o.Lanes = kind.rtl, reduceLanes
	o.Legal = column.Plain
	if traits.KeepsCodes {
		o.Legal = column.SameFormat
	}
	return o
}

func reduceInfer(n *ir.Node) ([]int, error) {
	out := slices.Clone(n.Args[0].Type.Shape)
	axes := n.Attrs.(*Attrs).Axes
	for i, a := range axes {
		if a < 0 || a >= len(out) || slices.Contains(axes[:i], a) {
			return nil, fmt.Errorf("axes %v do not fit %s", axes, ir.ShapeString(out))
		}
	}
	for _, a := range axes {
		out[a] = 1
	}
	return out, nil
}

// reduceLoop calls f for every element of the result with the indices of the elements that it is made of, ascending;
// several at once. f does not keep them.
func reduceLoop(n *ir.Node, f func(at int, in []int)) {
	shape, first, offsets := n.Args[0].Type.Shape, []int{0}, []int{0}
	for axis, d := range shape {
		list := &first
		if n.Type.Shape[axis] != d {
			list = &offsets
		}
		next := make([]int, 0, len(*list)*d)
		for _, base := range *list {
			for k := range d {
				next = append(next, base+k*walk.Size(shape[axis+1:]))
			}
		}
		*list = next
	}
	workers.Ranges(len(first), 1+walk.Grain/max(1, len(offsets)), func(from, to int) {
		in := make([]int, len(offsets))
		for at := from; at < to; at++ {
			for i, o := range offsets {
				in[i] = first[at] + o
			}
			f(at, in)
		}
	})
}

func reduceEval(n *ir.Node, kind reduction) (ir.Kernel, error) {
	if n.Type.IsFloat() {
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			out := ir.NewTensor(n.Type)
			reduceLoop(n, func(at int, in []int) { out.Floats[at] = kind.float(args[0].Floats, in) })
			return out, nil
		}, nil
	}
	if arith.OnWhole(n) && kind != reduceMean {
		return reduceWhole(n, kind), nil
	}
	exp, err := arith.CommonStep(n)
	if err != nil {
		return nil, err
	}
	bits := arith.Magnitude(n.Args[0].Type.Format)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		l, err := args[0].Lattice()
		if err != nil {
			return nil, n.Errorf(diag.OpFormats, "%v", err)
		}
		out := ir.NewTensor(n.Type)
		reduceLoop(n, func(at int, in []int) {
			switch kind {
			case reduceSum:
				out.Codes[at] = n.Type.Format.Encode(arith.Total(l.Ints, in, exp, bits))
			case reduceMean:
				out.Codes[at] = n.Type.Format.Encode(arith.Total(l.Ints, in, exp, bits).Quo(format.FromInt(int64(len(in)), 0)))
			default:
				best := in[0]
				for _, i := range in[1:] {
					if kind == reduceMax && l.Ints[i] > l.Ints[best] || kind == reduceMin && l.Ints[i] < l.Ints[best] {
						best = i
					}
				}
				out.Codes[at] = args[0].Codes[best]
			}
		})
		return out, nil
	}, nil
}

// reduceWhole reduces whole numbers modulo 2^W. Of no numbers the sum is 0, the greatest is the least code.
func reduceWhole(n *ir.Node, kind reduction) ir.Kernel {
	f, _ := ir.WholeOf(n.Type.Format)
	cut := arith.Wrap(n.Type)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		out := ir.NewTensor(n.Type)
		reduceLoop(n, func(at int, in []int) {
			v := [...]int64{reduceMax: f.Min(), reduceMin: f.Max(), reduceSum: 0}[kind]
			for _, i := range in {
				switch x := args[0].Codes[i]; kind {
				case reduceMax:
					v = max(v, x)
				case reduceMin:
					v = min(v, x)
				default:
					v += x
				}
			}
			out.Codes[at] = cut(v)
		})
		return out, nil
	}
}

// float reduces the listed elements; sums run in float64.
func (k reduction) float(x []float32, in []int) float32 {
	switch k {
	case reduceMax:
		most := float32(math.Inf(-1))
		for _, i := range in {
			most = max(most, x[i])
		}
		return most
	case reduceMin:
		least := float32(math.Inf(1))
		for _, i := range in {
			least = min(least, x[i])
		}
		return least
	}
	sum := 0.0
	for _, i := range in {
		sum += float64(x[i])
	}
	if k == reduceMean {
		sum /= float64(len(in))
	}
	return float32(sum)
}

func reduceHLO(b *hlo.Builder, n *ir.Node, x hlo.Value, kind reduction) (hlo.Value, error) {
	var axes []int
	count := 1
	for _, a := range n.Attrs.(*Attrs).Axes {
		axes, count = append(axes, b.Axis(a)), count*n.Args[0].Type.Shape[a]
	}
	switch {
	case kind == reduceMax:
		return b.ReduceKeep(hlo.ReduceMax, x, axes...), b.Err()
	case kind == reduceMin:
		return b.ReduceKeep(hlo.ReduceMin, x, axes...), b.Err()
	case n.Type.IsFloat():
		y := b.ReduceKeep(hlo.ReduceAdd, x, axes...)
		if kind == reduceMean {
			y = b.Mul(y, b.Float(hlo.F32, 1/float64(count)))
		}
		return y, b.Err()
	}
	if arith.OnWhole(n) && kind == reduceSum {
		return carrier.Wrap(b, b.ReduceKeep(hlo.ReduceAdd, x, axes...), n.Type), b.Err()
	}
	in, err := arith.FixedOf(n, n.Args[0].Type)
	if err != nil {
		return hlo.Value{}, err
	}
	out, err := arith.FixedOf(n, n.Type)
	if err != nil {
		return hlo.Value{}, err
	}
	bits := in.W + arith.BitLen(count)
	if kind == reduceSum {
		if bits > 63 {
			return hlo.Value{}, n.Errorf(diag.IntegerWidth, "sums need %d bits, StableHLO integers have 64", bits)
		}
		return carrier.Requant(b, n, b.ReduceKeep(hlo.ReduceAdd, carrier.Wide(b, x), axes...), -in.F, bits)
	}
	up, down := max(0, out.F-in.F), max(0, in.F-out.F)
	if bits+up > 62 || down > 40 {
		return hlo.Value{}, n.Errorf(diag.IntegerWidth, "the mean needs %d bits, StableHLO integers have 63", max(bits+up,
			down+22))
	}
	sum := b.ShiftLeft(b.ReduceKeep(hlo.ReduceAdd, carrier.Wide(b, x), axes...), b.Int(hlo.I64, int64(up)))
	q := b.DivRound(sum, b.Int(hlo.I64, int64(count)<<down), uint8(out.Round))
	return b.Saturate(q, int32(out.Over), out.W, out.Signed, carrier.DType(n.Type)), b.Err()
}

// genReduce draws some axes of a value; a few have none between those that stay.
func genReduce(r *rand.Rand, o *ir.Op) *ir.Graph {
	x := draw.Input("x", ir.Type{Shape: draw.Shape(r, 1, 4), Format: draw.Format(r)})
	rank := len(x.Type.Shape)
	first := r.IntN(rank)
	a := &Attrs{Axes: []int{first}}
	for i := first + 1; i < rank; i++ {
		if draw.Chance(r, 50) {
			a.Axes = append(a.Axes, i)
		}
	}
	if o.Traits.KeepsCodes {
		return draw.Graph(o, a, draw.Keeps(x.Type), x)
	}
	return draw.Graph(o, a, ir.Type{Format: draw.Result(r, draw.Top(x.Type)+r.IntN(4))}, x)
}
