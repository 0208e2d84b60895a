// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"lathe/ir"
)

// gpt2 is GPT-2 (Radford and others, 2019): norms before the layers, learned positions, one linear layer for queries,
// keys and values.
var gpt2 = architecture{
	modelType: "gpt2", class: "GPT2", base: "transformer.", inputs: decoderInputs, needed: 1, caches: true, tied: true,
	tested: []string{"gpt2", "gpt2-classifier"},
	sizes: func(c *config) sizes {
		s := sizes{
			hidden: c.count(768, "n_embd", "hidden_size"), layers: c.count(12, "n_layer", "num_hidden_layers"),
			headCount: c.count(12, "n_head", "num_attention_heads"), vocab: c.count(50257, "vocab_size"),
			rows: c.count(1024, "n_positions", "max_position_embeddings"), eps: c.positive(1e-5, "layer_norm_epsilon"),
		}
		s.inner, s.positions = c.count(4*s.hidden, "n_inner"), s.rows
		s.headSize = c.divided(s.hidden, s.headCount, "attention heads")
		if c.flag(false, "add_cross_attention") {
			c.refuse("add_cross_attention", "attention to an encoder is not supported")
		}
		return s
	},
	body: (*model).gpt2Body,
	heads: []head{
		{causalLM, "LMHeadModel", func(m *model, x *ir.Node) *ir.Node {
			return m.tied("lm_head", "", m.root+"wte.weight", x)
		}},
		lastToken,
	},
	limits: "no attention to an encoder",
}

var decoderInputs = []string{"input_ids", "attention_mask", "position_ids", "inputs_embeds"}

func (m *model) gpt2Body() *ir.Node {
	x := m.embedded(m.root+"wte", m.vocab, m.hidden)
	positions := func() *ir.Node {
		if in := m.input("position_ids"); in != nil {
			return m.embedding(m.root+"wpe", in, m.rows, m.hidden)
		}
		return m.positionRows(m.root+"wpe", max(m.past, 0), m.rows, m.hidden)
	}
	x = m.add(m.root+"wpe", x, positions())
	for i := range m.layers {
		x = m.gpt2Layer(layer(m.root+"h", i), i, x)
	}
	return m.layerNorm(m.root+"ln_f", x, m.hidden, m.eps)
}

func (m *model) gpt2Layer(path string, i int, x *ir.Node) *ir.Node {
	m.module(path, "GPT2Block")
	at := path + ".attn"
	m.module(at, "GPT2Attention")
	all := m.conv1D(at+".c_attn", m.layerNorm(path+".ln_1", x, m.hidden, m.eps), m.hidden, 3*m.hidden)
	third := func(i int, name string) *ir.Node {
		return m.split(at+"."+name, m.slice(at+"."+name, all, 2, i*m.hidden, m.hidden), m.headCount, m.headSize)
	}
	q := third(0, "query")
	k, v := m.cache(at, i, third(1, "key"), third(2, "value"), m.headCount, m.headSize)
	scale := 1.0
	if m.flag(true, "scale_attn_weights") {
		scale = rsqrt(m.headSize)
	}
	if m.flag(false, "scale_attn_by_inverse_layer_idx") {
		scale /= float64(i + 1)
	}
	y := m.merge(at, m.attention(at, q, k, v, scale, true), m.headCount, m.headSize)
	x = m.add(path, m.conv1D(at+".c_proj", y, m.hidden, m.hidden), x)
	y = m.conv1D(path+".mlp.c_fc", m.layerNorm(path+".ln_2", x, m.hidden, m.eps), m.hidden, m.inner)
	y = m.activation(path+".mlp.act", "gelu_new", "activation_function", y)
	return m.add(path, m.conv1D(path+".mlp.c_proj", y, m.inner, m.hidden), x)
}
