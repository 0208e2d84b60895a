// SPDX-License-Identifier: Apache-2.0

//go:build long

package host_test

import (
	"path/filepath"
	"testing"

	"lathe/internal/tools"
	"lathe/sim/gpu/gputest"
)

// folders are the models that run: all examples in float, those of integers under the default plan, blocks, and values
// of 16 bits.
func folders() []model {
	out := []model{{example: "digits-mlp", archs: []string{"sm_80", "sm_90"}, most: 3},
		{example: "digits-mlp", plan: "mx"}, {example: "digits-mlp", plan: "b16"}}
	for _, name := range []string{"digits-cnn", "digits-dscnn", "digits-qdq", "digits-qdq-mlp", "digits-qdq-perchannel",
		"digits-qonnx", "digits-resnet", "jets-mlp"} {
		out = append(out, model{example: name}, model{example: name, plan: "default"})
	}
	for _, name := range []string{"bert-tiny-like", "tiny-llama", "digits-vit"} {
		out = append(out, model{example: name})
	}
	for _, name := range []string{"bert-tiny-like", "tiny-llama", "digits-vit", "digits-mlp"} {
		for _, pair := range [][2]string{{"bf16", "bf16"}, {"bf16", "mxint8"}, {"f16", "f16"}} {
			out = append(out, model{example: name, act: pair[0], weight: pair[1]})
		}
	}
	return out
}

// TestTorch runs the operator of PyTorch on tensors of the CPU, alone and below torch.compile.
func TestTorch(t *testing.T) {
	python := tools.NeedTorch(t)
	b := model{example: "digits-vit", act: "bf16", weight: "bf16"}.build(t, gputest.Emulated(t, drivers))
	script, err := filepath.Abs(filepath.Join("testdata", "tensors.py"))
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, python, "-B", script)
}

// decoders are the ways to keep the values of a decoder.
func decoders() (out []model) {
	for _, pair := range [][2]string{{"bf16", "bf16"}, {"bf16", "mxint8"}, {"f16", "f16"}, {"fp32", "fp32"}} {
		out = append(out, model{example: "tiny-llama", act: pair[0], weight: pair[1]})
	}
	return append(out, model{example: "tiny-llama", act: "bf16", weight: "mxint8", kv: "mxint8"})
}
