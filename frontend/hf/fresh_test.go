// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/ir"
)

// TestNewModels: every architecture can be made anew, in other sizes, without the weights of its folder; norms begin
// with 1, biases with 0, weights with the deviation that the configuration says, and a seed decides.
func TestNewModels(t *testing.T) {
	for _, dir := range []string{"bert-classifier", "distilbert-classifier", "gpt2", "llama", "qwen3", "mistral", "opt",
		"vit-classifier", "roberta-classifier"} {
		data, err := os.ReadFile(filepath.Join("testdata", dir, "config.json"))
		if err != nil {
			t.Fatal(err)
		}
		alone := filepath.Join(t.TempDir(), dir)
		if err := os.Mkdir(alone, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(alone, "config.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		was, err := Sizes(alone)
		if err != nil {
			t.Fatal(err)
		}
		tokens := 4
		if strings.HasPrefix(dir, "vit") {
			tokens = 0
		}
		load := func(seed uint64) *ir.Graph {
			g, err := Load(alone, source.Options{Transformer: source.Transformer{Seq: tokens, New: &source.NewModel{Layers: 3,
				Heads: 2, Hidden: 2 * was.Hidden, Intermediate: 20, Seed: seed}}})
			if err != nil {
				t.Fatalf("%s: %v", dir, err)
			}
			return g
		}
		one, again, other := load(1), load(1), load(2)
		deep := false
		for i, n := range one.Nodes {
			deep = deep || strings.Contains(n.Name, ".2.") || strings.Contains(n.Name, "layers.2.")
			if c, ok := n.Attrs.(*ir.Const); !ok || c.Role != ir.Parameter {
				continue
			}
			a, b, c := floats(t, n), floats(t, again.Nodes[i]), floats(t, other.Nodes[i])
			switch {
			case !slices.Equal(a, b):
				t.Errorf("%s: %s differs from time to time", dir, n.Name)
			case len(n.Type.Shape) > 1 && slices.Equal(a, c):
				t.Errorf("%s: %s does not depend on the seed", dir, n.Name)
			case len(n.Type.Shape) == 1 && (slices.Min(a) != slices.Max(a) || (a[0] == 0) != strings.HasSuffix(n.Name, "bias")):
				t.Errorf("%s: %s begins with %g", dir, n.Name, a[0])
			case len(a) > 1000 && math.Abs(deviation(a)-0.02) > 0.003:
				t.Errorf("%s: %s has a deviation of %g", dir, n.Name, deviation(a))
			}
		}
		if !deep {
			t.Errorf("%s: there is no third layer", dir)
		}
	}
}

func floats(t *testing.T, n *ir.Node) []float32 {
	t.Helper()
	v, err := n.Value()
	if err != nil {
		t.Fatal(err)
	}
	return v.Floats
}

func deviation(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum / float64(len(v)))
}

// TestIdentity leaves layers out, and refuses those that change sizes or are not there.
func TestIdentity(t *testing.T) {
	load := func(names ...string) (*ir.Graph, error) {
		return Load(filepath.Join("testdata", "vit-classifier"), source.Options{Transformer: source.Transformer{
			New: &source.NewModel{Identity: names}}})
	}
	const path = "vit.encoder.layer.1.attention.output.dense"
	whole, err := load()
	if err != nil {
		t.Fatal(err)
	}
	less, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Find(path) == nil || less.Find(path) != nil || len(less.Nodes) != len(whole.Nodes)-3 {
		t.Errorf("%d nodes of %d", len(less.Nodes), len(whole.Nodes))
	}
	if _, err := load("classifier"); err == nil || !strings.Contains(err.Error(), "16 inputs and 3 outputs") {
		t.Errorf("%v", err)
	}
	if _, err := load("classified"); err == nil || !strings.Contains(err.Error(), `no linear layer "classified"`) {
		t.Errorf("%v", err)
	}
}
