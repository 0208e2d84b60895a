// SPDX-License-Identifier: Apache-2.0

package hf

import (
	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
)

// The tasks. Each but the first is a head on the bare model.
const (
	encoder                = "encoder"
	sequenceClassification = "sequence-classification"
	imageClassification    = "image-classification"
	causalLM               = "causal-lm"
	maskedLM               = "masked-lm"
)

// head is what an architecture has on top of its layers for a task.
type head struct {
	task string
	// suffix ends the name of the class: "ForSequenceClassification".
	suffix string
	// build computes logits from the last hidden state [batch, tokens, size].
	build func(m *model, x *ir.Node) *ir.Node
}

// finish makes the outputs: logits of a head, or the last hidden state and what the pooler makes of it; the loss; the
// caches.
func (m *model) finish(h *head, x *ir.Node) {
	if h == nil {
		m.output("last_hidden_state", x)
		if m.arch.pooler != nil && m.w.has(m.root+"pooler.dense.weight") {
			m.output("pooler_output", m.arch.pooler(m, x))
		}
	} else {
		logits := h.build(m, x)
		m.output("logits", logits)
		if m.opts.Loss {
			m.output("loss", m.loss(h.task, logits))
		}
	}
	for _, o := range m.cached {
		m.output(o.Name, o.Node)
	}
}

// tied is a linear layer over the vocabulary whose weights are those of the embedding where the configuration says so.
func (m *model) tied(path, bias, table string, x *ir.Node) *ir.Node {
	m.module(path, "Linear")
	name := path + ".weight"
	if m.flag(m.arch.tied, "tie_word_embeddings") {
		name = table
	}
	args := []*ir.Node{x, m.weight(name, m.vocab, m.outSize())}
	if bias != "" {
		if !m.w.has(bias) && m.w.has(path+".bias") {
			bias = path + ".bias"
		}
		args = append(args, m.weight(bias, m.vocab))
	}
	return m.emit(path, "Linear", sum.Linear, nil, args...)
}

// ignored is the label of tokens that do not count.
const ignored = -100

// loss is the mean cross entropy between logits and the input labels (CrossEntropyLoss of PyTorch): one label a sample,
// or one a token, of which those of ignored do not count. A causal model predicts the label of the next token.
func (m *model) loss(task string, logits *ir.Node) *ir.Node {
	const at = "loss"
	classes, tokens := m.labels(), 1
	shape := []int{m.batch}
	if task == causalLM || task == maskedLM {
		classes, tokens, shape = m.vocab, m.seq, []int{m.batch, m.seq}
	}
	if classes == 1 {
		return m.choice("a head of one class has no cross entropy")
	}
	const single = "single_label_classification"
	if kind := m.text(single, "problem_type"); task != causalLM && task != maskedLM && kind != single {
		m.refuse("problem_type", "the loss of %s is not supported", source.Quote(kind)).
			WithHint("leave --loss out, or set problem_type to %s", single)
		return m.none
	}
	labels := m.makeInput("labels", ir.I64, shape)
	if task == causalLM {
		if tokens--; tokens == 0 {
			return m.choice("the loss of a causal model needs two tokens")
		}
		logits = m.slice(at+".logits", logits, 1, 0, tokens)
		labels = m.slice(at+".labels", labels, 1, 1, tokens)
	}
	rows := m.batch * tokens
	logits = m.reshape(at+".view", logits, rows, classes)
	labels = m.reshape(at+".labels.view", labels, rows, 1)
	chance := m.emit(at+".log_softmax", "log_softmax", norm.LogSoftmax, &column.AxisAttrs{Axis: 1}, logits)
	of := m.sum(at, m.pick(at, labels, chance, classes), 0, 1)
	counts := m.emit(at+".ne", "ne", whole.Compare, &whole.CompareAttrs{Rel: "ne"}, labels, m.whole("ignored", ignored))
	count := m.sum(at+".count", m.emit(at+".float", "to", whole.Convert, &whole.ConvertAttrs{To: ir.F32}, counts), 0, 1)
	mean := m.emit(at+".mean", "div", whole.Div, nil, of, count)
	mean = m.emit(at+".neg", "cross_entropy", pointwise.Mul, nil, mean,
		m.constant("minus_one", ir.FloatBlob([]float32{-1})))
	return m.reshape(at, mean)
}

// pick keeps the value in column places[r] of each row r of x [rows, columns], and makes the others 0; places are
// [rows, 1], and none where they are outside.
func (m *model) pick(path string, places, x *ir.Node, columns int) *ir.Node {
	all := make([]int64, columns)
	for i := range all {
		all[i] = int64(i)
	}
	here := m.emit(path+".eq", "eq", whole.Compare, &whole.CompareAttrs{Rel: "eq"}, places, m.wholes(path+".places", all))
	return m.emit(path+".where", "where", whole.Where, nil, here, x, m.constant("zeros", ir.FloatBlob([]float32{0})))
}

// sum adds along axes, which stay with the size 1.
func (m *model) sum(path string, x *ir.Node, axes ...int) *ir.Node {
	return m.emit(path+".sum", "sum", reduce.Sum, &reduce.Attrs{Axes: axes}, x)
}

// lastToken classifies by the last token that is no padding.
var lastToken = head{sequenceClassification, "ForSequenceClassification", func(m *model, x *ir.Node) *ir.Node {
	const at = "score"
	labels := m.labels()
	ids, pad := m.input("input_ids"), m.index(m.arch.pad-1, "pad_token_id")
	if ids == nil || pad < 0 {
		return m.linear(at, m.token(at, x, m.seq-1, m.outSize()), m.outSize(), labels, false)
	}
	places := make([]float32, m.seq)
	for i := range places {
		places[i] = float32(i)
	}
	real := m.emit(at+".ne", "ne", whole.Compare, &whole.CompareAttrs{Rel: "ne"}, ids, m.whole("padding", int64(pad)))
	real = m.emit(at+".to", "to", whole.Convert, &whole.ConvertAttrs{To: ir.F32}, real)
	real = m.mul(at, real, m.constant("places", ir.FloatBlob(places), 1, m.seq))
	last := m.emit(at+".argmax", "argmax", reduce.ArgMax, &reduce.ArgMaxAttrs{Axis: 1, KeepDims: true}, real)
	last = m.emit(at+".long", "long", whole.Convert, &whole.ConvertAttrs{To: ir.I64}, last)
	logits := m.linear(at, x, m.outSize(), labels, false)
	logits = m.reshape(at+".view", m.transpose(at+".transpose", logits, 0, 2, 1), m.batch*labels, m.seq)
	last = m.emit(at+".expand", "expand", move.Repeat, &move.RepeatAttrs{Shape: []int{m.batch, labels}}, last)
	logits = m.pick(at, m.reshape(at+".last", last, m.batch*labels, 1), logits, m.seq)
	return m.reshape(at+".logits", m.sum(at, logits, 1), m.batch, labels)
}}
