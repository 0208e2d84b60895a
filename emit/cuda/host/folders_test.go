// SPDX-License-Identifier: Apache-2.0

//go:build !long

package host_test

// folders are the models that run.
func folders() []model {
	return []model{
		{example: "digits-mlp", archs: []string{"sm_80", "sm_90"}, most: 3},
		{example: "digits-qdq-mlp", plan: "default"},
	}
}

// decoders are the ways to keep the values of a decoder.
func decoders() []model {
	return []model{{example: "tiny-llama", act: "bf16", weight: "bf16"},
		{example: "tiny-llama", act: "bf16", weight: "bf16", kv: "mxint8"}}
}
