// SPDX-License-Identifier: Apache-2.0

package loop_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/ring"
	"lathe/ir/ref"
	"lathe/ir/text"
	"lathe/ir/unit"
	"lathe/lower"
	"lathe/lower/loop"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
	"lathe/lower/quantize"
	"lathe/lower/schedule"
	"lathe/lower/schedule/tokens"
)

func planned(t *testing.T, layers, mode string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse("plan.toml", fmt.Appendf(nil, "[fold]\nlayers = %q\nmode = %q\n", layers, mode))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// quantized is a network of equal layers, decided to be shared.
func quantized(t *testing.T, seed uint64) (g *ir.Graph, layers int) {
	t.Helper()
	f, layers := lowertest.Layers(t, seed)
	q, _, err := lower.Quantize(t.Context(), f, planned(t, "loop", "fold"), quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return q, layers
}

const cases = 40

// TestShare finds the layers of random networks, whose scheduled graphs compute what those of separate layers do, and
// which neither stop nor need other FIFOs under stalls.
func TestShare(t *testing.T) {
	more := 0
	for seed := range uint64(cases) {
		q, layers := quantized(t, seed)
		shared, err := loop.Share(q, 1)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, difftest.Describe(q))
		}
		if shared.Layers < layers { // the first one may be of the same kind as they are
			t.Errorf("seed %d: %d layers share units, %d are alike\n%s", seed, shared.Layers, layers, difftest.Describe(q))
		}
		mode := []string{"fold", "lean"}[seed%2]
		all, _, err := lower.Schedule(t.Context(), q, planned(t, "loop", mode),
			schedule.Options{Options: pass.Options{Verify: seed%8 == 0}})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		row, _, err := lower.Schedule(t.Context(), q, planned(t, "spatial", mode), schedule.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 5))
		same(t, row, all, difftest.Samples(r, q, 4))
		if err := tokens.Check(t.Context(), all, &unit.Cache{}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		for _, percent := range []int{10, 60, 95} {
			times, err := tokens.RunStalled(t.Context(), all, &unit.Cache{}, 4, func(int) bool { return r.IntN(100) < percent })
			if err != nil || !times.Done {
				t.Errorf("seed %d: %d %% stalls: %v\n%s", seed, percent, err, difftest.Describe(all))
			}
		}
		if len(ring.Units(all).Nodes) < len(all.Nodes) {
			more++
		}
	}
	if more < cases {
		t.Errorf("units are shared in %d of %d networks", more, cases)
	}
}

// same compares the results of two graphs.
func same(t *testing.T, a, b *ir.Graph, samples []ref.Sample) {
	t.Helper()
	x, err := difftest.Evaluate(t.Context(), a, samples)
	if err != nil {
		t.Fatal(err)
	}
	y, err := difftest.Evaluate(t.Context(), b, samples)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		for k := range x[i] {
			if !slices.Equal(x[i][k].Codes, y[i][k].Codes) {
				t.Fatalf("sample %d, output %d: %v and %v\n%s\n%s", i, k, x[i][k].Codes, y[i][k].Codes, difftest.Describe(a),
					difftest.Describe(b))
			}
		}
	}
}

