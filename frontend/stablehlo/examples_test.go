// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/ref"
)

const digits = "../../examples/digits-jax/"

func load(t testing.TB, path string) *ir.Graph {
	t.Helper()
	g, err := Load(path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func arrays(t testing.TB, path string) *npz.File {
	t.Helper()
	f, err := npz.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// run evaluates a graph for one sample.
func run(t testing.TB, g *ir.Graph, in ...*ir.Tensor) []*ir.Tensor {
	t.Helper()
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(context.Background(), []ref.Sample{in})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// TestDigits runs all forms of one network: its outputs are those of jax, within 2e-5 and 1e-5 of the value.
func TestDigits(t *testing.T) {
	x, want := arrays(t, digits+"inputs.npz").Arrays[0].Float32s(), arrays(t, digits+"outputs.npz").Arrays[0].Float32s()
	weights := arrays(t, digits+"weights.npz").Arrays
	for _, c := range []struct {
		file    string
		batch   int
		weights bool
		runs    int
	}{
		{"model", 1, false, 450}, {"model_export", 1, false, 50}, {"model_args", 1, true, 20},
		{"model_batch32", 32, false, 2},
	} {
		t.Run(c.file, func(t *testing.T) {
			g := load(t, digits+c.file+".stablehlo.mlir")
			var in []*ir.Tensor
			if c.weights {
				for i, a := range weights {
					in = append(in, &ir.Tensor{Type: g.In[i].Type, Floats: a.Float32s()})
				}
			}
			image := g.In[len(g.In)-1].Type
			for r := range c.runs {
				size := image.Elems()
				got := run(t, g, append(slices.Clone(in), &ir.Tensor{Type: image, Floats: x[r*size : (r+1)*size]})...)[0].Floats
				for i, v := range got {
					if w := want[r*len(got)+i]; !(math.Abs(float64(v-w)) <= 2e-5+1e-5*math.Abs(float64(w))) {
						t.Fatalf("run %d: value %d is %g, want %g", r, i, v, w)
					}
				}
			}
		})
	}
}

// TestNames: locations give module paths; without them operations are named after themselves and their function.
func TestNames(t *testing.T) {
	for file, want := range map[string]string{
		"model_export": "x Net.Conv_0.conv_general_dilated Net.Conv_0.add Net.relu.max Net.reduce_window_max " +
			"Net.Conv_1.conv_general_dilated Net.Conv_1.add Net.relu.max.max Net.reduce_window_sum Net.reshape " +
			"Net.Dense_0.dot_general Net.Dense_0.add Net.relu.max_2 Net.Dense_1.dot_general Net.Dense_1.add",
		"model": "arg0 convolution add relu.maximum reduce_window convolution.conv add_2 relu_0.maximum " +
			"reduce_window.avgpool reshape dot_general add_3 relu_1.maximum dot_general.linear add_4",
	} {
		g := load(t, digits+file+".stablehlo.mlir")
		var names []string
		for _, n := range g.Nodes {
			if n.IsConst() {
				continue
			}
			names = append(names, n.Name)
			if !strings.HasPrefix(n.Pos, filepath.Base(file)+".stablehlo.mlir: "+n.Name+" (") {
				t.Errorf("position %q", n.Pos)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: nodes\n%s, want\n%s", file, got, want)
		}
	}
}

// TestOptions: options that name nothing in the module are errors.
func TestOptions(t *testing.T) {
	const text = "func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\nreturn %arg0 : tensor<2xf32>\n}"
	for want, opts := range map[string]source.Options{
		"have no names":         {Dims: map[string]int{"batch": 2}},
		`no input called "ag0"`: {Shapes: map[string][]int{"ag0": {2}}},
		"cannot have the shape": {Shapes: map[string][]int{"arg0": {3}}},
	} {
		_, err := Parse("m.mlir", []byte(text), opts)
		if diag.CodeOf(err) != diag.BadBinding || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s in: %v", want, err)
		}
	}
}
