// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/sum"
)

// Scales merges every scale that is the only reader of a linear operation, of a convolution or of another scale into
// that node, which keeps its name: w[c] becomes w[c]*m[c], the bias becomes bias*m + b. Operations between both may
// move whole channels. Weights that are codes of the model stay those codes: their scales take the factors.
func Scales(g *ir.Graph) error {
	users := g.Users()
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op != sum.Scale {
			continue
		}
		x, factors := weighted(g, users, n)
		if x == nil {
			continue
		}
		codes, keeps, err := codesTimes(x, n, factors)
		if err != nil {
			return err
		}
		if keeps {
			continue
		}
		if n.Args[0] != x {
			if err := spread(g, n, factors); err != nil {
				return err
			}
		}
		if err := absorb(g, x, n); err != nil {
			return err
		}
		if codes != nil {
			w := x.Args[1]
			SetConst(g, x, 1, w.Type.Shape, codes.Data.Floats())
			k := x.Args[1].Attrs.(*ir.Const)
			k.Data, k.Own = codes.Data, codes.Own
		}
		g.Replace(n, n.Args[0])
		n.Args = nil // dead: it must not count as a reader of x
		users = g.Users()
	}
	g.DropDead()
	return nil
}

// codesTimes is the weights of x times factors of scale s, one for each channel of x, where they are codes of the model
// and the factors are not all 1; keeps says that they would be no codes any more.
func codesTimes(x, s *ir.Node, factors []int) (codes *ir.Const, keeps bool, err error) {
	if x.Args[1].Attrs.(*ir.Const).Own.Format == nil {
		return nil, false, nil
	}
	if ones, err := onlyAdds(s); err != nil || ones {
		return nil, false, err
	}
	t, err := s.Args[1].Value()
	if err != nil {
		return nil, false, err
	}
	of := make([]float32, len(factors))
	for k, f := range factors {
		of[k] = t.Floats[f]
	}
	codes = rescaled(x.Args[1], of)
	return codes, codes == nil, nil
}

// onlyAdds says that all factors of scale s are 1.
func onlyAdds(s *ir.Node) (bool, error) {
	t, err := s.Args[1].Value()
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(t.Floats, func(f float32) bool { return f != 1 }), nil
}

// outputScale says that x has a factor and a summand for each index of axis of its result.
func outputScale(x *ir.Node, axis int) bool {
	channels, ok := x.ChannelAxis()
	if !ok {
		channels = len(x.Type.Shape) - 1
	}
	return x.Op.Traits.Weighted && axis == channels
}

// absorb multiplies weights and bias of x by those of scale s, in float64.
func absorb(g *ir.Graph, x, s *ir.Node) error {
	var v [4][]float32 // weights, bias, factors, summands
	for i, n := range []*ir.Node{x.Args[1], biasOf(x), s.Args[1], s.Args[2]} {
		if n == nil {
			continue
		}
		t, err := n.Value()
		if err != nil {
			return err
		}
		v[i] = t.Floats
	}
	mul, add := v[2], v[3]
	if ones, err := onlyAdds(s); err != nil {
		return err
	} else if ones && v[1] == nil { // the weights stay as they are, and the summands as the model has them
		b := newConst(g, x, x.Name+".bias", x.Pos, []int{len(add)}, add)
		k := s.Args[2].Attrs.(*ir.Const)
		same := *k
		same.Add(k)
		b.Attrs = &same
		x.Args = append(x.Args, b)
		return nil
	}
	row := len(v[0]) / len(mul)
	w, b := make([]float32, len(v[0])), make([]float32, len(mul))
	for i, f := range v[0] {
		w[i] = float32(float64(f) * float64(mul[i/row]))
	}
	for c := range b {
		sum := float64(add[c])
		if v[1] != nil {
			sum += float64(v[1][c]) * float64(mul[c])
		}
		b[c] = float32(sum)
	}
	if !slices.Equal(w, v[0]) {
		SetConst(g, x, 1, x.Args[1].Type.Shape, w, s.Args[1])
	}
	if v[1] == nil {
		x.Args = append(x.Args, newConst(g, x, x.Name+".bias", x.Pos, []int{len(b)}, b, s.Args[2]))
		return nil
	}
	SetConst(g, x, 2, []int{len(b)}, b, s.Args[1:]...)
	return nil
}

