// SPDX-License-Identifier: Apache-2.0

package calib

import (
	"runtime"
	"sync"

	"lathe/ir"
)

// linear is weighted for a linear node, whose weights it reads a row at a time: no copies of all of them are made. Its
// sums are those of sum.Linear, in the same order.
func linear(n *ir.Node, x bounds) (bounds, error) {
	data := n.Args[1].Attrs.(*ir.Const).Data
	if data.DType != ir.F32 || data.Len() != n.Args[1].Type.Elems() {
		return weighted(n, x)
	}
	b := bounds{ir.NewTensor(n.Type), ir.NewTensor(n.Type)}
	bias := make([]float32, n.Args[1].Type.Shape[0])
	if len(n.Args) > 2 {
		t, err := n.Args[2].Value()
		if err != nil {
			return b, err
		}
		bias = t.Floats
	}
	out, in := n.Args[1].Type.Shape[0], n.Args[1].Type.Shape[1]
	var wait sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), out)
	for w := range workers {
		wait.Go(func() {
			row := make([]float32, in)
			for c := w; c < out; c += workers {
				data.FloatsAt(row, c*in)
				for at := 0; at*in < len(x.lo.Floats); at++ {
					lo, hi := x.lo.Floats[at*in:(at+1)*in], x.hi.Floats[at*in:(at+1)*in]
					b.lo.Floats[at*out+c] = signedSum(row, lo, hi, bias[c])
					b.hi.Floats[at*out+c] = signedSum(row, hi, lo, bias[c])
				}
			}
		})
	}
	wait.Wait()
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
