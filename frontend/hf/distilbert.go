// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"lathe/ir"
	"lathe/ir/op/pointwise"
)

// distilbert is DistilBERT (Sanh and others, 2019): BERT without kinds of tokens and without a pooler.
var distilbert = architecture{
	modelType: "distilbert", class: "DistilBert", base: "distilbert.", needed: 2, tied: true,
	tested: []string{"distilbert-classifier", "distilbert-masked"},
	inputs: []string{"input_ids", "attention_mask", "position_ids", "inputs_embeds"},
	sizes: func(c *config) sizes {
		s := sizes{
			hidden: c.count(768, "dim", "hidden_size"), layers: c.count(6, "n_layers", "num_hidden_layers"),
			headCount: c.count(12, "n_heads", "num_attention_heads"), inner: c.count(3072, "hidden_dim"),
			vocab: c.count(30522, "vocab_size"), rows: c.count(512, "max_position_embeddings"),
			eps: 1e-12, // the class has no setting for it
		}
		s.positions = s.rows
		s.headSize = c.divided(s.hidden, s.headCount, "attention heads")
		return s
	},
	body: (*model).distilbertBody,
	heads: []head{
		{sequenceClassification, "ForSequenceClassification", func(m *model, x *ir.Node) *ir.Node {
			x = m.linear("pre_classifier", m.token("pre_classifier", x, 0, m.hidden), m.hidden, m.hidden, true)
			x = m.emit("pre_classifier.relu", "relu", pointwise.Relu, nil, x)
			return m.linear("classifier", x, m.hidden, m.labels(), true)
		}},
		{maskedLM, "ForMaskedLM", func(m *model, x *ir.Node) *ir.Node {
			x = m.linear("vocab_transform", x, m.hidden, m.hidden, true)
			x = m.activation("activation", "gelu", "activation", x)
			x = m.layerNorm("vocab_layer_norm", x, m.hidden, m.eps)
			return m.tied("vocab_projector", "vocab_projector.bias", m.root+"embeddings.word_embeddings.weight", x)
		}},
	},
}

func (m *model) distilbertBody() *ir.Node {
	path := m.root + "embeddings"
	m.module(path, "Embeddings")
	x := m.embedded(path+".word_embeddings", m.vocab, m.hidden)
	x = m.add(path, x, m.bertPositions(path+".position_embeddings", 0))
	x = m.layerNorm(path+".LayerNorm", x, m.hidden, m.eps)
	for i := range m.layers {
		x = m.distilbertLayer(layer(m.root+"transformer.layer", i), x)
	}
	return x
}

func (m *model) distilbertLayer(path string, x *ir.Node) *ir.Node {
	m.module(path, "TransformerBlock")
	at := path + ".attention"
	m.module(at, "DistilBertSelfAttention")
	head := func(name string) *ir.Node {
		y := m.linear(at+"."+name, x, m.hidden, m.hidden, true)
		return m.split(at+"."+name, y, m.headCount, m.headSize)
	}
	y := m.attention(at, head("q_lin"), head("k_lin"), head("v_lin"), rsqrt(m.headSize), false)
	y = m.linear(at+".out_lin", m.merge(at, y, m.headCount, m.headSize), m.hidden, m.hidden, true)
	x = m.layerNorm(path+".sa_layer_norm", m.add(path, y, x), m.hidden, m.eps)
	y = m.linear(path+".ffn.lin1", x, m.hidden, m.inner, true)
	y = m.activation(path+".ffn.activation", "gelu", "activation", y)
	y = m.linear(path+".ffn.lin2", y, m.inner, m.hidden, true)
	return m.layerNorm(path+".output_layer_norm", m.add(path, y, x), m.hidden, m.eps)
}
