// SPDX-License-Identifier: Apache-2.0

package sum

import (
	"lathe/internal/workers"
	"lathe/ir"
	"lathe/ir/op/column"
)

// linearBounds is weightedBounds for weights that it reads a row at a time: no copies of all of them are made. Its sums
// are those of Linear, in the same order.
func linearBounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	w, constant := n.Args[1].Attrs.(*ir.Const)
	if !constant || w.Data.DType != ir.F32 || w.Data.Len() != n.Args[1].Type.Elems() {
		return weightedBounds(n, args)
	}
	x, data := args[0], w.Data
	b := ir.Bounds{Lo: ir.NewTensor(n.Type), Hi: ir.NewTensor(n.Type)}
	bias := make([]float32, n.Args[1].Type.Shape[0])
	if len(n.Args) > 2 {
		t, err := n.Args[2].Value()
		if err != nil {
			return b, err
		}
		bias = t.Floats
	}
	out, in := n.Args[1].Type.Shape[0], n.Args[1].Type.Shape[1]
	workers.Ranges(out, 1, func(from, to int) {
		row := make([]float32, in)
		for c := from; c < to; c++ {
			data.FloatsAt(row, c*in)
			for at := 0; at*in < len(x.Lo.Floats); at++ {
				lo, hi := x.Lo.Floats[at*in:(at+1)*in], x.Hi.Floats[at*in:(at+1)*in]
				b.Lo.Floats[at*out+c] = signedSum(row, lo, hi, bias[c])
				b.Hi.Floats[at*out+c] = signedSum(row, hi, lo, bias[c])
			}
		}
	})
	return b, nil
}

// signedSum adds the positive weights times forPos, with the bias, to the negative ones times forNeg.
func signedSum(row, forPos, forNeg []float32, bias float32) float32 {
	var p0, p1, q0, q1 float64
	forPos, forNeg = forPos[:len(row)], forNeg[:len(row)]
	for j := range row {
		p, q := float64(max(row[j], 0))*float64(forPos[j]), float64(min(row[j], 0))*float64(forNeg[j])
		if j&1 == 0 {
			p0, q0 = p0+p, q0+q
		} else {
			p1, q1 = p1+p, q1+q
		}
	}
	return float32(p0+float64(bias)+p1) + float32(q0+q1)
}

// weightedBounds is for operations that are linear in argument 0, with constant weights: positive weights carry a bound
// to the same bound, negative ones to the other.
func weightedBounds(n *ir.Node, args []ir.Bounds) (ir.Bounds, error) {
	pos, err := signPart(n, func(w float32) float32 { return max(w, 0) }, true)
	if err != nil {
		return ir.Bounds{}, err
	}
	neg, err := signPart(n, func(w float32) float32 { return min(w, 0) }, false)
	if err != nil {
		return ir.Bounds{}, err
	}
	x, b := args[0], ir.Bounds{}
	for _, side := range []struct {
		to             **ir.Tensor
		forPos, forNeg *ir.Tensor
	}{{&b.Lo, x.Lo, x.Hi}, {&b.Hi, x.Hi, x.Lo}} {
		p, err := column.Apply(pos, side.forPos, nil, nil)
		if err != nil {
			return b, err
		}
		q, err := column.Apply(neg, side.forNeg, nil, nil)
		if err != nil {
			return b, err
		}
		sum := column.CloneFloats(p)
		for i, v := range q.Floats {
			sum.Floats[i] += v
		}
		*side.to = sum
	}
	return b, nil
}

// signPart is n with weights f(w), and with its bias or a bias of zero.
func signPart(n *ir.Node, f func(float32) float32, bias bool) (*ir.Node, error) {
	t, err := n.Args[1].Value()
	if err != nil {
		return nil, err
	}
	p := *n
	w := make([]float32, len(t.Floats))
	for i, v := range t.Floats {
		w[i] = f(v)
	}
	p.Args = append([]*ir.Node(nil), n.Args...)
	p.Args[1] = floatConst(n.Args[1], w)
	if len(n.Args) > 2 && !bias {
		p.Args[2] = floatConst(n.Args[2], make([]float32, n.Args[2].Type.Elems()))
	}
	return &p, nil
}

func floatConst(like *ir.Node, values []float32) *ir.Node {
	c := *like
	c.Attrs = ir.Computed(ir.FloatBlob(values), like)
	return &c
}
