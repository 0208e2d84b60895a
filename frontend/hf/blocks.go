// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"math"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
)

// linear is the module at path: y = x*transpose(W) + b, W [out, in].
func (m *model) linear(path string, x *ir.Node, in, out int, bias bool) *ir.Node {
	if m.passes(path, in, out) {
		return x
	}
	m.module(path, "Linear")
	args := []*ir.Node{x, m.weight(path+".weight", out, in)}
	if bias {
		args = append(args, m.weight(path+".bias", out))
	}
	return m.emit(path, "Linear", sum.Linear, nil, args...)
}

// conv1D is the module of GPT-2 of that name: y = x*W + b, W [in, out].
func (m *model) conv1D(path string, x *ir.Node, in, out int) *ir.Node {
	if m.passes(path, in, out) {
		return x
	}
	m.module(path, "Conv1D")
	w := m.emit(path+".weight", "Conv1D", move.Transpose, &move.TransposeAttrs{Perm: []int{1, 0}},
		m.weight(path+".weight", in, out))
	return m.emit(path, "Conv1D", sum.Linear, nil, x, w, m.weight(path+".bias", out))
}

// layerNorm is the module at path, over the last axis.
func (m *model) layerNorm(path string, x *ir.Node, size int, eps float64) *ir.Node {
	m.module(path, "LayerNorm")
	return m.emit(path, "LayerNorm", norm.LayerNorm, &norm.Attrs{Axis: -1, Eps: float32(eps)}, x,
		m.weight(path+".weight", size), m.weight(path+".bias", size))
}

// rmsNorm is the module at path, over the last axis.
func (m *model) rmsNorm(path string, x *ir.Node, size int, eps float64) *ir.Node {
	m.module(path, "RMSNorm")
	return m.emit(path, "RMSNorm", norm.RMSNorm, &norm.Attrs{Axis: -1, Eps: float32(eps)}, x,
		m.weight(path+".weight", size))
}

// embedding is the module at path: rows of its table for whole numbers.
func (m *model) embedding(path string, ids *ir.Node, rows, size int) *ir.Node {
	m.module(path, "Embedding")
	return m.emit(path, "Embedding", whole.Gather, &column.AxisAttrs{Axis: 0}, m.weight(path+".weight", rows, size), ids)
}

// positionRows are rows of the table of an embedding from from on, as many as there are tokens: [1, tokens, size].
func (m *model) positionRows(path string, from, rows, size int) *ir.Node {
	m.module(path, "Embedding")
	table := m.weight(path+".weight", rows, size)
	if all := m.all() - max(m.past, 0); from+all > rows {
		return m.bound("%d tokens from row %d of the table of positions on, which has %d", all, from, rows)
	}
	if m.place != nil {
		at := m.emit(path+".position", "to", whole.Convert, &whole.ConvertAttrs{To: ir.I64}, m.place)
		at = m.add(path+".position", at, m.wholes(path+".places", places(from, m.seq)))
		return m.emit(path, "Embedding", whole.Gather, &column.AxisAttrs{Axis: 0}, table, at)
	}
	x := m.emit(path+".slice", "Embedding", move.Slice, &move.SliceAttrs{Axis: 0, Start: from, Count: m.seq, Step: 1},
		table)
	return m.reshape(path, x, 1, m.seq, size)
}

// places counts from the given one on.
func places(from, count int) []int64 {
	out := make([]int64, count)
	for i := range out {
		out[i] = int64(from + i)
	}
	return out
}

func (m *model) reshape(name string, x *ir.Node, shape ...int) *ir.Node {
	return m.emit(name, "view", move.Reshape, &move.ReshapeAttrs{Shape: shape}, x)
}

func (m *model) transpose(name string, x *ir.Node, perm ...int) *ir.Node {
	return m.emit(name, "transpose", move.Transpose, &move.TransposeAttrs{Perm: perm}, x)
}

// add is a + b, computed by the module at path.
func (m *model) add(path string, a, b *ir.Node) *ir.Node {
	return m.emit(path+".add", "add", pointwise.Add, nil, a, b)
}

// mul is a*b, computed by the module at path.
func (m *model) mul(path string, a, b *ir.Node) *ir.Node {
	return m.emit(path+".mul", "mul", pointwise.Mul, nil, a, b)
}

