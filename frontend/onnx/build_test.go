// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"encoding/binary"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// pb is an encoded protobuf message under construction.
type pb []byte

func (b pb) str(num protowire.Number, s string) pb {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

func (b pb) msg(num protowire.Number, m pb) pb { return b.str(num, string(m)) }

func (b pb) int(num protowire.Number, v int64) pb {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
}

func (b pb) f32(num protowire.Number, v float32) pb {
	return protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), math.Float32bits(v))
}

// packed appends a packed list of integers.
func (b pb) packed(num protowire.Number, v ...int64) pb {
	var list pb
	for _, x := range v {
		list = protowire.AppendVarint(list, uint64(x))
	}
	return b.msg(num, list)
}

// testModel collects the parts of a model.
type testModel struct {
	opset              int64
	nodes, inits       []pb
	inputs, outputs    []pb
	extra, extraInside pb // appended to ModelProto and to GraphProto
}

func (m testModel) bytes() []byte {
	var g pb
	for _, n := range m.nodes {
		g = g.msg(1, n)
	}
	g = g.str(2, "g")
	for _, t := range m.inits {
		g = g.msg(5, t)
	}
	for _, v := range m.inputs {
		g = g.msg(11, v)
	}
	for _, v := range m.outputs {
		g = g.msg(12, v)
	}
	g = append(g, m.extraInside...)
	model := pb(nil).int(1, 8).str(2, "test").msg(7, g)
	return append(model.msg(8, pb(nil).str(1, "").int(2, m.opset)), m.extra...)
}

// nd is a node; ins and outs are names with spaces between, "_" for an absent one.
func nd(op, ins, outs string, attrs ...pb) pb {
	var n pb
	for _, s := range strings.Fields(ins) {
		n = n.str(1, strings.Trim(s, "_"))
	}
	for _, s := range strings.Fields(outs) {
		n = n.str(2, strings.Trim(s, "_"))
	}
	n = n.str(4, op)
	for _, a := range attrs {
		n = n.msg(5, a)
	}
	return n
}

func aInt(name string, v int64) pb   { return pb(nil).str(1, name).int(3, v).int(20, 2) }
func aFlt(name string, v float32) pb { return pb(nil).str(1, name).f32(2, v).int(20, 1) }
func aStr(name, v string) pb         { return pb(nil).str(1, name).str(4, v).int(20, 3) }
func aTen(name string, t pb) pb      { return pb(nil).str(1, name).msg(5, t).int(20, 4) }

func aInts(name string, v ...int64) pb {
	a := pb(nil).str(1, name)
	for _, x := range v {
		a = a.int(8, x)
	}
	return a.int(20, 7)
}

// head is a tensor without data.
func head(name string, dtype int64, dims ...int64) pb {
	t := pb(nil)
	for _, d := range dims {
		t = t.int(1, d)
	}
	return t.int(2, dtype).str(8, name)
}

func raw32(v ...float32) string {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return string(b)
}

func raw64(v ...int64) string {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return string(b)
}

// ft is a float tensor with the elements of ramp, or the given ones.
func ft(name string, dims []int64, v ...float32) pb {
	if v == nil {
		n := 1
		for _, d := range dims {
			n *= int(d)
		}
		v = ramp(n, len(name)+int(name[0]))
	}
	return head(name, 1, dims...).str(9, raw32(v...))
}

// it is a list of int64.
func it(name string, v ...int64) pb { return head(name, 7, int64(len(v))).str(9, raw64(v...)) }

// ramp is n multiples of 1/8 between -2 and 2 that look random; seed shifts them.
func ramp(n, seed int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32((i*i*7+i*13+seed*5)%33-16) / 8
	}
	return out
}

// vi is a float input or output; a dimension that is no number is a symbol.
func vi(name string, dims ...any) pb { return viOf(name, 1, dims...) }

func viOf(name string, dtype int64, dims ...any) pb {
	shape := pb(nil)
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			shape = shape.msg(1, pb(nil).int(1, int64(d)))
		case string:
			shape = shape.msg(1, pb(nil).str(2, d))
		default:
			shape = shape.msg(1, nil)
		}
	}
	return pb(nil).str(1, name).msg(2, pb(nil).msg(1, pb(nil).int(1, dtype).msg(2, shape)))
}

// d is a shape.
func d(dims ...int64) []int64 { return dims }

// single is a model of one node with input x and output y.
func single(opset int64, x pb, node pb, inits ...pb) testModel {
	return testModel{opset: opset, nodes: []pb{node}, inits: inits, inputs: []pb{x}, outputs: []pb{vi("y")}}
}
