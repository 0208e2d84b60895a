// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/sum"
	"lathe/lower/lowertest"
)

// TestFloatSweep lowers random networks under Verify, with the nodes shuffled after every pass: each pass must keep the
// outputs within its bound, and all together within 1e-5 of the largest output.
func TestFloatSweep(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(300) {
		g := lowertest.RandomCNN(t, seed)
		before := g.Clone()
		r := rand.New(rand.NewPCG(seed, 2))
		low, err := Simplify(ctx, g, Options{Verify: true, Seed: seed, Shuffle: lowertest.Shuffle(r)})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := structureDiff(before, g); diff != "" {
			t.Fatalf("seed %d: Simplify changed its argument: %s", seed, diff)
		}
		samples := random(g, DefaultPlan(), seed+1, 3)
		a, err := outputs(ctx, g, samples)
		if err != nil {
			t.Fatal(err)
		}
		b, err := outputs(ctx, low, samples)
		if err != nil {
			t.Fatal(err)
		}
		loss, err := compareRuns(a, b)
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
