// SPDX-License-Identifier: Apache-2.0

package channel_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/channel"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/ref"
	"lathe/lower"
	"lathe/lower/lowertest"
	"lathe/lower/quantize"
)

// drawn chooses groups, but not all of a layer.
func drawn(r *rand.Rand, s *channel.Groups) []bool {
	left, gone := map[*ir.Node]int{}, make([]bool, len(s.All))
	for _, g := range s.All {
		for _, n := range g.Opens {
			left[n]++
		}
	}
	for i, g := range s.All {
		last := slices.ContainsFunc(g.Opens, func(n *ir.Node) bool { return left[n] == 1 })
		if gone[i] = !last && r.IntN(2) == 0; gone[i] {
			for _, n := range g.Opens {
				left[n]--
			}
		}
	}
	return gone
}

// masked is g with the weights of the groups that are gone at 0.
func masked(t *testing.T, g *ir.Graph, s *channel.Groups, gone []bool) *ir.Graph {
	values := map[string]*ir.Tensor{}
	for i, group := range s.All {
		for _, m := range group.Members {
			if !gone[i] || !m.Weight {
				continue
			}
			v := values[m.Node.Name]
			if v == nil {
				var err error
				if v, err = m.Node.Value(); err != nil {
					t.Fatal(err)
				}
				v.Codes, v.Floats = slices.Clone(v.Codes), slices.Clone(v.Floats)
				values[m.Node.Name] = v
			}
			m.Elements(func(at int) {
				if v.Codes != nil {
					v.Codes[at] = 0
				} else {
					v.Floats[at] = 0
				}
			})
		}
	}
	c := g.Clone()
	for _, n := range c.Nodes {
		switch v := values[n.Name]; {
		case v == nil:
		case v.Codes != nil:
			n.Attrs = &ir.Const{Data: ir.CodeBlob(v.Codes)}
		default:
			n.Attrs = &ir.Const{Data: ir.FloatBlob(v.Floats)}
		}
	}
	return c
}

// agree demands that the smaller graph computes what the masked one computes, and returns how many groups went.
func agree(t *testing.T, r *rand.Rand, g *ir.Graph, residual bool) int {
	t.Helper()
	s := channel.Of(g, residual)
	gone := drawn(r, s)
	small := g.Clone()
	if err := s.Remove(small, gone); err != nil {
		t.Fatal(err)
	}
	same(t, masked(t, g, s, gone), small)
	n := 0
	for _, cut := range gone {
		if cut {
			n++
		}
	}
	return n
}

