// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"lathe/ir"
)

// llama is Llama (Touvron and others, 2023): root mean square norms before the layers, rotary positions, groups of
// heads that share keys and values, and a gated second layer.
var llama = architecture{
	modelType: "llama", class: "Llama", base: "model.", inputs: decoderInputs, needed: 1, caches: true,
	tested:  []string{"llama", "llama-classifier", "llama-linear", "llama-shards"},
	example: "tiny-llama",
	sizes:   func(c *config) sizes { return llamaSizes(c, sizes{vocab: 32000, inner: 11008, positions: 2048}) },
	body: func(m *model) *ir.Node {
		return m.llamaBody(llamaKind{
			bias: m.flag(false, "attention_bias"), outBias: m.flag(false, "attention_bias"),
			mlpBias: m.flag(false, "mlp_bias"),
		})
	},
	heads:  llamaHeads,
	limits: "rotary positions of type default, linear or llama3",
}

var llamaHeads = []head{
	{causalLM, "ForCausalLM", func(m *model, x *ir.Node) *ir.Node {
		return m.tied("lm_head", "", m.root+"embed_tokens.weight", x)
	}},
	lastToken,
}

// llamaKind is what Llama's kin do in different ways.
type llamaKind struct {
	bias, outBias, mlpBias bool // of the queries, keys and values; of the layer behind; of the gated layer
	norms                  bool // of each head of queries and keys
}

// llamaSizes reads the settings of Llama's kin; absent are the defaults of one. Its groups are 0 for as many as heads,
// its headSize is 0 for hidden/heads.
func llamaSizes(c *config, absent sizes) sizes {
	s := sizes{
		hidden: c.count(4096, "hidden_size"), layers: c.count(32, "num_hidden_layers"),
		headCount: c.count(32, "num_attention_heads"), inner: c.count(absent.inner, "intermediate_size"),
		vocab: c.count(absent.vocab, "vocab_size"), positions: c.count(absent.positions, "max_position_embeddings"),
		eps: c.positive(1e-6, "rms_norm_eps"),
	}
	if absent.groups == 0 || c.root.Get("num_key_value_heads") != nil { // null stands for as many as heads
		absent.groups = s.headCount
	}
	s.groups = c.count(absent.groups, "num_key_value_heads")
	if s.headCount%s.groups != 0 {
		c.refuse("num_key_value_heads", "%d key and value heads do not divide %d heads", s.groups, s.headCount)
	}
	if absent.headSize == 0 {
		absent.headSize = max(s.hidden/s.headCount, 1)
	}
	if s.headSize = c.count(absent.headSize, "head_dim"); s.headSize%2 != 0 {
		c.refuse("head_dim", "rotary positions need heads of even size, not %d", s.headSize)
	}
	if n := c.count(1, "pretraining_tp"); n != 1 {
		c.refuse("pretraining_tp", "layers that are computed in %d parts are not supported", n)
	}
	return s
}

func (m *model) llamaBody(kind llamaKind) *ir.Node {
	r := m.rope(m.headSize, 10000)
	x := m.embedded(m.root+"embed_tokens", m.vocab, m.hidden)
	for i := range m.layers {
		x = m.llamaLayer(layer(m.root+"layers", i), i, x, kind, r)
	}
	return m.rmsNorm(m.root+"norm", x, m.hidden, m.eps)
}

func (m *model) llamaLayer(path string, i int, x *ir.Node, kind llamaKind, r rope) *ir.Node {
	m.module(path, m.arch.class+"DecoderLayer")
	y := m.llamaAttention(path+".self_attn", i, m.rmsNorm(path+".input_layernorm", x, m.hidden, m.eps), kind, r)
	x = m.add(path, x, y)
	z := m.rmsNorm(path+".post_attention_layernorm", x, m.hidden, m.eps)
	at := path + ".mlp"
	m.module(at, m.arch.class+"MLP")
	gate := m.activation(at+".act_fn", "silu", "hidden_act", m.linear(at+".gate_proj", z, m.hidden, m.inner, kind.mlpBias))
	y = m.mul(at, gate, m.linear(at+".up_proj", z, m.hidden, m.inner, kind.mlpBias))
	return m.add(path, x, m.linear(at+".down_proj", y, m.inner, m.hidden, kind.mlpBias))
}

func (m *model) llamaAttention(at string, i int, x *ir.Node, kind llamaKind, r rope) *ir.Node {
	m.module(at, m.arch.class+"Attention")
	head := func(letter string, heads int, turned bool) *ir.Node {
		name := at + "." + letter + "_proj"
		y := m.linear(name, x, m.hidden, heads*m.headSize, kind.bias)
		y = m.reshape(name+".view", y, m.batch, m.seq, heads, m.headSize)
		if turned && kind.norms {
			y = m.rmsNorm(at+"."+letter+"_norm", y, m.headSize, m.eps)
		}
		y = m.transpose(name+".transpose", y, 0, 2, 1, 3)
		if turned {
			y = m.rotate(at+".rotary_"+letter, y, r)
		}
		return y
	}
	q := head("q", m.headCount, true)
	k, v := m.cache(at, i, head("k", m.groups, true), head("v", m.groups, false), m.groups, m.headSize)
	y := m.merge(at, m.attention(at, q, k, v, rsqrt(m.headSize), true), m.headCount, m.headSize)
	return m.linear(at+".o_proj", y, m.headCount*m.headSize, m.hidden, kind.outBias)
}

// window refuses a sliding window that is shorter than what the graph attends to.
func (m *model) window(size int) {
	if all := m.all(); size > 0 && all > size {
		m.refuse("sliding_window", "a window of %d tokens is not supported for %d tokens", size, all).
			WithHint("take at most %d tokens: --seq, --max-seq", size)
	}
}
