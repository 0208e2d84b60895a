// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/whole"
)

// roberta is RoBERTa (Liu and others, 2019): BERT whose positions count the tokens that are no padding, from the
// number of the padding token plus one on.
var roberta = architecture{
	modelType: "roberta", class: "Roberta", base: "roberta.", inputs: bertInputs, needed: 2, tied: true,
	tested: []string{"roberta-classifier", "roberta-masked"},
	sizes: func(c *config) sizes {
		return bertSizes(c, "roberta", 50265, max(c.index(1, "pad_token_id"), 0)+1)
	},
	body:   func(m *model) *ir.Node { return m.bertBody(m.robertaPositions) },
	pooler: (*model).bertPooler,
	heads: []head{
		{sequenceClassification, "ForSequenceClassification", func(m *model, x *ir.Node) *ir.Node {
			x = m.linear("classifier.dense", m.token("classifier", x, 0, m.hidden), m.hidden, m.hidden, true)
			x = m.emit("classifier.tanh", "tanh", curve.Tanh, nil, x)
			return m.linear("classifier.out_proj", x, m.hidden, m.labels(), true)
		}},
		{maskedLM, "ForMaskedLM", func(m *model, x *ir.Node) *ir.Node {
			x = m.linear("lm_head.dense", x, m.hidden, m.hidden, true)
			x = m.emit("lm_head.gelu", "gelu", curve.Gelu, nil, x)
			x = m.layerNorm("lm_head.layer_norm", x, m.hidden, m.eps)
			return m.tied("lm_head.decoder", "lm_head.bias", m.root+"embeddings.word_embeddings.weight", x)
		}},
	},
	limits: "absolute positions, no decoder",
}

// robertaPositions are rows pad + 1, pad + 2, ... for the tokens that are no padding, and row pad for padding.
func (m *model) robertaPositions(path string) *ir.Node {
	pad := max(m.index(1, "pad_token_id"), 0)
	ids := m.input("input_ids")
	if ids == nil || m.input("position_ids") != nil {
		return m.bertPositions(path, pad+1)
	}
	at, padding := m.root+"embeddings", m.whole("padding", int64(pad))
	real := m.emit(at+".ne", "ne", whole.Compare, &whole.CompareAttrs{Rel: "ne"}, ids, padding)
	ones := m.emit(at+".int", "int", whole.Convert, &whole.ConvertAttrs{To: ir.I64}, real)
	count := m.emit(at+".cumsum", "cumsum", whole.CumSum, &whole.CumSumAttrs{Axis: 1}, ones)
	rows := m.add(at+".position_ids", m.mul(at+".position_ids", count, ones), padding)
	return m.embedding(path, rows, m.sizes.rows, m.hidden)
}
