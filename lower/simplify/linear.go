// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/sum"
)

// Scales merges every scale that is the only reader of a linear operation, of a convolution or of another scale into
// that node, which keeps its name: w[c] becomes w[c]*m[c], the bias becomes bias*m + b.
func Scales(g *ir.Graph) error {
	users := g.Users()
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op != sum.Scale {
			continue
		}
		x := n.Args[0]
		if !outputScale(x, n.Attrs.(*column.ScaleAttrs).Axis) || onlyReader(users, g, x) != n {
			continue
		}
		if keeps, err := keepsWeights(x, n); err != nil {
			return err
		} else if keeps {
			continue
		}
		if err := absorb(g, x, n); err != nil {
			return err
		}
		g.Replace(n, x)
		n.Args = nil // dead: it must not count as a reader of x
		users = g.Users()
	}
	g.DropDead()
	return nil
}

// keepsWeights says that x has weights which are codes of the model, and factors of s would make other numbers of them.
func keepsWeights(x, s *ir.Node) (bool, error) {
	if x.Args[1].Attrs.(*ir.Const).Own.Format == nil {
		return false, nil
	}
	ones, err := onlyAdds(s)
	return !ones, err
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
