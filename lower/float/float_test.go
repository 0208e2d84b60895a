// SPDX-License-Identifier: Apache-2.0

package float

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// TestFloatSweep lowers random networks under Verify, with the nodes shuffled after every pass: each pass must keep the
// outputs within its bound, and all together within 1e-5 of the largest output.
func TestFloatSweep(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(300) {
		g := lowertest.RandomCNN(t, seed)
		before := g.Clone()
		r := rand.New(rand.NewPCG(seed, 2))
		low, err := Simplify(ctx, g, pass.Options{Verify: true, Seed: seed, Shuffle: lowertest.Shuffle(r)})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := pass.StructureDiff(before, g); diff != "" {
			t.Fatalf("seed %d: Simplify changed its argument: %s", seed, diff)
		}
		samples := Random(g, plan.Default(), seed+1, 3)
		a, err := pass.Outputs(ctx, g, samples)
		if err != nil {
			t.Fatal(err)
		}
		b, err := pass.Outputs(ctx, low, samples)
		if err != nil {
			t.Fatal(err)
		}
		loss, err := pass.Compare(a, b)
		if err != nil || !(loss.Relative <= 1e-5) {
			t.Fatalf("seed %d: error %g, %v", seed, loss.Relative, err)
		}
		channelsLastOrFail(t, seed, low)
	}
}

// channelsLastOrFail demands what hardware needs: no channels-first image, no batch norm, no identity, and no transpose
// in a graph without joins.
func channelsLastOrFail(t *testing.T, seed uint64, g *ir.Graph) {
	t.Helper()
	users := g.Users()
	joins := slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return len(users[n]) > 1 && !n.IsConst() })
	for _, n := range g.Nodes {
		switch a := n.Attrs.(type) {
		case *sum.ConvAttrs:
			if !a.ChannelsLast {
				t.Errorf("seed %d: %s is channels-first", seed, n.Name)
			}
		case *move.TransposeAttrs:
			if !joins {
				t.Errorf("seed %d: transpose %v is left behind %s", seed, a.Perm, n.Args[0].Name)
			}
		case *sum.BatchNormAttrs:
			t.Errorf("seed %d: %s is left", seed, n.Name)
		}
		if n.Op == move.Identity {
			t.Errorf("seed %d: %s is left", seed, n.Name)
		}
	}
}

// TestCallerLayout evaluates a channels-last graph on channels-first arrays.
func TestCallerLayout(t *testing.T) {
	b := lowertest.New(t, 3)
	x := b.Input("x", 1, 2, 3, 4)
	g := b.Done(b.Add(pointwise.Relu, "r", nil, b.Conv("c", x, 2, 1, 1, 0, 1, true)))
	low, err := Simplify(context.Background(), g, pass.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := low.In[0].Attrs.(*ir.Input).Perm; !slices.Equal(p, []int{0, 2, 3, 1}) {
		t.Fatalf("input perm %v", p)
	}
	drawn := Random(low, plan.Default(), 1, 2)
	for i, s := range pass.CallerLayout(low, drawn) {
		if !slices.Equal(s[0].Type.Shape, x.Type.Shape) {
			t.Errorf("sample of shape %v", s[0].Type.Shape)
		}
		if !slices.Equal(drawn[i][0].Type.Shape, low.In[0].Type.Shape) {
			t.Errorf("the sample itself has shape %v now", drawn[i][0].Type.Shape)
		}
	}
}
