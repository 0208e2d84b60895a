// SPDX-License-Identifier: Apache-2.0

package hf

import "lathe/ir"

// mistral is Mistral (Jiang and others, 2023): Llama without biases, with a window of attention.
var mistral = architecture{
	modelType: "mistral", class: "Mistral", base: "model.", inputs: decoderInputs, needed: 1, caches: true,
	tested: []string{"mistral"},
	sizes: func(c *config) sizes {
		return llamaSizes(c, sizes{vocab: 32000, inner: 14336, positions: 131072, groups: 8})
	},
	body: func(m *model) *ir.Node {
		if v := m.config.root.Get("sliding_window"); v == nil || !v.IsNull() { // null stands for none
			m.window(m.count(4096, "sliding_window"))
		}
		return m.llamaBody(llamaKind{})
	},
	heads:  llamaHeads,
	limits: "at most as many tokens as the sliding window; rotary positions as for Llama",
}
