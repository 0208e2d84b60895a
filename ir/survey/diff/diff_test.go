// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"math"
	"testing"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/text"
)

func parse(t *testing.T, body string) *ir.Graph {
	t.Helper()
	g, err := text.Parse("g", "lathe 1\ngraph %g float(%x) {\n  %x = input : 2 fp32\n"+body+"\n}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestCommutes swaps the arguments of additions and of subtractions.
func TestCommutes(t *testing.T) {
	for name, want := range map[string]bool{"add": true, "sub": false} {
		body := "  %a = relu(%x) : 2 fp32\n  %b = exp(%x) : 2 fp32\n  return y = %c"
		x := parse(t, body[:len(body)-len("  return y = %c")]+"  %c = "+name+"(%a, %b) : 2 fp32\n  return y = %c")
		y := parse(t, body[:len(body)-len("  return y = %c")]+"  %c = "+name+"(%b, %a) : 2 fp32\n  return y = %c")
		if r, err := Of(x, y, Options{}); err != nil || r.Same != want {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestEveryChangeShows makes one change of a chain at a time, with all names new: none may go unseen, and what is
// unchanged must find its partner.
func TestEveryChangeShows(t *testing.T) {
	chain := func(prefix string, edit int) *ir.Graph {
		g := parse(t, "  return y = %x")
		last := g.In[0]
		for i, o := range []*ir.Op{pointwise.Relu, curve.Exp, curve.Tanh, curve.Sigmoid, curve.Erf} {
			if i == edit {
				o = curve.Abs
			}
			n, err := ir.NewNode(o, prefix+o.Name, "", nil, last)
			if err != nil {
				t.Fatal(err)
			}
			g.Nodes, last = append(g.Nodes, n), n
		}
		g.Out[0].Node = last
		return g
	}
	for edit := range 5 {
		r, err := Of(chain("a", -1), chain("b", edit), Options{})
		if err != nil || r.Same || r.Matched < 5 || len(r.Removed) != 1 || len(r.Added) != 1 {
			t.Errorf("node %d: %+v, %v", edit, r, err)
		}
	}
	if r, err := Of(chain("a", -1), chain("b", -1), Options{}); err != nil || !r.Same || r.Matched != 6 {
		t.Errorf("no change: %+v, %v", r, err)
	}
}

// TestNoNumbers compares weights that hold infinities and NaNs.
func TestNoNumbers(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	weights := func(values ...float32) *ir.Node {
		return &ir.Node{Name: "w", Op: leaf.Const, Attrs: &ir.Const{Data: ir.FloatBlob(values)}, Type: ir.Float(len(values))}
	}
	for _, c := range []struct {
		a, b  []float32
		count int
		most  float64
	}{
		{[]float32{1, nan, inf}, []float32{2, nan, inf}, 1, 1},
		{[]float32{1, nan}, []float32{1, 0}, 1, -1},
		{[]float32{1, inf}, []float32{1, -inf}, 1, -1},
	} {
		r := &Result{}
		if err := r.weight(weights(c.a...), weights(c.b...), Options{}); err != nil || len(r.Weights) != 1 ||
			r.Weights[0].Count != c.count || r.Weights[0].MaxDiff != c.most {
			t.Errorf("%v, %v: %+v, %v", c.a, c.b, r.Weights, err)
		}
	}
}
