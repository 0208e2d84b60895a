// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"bytes"
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/survey"
)

// Weight is a constant whose values differ.
type Weight struct {
	Names
	// TypeA and TypeB are shape and format, and the type of the stored elements.
	TypeA string `json:"type_a"`
	TypeB string `json:"type_b"`
	// Elements differ in Count elements; both are 0 where the shapes differ.
	Elements int `json:"elements,omitempty"`
	Count    int `json:"differing,omitempty"`
	// MaxDiff is the greatest absolute difference, Peak the greatest magnitude in a; a NaN that only one has counts as
	// an infinite difference, which stands as -1.
	MaxDiff float64 `json:"max_difference"`
	Peak    float64 `json:"peak"`
}

// weight compares two constants.
func (r *Result) weight(x, y *ir.Node, o Options) error {
	p, q := x.Attrs.(*ir.Const).Data, y.Attrs.(*ir.Const).Data
	sameShape := slices.Equal(x.Type.Shape, y.Type.Shape)
	if sameShape && x.Type.String() == y.Type.String() && p.DType == q.DType && bytes.Equal(p.Bytes, q.Bytes) {
		r.Equal, r.Bytes = r.Equal+1, r.Bytes+1
		return nil
	}
	w := Weight{Names: Names{x.Name, y.Name}, TypeA: typeOf(x), TypeB: typeOf(y)}
	if !sameShape || x.Type.IsFloat() != y.Type.IsFloat() {
		r.Weights = append(r.Weights, w)
		return nil
	}
	a, err := values(x)
	if err != nil {
		return err
	}
	b, err := values(y)
	if err != nil {
		return err
	}
	w.Elements = len(a)
	for i := range a {
		d := math.Abs(a[i] - b[i])
		same := a[i] == b[i] || math.IsNaN(a[i]) && math.IsNaN(b[i])
		switch {
		case same:
			d = 0
		case math.IsNaN(d):
			d = math.Inf(1)
		}
		if !same {
			w.Count++
		}
		w.MaxDiff = max(w.MaxDiff, d)
		if !math.IsNaN(a[i]) && !math.IsInf(a[i], 0) {
			w.Peak = max(w.Peak, math.Abs(a[i]))
		}
	}
	if w.Count == 0 || w.MaxDiff <= o.Tolerance {
		r.Equal++
		return nil
	}
	if math.IsInf(w.MaxDiff, 0) {
		w.MaxDiff = -1
	}
	r.Weights = append(r.Weights, w)
	return nil
}

// values are the numbers that a constant stands for.
func values(n *ir.Node) ([]float64, error) {
	if n.Type.IsFloat() {
		return n.Attrs.(*ir.Const).Data.Floats64(), nil
	}
	t, err := n.Value()
	if err != nil {
		return nil, err
	}
	return t.Decode()
}

func typeOf(n *ir.Node) string {
	return ir.ShapeString(n.Type.Shape) + " " + survey.FormatName(n.Type) + " (" +
		string(n.Attrs.(*ir.Const).Data.DType) + ")"
}
