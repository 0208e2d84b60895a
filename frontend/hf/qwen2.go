// SPDX-License-Identifier: Apache-2.0

package hf

import "lathe/ir"

// qwen2 is Qwen2 (Yang and others, 2024): Llama with biases on queries, keys and values.
var qwen2 = architecture{
	modelType: "qwen2", class: "Qwen2", base: "model.", inputs: decoderInputs, needed: 1, caches: true,
	tested: []string{"qwen2"},
	sizes:  func(c *config) sizes { return llamaSizes(c, qwenSizes) },
	body: func(m *model) *ir.Node {
		m.qwenWindow()
		return m.llamaBody(llamaKind{bias: true})
	},
	heads:  llamaHeads,
	limits: "at most as many tokens as a sliding window that is used; rotary positions as for Llama",
}

// qwenSizes are the defaults of both versions.
var qwenSizes = sizes{vocab: 151936, inner: 22016, positions: 32768, groups: 32}

// qwenWindow heeds the window of attention, which is off by default.
func (m *model) qwenWindow() {
	if m.flag(false, "use_sliding_window") {
		m.window(m.count(4096, "sliding_window"))
	}
}
