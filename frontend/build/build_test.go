// SPDX-License-Identifier: Apache-2.0

package build

import (
	"reflect"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

func TestCompute(t *testing.T) {
	b := New("g", "m.onnx")
	x, err := b.Input("x", ir.F32, []int{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	w, _ := b.Const("w", ir.FloatBlob([]float32{1, 2, 3, 4, 5, 6}), []int{2, 3})
	turned, err := b.Emit(Place{Name: "t", Source: "Transpose"}, move.Transpose, &move.TransposeAttrs{Perm: []int{1, 0}},
		w)
	if err != nil || !turned.IsConst() {
		t.Fatalf("%v, %v", turned, err)
	}
	if v, ok := Floats(turned); !ok || !slices.Equal(v, []float64{1, 4, 2, 5, 3, 6}) {
		t.Error(v)
	}
	flat, err := b.Emit(Place{Name: "f"}, move.Reshape, &move.ReshapeAttrs{Shape: []int{2, 3}}, turned)
	if err != nil || flat.Attrs.(*ir.Const).Data != turned.Attrs.(*ir.Const).Data {
		t.Errorf("a reshape copies: %v", err)
	}
	y, err := b.Emit(Place{Name: "x", Alt: "add", Source: "Add"}, pointwise.Add, nil, x, flat)
	if err != nil {
		t.Fatal(err)
	}
	b.Output("y", y)
	g, err := b.Finish()
	if err != nil || len(g.Nodes) != 3 || y.Name != "x.add" || y.Pos != "m.onnx: x.add (Add)" {
		t.Errorf("%v, %v", g, err)
	}
}

// TestOrigin demands what the builder itself records: names taken twice, what nothing reads, modules once.
func TestOrigin(t *testing.T) {
	b := New("g", "m.onnx")
	x, err := b.Input("x", ir.F32, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	relu := func(name, alt string, arg *ir.Node) *ir.Node {
		n, err := b.Emit(Place{Name: name, Alt: alt, Source: "Relu"}, pointwise.Relu, nil, arg)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	y := relu("a", "", x)
	relu("a", "relu", x)
	y = relu("a", "relu", y)
	b.Module("", "Net")
	b.Module("a", "A")
	b.Module("a", "B")
	b.Output("y", y)
	g, err := b.Finish()
	want := ir.Origin{Modules: []ir.Module{{Path: "", Class: "Net"}, {Path: "a", Class: "A"}},
		Dangling: []string{"a.relu"}, Renamed: []ir.Renamed{{From: "a", To: "a_2"}}}
	if err != nil || b.Origin() != g.Origin || !reflect.DeepEqual(*g.Origin, want) {
		t.Errorf("%+v, %v", *g.Origin, err)
	}
}

func TestIntBlob(t *testing.T) {
	for d, want := range map[ir.DType][]int64{ir.I64: {-3, 300}, ir.U8: {253, 44}, ir.I8: {-3, 44}, ir.I32: {-3, 300}} {
		if v, err := IntBlob(d, []int64{-3, 300}).Ints(); err != nil || !slices.Equal(v, want) {
			t.Errorf("%s: %v, %v", d, v, err)
		}
		if ir.StoredAs(ir.FormatOf(d)) != d {
			t.Errorf("%s is stored as %s", d, ir.StoredAs(ir.FormatOf(d)))
		}
	}
}

func TestRefused(t *testing.T) {
	b := New("g", "m.onnx")
	if _, err := b.Const("w", ir.FloatBlob([]float32{1}), []int{2}); err == nil {
		t.Error("a constant of the wrong size passes")
	}
	if _, err := b.Input("x", "f4", nil); err == nil {
		t.Error("an input of an unknown type passes")
	}
	if _, err := b.Finish(); err == nil {
		t.Error("a graph without outputs passes")
	}
}
