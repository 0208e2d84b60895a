// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"
	"math/rand/v2"

	"lathe/golden/hlo"
	"lathe/ir"
	"lathe/ir/format"
)

// Where is a where the truth value cond is 1, else b.
var Where = &ir.Op{
	Name: "where", Doc: "a where cond is 1, else b, with broadcasting; arguments cond, a, b", Arity: [2]int{3, 3},
	Traits: ir.Traits{FloatOnly: true, Elementwise: true},
	Infer:  broadcastAll,
	Format: func(n *ir.Node) (format.Format, error) {
		if c := n.Args[0]; c.Type.Format != ir.Bool {
			return nil, fmt.Errorf("where chooses by truth values, %q is %s", c.Name, c.Type.Format)
		}
		return n.OneFormat(n.Args[1:]...)
	},
	Eval: func(n *ir.Node) (ir.Kernel, error) {
		if err := inFloatGraph(n); err != nil {
			return nil, err
		}
		index, fill := broadcasts(n), fixedArgs(n)
		return func(args []*ir.Tensor) (*ir.Tensor, error) {
			args, err := fill(args)
			if err != nil {
				return nil, err
			}
			out := ir.NewTensor(n.Type)
			for i, c := range index[0] {
				from := 1
				if args[0].Codes[c] == 0 {
					from = 2
				}
				if out.Codes != nil {
					out.Codes[i] = args[from].Codes[index[from][i]]
				} else {
					out.Floats[i] = args[from].Floats[index[from][i]]
				}
			}
			return out, nil
		}, nil
	},
	HLO: func(b *hlo.Builder, n *ir.Node, args []hlo.Value) (hlo.Value, error) {
		if err := inFloatGraph(n); err != nil {
			return hlo.Value{}, err
		}
		v, err := operands(b, n, args)
		if err != nil {
			return hlo.Value{}, err
		}
		return b.Select(isTrue(b, v[0]), v[1], v[2]), b.Err()
	},
	Legal: noInteger,
	Gen: func(r *rand.Rand, o *ir.Op) *ir.Graph {
		f := genEither(r)
		return genElement(r, o, nil, ir.Bool, f, f)
	},
}
