// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"
	"testing"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/ref"
)

const top, half = -1, -1 << 63 // 2^64-1 and 2^63

var unsignedK, unsignedA = []int64{top, half, half, top}, []int64{1, 2, 3, 7}

// unsignedCase is a node on k and a, and what it gives.
type unsignedCase struct {
	name     string
	node     pb
	elem     int64 // of the output
	unsigned bool
	want     []int64
	floats   []float32
}

func unsignedCases() []unsignedCase {
	k, a := unsignedK, unsignedA
	return []unsignedCase{
		{"max", nd("Max", "k a", "y"), 13, true, k, nil},
		{"min", nd("Min", "k a k", "y"), 13, true, a, nil},
		{"div", nd("Div", "k a", "y"), 13, true, []int64{top, 1 << 62, 3074457345618258602, 2635249153387078802}, nil},
		{"mod", nd("Mod", "k a", "y"), 13, true, []int64{0, 0, 2, 1}, nil},
		{"greater", nd("Greater", "k a", "y"), 9, false, []int64{1, 1, 1, 1}, nil},
		{"less", nd("Less", "k a", "y"), 9, false, []int64{0, 0, 0, 0}, nil},
		{"shift", nd("BitShift", "k a", "y", aStr("direction", "RIGHT")), 13, true,
			[]int64{1<<63 - 1, 1 << 61, 1 << 60, 1<<57 - 1}, nil},
		{"pow", nd("Pow", "a k", "y"), 13, true, []int64{1, 0, 1, 7905747460161236407}, nil},
		{"abs", nd("Abs", "k", "y"), 13, true, k, nil},
		{"sign", nd("Sign", "k", "y"), 13, true, []int64{1, 1, 1, 1}, nil},
		{"clip", nd("Clip", "k c c", "y"), 13, true, []int64{5, 5, 5, 5}, nil},
		{"float", nd("Cast", "k", "y", aInt("to", 1)), 1, false, nil, []float32{0x1p64, 0x1p63, 0x1p63, 0x1p64}},
		{"arg max", nd("ArgMax", "k", "y"), 7, false, []int64{0}, nil},
		{"arg min", nd("ArgMin", "k", "y"), 7, false, []int64{1}, nil},
		{"size", nd("Size", "k", "y"), 7, false, []int64{4}, nil},
		{"shape", nd("Shape", "k", "y"), 7, false, []int64{4}, nil},
		{"reduce max", nd("ReduceMax", "k", "y"), 13, true, []int64{top}, nil},
		{"reduce min", nd("ReduceMin", "k", "y"), 13, true, []int64{half}, nil},
		{"l1", nd("ReduceL1", "k", "y"), 13, true, []int64{-2}, nil},
		{"top k", nd("TopK", "k two", "y j"), 13, true, []int64{top, top}, nil},
		{"top k places", nd("TopK", "k two", "v y"), 7, false, []int64{0, 3}, nil},
		{"scatter", nd("ScatterElements", "k zero a", "y", aStr("reduction", "max")), 13, true, k, nil},
		{"fill", nd("ConstantOfShape", "two", "y", aTen("value", head("", 13, 1).str(9, raw64(top)))), 13, true,
			[]int64{top, top}, nil},
		{"signed", nd("Cast", "k", "y", aInt("to", 7)), 7, false, k, nil},
	}
}

// graph imports the model of one node, of inputs or of constants.
func (c unsignedCase) graph(t *testing.T, constant bool) *ir.Graph {
	t.Helper()
	m := testModel{opset: 18, nodes: []pb{c.node}, outputs: []pb{viOf("y", c.elem, len(c.want)+len(c.floats))}}
	if c.name == "size" { // a single number
		m.outputs = []pb{viOf("y", c.elem)}
	}
	m.inits = []pb{head("two", 7, 1).str(9, raw64(2)), head("c", 13).str(9, raw64(5)),
		head("zero", 7, 4).str(9, raw64(0, 1, 2, 3))}
	if constant {
		m.inits = append(m.inits, head("k", 13, 4).str(9, raw64(unsignedK...)), head("a", 13, 4).str(9, raw64(unsignedA...)))
	} else {
		m.inputs = []pb{viOf("k", 13, 4), viOf("a", 13, 4)}
	}
	g, err := Parse("m.onnx", m.bytes(), source.Options{})
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return g
}

// TestUnsigned computes with numbers from 2^63 on in every operation that depends on their order or their size.
func TestUnsigned(t *testing.T) {
	for _, c := range unsignedCases() {
		for _, constant := range []bool{false, true} {
			g := c.graph(t, constant)
			var in ref.Sample
			for _, n := range g.In {
				in = append(in, &ir.Tensor{Type: n.Type, Codes: map[string][]int64{"k": unsignedK, "a": unsignedA}[n.Name]})
			}
			p, err := ref.New(g)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			out, err := p.Run(t.Context(), []ref.Sample{in})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			got := out[0][0]
			if !slices.Equal(got.Codes, c.want) || !slices.Equal(got.Floats, c.floats) {
				t.Errorf("%s: %v %v, want %v %v", c.name, got.Codes, got.Floats, c.want, c.floats)
			}
			if slices.Contains(g.Origin.Unsigned, "y") != c.unsigned {
				t.Errorf("%s: unsigned outputs %v", c.name, g.Origin.Unsigned)
			}
		}
	}
}
