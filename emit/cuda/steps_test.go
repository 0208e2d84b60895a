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
	"lathe/ir/format"
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

// TestFirstTokens demands that attention of the first 64 tokens counts the keys that they see, however much room the
// cache has.
func TestFirstTokens(t *testing.T) {
	const tokens, heads, dim = 64, 2, 32
	for _, room := range []int{64, 256} {
		for _, blocks := range []bool{false, true} {
			g := &ir.Graph{Name: "first"}
			var args []*ir.Node
			for i, rows := range []int{tokens, room, room} {
				typ := ir.Type{Shape: []int{1, heads, rows, dim}, Format: format.BF16}
				if i > 0 && blocks {
					typ.Format = format.MXInt8
				}
				args = append(args, &ir.Node{Name: fmt.Sprint("x", i), Op: leaf.Input, Attrs: &ir.Input{}, Type: typ})
			}
			g.In = slices.Clone(args)
			at := &ir.Node{Name: "at", Op: leaf.Const, Type: ir.Type{Shape: []int{1}, Format: ir.Int32},
				Attrs: &ir.Const{Data: ir.CodeBlob([]int64{0})}}
			y := &ir.Node{Name: "y", Op: sequence.Attention, Attrs: &sequence.AttentionAttrs{Placed: true},
				Type: args[0].Type, Args: append(args, at)}
			g.Nodes, g.Out = append(slices.Clone(args), at, y), []ir.Output{{Name: "y", Node: y}}
			d, err := cuda.Emit(g, cuda.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := int64(4 * heads * dim * tokens * (tokens + 1) / 2); d.Units[0].Flops != want {
				t.Errorf("room for %d: %d operations, want %d", room, d.Units[0].Flops, want)
			}
		}
	}
}
