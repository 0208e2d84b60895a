// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/sum"
)

// vit is the Vision Transformer (Dosovitskiy and others, 2020): norms before the layers, one token a patch, and one
// more before them that gathers the answer.
var vit = architecture{
	modelType: "vit", class: "ViT", base: "vit.", inputs: []string{"pixel_values"}, needed: 1,
	tested: []string{"vit", "vit-classifier"},
	sizes: func(c *config) sizes {
		s := sizes{
			hidden: c.count(768, "hidden_size"), layers: c.count(12, "num_hidden_layers"),
			headCount: c.count(12, "num_attention_heads"), inner: c.count(3072, "intermediate_size"),
			eps: c.positive(1e-12, "layer_norm_eps"),
		}
		s.headSize = c.divided(s.hidden, s.headCount, "attention heads")
		return s
	},
	body:   (*model).vitBody,
	pooler: (*model).bertPooler,
	heads: []head{
		{imageClassification, "ForImageClassification", func(m *model, x *ir.Node) *ir.Node {
			return m.linear("classifier", m.token("classifier", x, 0, m.hidden), m.hidden, m.labels(), true)
		}},
	},
	limits: "images of the size that config.json names",
}

// image is the shape of an image: channels, rows, columns.
func (m *model) image() []int {
	return []int{m.count(3, "num_channels"), m.rowsColumns(224, "image_size")[0], m.rowsColumns(224, "image_size")[1]}
}

// rowsColumns reads one size, or a list of two: rows and columns.
func (m *model) rowsColumns(absent int, key string) [2]int {
	v := m.find(key)
	if sizes, err := v.Ints(); err == nil && len(sizes) == 2 && min(sizes[0], sizes[1]) > 0 &&
		max(sizes[0], sizes[1]) <= maxCount {
		return [2]int{int(sizes[0]), int(sizes[1])}
	}
	n := m.count(absent, key)
	return [2]int{n, n}
}

func (m *model) vitBody() *ir.Node {
	path, image, patch := m.root+"embeddings", m.image(), m.rowsColumns(16, "patch_size")
	m.module(path, "ViTEmbeddings")
	if image[1]%patch[0] != 0 || image[2]%patch[1] != 0 {
		return m.bound("images of %dx%d are not cut evenly into patches of %dx%d", image[1], image[2], patch[0], patch[1])
	}
	patches := image[1] / patch[0] * (image[2] / patch[1])
	at := path + ".patch_embeddings.projection"
	m.module(at, "Conv2d")
	x := m.emit(at, "Conv2d", sum.Conv, &sum.ConvAttrs{Window: geometry.Window{Kernel: patch[:], Strides: patch[:],
		Pads: []int{0, 0, 0, 0}, Dilations: []int{1, 1}}, Groups: 1}, m.input("pixel_values"),
		m.weight(at+".weight", m.hidden, image[0], patch[0], patch[1]), m.weight(at+".bias", m.hidden))
	x = m.reshape(path+".flatten", x, m.batch, m.hidden, patches)
	x = m.transpose(path+".transpose", x, 0, 2, 1)
	class := m.emit(path+".cls_token", "expand", move.Repeat, &move.RepeatAttrs{Shape: []int{m.batch, 1, m.hidden}},
		m.weight(path+".cls_token", 1, 1, m.hidden))
	x = m.emit(path+".cat", "cat", move.Concat, &move.ConcatAttrs{Axis: 1}, class, x)
	m.seq = patches + 1
	x = m.add(path, x, m.weight(path+".position_embeddings", 1, m.seq, m.hidden))
	for i := range m.layers {
		x = m.vitLayer(layer(m.root+"encoder.layer", i), x)
	}
	return m.layerNorm(m.root+"layernorm", x, m.hidden, m.eps)
}

func (m *model) vitLayer(path string, x *ir.Node) *ir.Node {
	m.module(path, "ViTLayer")
	at := path + ".attention.attention"
	m.module(at, "ViTSelfAttention")
	bias := m.flag(true, "qkv_bias")
	z := m.layerNorm(path+".layernorm_before", x, m.hidden, m.eps)
	head := func(name string) *ir.Node {
		y := m.linear(at+"."+name, z, m.hidden, m.hidden, bias)
		return m.split(at+"."+name, y, m.headCount, m.headSize)
	}
	y := m.attention(at, head("query"), head("key"), head("value"), rsqrt(m.headSize), false)
	y = m.linear(path+".attention.output.dense", m.merge(at, y, m.headCount, m.headSize), m.hidden, m.hidden, true)
	x = m.add(path, y, x)
	y = m.linear(path+".intermediate.dense", m.layerNorm(path+".layernorm_after", x, m.hidden, m.eps), m.hidden,
		m.inner, true)
	y = m.activation(path+".intermediate.intermediate_act_fn", "gelu", "hidden_act", y)
	return m.add(path+".output", m.linear(path+".output.dense", y, m.inner, m.hidden, true), x)
}
