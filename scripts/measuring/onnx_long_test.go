// SPDX-License-Identifier: Apache-2.0

//go:build long

package main

import (
	"reflect"
	"testing"

	"lathe/frontend/onnx"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/evidence"
	"lathe/internal/tools"
)

// TestNodeTests runs the node tests of the ONNX project: the lines of evidence are what they say.
func TestNodeTests(t *testing.T) {
	t.Chdir("../..")
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := onnx.NodeTests(tools.NeedNodeTests(t))
	if err != nil {
		t.Fatal(err)
	}
	engine := pjrttest.Engine(t)
	lines := nodeLines(tests, func(c *onnx.NodeTest) string {
		return nodeFault(c.Name, runNode(t.Context(), engine, c))
	})
	if !reflect.DeepEqual(lines, e.Nodes) {
		t.Errorf("the node tests say other things than docs/evidence: run `scripts/measure onnx`\n%+v", lines)
	}
}
