// SPDX-License-Identifier: Apache-2.0

//go:build long

package host_test

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
