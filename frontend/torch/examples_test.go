// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"path/filepath"
	"strings"
	"testing"

	"lathe/frontend/source"
)

const cnn = "x:input:1x1x8x8 conv1:conv:1x8x8x8 bn1:batch_norm:1x8x8x8 relu:relu:1x8x8x8 pool:maxpool:1x8x4x4 " +
	"conv2:conv:1x16x4x4 bn2:batch_norm:1x16x4x4 relu_1:relu:1x16x4x4 flatten:reshape:1x256 fc:linear:1x10"

const mlp = "input:input:1x64 0:linear:1x32 1:relu:1x32 2:linear:1x32 3:relu:1x32 4:linear:1x10"

// TestExamples demands the nodes of all programs of the examples: names are module paths. Their values are those of
// TestForms in internal/driver.
func TestExamples(t *testing.T) {
	want := map[string]string{
		"digits-mlp/model.pt2": mlp, "digits-mlp/model_dyn.pt2": mlp,
		"digits-cnn/model.pt2": cnn, "digits-cnn/model_dyn.pt2": cnn,
		"jets-mlp/model.pt2":        "input:input:1x16 0:linear:1x64 1:relu:1x64 2:linear:1x32 3:relu:1x32 4:linear:1x32",
		"digits-resnet/model.pt2":   "block2.down.1:batch_norm:1x16x4x4 block2.add_1:add:1x16x4x4",
		"digits-dscnn/model.pt2":    "body.0:conv:1x12x8x8 body.1:clip:1x12x8x8 body.2:conv:1x12x8x8",
		"digits-vit/model.pt2":      "layers.0.matmul:matmul:1x2x17x17 layers.0.mul:mul:1x2x17x17 ",
		"digits-vit/model_dyn.pt2":  "layers.0.ln1:layer_norm:1x17x32 layers.0.qkv:linear:1x17x96 ",
		"digits-vit/model_sdpa.pt2": "layers.1.scaled_dot_product_attention_1:attention:1x2x17x16",
		"digits-lstm/model.pt2":     "lstm.gates:linear:8x128 lstm.states:lstm:8x32 lstm:reshape:1x8x32",
		"digits-gru/model.pt2":      "gru.reverse.gates:linear:8x72 gru.reverse.states:gru:8x24",
		"tiny-llama/model.pt2":      "model.model.layers.0.self_attn.q_proj:linear:1x16x64",
		"tiny-gpt2/model.pt2":       "model.transformer.h.0.attn.c_attn.addmm:linear:80x192",
		"tiny-bert/model.pt2":       "model.bert.encoder.layer.0.attention.self.query:linear:1x32x48",
		"bert-tiny-like/model.pt2":  "model.bert.encoder.layer.0.attention.self.query:linear:1x24x128",
	}
	files, err := filepath.Glob("../../examples/*/*.pt2")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		name := filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			g, err := Load(path, source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if have := nodes(g); want[name] == "" || !strings.Contains(have, want[name]) {
				t.Errorf("nodes\n%s\nlack\n%s", have, want[name])
			}
			if g.Origin.Producer != "PyTorch 2.15.0+cu132" || len(g.Origin.Modules) < 3 {
				t.Errorf("%+v", g.Origin)
			}
		})
	}
}
