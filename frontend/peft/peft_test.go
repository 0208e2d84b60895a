// SPDX-License-Identifier: Apache-2.0

package peft_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/frontend/peft"
	"lathe/ir"
	"lathe/ir/text"
)

// graph has two linear layers, the second of which shares its matrix with an embedding.
const graph = `lathe 1
graph %g float(%ids, %x) {
  %ids = input : 2 int(64,over=wrap)
  %x = input : 2x3 fp32
  %first.weight = const {data = f32 [1, 2, 3, 4, 5, 6]} : 2x3 fp32
  %first.bias = const {data = f32 [1, 2]} : 2 fp32
  %table.weight = const {data = f32 [1, 2, 3, 4]} : 2x2 fp32
  %rows = gather(%table.weight, %ids) : 2x2 fp32
  %y = linear(%x, %first.weight, %first.bias) : 2x2 fp32
  %z = linear(%y, %table.weight) : 2x2 fp32
  return rows = %rows, z = %z
}
`

func parsed(t *testing.T) *ir.Graph {
	t.Helper()
	g, err := text.Parse("g", graph, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func values(t *testing.T, g *ir.Graph, name string) []float32 {
	t.Helper()
	n := g.Find(name)
	if n == nil {
		t.Fatalf("no %s", name)
	}
	v, err := n.Value()
	if err != nil {
		t.Fatal(err)
	}
	return v.Floats
}

// adapter has rank 1 and alpha 2: the sums below are made by hand.
func adapter() *peft.Adapter {
	return &peft.Adapter{Rank: 1, Alpha: 2, Products: []peft.Product{
		{Module: "first", A: peft.Matrix{Shape: []int{1, 3}, Values: []float32{1, 0, -1}},
			B: peft.Matrix{Shape: []int{2, 1}, Values: []float32{.5, 2}}},
		{Module: "table", A: peft.Matrix{Shape: []int{1, 2}, Values: []float32{1, 10}},
			B: peft.Matrix{Shape: []int{2, 1}, Values: []float32{1, 0}}}},
		Whole: []peft.Matrix{{Name: "first.bias", Shape: []int{2}, Values: []float32{7, 8}}}}
}

func TestMerge(t *testing.T) {
	dir := t.TempDir()
	if err := peft.Write(dir, adapter()); err != nil {
		t.Fatal(err)
	}
	g := parsed(t)
	if err := peft.Merge(g, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float32{"first.weight": {2, 2, 2, 8, 5, 2}, "first.bias": {7, 8},
		"table.weight": {1, 2, 3, 4}, "table.weight.adapted": {3, 22, 3, 4}} {
		if got := values(t, g, name); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if g.Find("z").Args[1].Name != "table.weight.adapted" || g.Find("rows").Args[0].Name != "table.weight" {
		t.Error("the embedding reads the adapted matrix")
	}
}

// TestScale has the ways in which adapter_config.json scales a product.
func TestScale(t *testing.T) {
	for entry, want := range map[string]float64{`"lora_alpha": 3`: 3 / 1., `"lora_alpha": 3, "use_rslora": true`: 3,
		`"lora_alpha": 3, "alpha_pattern": {"first": 5}`: 5, `"lora_alpha": 3, "alpha_pattern": {"irst": 5}`: 3} {
		dir := t.TempDir()
		if err := peft.Write(dir, adapter()); err != nil {
			t.Fatal(err)
		}
		config := `{"peft_type": "LORA", ` + entry + `}`
		if err := os.WriteFile(filepath.Join(dir, peft.ConfigName), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
		g := parsed(t)
		if err := peft.Merge(g, dir); err != nil {
			t.Fatal(err)
		}
		if got := float64(values(t, g, "first.weight")[0]-1) / .5; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: scaled by %v, want %v", entry, got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*peft.Adapter)
		config string
		want   string
	}{
		"unknown module": {change: func(a *peft.Adapter) { a.Products[0].Module = "frst" },
			want: `has no parameter "frst.weight"`},
		"other shape": {change: func(a *peft.Adapter) {
			a.Products[0].A = peft.Matrix{Shape: []int{1, 2}, Values: []float32{1, 2}}
		},
			want: `has the shape 2x2, and the matrix 2x3`},
		"ranks": {change: func(a *peft.Adapter) {
			a.Products[0].A = peft.Matrix{Shape: []int{2, 1}, Values: []float32{1, 2}}
		},
			want: "the first is rank by inputs"},
		"bias":    {change: func(a *peft.Adapter) { a.Whole[0].Shape = []int{2, 1} }, want: "has the shape 2x1"},
		"nothing": {change: func(a *peft.Adapter) { a.Products, a.Whole = nil, nil }, want: "holds no adapter"},
		"kind":    {config: `{"peft_type": "IA3"}`, want: `kind "IA3" are not supported`},
		"dora":    {config: `{"peft_type": "LORA", "lora_alpha": 1, "use_dora": true}`, want: "use_dora"},
		"alpha":   {config: `{"peft_type": "LORA"}`, want: "lora_alpha"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, a := t.TempDir(), adapter()
			if c.change != nil {
				c.change(a)
			}
			if err := peft.Write(dir, a); err != nil {
				t.Fatal(err)
			}
			if c.config != "" {
				if err := os.WriteFile(filepath.Join(dir, peft.ConfigName), []byte(c.config), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := peft.Merge(parsed(t), dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
