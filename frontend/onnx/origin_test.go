// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"reflect"
	"testing"

	"lathe/frontend/source"
	"lathe/ir"
)

// TestOrigin demands the facts of a file that are no part of the graph.
func TestOrigin(t *testing.T) {
	meta := func(key, val string) pb { return pb(nil).str(1, key).str(2, val) }
	scoped := nd("Relu", "x", "a").msg(9, meta("pkg.torch.onnx.name_scopes", "['', 'act', 'relu']")).
		msg(9, meta("pkg.torch.onnx.class_hierarchy", "['Net', 'torch.nn.modules.activation.ReLU', 'aten.relu.default']"))
	m := testModel{
		opset:  17,
		nodes:  []pb{scoped, nd("Dropout", "a", "b"), nd("Abs", "a", "c"), nd("Add", "b w", "y")},
		inits:  []pb{ft("w", []int64{2}, 1, 2)},
		inputs: []pb{vi("x", 2), vi("w", 2)}, outputs: []pb{vi("y", 2)},
		extra: pb(nil).str(3, "1.2"),
	}
	g, err := Parse("m.onnx", m.bytes(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := &ir.Origin{Format: "ONNX", Producer: "test 1.2", Dropouts: 1,
		Drops: []ir.Drop{{Behind: "act", Rate: 0.5}}, Dangling: []string{"c"}, Shadowed: []string{"w"},
		Modules: []ir.Module{{Path: "", Class: "Net"}, {Path: "act", Class: "torch.nn.modules.activation.ReLU"}}}
	if !reflect.DeepEqual(g.Origin, want) {
		t.Errorf("%+v", g.Origin)
	}
}

// TestNewOpset: operator sets newer than the tested ones are read, with a warning.
func TestNewOpset(t *testing.T) {
	for opset, want := range map[int64]int{NewestOpset: 0, NewestOpset + 1: 1} {
		g, err := Parse("m.onnx", single(opset, vi("x", 2), nd("Relu", "x", "y")).bytes(), source.Options{})
		if err != nil || len(g.Origin.Warnings) != want {
			t.Errorf("operator set %d: %v, %v", opset, g, err)
		}
	}
}