// same demands that two graphs with the same inputs compute the same.
func same(t *testing.T, g, other *ir.Graph) {
	t.Helper()
	var outs [2][]ref.Sample
	for i, h := range []*ir.Graph{g, other} {
		p, err := ref.New(h)
		if err != nil {
			t.Fatal(err)
		}
		if outs[i], err = p.Run(context.Background(), samples(g)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range outs[0] {
		for k := range outs[0][i] {
			if !slices.Equal(outs[0][i][k].Codes, outs[1][i][k].Codes) || !slices.Equal(outs[0][i][k].Floats,
				outs[1][i][k].Floats) {
				t.Fatalf("sample %d, output %d:\n%v\n%v", i, k, outs[0][i][k], outs[1][i][k])
			}
		}
	}
}

// samples are random ones, the same for all graphs with the inputs of g.
func samples(g *ir.Graph) (list []ref.Sample) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 4 {
		var s ref.Sample
		for _, in := range g.In {
			x := ir.NewTensor(in.Type)
			for i := range x.Floats {
				x.Floats[i] = float32(r.NormFloat64())
			}
			for i := range x.Codes {
				x.Codes[i] = int64(r.IntN(1<<in.Type.Format.Width())) - 1<<(in.Type.Format.Width()-1)
			}
			s = append(s, x)
		}
		list = append(list, s)
	}
	return list
}

// TestRemove removes channels of random networks, as floats and quantized: what is left computes the same codes.
func TestRemove(t *testing.T) {
	plans := []string{"", "[quantize]\ndata = \"int(8)\"\nweight = \"int(6)*[0]\"\n",
		"[quantize]\ndata = \"float(4,3)\"\nweight = \"float(3,2)\"\n"}
	removed := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		build := []func(testing.TB, uint64) *ir.Graph{lowertest.RandomCNN, lowertest.Branching}[seed%2]
		g := build(t, seed)
		if err := ref.Compute(g); err != nil {
			t.Fatal(err)
		}
		removed += agree(t, r, g, true)
		q, _, err := lower.Quantize(context.Background(), g, lowertest.Plan(t, plans[seed%3]), quantize.Calibration{},
			quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		removed += agree(t, r, q, true)
	}
	if removed < 100 {
		t.Errorf("only %d channels went", removed)
	}
}

// TestInsert puts dead channels into random networks, as floats and quantized, of which each group gets up to two: the
// results stay, and so do all shapes of inputs and results.
func TestInsert(t *testing.T) {
	plans := []string{"", "[quantize]\ndata = \"int(8)\"\nweight = \"int(6)*[0]\"\n",
		"[quantize]\ndata = \"float(4,3)\"\nweight = \"float(3,2)\"\n"}
	inserted := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		build := []func(testing.TB, uint64) *ir.Graph{lowertest.RandomCNN, lowertest.Branching}[seed%2]
		g := build(t, seed)
		if err := ref.Compute(g); err != nil {
			t.Fatal(err)
		}
		q, _, err := lower.Quantize(context.Background(), g, lowertest.Plan(t, plans[seed%3]), quantize.Calibration{},
			quantize.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []*ir.Graph{g, q} {
			s, h := channel.Of(g, true), g.Clone()
			extra := make([]int, len(s.All))
			for _, l := range s.Layers() {
				if l.Last >= 0 {
					extra[l.Last] = r.IntN(3)
					inserted += extra[l.Last]
				}
			}
			if err := s.Insert(h, extra); err != nil {
				t.Fatal(err)
			}
			same(t, g, h)
		}
	}
	if inserted < 100 {
		t.Errorf("only %d channels were inserted", inserted)
	}
}

// TestInsertLayers says which groups layers open, and refuses weights without a 0.
func TestInsertLayers(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Linear("hidden", b.Input("x", 1, 6), 5, true)
	g := b.Done(b.Linear("last", x, 3, true))
	q, _, err := lower.Quantize(t.Context(), g, lowertest.Plan(t, "[quantize]\nweight = \"binary\"\n"),
		quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := channel.Of(q, true).Insert(q.Clone(), []int{0, 0, 0, 0, 1}); err != nil {
		t.Errorf("signs are integers here: %v", err)
	}
	q.Find("hidden").Args[1].Type.Format, err = format.Parse("binary")
	if err != nil {
		t.Fatal(err)
	}
	s := channel.Of(q, true)
	l := s.Layers()
	if len(l) != 2 || l[0].Node.Name != "hidden" || l[0].Channels != 5 || l[0].Last != 4 || l[1].Last != -1 ||
		l[1].Why == "" {
		t.Errorf("%+v", l)
	}
	if err := s.Insert(q, []int{0, 0, 0, 0, 1}); err == nil || !strings.Contains(err.Error(), "binary") {
		t.Errorf("dead signs: %v", err)
	}
}

// TestKept names layers whose channels stay: at a norm, in a residual stream, as results.
func TestKept(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Input("x", 1, 6)
	first := b.Linear("first", x, 8, true)
	inner := b.Linear("inner", b.Add(pointwise.Relu, "relu", nil, first), 5, true)
	sum := b.Add(pointwise.Add, "sum", nil, first, b.Linear("outer", inner, 8, false))
	ends := b.Add(norm.LayerNorm, "ln", &norm.Attrs{Axis: 1, Eps: 1e-5}, b.Linear("normed", sum, 4, true),
		b.Random(1, 4), b.Random(1, 4))
	all := b.Add(move.Concat, "all", &move.ConcatAttrs{Axis: 1}, ends, b.Linear("free", sum, 3, true))
	g := b.Done(b.Linear("last", all, 2, true))
	for _, residual := range []bool{false, true} {
		s := channel.Of(g, residual)
		opened := map[string]int{}
		for _, group := range s.All {
			opened[group.Opens[0].Name]++
		}
		want := map[string]int{"inner": 5, "free": 3}
		if residual {
			want["first"] = 8
		}
		if len(opened) != len(want) || opened["inner"] != 5 || opened["free"] != 3 || opened["first"] != want["first"] {
			t.Errorf("residual %t: %v, not %v", residual, opened, want)
		}
		var kept []string
		for _, k := range s.Kept {
			kept = append(kept, k.Node.Name+": "+k.Why)
		}
		text := strings.Join(kept, "\n")
		if !strings.Contains(text, "normed: layer_norm ln would have other statistics") ||
			strings.Contains(text, "first: they are a residual stream") == residual || strings.Contains(text, "last") {
			t.Errorf("residual %t: %s", residual, text)
		}
	}
}
