// SPDX-License-Identifier: Apache-2.0

package op

import (
	"fmt"

	"lathe/ir"
	"lathe/ir/dense"
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
	w, bias, err := floatOperand(n)
	if err != nil {
		return nil, err
	}
	in, out := n.Args[1].Type.Shape[1], n.Args[1].Type.Shape[0]
	return func(args []*ir.Tensor) (*ir.Tensor, error) {
		y := ir.NewTensor(n.Type)
		p := dense.Product{M: product(n.Type.Shape[:len(n.Type.Shape)-1]), N: out, K: in,
			Left: dense.Left(args[0].Floats, in), Right: w, Bias: bias, Out: y.Floats, Row: out, Col: 1}
		p.Run()
		return y, nil
	}, nil
}

// floatOperand is the constant weights of n, one row for each of the first axis, where they lie, and the constant bias,
// which is nil if there is none.
func floatOperand(n *ir.Node) (w dense.Operand, bias []float32, err error) {
	if !n.Args[1].IsConst() {
		return w, nil, n.Errorf("L0315", "argument 1 (%s) must be a constant", n.Args[1].Name)
	}
	shape, data := n.Args[1].Type.Shape, n.Args[1].Attrs.(*ir.Const).Data
	row := product(shape[1:])
	switch {
	case data.Len() != shape[0]*row || !n.Args[1].Type.IsFloat():
		t, err := n.Args[1].Value()
		if err != nil {
			return w, nil, err
		}
		w = dense.Rows(t.Floats, row)
	case data.DType == ir.F32:
		w = dense.ByteRows(data.Bytes, row)
	default:
		w = dense.Operand{Row: row, Step: 1, Read: data.FloatsAt}
	}
	if len(n.Args) > 2 {
		t, err := constArg(n, 2)
		if err != nil {
			return w, nil, err
		}
		bias = t.Floats
	}
	return w, bias, nil
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