// TestUnrolled: the graph of the units and the graph of all layers are made of each other, and text keeps both.
func TestUnrolled(t *testing.T) {
	for seed := range uint64(cases) {
		q, _ := quantized(t, seed)
		g, _, err := lower.Schedule(t.Context(), q, planned(t, "loop", "fold"), schedule.Options{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := text.Parse("g.lathe", text.Print(g), nil)
		if err != nil {
			t.Fatal(err)
		}
		units := ring.Units(again)
		if want := text.Print(ring.Units(g)); text.Print(units) != want {
			t.Fatalf("seed %d: the units of a graph that was printed:\n%s\nwant\n%s", seed, text.Print(units), want)
		}
		samples := difftest.Samples(rand.New(rand.NewPCG(seed, 6)), q, 2)
		lowertest.Shuffle(rand.New(rand.NewPCG(seed, 7)))(g)
		same(t, q, ring.Unrolled(ring.Units(g), nil), samples)
	}
}

// TestRefused: networks whose layers differ are refused, with what differs.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(p *plan.Plan, g *ir.Graph)
		want   string
	}{
		{"a rule for one layer", func(p *plan.Plan, _ *ir.Graph) {
			rule, err := plan.Parse("p.toml", []byte("[[quantize.rule]]\nname = \"l1.a\"\ndata_out = \"fixed(9,3)\"\n"))
			if err != nil {
				t.Fatal(err)
			}
			p.Quantize.Rules = rule.Quantize.Rules
		}, `"l0.a" is`},
		{"a layer of another shape", nil, `"a0" has shape 1x4, "a1" has 1x5`},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := lowertest.New(t, 3)
			x := b.Input("x", 1, 6)
			if c.change != nil {
				x = b.Linear("l1.a", b.Linear("l0.a", x, 6, true), 6, true)
			} else {
				for i, inner := range []int{4, 5} {
					x = b.Add(pointwise.Relu, fmt.Sprint("relu", i), nil, b.Linear(fmt.Sprint("a", i), x, inner, true))
					x = b.Linear(fmt.Sprint("b", i), x, 6, true)
				}
			}
			g, p := b.Done(x), planned(t, "loop", "fold")
			if c.change != nil {
				c.change(p, g)
			}
			q, _, err := lower.Quantize(t.Context(), g, p, quantize.Calibration{}, quantize.Options{})
			if err == nil {
				_, _, err = lower.Schedule(t.Context(), q, p, schedule.Options{})
			}
			if diag.CodeOf(err) != "L0434" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want L0434 with %s", err, c.want)
			}
		})
	}
}

// TestSums: two sums with constants in a row are alike, and no layers.
func TestSums(t *testing.T) {
	b := lowertest.New(t, 3)
	x := b.Input("x", 1, 6)
	for _, name := range []string{"first", "second"} {
		x = b.Add(pointwise.Add, name, nil, x, b.Random(1, 6))
	}
	g := b.Done(x)
	if got, _ := loop.Find(g, false); got != nil {
		t.Errorf("%d layers of %q", len(got.Layers), got.Layers[0][0].Name)
	}
}

// TestByTurns: layers of a decoder share units that compute each token by itself, and no others.
func TestByTurns(t *testing.T) {
	const tokens, size = 4, 6
	for _, c := range []struct {
		what  string
		layer func(b *lowertest.Builder, i int, x *ir.Node) *ir.Node
		want  string
	}{
		{"each token alike", func(b *lowertest.Builder, i int, x *ir.Node) *ir.Node {
			return b.Add(pointwise.Add, fmt.Sprint("add", i), nil, x, b.Random(1, size))
		}, ""},
		{"a constant a token", func(b *lowertest.Builder, i int, x *ir.Node) *ir.Node {
			return b.Add(pointwise.Add, fmt.Sprint("add", i), nil, x, b.Random(1, tokens, size))
		}, "add has a constant for each token"},
		{"softmax over tokens", func(b *lowertest.Builder, i int, x *ir.Node) *ir.Node {
			return b.Add(norm.Softmax, fmt.Sprint("softmax", i), &column.AxisAttrs{Axis: 1}, x)
		}, "computes across tokens"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := lowertest.New(t, 3)
			x := b.Input("x", 1, tokens, size)
			for i := range 2 {
				x = b.Linear(fmt.Sprint("linear", i), c.layer(b, i, x), size, true)
			}
			p := planned(t, "loop", "fold")
			p.Decode = true
			q, _, err := lower.Quantize(t.Context(), b.Done(x), p, quantize.Calibration{}, quantize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			g, _, err := lower.Schedule(t.Context(), q, p, schedule.Options{})
			if c.want == "" && err == nil {
				_, err = schedule.CheckDecode(t.Context(), g, &unit.Cache{}, 2)
			}
			if code := diag.CodeOf(err); c.want == "" && err != nil ||
				c.want != "" && (code != "L0435" || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}