// slice takes count places from start on along an axis.
func (m *model) slice(name string, x *ir.Node, axis, start, count int) *ir.Node {
	return m.emit(name, "slice", move.Slice, &move.SliceAttrs{Axis: axis, Start: start, Count: count, Step: 1}, x)
}

// token takes one token of [batch, tokens, size]: [batch, size].
func (m *model) token(path string, x *ir.Node, i, size int) *ir.Node {
	return m.reshape(path+".squeeze", m.slice(path+".select", x, 1, i, 1), m.batch, size)
}

// split turns [batch, tokens, heads*size] into [batch, heads, tokens, size].
func (m *model) split(path string, x *ir.Node, heads, size int) *ir.Node {
	x = m.reshape(path+".view", x, m.batch, m.seq, heads, size)
	return m.transpose(path+".transpose", x, 0, 2, 1, 3)
}

// merge turns [batch, heads, tokens, size] into [batch, tokens, heads*size].
func (m *model) merge(path string, x *ir.Node, heads, size int) *ir.Node {
	x = m.transpose(path+".transpose", x, 0, 2, 1, 3)
	return m.reshape(path+".reshape", x, m.batch, m.seq, heads*size)
}

// attention is softmax(q*transpose(k)*scale)*v for q [batch, heads, tokens, size] and k, v [batch, groups, all, size],
// with the mask of the model: all keys, or those up to the place of the query.
func (m *model) attention(path string, q, k, v *ir.Node, scale float64, causal bool) *ir.Node {
	args := []*ir.Node{q, k, v}
	if mask := m.mask(); mask != nil {
		args = append(args, mask)
	}
	a := &sequence.AttentionAttrs{Scale: float32(scale), Causal: causal}
	if m.place != nil {
		a.Causal, a.Placed, args = false, true, append(args, m.place)
	}
	return m.emit(path+".scaled_dot_product_attention", "scaled_dot_product_attention", sequence.Attention, a, args...)
}

// mask is true where a key is kept: [batch, 1, 1, all]. It is nil if the graph has no input attention_mask.
func (m *model) mask() *ir.Node {
	in := m.input("attention_mask")
	if in == nil || m.err != nil {
		return nil
	}
	if m.keep == nil {
		keep := m.emit(m.root+"attention_mask.ne", "ne", whole.Compare, &whole.CompareAttrs{Rel: "ne"}, in,
			m.whole("zero", 0))
		m.keep = m.reshape(m.root+"attention_mask.view", keep, m.batch, 1, 1, m.all())
	}
	return m.keep
}

// activations are the functions that configurations name.
var activations = []struct {
	name string
	op   *ir.Op
}{
	{"gelu", curve.Gelu}, {"gelu_python", curve.Gelu}, {"gelu_new", curve.GeluTanh}, {"gelu_pytorch_tanh", curve.GeluTanh},
	{"gelu_fast", curve.GeluTanh}, {"gelu_python_tanh", curve.GeluTanh}, {"gelu_accurate", curve.GeluTanh},
	{"relu", pointwise.Relu},
	{"silu", curve.Silu}, {"swish", curve.Silu}, {"tanh", curve.Tanh}, {"sigmoid", curve.Sigmoid}, {"mish", curve.Mish},
	{"quick_gelu", nil}, {"relu2", nil},
}

// activation applies the function that the setting key names.
func (m *model) activation(path, absent, key string, x *ir.Node) *ir.Node {
	name := m.text(absent, key)
	for _, a := range activations {
		switch {
		case a.name != name:
		case a.op == curve.Silu:
			return m.emit(path, name, a.op, &curve.AlphaAttrs{Alpha: 1}, x)
		case a.op != nil:
			return m.emit(path, name, a.op, nil, x)
		case name == "relu2":
			y := m.emit(path, name, pointwise.Relu, nil, x)
			return m.mul(path, y, y)
		default: // quick_gelu
			y := m.mul(path+".scale", x, m.constant(path+".factor", ir.FloatBlob([]float32{1.702})))
			return m.mul(path, x, m.emit(path, name, curve.Sigmoid, nil, y))
		}
	}
	if m.err == nil {
		e := m.refuse(key, "the activation %q is not supported", name)
		var names []string
		for _, a := range activations {
			names = append(names, a.name)
		}
		hintNearest(e, name, names)
	}
	return m.none
}

// rsqrt is 1/sqrt(n), the usual scale of attention.
func rsqrt(n int) float64 { return 1 / math.Sqrt(float64(n)) }
