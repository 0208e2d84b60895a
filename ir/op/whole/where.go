// SPDX-License-Identifier: Apache-2.0

package whole

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/carrier"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/walk"
)

// Where is a where the truth value cond is 1, else b.
var Where = &ir.Op{
	Name: "where", Doc: "a where cond is 1, else b, with broadcasting; arguments cond, a, b", Arity: [2]int{3, 3},
	Traits: ir.Traits{FloatOnly: true, Elementwise: true},
	Infer:  walk.BroadcastArgs,
	Format: func(n *ir.Node) (format.Format, error) {
		if c := n.Args[0]; c.Type.Format != ir.Bool {
			return nil, fmt.Errorf("where takes a boolean condition, %q is %s", c.Name, c.Type.Format)
		}
		return n.OneFormat(n.Args[1:]...)
	},
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		if err := column.InFloatGraph(n); err != nil {
			return nil, err
		}
		fill := column.FixedArgs(n)
		w := walk.Broadcasting(n.Type.Shape, n.Args[0].Type.Shape, n.Args[1].Type.Shape, n.Args[2].Type.Shape)
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			args, err := fill(args)
			if err != nil {
				return nil, err
			}
			out := ir.NewTensor(n.Type)
			if n.Type.IsFloat() {
				choose(w, out.Floats, args[0].Codes, args[1].Floats, args[2].Floats)
			} else {
				choose(w, out.Codes, args[0].Codes, args[1].Codes, args[2].Codes)
			}
			return out, nil
		}, nil
	},
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		if err := column.InFloatGraph(n); err != nil {
			return hlo.Value{}, err
		}
		v, err := carrier.Operands(b, n, args)
		if err != nil {
			return hlo.Value{}, err
		}
		return b.Select(carrier.IsTrue(b, v[0]), v[1], v[2]), b.Err()
	},
	Legal: column.NoInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		f := draw.Either(r)
		return draw.Element(r, o, nil, ir.Bool, f, f)
	},
}

// choose takes elements of a or b.
func choose[T float32 | int64](w *walk.Walk, out []T, cond []int64, a, b []T) {
	w.Each(func(at, n int, from, step []int) {
		for i := range n {
			if cond[from[0]+i*step[0]] != 0 {
				out[at+i] = a[from[1]+i*step[1]]
			} else {
				out[at+i] = b[from[2]+i*step[2]]
			}
		}
	})
}
