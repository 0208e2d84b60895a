// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"encoding/binary"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is an encoded protobuf message under construction. Field numbers are those of onnx.proto.
type message []byte

func (m message) text(num protowire.Number, s string) message {
	return protowire.AppendString(protowire.AppendTag(m, num, protowire.BytesType), s)
}

func (m message) sub(num protowire.Number, part message) message { return m.text(num, string(part)) }

func (m message) number(num protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, num, protowire.VarintType), uint64(v))
}

// element types of TensorProto.
const (
	float32Type = 1
	int64Type   = 7
	stringType  = 8
	uint64Type  = 13
)

// onnxModel is what the fixtures need of a ModelProto.
type onnxModel struct {
	opset           int64 // 0: 18
	nodes, tensors  []message
	inputs, outputs []message
	sparse          bool
	functions       []message
}

func (m onnxModel) encode() []byte {
	graph := message(nil)
	for _, n := range m.nodes {
		graph = graph.sub(1, n)
	}
	graph = graph.text(2, "graph")
	for _, t := range m.tensors {
		graph = graph.sub(5, t)
	}
	for _, v := range m.inputs {
		graph = graph.sub(11, v)
	}
	for _, v := range m.outputs {
		graph = graph.sub(12, v)
	}
	if m.sparse {
		graph = graph.sub(15, nil)
	}
	opset := m.opset
	if opset == 0 {
		opset = 18
	}
	file := message(nil).number(1, 8).sub(7, graph).sub(8, message(nil).number(2, opset))
	for _, f := range m.functions {
		file = file.sub(25, f)
	}
	return file
}

// node is a NodeProto; ins and outs are names with spaces between, "_" for one that is left out.
func node(name, op, ins, outs string, attrs ...message) message {
	n := message(nil)
	for _, s := range strings.Fields(ins) {
		n = n.text(1, strings.Trim(s, "_"))
	}
	for _, s := range strings.Fields(outs) {
		n = n.text(2, s)
	}
	n = n.text(3, name).text(4, op)
	for _, a := range attrs {
		n = n.sub(5, a)
	}
	return n
}

func intAttr(name string, v int64) message {
	return message(nil).text(1, name).number(3, v).number(20, 2)
}

func intsAttr(name string, values ...int64) message {
	a := message(nil).text(1, name)
	for _, v := range values {
		a = a.number(8, v)
	}
	return a.number(20, 7)
}

func floatsAttr(name string, values ...float32) message {
	a := message(nil).text(1, name)
	for _, v := range values {
		a = protowire.AppendFixed32(protowire.AppendTag(a, 7, protowire.Fixed32Type), math.Float32bits(v))
	}
	return a.number(20, 6)
}

func textAttr(name, v string) message { return message(nil).text(1, name).text(4, v).number(20, 3) }

// head is a TensorProto without data.
func head(name string, elem int64, dims ...int64) message {
	t := message(nil)
	for _, d := range dims {
		t = t.number(1, d)
	}
	return t.number(2, elem).text(8, name)
}

// weights is a float tensor of multiples of 1/64 in [-1, 1] that look random.
func weights(name string, dims ...int64) message {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return floats(name, weightValues(name, n), dims...)
}

// weightValues are the n values of the tensor of that name.
func weightValues(name string, n int) []float32 {
	data := make([]float32, n)
	for i := range data {
		data[i] = float32((i*i*7+i*29+len(name)*11)%129-64) / 64
	}
	return data
}

func floats(name string, data []float32, dims ...int64) message {
	var raw []byte
	for _, v := range data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return head(name, float32Type, dims...).text(9, string(raw))
}

func ints(name string, data ...int64) message {
	var raw []byte
	for _, v := range data {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return head(name, int64Type, int64(len(data))).text(9, string(raw))
}

// value is the ValueInfoProto of a float array; a dimension is an int or, as a symbol, a string.
func value(name string, dims ...any) message { return valueOf(name, float32Type, dims...) }

func valueOf(name string, elem int64, dims ...any) message {
	shape := message(nil)
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			shape = shape.sub(1, message(nil).number(1, int64(d)))
		case string:
			shape = shape.sub(1, message(nil).text(2, d))
		}
	}
	tensor := message(nil).number(1, elem).sub(2, shape)
	return message(nil).text(1, name).sub(2, message(nil).sub(1, tensor))
}

func list(parts ...message) []message { return parts }
