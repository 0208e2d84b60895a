// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// memory is what loading n bytes may allocate: some for the tables, some for constant expressions, and records that
// are larger than their encoding.
func memory(n int) uint64 { return 640<<20 + 300*uint64(n) }

func FuzzLoad(f *testing.F) {
	for _, c := range slices.Concat(opCases(), moveCases(), reduceCases(), quantCases(), blockCases(), furtherCases(),
		wholeCases(),
		nestedCases()) {
		f.Add(c.model.bytes())
	}
	for _, list := range [][]badCase{modelErrors(), tensorErrors(), nodeErrors(), windowErrors(), shapeErrors(),
		nestedErrors()} {
		for _, c := range list {
			f.Add(c.model.bytes())
		}
	}
	models, err := filepath.Glob("../../examples/digits-mlp/*.onnx")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range models {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var g *ir.Graph
		var err error
		used := allocated(func() { g, err = Parse("m.onnx", data, source.Options{}) })
		if used > memory(len(data)) {
			t.Fatalf("%d bytes allocated for %d", used, len(data))
		}
		if err != nil && diag.CodeOf(err) == "" {
			t.Fatalf("an error without a code: %v", err)
		}
		if (g == nil) == (err == nil) {
			t.Fatalf("graph %v, error %v", g != nil, err)
		}
	})
}

// TestHostile loads files that make careless importers slow or large. Each has one dimension of many.
func TestHostile(t *testing.T) {
	const n = 30_000
	many := func(item func(i int) pb) (out []pb) {
		for i := range n {
			out = append(out, item(i))
		}
		return out
	}
	name := func(i int) string { return fmt.Sprintf("v%d", i) }
	link := func(op string) func(i int) pb {
		return func(i int) pb { return nd(op, name(i), name(i+1)).str(3, "same") }
	}
	x, last := []pb{vi("v0", 2)}, []pb{vi(name(n))}
	ramp := testModel{opset: 13, inputs: x, outputs: last}
	relus, unknown, distinct, reversed := ramp, ramp, ramp, ramp
	relus.nodes = many(link("Relu"))
	unknown.nodes = many(link("Nothing"))
	distinct.nodes = many(func(i int) pb { return nd("Op"+name(i), name(i), name(i+1)) })
	reversed.nodes = many(func(i int) pb { return nd("Add", name(n-1-i)+" "+name(n-1-i), name(n-i)) })
	inputs := testModel{opset: 13, inputs: many(func(i int) pb { return vi(name(i), "batch", 2) }),
		outputs: []pb{vi("v7")}}
	folds := single(13, vi("x", 2048), nil, it("i", 1<<9, 1<<11))
	folds.nodes = []pb{nd("ConstantOfShape", "i", "v0")}
	for i := range 40 {
		folds.nodes = append(folds.nodes, nd("Add", name(i)+" "+name(i), name(i+1)))
	}
	folds.nodes = append(folds.nodes, nd("Add", "x v40", "y"))
	slots := ramp
	slots.nodes = []pb{nd("Relu", "v0", name(n))}
	for range n {
		slots.nodes[0] = slots.nodes[0].str(1, "")
	}
	sound := []string{"relus", "inputs", "slots", "folds"}
	for label, m := range map[string]testModel{"relus": relus, "unknown": unknown, "distinct": distinct,
		"reversed": reversed,
		"inputs":   inputs, "folds": folds, "slots": slots} {
		data := m.bytes()
		used := allocated(func() {
			_, err := Parse("m.onnx", data, source.Options{})
			if slices.Contains(sound, label) != (err == nil) || err != nil && len(err.Error()) > 20_000 {
				t.Errorf("%s: %.300v", label, err)
			}
		})
		if used > memory(len(data)) {
			t.Errorf("%s: %d bytes allocated for %d", label, used, len(data))
		}
	}
}

// bigModel writes a model with layers linear layers of 1024 x 1024 weights (4 MB each).
func bigModel(b *testing.B, layers int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "big.onnx")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	weights := make([]byte, 1024*1024*4)
	model := testModel{opset: 18, inputs: []pb{vi("v0", 1, 1024)}, outputs: []pb{vi(fmt.Sprintf("v%d", layers))}}
	var inits []pb
	size := 0
	for i := range layers {
		in, w, out := fmt.Sprintf("v%d", i), fmt.Sprintf("w%d", i), fmt.Sprintf("v%d", i+1)
		model.nodes = append(model.nodes, nd("Gemm", in+" "+w, out, aInt("transB", 1)))
		t := head(w, 1, 1024, 1024)
		t = protowire.AppendVarint(protowire.AppendTag(t, 9, protowire.BytesType), uint64(len(weights)))
		h := protowire.AppendVarint(protowire.AppendTag(nil, 5, protowire.BytesType), uint64(len(t)+len(weights)))
		inits = append(inits, append(h, t...))
		size += len(inits[i]) + len(weights)
	}
	var graph pb
	for _, n := range model.nodes {
		graph = graph.msg(1, n)
	}
	graph = graph.msg(11, model.inputs[0]).msg(12, model.outputs[0])
	top := pb(nil).int(1, 8).msg(8, pb(nil).int(2, 18))
	top = protowire.AppendVarint(protowire.AppendTag(top, 7, protowire.BytesType), uint64(len(graph)+size))
	put := func(p []byte) {
		if _, err := f.Write(p); err != nil {
			b.Fatal(err)
		}
	}
	put(top)
	put(graph)
	for _, t := range inits {
		put(t)
		put(weights)
	}
	return path
}

// BenchmarkOpen440MB opens a model of 440 MB; no weight is read.
func BenchmarkOpen440MB(b *testing.B) {
	path := bigModel(b, 105)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(path, source.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
