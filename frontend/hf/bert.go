// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"lathe/ir"
	"lathe/ir/op/curve"
)

// bert is BERT (Devlin and others, 2018): norms behind the sums, learned positions.
var bert = architecture{
	modelType: "bert", class: "Bert", base: "bert.", inputs: bertInputs, needed: 2, tied: true,
	tested:  []string{"bert", "bert-classifier", "bert-masked"},
	example: "bert-tiny-like",
	sizes:   func(c *config) sizes { return bertSizes(c, "bert", 30522, 0) },
	body: func(m *model) *ir.Node {
		return m.bertBody(func(path string) *ir.Node { return m.bertPositions(path, 0) })
	},
	pooler: (*model).bertPooler,
	heads: []head{
		{sequenceClassification, "ForSequenceClassification", func(m *model, x *ir.Node) *ir.Node {
			return m.linear("classifier", m.bertPooler(x), m.hidden, m.labels(), true)
		}},
		{maskedLM, "ForMaskedLM", func(m *model, x *ir.Node) *ir.Node {
			const path = "cls.predictions"
			x = m.linear(path+".transform.dense", x, m.hidden, m.hidden, true)
			x = m.activation(path+".transform.transform_act_fn", "gelu", "hidden_act", x)
			x = m.layerNorm(path+".transform.LayerNorm", x, m.hidden, m.eps)
			return m.tied(path+".decoder", path+".bias", m.root+"embeddings.word_embeddings.weight", x)
		}},
	},
	limits: "absolute positions, no decoder",
}

var bertInputs = []string{"input_ids", "attention_mask", "token_type_ids", "position_ids", "inputs_embeds"}

// bertSizes reads the settings that BERT and its kin share. vocab is the default of one; positions begin at row
// first of their table.
func bertSizes(c *config, kind string, vocab, first int) sizes {
	s := sizes{
		hidden: c.count(768, "hidden_size"), layers: c.count(12, "num_hidden_layers"),
		headCount: c.count(12, "num_attention_heads"), inner: c.count(3072, "intermediate_size"),
		vocab: c.count(vocab, "vocab_size"), rows: c.count(512, "max_position_embeddings"),
		eps: c.positive(1e-12, "layer_norm_eps"),
	}
	s.positions = s.rows - first
	s.headSize = c.divided(s.hidden, s.headCount, "attention heads")
	if p := c.text("absolute", "position_embedding_type"); p != "absolute" {
		c.refuse("position_embedding_type", "positions of kind %q are not supported", p)
	}
	for _, key := range []string{"is_decoder", "add_cross_attention"} {
		if c.flag(false, key) {
			c.refuse(key, "%s models that decode are not supported", kind)
		}
	}
	return s
}

// bertPositions are the embeddings of the positions, which begin at row first.
func (m *model) bertPositions(path string, first int) *ir.Node {
	if in := m.input("position_ids"); in != nil {
		return m.embedding(path, in, m.rows, m.hidden)
	}
	return m.positionRows(path, first, m.rows, m.hidden)
}

// bertBody is embeddings and layers; positions makes the embeddings of the positions from the path of their table.
func (m *model) bertBody(positions func(path string) *ir.Node) *ir.Node {
	path := m.root + "embeddings"
	m.module(path, m.arch.class+"Embeddings")
	x := m.embedded(path+".word_embeddings", m.vocab, m.hidden)
	x = m.add(path, x, m.tokenTypes(path+".token_type_embeddings"))
	x = m.add(path, x, positions(path+".position_embeddings"))
	x = m.layerNorm(path+".LayerNorm", x, m.hidden, m.eps)
	for i := range m.layers {
		x = m.bertLayer(layer(m.root+"encoder.layer", i), x)
	}
	return x
}

// tokenTypes are the embeddings of the two kinds of tokens; without the input token_type_ids all are of the first.
func (m *model) tokenTypes(path string) *ir.Node {
	kinds := m.count(2, "type_vocab_size")
	if in := m.input("token_type_ids"); in != nil {
		return m.embedding(path, in, kinds, m.hidden)
	}
	m.module(path, "Embedding")
	return m.slice(path, m.weight(path+".weight", kinds, m.hidden), 0, 0, 1)
}

func (m *model) bertLayer(path string, x *ir.Node) *ir.Node {
	m.module(path, m.arch.class+"Layer")
	at := path + ".attention.self"
	m.module(at, m.arch.class+"SelfAttention")
	head := func(name string) *ir.Node {
		y := m.linear(at+"."+name, x, m.hidden, m.hidden, true)
		return m.split(at+"."+name, y, m.headCount, m.headSize)
	}
	y := m.attention(at, head("query"), head("key"), head("value"), rsqrt(m.headSize), false)
	y = m.merge(at, y, m.headCount, m.headSize)
	y = m.linear(path+".attention.output.dense", y, m.hidden, m.hidden, true)
	x = m.layerNorm(path+".attention.output.LayerNorm", m.add(path+".attention.output", y, x), m.hidden, m.eps)
	y = m.linear(path+".intermediate.dense", x, m.hidden, m.inner, true)
	y = m.activation(path+".intermediate.intermediate_act_fn", "gelu", "hidden_act", y)
	y = m.linear(path+".output.dense", y, m.inner, m.hidden, true)
	return m.layerNorm(path+".output.LayerNorm", m.add(path+".output", y, x), m.hidden, m.eps)
}

// bertPooler is tanh of a linear function of the first token.
func (m *model) bertPooler(x *ir.Node) *ir.Node {
	path := m.root + "pooler"
	m.module(path, m.arch.class+"Pooler")
	x = m.linear(path+".dense", m.token(path, x, 0, m.hidden), m.hidden, m.hidden, true)
	return m.emit(path+".activation", "Tanh", curve.Tanh, nil, x)
}
