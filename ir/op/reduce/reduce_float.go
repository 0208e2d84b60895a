// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/arith"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
)

// Prod is the product along axes, of whole numbers modulo 2^W.
var Prod = reduceFloat("reduce_prod", "product along axes", hlo.ReduceMul, 1,
	func(a, b int64) int64 { return a * b }, draw.Either)

// The reductions of truth values.
var (
	Any = reduceFloat("reduce_any", "1 where any truth value along axes is 1", hlo.ReduceMax, 0,
		func(a, b int64) int64 { return a | b }, genBool)
	All = reduceFloat("reduce_all", "1 where all truth values along axes are 1", hlo.ReduceMin, 1,
		func(a, b int64) int64 { return a & b }, genBool)
)

func genBool(*rand.Rand) format.Format { return ir.Bool }

// reduceFloat makes a reduction of float graphs. Floats are multiplied, in float64, by reduce_prod alone.
func reduceFloat(name, doc string, reducer hlo.Reducer, start int64, f func(a, b int64) int64,
	pick func(*rand.Rand) format.Format) *ir.Op {
	return &ir.Op{
		Name: name, Doc: doc, Attrs: Attrs{}, Arity: [2]int{1, 1},
		Traits: ir.Traits{FloatOnly: true, Axes: func(attrs any) []int { return attrs.(*Attrs).Axes }},
		Infer:  reduceInfer,
		Format: func(n *ir.Node) (format.Format, error) {
			x := n.Args[0]
			if reducer != hlo.ReduceMul && x.Type.Format != ir.Bool {
				return nil, fmt.Errorf("%s takes booleans, %q is %s", n.Op.Name, x.Name, x.Type.Format)
			}
			return x.Type.Format, nil
		},
		Eval: func(n *ir.Node) (ir.Kernel, error) {
			if err := column.InFloatGraph(n); err != nil {
				return nil, err
			}
			cut := arith.Wrap(n.Type)
			return func(args []*ir.Tensor) (*ir.Tensor, error) {
				out := ir.NewTensor(n.Type)
				reduceLoop(n, func(at int, in []int) {
					if out.Codes != nil {
						out.Codes[at] = cut(reduceCodes(args[0].Codes, in, start, f))
						return
					}
					y := 1.0
					for _, i := range in {
						y *= float64(args[0].Floats[i])
					}
					out.Floats[at] = float32(y)
				})
				return out, nil
			}, nil
		},
		HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
			if err := column.InFloatGraph(n); err != nil {
				return hlo.Value{}, err
			}
			y := b.ReduceKeep(reducer, args[0], b.Axes(n.Attrs.(*Attrs).Axes...)...)
			return carrier.Wrap(b, y, n.Type), b.Err()
		},
		Legal: column.NoInteger,
		Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
			n := genReduce(r, o).Out[0].Node
			x := n.Args[0]
			x.Type = ir.Type{Shape: x.Type.Shape, Format: pick(r)}
			return draw.FloatGraph(o, n.Attrs, x)
		},
	}
}

// reduceCodes reduces the listed codes.
func reduceCodes(x []int64, in []int, start int64, f func(a, b int64) int64) int64 {
	for _, i := range in {
		start = f(start, x[i])
	}
	return start
}
