// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// firstPosition is the row of the first position in OPT's table.
const firstPosition = 2

// opt is OPT (Zhang and others, 2022): learned positions that begin at row 2, norms before or behind the layers.
var opt = architecture{
	modelType: "opt", class: "OPT", base: "model.", inputs: decoderInputs, needed: 1, caches: true, tied: true, pad: 2,
	tested: []string{"opt", "opt-behind"},
	sizes: func(c *config) sizes {
		s := sizes{
			hidden: c.count(768, "hidden_size"), layers: c.count(12, "num_hidden_layers"),
			headCount: c.count(12, "num_attention_heads"), inner: c.count(3072, "ffn_dim"),
			vocab: c.count(50272, "vocab_size"), positions: c.count(2048, "max_position_embeddings"), eps: 1e-5,
		}
		s.rows, s.wordSize = s.positions+firstPosition, c.count(s.hidden, "word_embed_proj_dim")
		s.headSize = c.divided(s.hidden, s.headCount, "attention heads")
		if !c.flag(true, "layer_norm_elementwise_affine") {
			c.refuse("layer_norm_elementwise_affine", "norms without weights are not supported")
		}
		return s
	},
	body: (*model).optBody,
	heads: []head{
		{causalLM, "ForCausalLM", func(m *model, x *ir.Node) *ir.Node {
			return m.tied("lm_head", "", m.root+"decoder.embed_tokens.weight", x)
		}},
		lastToken,
	},
	limits: "norms have weights",
}

func (m *model) optBody() *ir.Node {
	path := m.root + "decoder"
	m.module(path, "OPTDecoder")
	before := m.flag(true, "do_layer_norm_before")
	x := m.embedded(path+".embed_tokens", m.vocab, m.outSize())
	narrow := m.wordSize != m.hidden
	if narrow {
		x = m.linear(path+".project_in", x, m.wordSize, m.hidden, false)
	}
	x = m.add(path, x, m.optPositions(path+".embed_positions"))
	for i := range m.layers {
		x = m.optLayer(layer(path+".layers", i), i, x, before)
	}
	if before && !m.flag(false, "_remove_final_layer_norm") {
		x = m.layerNorm(path+".final_layer_norm", x, m.hidden, m.eps)
	}
	if narrow {
		x = m.linear(path+".project_out", x, m.hidden, m.wordSize, false)
	}
	return x
}

// optPositions counts the tokens that the mask keeps, or all.
func (m *model) optPositions(path string) *ir.Node {
	first, rows := m.whole("first_position", firstPosition), m.input("position_ids")
	if mask := m.input("attention_mask"); rows == nil && mask != nil {
		count := m.emit(path+".cumsum", "cumsum", whole.CumSum, &whole.CumSumAttrs{Axis: 1}, mask)
		rows = m.emit(path+".sub", "sub", pointwise.Sub, nil, m.mul(path, count, mask), m.whole("one", 1))
		rows = m.slice(path+".slice", rows, 1, max(m.past, 0), m.seq)
	}
	if rows == nil {
		return m.positionRows(path, firstPosition+max(m.past, 0), m.rows, m.hidden)
	}
	return m.embedding(path, m.add(path, rows, first), m.rows, m.hidden)
}

func (m *model) optLayer(path string, i int, x *ir.Node, before bool) *ir.Node {
	m.module(path, "OPTDecoderLayer")
	at, bias := path+".self_attn", m.flag(true, "enable_bias")
	m.module(at, "OPTAttention")
	norm := func(name string, x *ir.Node, here bool) *ir.Node {
		if !here {
			return x
		}
		return m.layerNorm(path+"."+name, x, m.hidden, m.eps)
	}
	z := norm("self_attn_layer_norm", x, before)
	head := func(name string) *ir.Node {
		return m.split(at+"."+name, m.linear(at+"."+name, z, m.hidden, m.hidden, bias), m.headCount, m.headSize)
	}
	q := head("q_proj")
	k, v := m.cache(at, i, head("k_proj"), head("v_proj"), m.headCount, m.headSize)
	y := m.merge(at, m.attention(at, q, k, v, rsqrt(m.headSize), true), m.headCount, m.headSize)
	x = norm("self_attn_layer_norm", m.add(path, x, m.linear(at+".out_proj", y, m.hidden, m.hidden, bias)), !before)
	y = m.linear(path+".fc1", norm("final_layer_norm", x, before), m.hidden, m.inner, bias)
	y = m.activation(path+".activation_fn", "relu", "activation_function", y)
	y = m.linear(path+".fc2", y, m.inner, m.hidden, bias)
	return norm("final_layer_norm", m.add(path, x, y), !before)
}