func biasOf(n *ir.Node) *ir.Node {
	if len(n.Args) < 3 {
		return nil
	}
	return n.Args[2]
}

const (
	// alike is how much larger the largest factor of an input's scale may be than the least where the weights of the next
	// layer take them: they share one format, in which small ones would be lost.
	alike = 2
	// aside is the largest summand of such a scale: around larger ones, the input needs bits that the weights cannot give.
	aside = 2
)

// InputScales merges the scale of an input into the linear operation that alone reads it, where the factors are about
// alike: w[c] becomes w[c]*m, and the bias takes the sum of w*b.
func InputScales(g *ir.Graph) error {
	users := g.Users()
	for _, s := range slices.Clone(g.Nodes) {
		if s.Op != sum.Scale || !s.Args[0].IsInput() || s.Attrs.(*column.ScaleAttrs).Axis != len(s.Type.Shape)-1 {
			continue
		}
		n := onlyReader(users, g, s)
		if n == nil || n.Op != sum.Linear || n.Args[0] != s || slices.ContainsFunc(n.Args[1:], owned) {
			continue
		}
		mul, err := s.Args[1].Value()
		if err != nil {
			return err
		}
		add, err := s.Args[2].Value()
		if err != nil {
			return err
		}
		if !similar(mul.Floats) || slices.ContainsFunc(add.Floats, func(v float32) bool { return v > aside || v < -aside }) {
			continue
		}
		if err := absorbInput(g, n, s, mul.Floats, add.Floats); err != nil {
			return err
		}
		n.Args[0], s.Args = s.Args[0], nil
	}
	g.DropDead()
	return nil
}

// owned says that a weight is computed, or that its values are codes of the model.
func owned(w *ir.Node) bool {
	k, ok := w.Attrs.(*ir.Const)
	return !ok || k.Own.Format != nil
}

// similar says that all factors are of about one size.
func similar(factors []float32) bool {
	least, most := float32(math.Inf(1)), float32(0)
	for _, v := range factors {
		least, most = min(least, max(v, -v)), max(most, max(v, -v))
	}
	return most <= alike*least && most > 0
}

// absorbInput multiplies the weights of linear n by the factors of the scale s in front, in float64.
func absorbInput(g *ir.Graph, n, s *ir.Node, mul, add []float32) error {
	t, err := n.Args[1].Value()
	if err != nil {
		return err
	}
	w, shift := make([]float32, len(t.Floats)), make([]float64, n.Args[1].Type.Shape[0])
	for i, v := range t.Floats {
		c := i % len(mul)
		w[i] = float32(float64(v) * float64(mul[c]))
		shift[i/len(mul)] += float64(v) * float64(add[c])
	}
	from := []*ir.Node{s.Args[2], n.Args[1]}
	if bias := biasOf(n); bias != nil {
		old, err := bias.Value()
		if err != nil {
			return err
		}
		for i, v := range old.Floats {
			shift[i] += float64(v)
		}
	}
	b := make([]float32, len(shift))
	for i, v := range shift {
		b[i] = float32(v)
	}
	if biasOf(n) != nil {
		SetConst(g, n, 2, []int{len(b)}, b, from...)
	} else if slices.ContainsFunc(b, func(v float32) bool { return v != 0 }) {
		n.Args = append(n.Args, newConst(g, n, n.Name+".bias", n.Pos, []int{len(b)}, b, from...))
	}
	SetConst(g, n, 1, n.Args[1].Type.Shape, w, s.Args[1])
	return nil
}
