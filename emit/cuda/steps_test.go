// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lathe/emit/cuda"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/sequence"
)

// TestRefusedCaches names one of three caches of fp32 values that no kernel writes in place, and counts the others.
func TestRefusedCaches(t *testing.T) {
	g := &ir.Graph{Name: "caches"}
	input := func(name string, typ ir.Type) *ir.Node {
		n := &ir.Node{Name: name, Op: leaf.Input, Attrs: &ir.Input{}, Type: typ}
		g.In = append(g.In, n)
		return n
	}
	position := input("position", ir.Type{Shape: []int{1}, Format: ir.Int32})
	var appended []*ir.Node
	for i := range 3 {
		cache := input(fmt.Sprint("cache", i), ir.Float(1, 2, 4, 8))
		y := &ir.Node{Name: fmt.Sprint("y", i), Op: sequence.Append, Type: cache.Type,
			Args: []*ir.Node{cache, input(fmt.Sprint("rows", i), ir.Float(1, 2, 1, 8)), position}}
		appended, g.Out = append(appended, y), append(g.Out, ir.Output{Name: y.Name, Node: y})
	}
	g.Nodes = slices.Concat(g.In, appended)
	_, err := cuda.EmitSteps(g, g, cuda.Options{})
	if diag.CodeOf(err) != "L0949" || strings.Count(err.Error(), "L0949") != 1 ||
		!strings.Contains(err.Error(), "cache0") || !strings.Contains(err.Error(), "so it is with 2 of the other caches") {
		t.Error(err)
	}
}
