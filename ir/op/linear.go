// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/ir"
)

// Linear is y = x*transpose(w) + b: x [..., in], w [out, in], b [out] (optional), y [..., out].
//
// Quantized, weights and bias are constants, and the sum is exact with one rounding into the result format.
var Linear = &ir.Op{
	Name: "linear", Doc: "x*transpose(w) + b over the last axis", Arity: [2]int{2, 3},
	Traits: ir.Traits{Weighted: true},
	Infer:  linearInfer,
	Eval:   linearEval,
	HLO:    linearHLO,
	RTL:    linearRTL,
	CUDA:   linearCUDA,
	Flow:   linearFlow,
	Legal:  macLegal,
	Gen:    genLinear,
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
	if usesWindow(n) {
		return windowLinear(n)
	}
	m, err := planRows(n)
	if err != nil {
		return nil, err
	}
	rows := m.kernel(n.Type.Format)
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		x, err := m.values(n, args[0])
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(n.Type)
		for v := 0; v*m.in < len(x); v++ {
			rows(x[v*m.in:(v+1)*m.in], out.Codes[v*m.out:(v+1)*m.out])
		}
		return out, nil
	}, nil
}

func linearFloat(n *ir.Node) (ir.Kernel, error) {
	if k, err := linearFloatRows(n); k != nil || err != nil {
		return k, err
	}
	w, b, err := floatWeights(n)
	if err != nil {
		return nil, err
	}
	in, out := n.Args[1].Type.Shape[1], n.Args[1].Type.Shape[0]
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(n.Type)
		for v := 0; v*in < len(args[0].Floats); v++ {
			floatRows(w, b, args[0].Floats[v*in:(v+1)*in], y.Floats[v*out:(v+1)*out])
		}
		return y, nil
	}, nil
}

// floatWeights reads constant weights and bias; bias is nil if there is none.
func floatWeights(n *ir.Node) (w, b []float32, err error) {
	wt, err := constArg(n, 1)
	if err != nil {
		return nil, nil, err
	}
	if len(n.Args) > 2 {
		bt, err := constArg(n, 2)
		if err != nil {
			return nil, nil, err
		}
		b = bt.Floats
	}
	return wt.Floats, b, nil
}

// floatRows computes y[c] = b[c] + sum w[c][j]*x[j], summed in float64 and rounded once.
func floatRows(w, b, x, y []float32) {
	for c := range y {
		row := w[c*len(x) : (c+1)*len(x)]
		var s0, s1 float64
		j := 0
		for ; j+1 < len(row); j += 2 {
			s0 += float64(row[j]) * float64(x[j])
			s1 += float64(row[j+1]) * float64(x[j+1])
		}
		if j < len(row) {
			s0 += float64(row[j]) * float64(x[j])
		}
		if b != nil {
			s0 += float64(b[c])
		}
		y[c] = float32(s0 + s1)
	}
}

// macLegal holds for linear and conv: constant weights with a common step, and operands that have one.
func macLegal(n *ir.Node) error {
	if usesWindow(n) {
		_, err := planWindow(n)
		return err
	}
	if err := plain(n); err != nil {
		return err
	}
	if done, err := largeLegal(n); done {
		return err
	}
	_, err := planMAC(n)
	return err
}

// manyWeights is the number from which reading them all in every check would take longer than the work between.
const manyWeights = 1 << 18

// largeLegal checks a mac of very many weights by their type alone, where no value of a weight can matter: codes that
// are integers of one step, or of one a channel. done is false where the weights themselves must be read.
func largeLegal(n *ir.Node) (done bool, err error) {
	w := n.Args[1]
	if !manyCodes(n) {
		return false, nil
	}
	if _, ok := step(n.Args[0].Type); !ok {
		return false, nil
	}
	if _, err := (&ir.Tensor{Type: w.Type}).Lattice(); err != nil {
		return false, nil // planMAC says it in full
	}
	if len(n.Args) > 2 {
		_, err = constLattice(n, 2)
	}
	return true, err
}
