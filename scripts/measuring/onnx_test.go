// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"reflect"
	"testing"

	"lathe/frontend/onnx"
	"lathe/internal/evidence"
)

// TestNodes: docs/onnx.md is what the lines of evidence print, and at least 97 % of the tests pass.
func TestNodes(t *testing.T) {
	t.Chdir("../..")
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		t.Fatal(err)
	}
	if passed, tests := e.NodeTotals(); tests < 1200 || passed*100 < tests*97 {
		t.Errorf("%d of %d node tests pass, 97 %% are demanded", passed, tests)
	}
	now, err := os.ReadFile(nodesPage)
	if err != nil || e.NodesPage() != string(now) {
		t.Errorf("%s is not what evidence prints (%v): run `scripts/measure print`", nodesPage, err)
	}
}

// TestNodeLines: tests become a line for each operation and for each reason, with their faults.
func TestNodeLines(t *testing.T) {
	tests := []*onnx.NodeTest{{Name: "b", Op: "Sub"}, {Name: "c", Op: "Loop", Apart: "operation Loop"},
		{Name: "a", Op: "Add"}, {Name: "d", Op: "Sub"}}
	got := nodeLines(tests, func(c *onnx.NodeTest) string {
		if c.Name == "d" {
			return "no"
		}
		return ""
	})
	want := []evidence.Nodes{{Op: "Add", Tests: 1},
		{Op: "Sub", Tests: 2, Faults: []evidence.Fault{{Test: "d", Why: "no"}}}, {Apart: "operation Loop", Tests: 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	e := &evidence.Evidence{Nodes: got}
	if passed, all := e.NodeTotals(); passed != 2 || all != 3 {
		t.Errorf("%d of %d pass", passed, all)
	}
}
