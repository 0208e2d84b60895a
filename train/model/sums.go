// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// sumType is the type of floats in which a sum of products is exact.
type sumType uint8

const (
	single sumType = iota
	double
	inexact // double, but sums may exceed it
)

// slack is how far the absolute sum of a row of weights may grow in training before a sum that starts exact is none any
// more.
const slack = 4

// widen decides for each sum in which floats it is exact: all terms are whole numbers of a step, and no sum of their
// magnitudes reaches as many steps as the type tells apart.
func (m *Model) widen() error {
	for i, n := range m.run.Nodes {
		if !n.Op.Traits.Weighted || n.IsConst() {
			continue
		}
		steps, ok, err := mostSteps(n)
		if err != nil {
			return err
		}
		t := inexact
		switch {
		case ok && steps*slack < 1<<24:
			t = single
		case ok && steps*slack < 1<<53:
			t = double
		default:
			m.Approximate = append(m.Approximate, n.Name)
		}
		m.sums[m.float.Nodes[i]] = t
	}
	return nil
}

// mostSteps bounds the sums of n, in steps of their least bit; ok is false where there is none.
func mostSteps(n *ir.Node) (steps float64, ok bool, err error) {
	x, ok := stepOf(n.Args[0].Type)
	if !ok {
		return 0, false, nil
	}
	lo, hi := n.Args[0].Type.Format.Limits()
	most := math.Max(math.Abs(lo.Float64()), math.Abs(hi.Float64()))
	var w [2][]float64
	var least [2][]float64
	for i := range w {
		if i+1 >= len(n.Args) {
			continue
		}
		if !n.Args[i+1].IsConst() {
			return 0, false, nil
		}
		t, err := n.Args[i+1].Value()
		if err != nil {
			return 0, false, n.Errorf(diag.ConstantNotFinite, "%v", err)
		}
		if w[i], err = t.Decode(); err != nil {
			return 0, false, n.Errorf(diag.ConstantNotFinite, "%v", err)
		}
		if least[i] = channelSteps(t.Type); least[i] == nil {
			return 0, false, nil
		}
	}
	rows := n.Args[1].Type.Shape[0]
	size := len(w[0]) / max(rows, 1)
	for r := range rows {
		sum, step := 0.0, x*least[0][r%len(least[0])]
		for _, v := range w[0][r*size : (r+1)*size] {
			sum += math.Abs(v) * most
		}
		if w[1] != nil {
			sum += math.Abs(w[1][r%len(w[1])])
			step = min(step, least[1][0])
		}
		steps = max(steps, sum/step)
	}
	return steps, true, nil
}

// stepOf is a power of two of which all values of a type are multiples.
func stepOf(t ir.Type) (float64, bool) {
	s := channelSteps(t)
	if s == nil {
		return 0, false
	}
	return slices.Min(s), true
}

// channelSteps is stepOf for each channel that has a scale of its own, else once; nil where there is none.
func channelSteps(t ir.Type) []float64 {
	if exp, _, ok := t.Format.Lattice(); ok {
		return []float64{math.Ldexp(1, exp)}
	}
	if _, _, along := format.ScaledAlong(t.Format); !along || len(t.Scales) == 0 {
		return nil
	}
	var steps []float64
	for _, s := range t.Scales {
		e, two := format.Log2(s)
		if !two {
			return nil
		}
		steps = append(steps, math.Ldexp(1, e))
	}
	return steps
}
