// SPDX-License-Identifier: Apache-2.0

package frontend

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/diag"
)

// ends are places where a user ends models: by names of nodes, by those of values in the file, and by those of outputs.
var ends = []struct{ path, outputs, last string }{
	{"digits-mlp/model.onnx", "3", "3"},
	{"digits-mlp/model.onnx", "linear_1", "2"},
	{"digits-mlp/model.onnx", "logits", "4"},
	{"digits-cnn/model.onnx", "conv2,relu_1", "conv2 relu_1"},
	{"digits-cnn/model.pt2", "relu_1", "relu_1"},
	{"digits-cnn/model.pt2", "bn2,max_pool2d", "bn2 pool"},
	{"digits-cnn/model.pt2", "linear", "fc"},
	{"digits-jax/model.stablehlo.mlir", "%4", "relu.maximum"},
	{"digits-jax/model.stablehlo.mlir", "relu_1.maximum", "relu_1.maximum"},
	{"digits-jax/model.stablehlo.mlir", "add_3", "add_3"},
	{"tiny-llama/hf", "model.norm", "model.norm"},
	{"digits-cnn/model.onnx", "fc2", "no value called \"fc2\""},
	{"digits-cnn/model.pt2", "conv9", "no value called \"conv9\""},
	{"digits-jax/model.stablehlo.mlir", "add_9", "no value called \"add_9\""},
	{"tiny-llama/hf", "model.nor", "did you mean --outputs model.norm?"},
}

// TestEnds: models end where the user wants, at the nodes of those names, and hold nothing that stands behind.
func TestEnds(t *testing.T) {
	for _, c := range ends {
		g, err := Load(filepath.Join("..", "examples", c.path), Options{Outputs: strings.Split(c.outputs, ",")})
		if err != nil {
			if diag.CodeOf(err) != "L0215" || !strings.Contains(err.Error(), c.last) {
				t.Errorf("%s %s: %v", c.path, c.outputs, err)
			}
			continue
		}
		var last []string
		for _, o := range g.Out {
			last = append(last, o.Node.Name)
		}
		readers := g.Readers()
		for _, n := range g.Nodes {
			if readers[n] == 0 {
				t.Errorf("%s %s: nobody reads %s", c.path, c.outputs, n.Name)
			}
		}
		names := strings.Split(strings.ReplaceAll(c.outputs, "%", ""), ",")
		if strings.Join(last, " ") != c.last || len(g.Out) != len(names) ||
			!slices.ContainsFunc(names, func(name string) bool { return name == g.Out[0].Name }) {
			t.Errorf("%s %s: ends at %q, want %q", c.path, c.outputs, last, c.last)
		}
	}
}
