// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"math"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
)

// bounds: sigmoid and tanh bound all results but those of relu, and but for states before the first row.
func (k *kind) bounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	first, err := k.mostFirst(n)
	if err != nil {
		return ir.Bounds{}, err
	}
	switch a := n.Attrs.(*Attrs); {
	case a.Cells:
		most := first + float64(n.Type.Shape[0])
		return column.Between(n, -most, most), nil
	case k.bias:
		return column.Between(n, -max(1, first), max(1, first)), nil
	case !a.Relu:
		return column.Between(n, -1, 1), nil
	}
	return reluBounds(n, args, first)
}

// reluBounds are those of an rnn with relu, whose state begins within [-first, first].
func reluBounds(n *ir.Node, args []ir.Bounds, first float64) (ir.Bounds, error) {
	w, err := n.Args[1].Value()
	if err != nil {
		return ir.Bounds{}, err
	}
	size := hidden(n)
	out := column.Between(n, 0, 0)
	for t := range n.Type.Shape[0] {
		for j := range size {
			most := float64(args[0].Hi.Floats[t*size+j])
			for i := range size {
				if v := float64(w.Floats[j*size+i]); t > 0 {
					most += max(0, v) * float64(out.Hi.Floats[(t-1)*size+i])
				} else {
					most += math.Abs(v) * first
				}
			}
			out.Hi.Floats[t*size+j] = float32(max(0, most))
		}
	}
	return out, nil
}

// draw makes layers of a few steps, of few and of many bits.
func (k *kind) draw(r *rand.Rand, o *ir.Op) *ir.Graph {
	steps, size := draw.Between(r, 1, 4), []int{1, 2, 3, 4, 6}[r.IntN(5)]
	a := &Attrs{Relu: k.relu && draw.Chance(r, 40), Cells: k == lstm && draw.Chance(r, 30),
		Before: k == gru && draw.Chance(r, 40)}
	x := draw.Input("x", ir.Type{Shape: []int{steps, k.gates * size}, Format: fine(r, 4, 16, 2)})
	rt := ir.Type{Shape: []int{k.gates * size, size}, Format: fine(r, 2, 10, 0)}
	args := []*ir.Node{x, draw.Const("r", rt, draw.Codes(r, rt.Format, k.gates*size*size))}
	if k.bias && !a.Before && draw.Chance(r, 60) {
		bt := ir.Type{Shape: []int{size}, Format: fine(r, 2, 10, 1)}
		args = append(args, draw.Const("b", bt, draw.Codes(r, bt.Format, size)))
	}
	before := func(name string) *ir.Node {
		t := ir.Type{Shape: []int{size}, Format: fine(r, 2, 10, 2)}
		return draw.Const(name, t, draw.Codes(r, t.Format, size))
	}
	if begins := draw.Chance(r, 50); begins && !a.Before && len(args) == k.first {
		if args = append(args, before("first")); k == lstm {
			args = append(args, before("cell"))
		}
	}
	y := draw.Result(r, 1)
	y.W = min(y.W, 16)
	y.F = y.W - draw.Between(r, 0, 2)
	g := draw.Graph(o, a, ir.Type{Format: y}, args...)
	n := g.Out[0].Node
	n.Attrs = Defaults(n, []int{8, 16}[r.IntN(2)])
	if gate := draw.Between(r, 4, 8); !a.Relu && draw.Chance(r, 50) {
		n.Attrs.(*Attrs).Gate = format.Fixed{W: gate, F: gate - 3, Signed: true}.String()
	}
	if a.Cells {
		n.Type.Format, _ = format.Parse(n.Attrs.(*Attrs).Cell)
	}
	return g
}

// fine is a signed or unsigned format of so many bits, most of them behind the point.
func fine(r *rand.Rand, least, most, whole int) format.Fixed {
	w := draw.Between(r, least, most)
	return format.Fixed{W: w, F: w - draw.Between(r, 0, whole), Signed: draw.Chance(r, 80)}
}
