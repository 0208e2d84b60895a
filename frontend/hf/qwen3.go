// SPDX-License-Identifier: Apache-2.0

package hf

import "lathe/ir"

// qwen3 is Qwen3 (Yang and others, 2025): Llama with norms of each head of queries and keys.
var qwen3 = architecture{
	modelType: "qwen3", class: "Qwen3", base: "model.", inputs: decoderInputs, needed: 1, caches: true,
	tested: []string{"qwen3"},
	sizes: func(c *config) sizes {
		absent := qwenSizes
		absent.headSize = 128
		return llamaSizes(c, absent)
	},
	body: func(m *model) *ir.Node {
		m.qwenWindow()
		bias := m.flag(false, "attention_bias")
		return m.llamaBody(llamaKind{bias: bias, outBias: bias, norms: true})
	},
	heads:  llamaHeads,
	limits: "at most as many tokens as a sliding window that is used; rotary positions as for Llama",
}
